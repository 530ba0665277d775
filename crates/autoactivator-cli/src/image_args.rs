//! The arguments about images: which backbone turns them into features, and how.

use std::path::PathBuf;

use autoactivator_data::{BackboneSpec, Channels, Layout, Outputs, Preset, Runtime, Tokens};
use clap::Args;

use crate::args::named;

/// How images become features.
#[derive(Clone, Debug, Default, Args)]
pub struct ImageArgs {
    /// What turns images into features: a backbone by name (see `backbone list`), an ONNX file, or none for the pixels
    /// themselves; several are used side by side [default: what the model was learned with; for a new model, the first
    /// backbone that is here if images have more than 64 pixels a side, else the pixels]. For sentences, an encoder with a
    /// tokenizer.json beside it, or its folder [default: minilm, in the folder of backbones]
    #[arg(long = "backbone", value_name = "NAME|FILE", help_heading = "Images")]
    pub backbones: Vec<PathBuf>,

    /// Settings of a known backbone [default: from its content, the file's name and a .toml file beside it]
    #[arg(long, value_parser = named::<Preset>, help_heading = "Images")]
    pub preset: Option<Preset>,

    /// Outputs of the backbone that hold the features, or tensors in the middle of its graph; several stand side by side
    #[arg(long, value_name = "NAME,...", help_heading = "Images")]
    pub backbone_output: Option<Outputs>,

    /// Where an output has tokens, which of them stand for the image: first or mean [default: first]
    #[arg(long, value_parser = named::<Tokens>, help_heading = "Images")]
    pub tokens: Option<Tokens>,

    /// Show the backbone each image and its mirror image, and take the mean: a little more accurate, at twice the time
    #[arg(long, help_heading = "Images")]
    pub mirror: bool,

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
        let backbone = (!self.backbones.is_empty()).then_some("--backbone");
        backbone.or_else(|| self.setting_of_backbone())
    }

    /// A setting of the backbone that was given, by name.
    pub fn setting_of_backbone(&self) -> Option<&'static str> {
        let given = [
            (self.preset.is_some(), "--preset"),
            (self.backbone_output.is_some(), "--backbone-output"),
            (self.tokens.is_some(), "--tokens"),
            (self.mirror, "--mirror"),
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
            tokens: self.tokens,
            mirror: self.mirror.then_some(true),
            size: self.size,
            layout: self.layout,
            channels: self.channels,
            mean: self.mean.map(|Three(mean)| mean),
            scale: self.scale.map(|Three(scale)| scale),
            ..BackboneSpec::default()
        }
    }
}
