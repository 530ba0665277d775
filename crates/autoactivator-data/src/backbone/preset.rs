//! Backbones that are known by name, and how images are shown to each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::spec::BackboneSpec;
use crate::origin::{Filter, Resize};

/// Means and deviations of ImageNet's colours, which most backbones were trained with.
pub(super) const IMAGENET: Colours = ([123.675, 116.28, 103.53], [58.395, 57.12, 57.375]);

/// Means and deviations of the images that CLIP was trained with.
const CLIP: Colours = (
    [122.770_94, 116.746_01, 104.093_74],
    [68.500_53, 66.632_25, 70.323_16],
);

/// Mean and scale.
pub(super) type Colours = ([f32; 3], [f32; 3]);

/// A known backbone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Preset {
    /// EfficientNet-Lite0, with the 320 channels that enter its last convolution as a second output.
    #[serde(rename = "efficientnet-lite0")]
    EfficientNetLite0,
    /// ResNet-18.
    #[serde(rename = "resnet18")]
    ResNet18,
    /// ResNet-50.
    #[serde(rename = "resnet50")]
    ResNet50,
    /// MobileNet v2.
    #[serde(rename = "mobilenet-v2")]
    MobileNetV2,
    /// MobileNet v3, small or large.
    #[serde(rename = "mobilenet-v3")]
    MobileNetV3,
    /// The vision transformer of base size on patches of 16 pixels.
    #[serde(rename = "vit-b-16")]
    VitB16,
    /// DINOv2, of any size.
    #[serde(rename = "dinov2")]
    DinoV2,
    /// The image encoder of CLIP.
    #[serde(rename = "clip")]
    Clip,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::EfficientNetLite0,
        Self::ResNet18,
        Self::ResNet50,
        Self::MobileNetV2,
        Self::MobileNetV3,
        Self::VitB16,
        Self::DinoV2,
        Self::Clip,
    ];

    /// Its name, as it is written in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::EfficientNetLite0 => "efficientnet-lite0",
            Self::ResNet18 => "resnet18",
            Self::ResNet50 => "resnet50",
            Self::MobileNetV2 => "mobilenet-v2",
            Self::MobileNetV3 => "mobilenet-v3",
            Self::VitB16 => "vit-b-16",
            Self::DinoV2 => "dinov2",
            Self::Clip => "clip",
        }
    }

    /// The preset that a file name begins with, whatever stands between its words: `ResNet_18-v1` is `resnet18`.
    pub fn of_file(stem: &str) -> Option<Self> {
        let stem = letters(stem);
        Self::ALL
            .into_iter()
            .find(|preset| stem.starts_with(&letters(preset.name())))
    }

    /// Whether what enters its last convolution is worth reading too, where nobody says which outputs to read.
    pub(super) fn reads_before_last_convolution(self) -> bool {
        self == Self::EfficientNetLite0
    }

    /// Its settings.
    pub fn spec(self) -> BackboneSpec {
        let torchvision = || spec(IMAGENET, 224, Resize::Crop(0.875), Filter::Bilinear);
        match self {
            Self::EfficientNetLite0 => BackboneSpec {
                output: Some(vec!["features".to_owned()].into()),
                ..spec(([127.0; 3], [128.0; 3]), 224, Resize::Stretch, Filter::Bicubic)
            },
            Self::ResNet18 | Self::ResNet50 | Self::MobileNetV2 | Self::MobileNetV3 | Self::VitB16 => {
                torchvision()
            }
            Self::DinoV2 => spec(IMAGENET, 224, Resize::Crop(0.875), Filter::Bicubic),
            Self::Clip => spec(CLIP, 224, Resize::Crop(1.0), Filter::Bicubic),
        }
    }
}

fn spec((mean, scale): Colours, size: usize, resize: Resize, filter: Filter) -> BackboneSpec {
    BackboneSpec {
        size: Some(size),
        mean: Some(mean),
        scale: Some(scale),
        resize: Some(resize),
        filter: Some(filter),
        ..BackboneSpec::default()
    }
}

fn letters(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL
            .into_iter()
            .find(|preset| letters(preset.name()) == letters(text));
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("preset is '{text}', but must be one of {names}")
        })
    }
}
