//! How images are shown to a backbone, and which of its outputs is read: part of the backbone's identity.

use serde::{Deserialize, Serialize};

use super::resize::{Filter, Resize};

/// How images are shown to a backbone, and which output is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Name of the output that holds the features.
    pub output: String,
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
