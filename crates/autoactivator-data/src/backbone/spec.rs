//! What a backbone wants to see, as far as somebody said so.
//!
//! Each setting comes from the first of these that states it: the caller, the TOML file beside the model, the preset,
//! the graph itself, and what most backbones trained on ImageNet want.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::preset::Preset;
use crate::error::{Error, bad, io_error};
use crate::image::{Filter, Resize};

/// Settings of a backbone, each of them optional: in TOML, the keys carry these names.
///
/// ```toml
/// output = "features"
/// size = 224
/// mean = [123.675, 116.28, 103.53]
/// scale = [58.395, 57.12, 57.375]
/// resize = "crop:0.875"
/// filter = "bicubic"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackboneSpec {
    /// A known backbone whose settings are meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// Name of the output that holds the features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Height and width of the input, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Order of the sides of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Order of the colours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Channels>,
    /// Subtracted from the values 0 to 255, one per channel in the order of `channels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<[f32; 3]>,
    /// What they are divided by then, one per channel in the order of `channels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f32; 3]>,
    /// What happens to images that are not square.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resize: Option<Resize>,
    /// How pixels between pixels are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
}

/// Order of the sides of the input.
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

impl BackboneSpec {
    /// What the TOML file beside the model says, `model.toml` for `model.onnx`; nothing when there is none.
    pub fn beside(model: &Path) -> Result<Self, Error> {
        let path = model.with_extension("toml");
        if path == model || !path.exists() {
            return Ok(Self::default());
        }
        let text = std::fs::read_to_string(&path).map_err(|cause| io_error(&path, cause))?;
        toml::from_str(&text).map_err(|error| bad(&path, error.to_string()))
    }

    /// These settings, and those of `other` where there is none.
    pub fn or(self, other: Self) -> Self {
        Self {
            preset: self.preset.or(other.preset),
            output: self.output.or(other.output),
            size: self.size.or(other.size),
            layout: self.layout.or(other.layout),
            channels: self.channels.or(other.channels),
            mean: self.mean.or(other.mean),
            scale: self.scale.or(other.scale),
            resize: self.resize.or(other.resize),
            filter: self.filter.or(other.filter),
        }
    }
}
