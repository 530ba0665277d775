//! How an image of any shape becomes one of the size that a backbone wants.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RgbImage;
use super::resample::{Span, resample};

/// What happens to an image that is not square.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Resize {
    /// It is squeezed; written `stretch`.
    Stretch,
    /// The middle is cut out: of the short side, this share is kept; written `crop` or `crop:0.875`.
    Crop(f32),
}

/// How pixels between pixels are found. Both filters average over all pixels when an image shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// Between neighbours.
    Bilinear,
    /// Cubic, a = -0.5.
    Bicubic,
}

impl Resize {
    /// A square image of this side.
    pub(crate) fn square(self, image: &RgbImage, side: u32, filter: Filter) -> RgbImage {
        match self {
            Self::Stretch => to_size(image, side, side, filter),
            Self::Crop(share) => {
                let short = image.width().min(image.height()) as f32;
                let scale = (side as f32 / share).round() / short;
                let middle = |length: u32| Span::middle(length, scale, side);
                resample(image, middle(image.width()), middle(image.height()), filter)
            }
        }
    }
}

/// The image at this width and height.
pub(crate) fn to_size(image: &RgbImage, width: u32, height: u32, filter: Filter) -> RgbImage {
    let across = Span::whole(image.width(), width);
    let down = Span::whole(image.height(), height);
    resample(image, across, down, filter)
}

impl fmt::Display for Resize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stretch => write!(f, "stretch"),
            Self::Crop(share) => write!(f, "crop:{share}"),
        }
    }
}

impl FromStr for Resize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = match text.split_once(':') {
            None if text == "stretch" => return Ok(Self::Stretch),
            None if text == "crop" => Some(1.0),
            Some(("crop", share)) => share.parse().ok().filter(|share| (0.1..=1.0).contains(share)),
            _ => None,
        };
        share.map(Self::Crop).ok_or_else(|| {
            format!("resize is '{text}', but must be stretch, crop, or crop:SHARE with 0.1 to 1")
        })
    }
}

impl TryFrom<String> for Resize {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Resize> for String {
    fn from(resize: Resize) -> Self {
        resize.to_string()
    }
}
