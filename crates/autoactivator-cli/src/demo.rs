//! What `autoactivator serve` begins with when there is no model file: digits to draw, or photographs.

use std::path::PathBuf;

use anyhow::{Result, bail};
use autoactivator_data::dataset;
use clap::ValueEnum;

use crate::args::DataArgs;
use crate::image_args::ImageArgs;

/// The backbone for photographs: its name, and its file in a folder of backbones.
const BACKBONE: (&str, &str) = ("efficientnet-lite0", "efficientnet_lite0.onnx");

/// What a new model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Demo {
    /// The digits 0 to 4 are known, and others can be drawn
    Digits,
    /// Nothing is known, and photographs can be taught
    Photos,
}

impl Demo {
    /// The model file, unless another one is named.
    pub fn file(self) -> &'static str {
        match self {
            Self::Digits => "autoactivator.aact",
            Self::Photos => "photos.aact",
        }
    }

    /// How images become features in a new model: as the options say, or through the backbone of the demonstration.
    pub fn images(self, given: &ImageArgs, data: &DataArgs) -> Result<ImageArgs> {
        if self == Self::Digits || given.about_backbone().is_some() {
            return Ok(given.clone());
        }
        Ok(ImageArgs {
            backbones: vec![backbone(data)?],
            ..given.clone()
        })
    }
}

/// Finds the backbone in the folders of data.
fn backbone(data: &DataArgs) -> Result<PathBuf> {
    let (name, file) = BACKBONE;
    let folders = dataset::folders(data.dir().as_deref());
    let places: Vec<PathBuf> = folders
        .iter()
        .map(|folder| folder.join("backbones").join(file))
        .collect();
    match places.iter().find(|place| place.is_file()) {
        Some(place) => Ok(place.clone()),
        None => {
            let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
            bail!(
                "the backbone {name} is not here (there is no {}): fetch it with `autoactivator backbone get {name}`, \
                 or give one with --backbone",
                looked.join(", no ")
            )
        }
    }
}
