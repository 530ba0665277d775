//! How images are shown to a backbone, as far as anybody stated it.
//!
//! Each setting comes from the first of these that states it: the caller, the TOML file beside the model, the preset,
//! the graph itself, and what is usual for backbones trained on ImageNet.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::preset::Preset;
use crate::error::{Error, bad, io_error};
use crate::origin::{Channels, Filter, Layout, Outputs, Resize, Settings, Tokens};

/// Settings of a backbone, each of them optional. A TOML file beside the model has the same keys.
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
    /// A known backbone, whose settings are used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,
    /// The outputs that hold the features: of the graph, or tensors in the middle of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Outputs>,
    /// Height and width of the input, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Order of the dimensions of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Order of the colours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Channels>,
    /// Subtracted from the values 0 to 255, one per channel in the order of `channels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<[f32; 3]>,
    /// What they are then divided by, one per channel in the order of `channels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f32; 3]>,
    /// What happens to images that are not square.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resize: Option<Resize>,
    /// How values between pixels are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// Which tokens stand for the image, where an output has tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Whether features are the mean of those of the image and of its mirror image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<bool>,
}

/// Settings that leave nothing open.
impl From<&Settings> for BackboneSpec {
    fn from(settings: &Settings) -> Self {
        Self {
            preset: None,
            output: Some(settings.output.clone()),
            size: Some(settings.size),
            layout: Some(settings.layout),
            channels: Some(settings.channels),
            mean: Some(settings.mean),
            scale: Some(settings.scale),
            resize: Some(settings.resize),
            filter: Some(settings.filter),
            tokens: Some(settings.tokens),
            mirror: Some(settings.mirror),
        }
    }
}

impl BackboneSpec {
    /// Reads the TOML file beside the model, `model.toml` for `model.onnx`; empty when there is none.
    pub(super) fn beside(model: &Path) -> Result<Self, Error> {
        let path = model.with_extension("toml");
        if path == model || !path.exists() {
            return Ok(Self::default());
        }
        let text = std::fs::read_to_string(&path).map_err(|cause| io_error(&path, cause))?;
        toml::from_str(&text).map_err(|error| bad(&path, error.to_string()))
    }

    /// These settings, with those of `other` where one is missing.
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
            tokens: self.tokens.or(other.tokens),
            mirror: self.mirror.or(other.mirror),
        }
    }
}
