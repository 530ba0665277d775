//! How images are shown to a backbone, and which of its outputs is read: part of the backbone's identity.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::resize::{Filter, Resize};

/// How images are shown to a backbone, and which output is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The outputs that hold the features.
    pub output: Outputs,
    /// Height and width of the input, in pixels.
    pub size: usize,
    /// Order of the dimensions of the input.
    pub layout: Layout,
    /// Order of the colours.
    pub channels: Channels,
    /// Subtracted from the values 0 to 255.
    pub mean: [f32; 3],
    /// What they are then divided by.
    pub scale: [f32; 3],
    /// What happens to images that are not square.
    pub resize: Resize,
    /// How values between pixels are found.
    pub filter: Filter,
    /// Which tokens stand for the image, where an output has tokens.
    #[serde(default, skip_serializing_if = "Tokens::is_usual")]
    pub tokens: Tokens,
    /// Whether features are the mean of those of the image and of its mirror image.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mirror: bool,
}

/// Names of the tensors that hold the features, side by side; written `features,before`, in files also as a list.
///
/// The features of one tensor stay as they are. Those of several are brought to length 1 tensor by tensor, so that none
/// drowns out the others; of tensors that come from a rectifier, the roots are taken first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "OneOrMany", into = "OneOrMany")]
pub struct Outputs(Vec<String>);

impl Outputs {
    /// The names.
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl From<Vec<String>> for Outputs {
    fn from(names: Vec<String>) -> Self {
        Self(names)
    }
}

impl FromStr for Outputs {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.split(',').map(|name| name.trim().to_owned()).collect()))
    }
}

impl fmt::Display for Outputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

/// How [`Outputs`] stand in files: one name as a text, as in models from before there were several.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl From<OneOrMany> for Outputs {
    fn from(names: OneOrMany) -> Self {
        match names {
            OneOrMany::One(name) => Self(vec![name]),
            OneOrMany::Many(names) => Self(names),
        }
    }
}

impl From<Outputs> for OneOrMany {
    fn from(outputs: Outputs) -> Self {
        match <[String; 1]>::try_from(outputs.0) {
            Ok([name]) => Self::One(name),
            Err(names) => Self::Many(names),
        }
    }
}

/// Which tokens stand for the image, where an output has tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tokens {
    /// The first, as in a vision transformer.
    #[default]
    First,
    /// The mean of all.
    Mean,
}

impl Tokens {
    fn is_usual(&self) -> bool {
        *self == Self::First
    }
}

/// Order of the dimensions of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Images, channels, rows, columns: PyTorch.
    Nchw,
    /// Images, rows, columns, channels: TensorFlow.
    Nhwc,
}

/// Order of the colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channels {
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red.
    Bgr,
}
