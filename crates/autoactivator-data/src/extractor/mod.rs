//! From a folder of images to rows of features, batch by batch.
//!
//! [`Extractor`] tells what becomes of an image; [`ImageRows`] streams the rows of a folder.

mod stream;
mod work;

use std::path::Path;

use autoactivator::{Observer, Table};

use crate::backbone::Backbone;
use crate::error::Error;
use crate::image::{ImageFolder, Pixels, decode_within};
use crate::origin::Origin;
pub use stream::{ExtractOptions, ImageRows, Skipped};

/// What turns images into rows.
///
/// ```no_run
/// use std::path::Path;
///
/// use autoactivator_data::{ExtractOptions, Extractor, ImageFolder, Pixels};
///
/// let folder = ImageFolder::open(Path::new("photos"))?;
/// let extractor = Extractor::Pixels(Pixels::like(&folder)?);
/// for batch in extractor.rows(&folder, ExtractOptions::default()) {
///     println!("{} rows", batch?.len());
/// }
/// # Ok::<(), autoactivator_data::Error>(())
/// ```
pub enum Extractor {
    /// The features of each backbone, side by side.
    Backbones(Vec<Backbone>),
    /// The pixels themselves.
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

    /// Where its features come from, and where the files of its backbones are: for a model to find them again.
    pub fn placed_origin(&self) -> Origin {
        match self {
            Self::Backbones(backbones) => {
                Origin::Backbones(backbones.iter().map(Backbone::placed_identity).collect())
            }
            Self::Pixels(pixels) => Origin::Pixels(pixels.shape),
        }
    }

    /// How many features it computes for an image.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Backbones(backbones) => backbones.iter().map(Backbone::n_features).sum(),
            Self::Pixels(pixels) => pixels.shape.n_values(),
        }
    }

    /// The features of images in memory, one row each. An image that takes more than `most_bytes` once decoded is
    /// refused; errors call the first image `image 0`. The observer may interrupt between two images.
    pub fn of_images(
        &self,
        images: &[&[u8]],
        most_bytes: u64,
        observer: &dyn Observer,
    ) -> Result<Table, Error> {
        let mut rows = Vec::with_capacity(images.len() * self.n_features());
        for (place, bytes) in images.iter().enumerate() {
            if observer.interrupted() {
                return Err(autoactivator::Error::Interrupted.into());
            }
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

    /// Streams the features of all images of a folder, in its order.
    pub fn rows<'a>(&'a self, folder: &'a ImageFolder, options: ExtractOptions<'a>) -> ImageRows<'a> {
        ImageRows::new(self, folder, options)
    }
}
