//! How an image that is not square is brought to the square that a backbone takes: part of the backbone's settings.
//!
//! The pixels themselves are computed in `image/resize`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What happens to an image that is not square.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Resize {
    /// The image is squeezed; written `stretch`.
    Stretch,
    /// The middle is cut out, and this share of the short side is kept; written `crop` or `crop:0.875`.
    Crop(f32),
}

/// How values between pixels are found. When an image shrinks, both filters average over all its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// Between neighbours.
    Bilinear,
    /// Cubic, a = -0.5.
    Bicubic,
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
