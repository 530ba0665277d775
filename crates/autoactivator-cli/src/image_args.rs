//! The arguments about images: which backbone turns them into features, and how.

use std::path::PathBuf;

use autoactivator_data::{BackboneSpec, Channels, Layout, Preset, Runtime};
use clap::Args;

use crate::args::named;

/// How images become features.
#[derive(Clone, Debug, Default, Args)]
pub struct ImageArgs {
    /// ONNX model that turns images into features; several are used side by side [default: the pixels themselves]. For
    /// sentences, one with a tokenizer.json beside it, or its folder [default: minilm, in the folder of backbones]
    #[arg(long = "backbone", value_name = "FILE", help_heading = "Images")]
    pub backbones: Vec<PathBuf>,

    /// Settings of a known backbone [default: from the file's name and a .toml file beside it]
    #[arg(long, value_parser = named::<Preset>, help_heading = "Images")]
    pub preset: Option<Preset>,

    /// Output of the backbone that holds the features
    #[arg(long, value_name = "NAME", help_heading = "Images")]
    pub backbone_output: Option<String>,

    /// Height and width of the images that the backbone takes
    #[arg(long, value_name = "PIXELS", help_heading = "Images")]
    pub size: Option<usize>,

    /// Order of the backbone's input: nchw or nhwc
    #[arg(long, value_parser = named::<Layout>, help_heading = "Images")]
    pub layout: Option<Layout>,

    /// Order of the colours: rgb or bgr
    #[arg(long, value_parser = named::<Channels>, help_heading = "Images")]
    pub channels: Option<Channels>,

    /// Subtracted from pixel values 0 to 255, one number per channel
    #[arg(long, value_name = "R,G,B", value_parser = three, help_heading = "Images")]
    pub mean: Option<Three>,

    /// Divides pixel values after the mean is subtracted, one number per channel
    #[arg(long, value_name = "R,G,B", value_parser = three, help_heading = "Images")]
    pub scale: Option<Three>,

    /// What runs the backbone: onnxruntime, rten (slower, but built in), or auto: onnxruntime if it is installed
    #[arg(long, default_value = "auto", help_heading = "Images")]
    pub runtime: Runtime,

    /// Folder where computed features are kept for later runs [default: the user's cache folder]
    #[arg(long, value_name = "DIR", help_heading = "Images")]
    pub cache: Option<PathBuf>,

    /// Do not keep computed features
    #[arg(long, conflicts_with = "cache", help_heading = "Images")]
    pub no_cache: bool,

    /// Stop at an image that cannot be read instead of skipping it
    #[arg(long, help_heading = "Images")]
    pub strict: bool,
}

/// One number per channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Three([f32; 3]);

fn three(text: &str) -> Result<Three, String> {
    let numbers: Result<Vec<f32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
    let numbers = numbers.map_err(|e| e.to_string())?;
    let three = numbers
        .try_into()
        .map_err(|_| "expected three numbers, one per channel")?;
    Ok(Three(three))
}

impl ImageArgs {
    /// An option about the backbone that was given, by name.
    pub fn about_backbone(&self) -> Option<&'static str> {
        let given = [
            (!self.backbones.is_empty(), "--backbone"),
            (self.preset.is_some(), "--preset"),
            (self.backbone_output.is_some(), "--backbone-output"),
            (self.size.is_some(), "--size"),
            (self.layout.is_some(), "--layout"),
            (self.channels.is_some(), "--channels"),
            (self.mean.is_some(), "--mean"),
            (self.scale.is_some(), "--scale"),
        ];
        given.iter().find(|(given, _)| *given).map(|(_, option)| *option)
    }

    /// An option about pixels that was given, by name.
    pub fn about_pixels(&self) -> Option<&'static str> {
        let given = [
            (self.preset.is_some(), "--preset"),
            (self.size.is_some(), "--size"),
            (self.layout.is_some(), "--layout"),
            (self.channels.is_some(), "--channels"),
            (self.mean.is_some(), "--mean"),
            (self.scale.is_some(), "--scale"),
        ];
        given.iter().find(|(given, _)| *given).map(|(_, option)| *option)
    }

    /// The options about the backbone.
    pub fn backbone_spec(&self) -> BackboneSpec {
        BackboneSpec {
            preset: self.preset,
            output: self.backbone_output.clone(),
            size: self.size,
            layout: self.layout,
            channels: self.channels,
            mean: self.mean.map(|Three(mean)| mean),
            scale: self.scale.map(|Three(scale)| scale),
            ..BackboneSpec::default()
        }
    }
}
