//! From a folder of images to rows of features, batch by batch.
//!
//! [`Extractor`] says what becomes of an image, [`ImageRows`] is the stream of what became of them.

use std::path::Path;

use autoactivator::Table;

use crate::backbone::Backbone;
use crate::error::Error;
use crate::image::{ImageFolder, Pixels, decode_within};
use crate::origin::Origin;

mod stream;
mod work;

pub use stream::{ExtractOptions, ImageRows, Skipped};

/// What becomes of an image.
pub enum Extractor {
    /// The features of each backbone, one after the other.
    Backbones(Vec<Backbone>),
    /// Its pixels.
    Pixels(Pixels),
}

impl Extractor {
    /// Where its features come from.
    pub fn origin(&self) -> Origin {
        match self {
            Self::Backbones(backbones) => Origin::Backbones(
                backbones
                    .iter()
                    .map(|backbone| backbone.identity().clone())
                    .collect(),
            ),
            Self::Pixels(pixels) => Origin::Pixels(pixels.shape),
        }
    }

    /// How many features it gives an image.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Backbones(backbones) => backbones.iter().map(Backbone::n_features).sum(),
            Self::Pixels(pixels) => pixels.shape.n_values(),
        }
    }

    /// The features of images in memory, one row each, none of more than `most_bytes` once decoded. Errors call the
    /// first one `image 0`.
    pub fn of_images(&self, images: &[&[u8]], most_bytes: u64) -> Result<Table, Error> {
        let mut rows = Vec::with_capacity(images.len() * self.n_features());
        for (place, bytes) in images.iter().enumerate() {
            let image = decode_within(Path::new(&format!("image {place}")), bytes, most_bytes)?;
            match self {
                Self::Pixels(pixels) => rows.extend(pixels.row(&image)),
                Self::Backbones(backbones) => {
                    for backbone in backbones {
                        rows.extend(backbone.features(&[&image])?);
                    }
                }
            }
        }
        Ok(Table::new(rows, self.n_features())?)
    }

    /// The features of all images of a folder, in its order.
    pub fn rows<'a>(&'a self, folder: &'a ImageFolder, options: ExtractOptions<'a>) -> ImageRows<'a> {
        ImageRows::new(self, folder, options)
    }
}
