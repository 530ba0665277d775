//! What one thread does with a few images: read, look up in the cache, decode, compute.

use std::fs;

use super::{Extractor, Skipped};
use crate::backbone::Backbone;
use crate::cache::{Content, Kept};
use crate::error::{Error, bad, io_error};
use crate::image::{ImageFile, RgbImage, decode};

/// The results for a few images.
#[derive(Default)]
pub(super) struct Done {
    /// The features of each image; none for those that were skipped.
    pub(super) rows: Vec<Option<Vec<f32>>>,
    /// The images that could not be read.
    pub(super) skipped: Vec<Skipped>,
    /// What each backbone computed, for the cache.
    pub(super) fresh: Vec<Vec<(Content, Vec<f32>)>>,
}

/// One image while it is worked on.
struct Seen {
    content: Content,
    /// What the cache holds of each backbone.
    kept: Vec<Option<Vec<f32>>>,
    /// Decoded only when the cache does not hold everything.
    pixels: Option<RgbImage>,
}

impl Extractor {
    /// Turns a few images into rows. `kept` holds the cache of each backbone, or nothing.
    pub(super) fn work(
        &self,
        files: &[ImageFile],
        kept: &[Option<Kept>],
        strict: bool,
    ) -> Result<Done, Error> {
        let mut done = Done::default();
        let mut seen = Vec::with_capacity(files.len());
        for file in files {
            match self.see(file, kept) {
                Ok(image) => seen.push(Some(image)),
                Err(error) if strict => return Err(error),
                Err(error) => {
                    done.skipped.push(Skipped::new(file, &error));
                    seen.push(None);
                }
            }
        }
        match self {
            Self::Pixels(pixels) => {
                let row = |image: Option<Seen>| image.and_then(|image| image.pixels).map(|p| pixels.row(&p));
                done.rows = seen.into_iter().map(row).collect();
            }
            Self::Backbones(backbones) => {
                for (number, backbone) in backbones.iter().enumerate() {
                    done.fresh.push(fill(backbone, number, files, &mut seen)?);
                }
                let row = |image: Seen| image.kept.into_iter().flatten().flatten().collect();
                done.rows = seen.into_iter().map(|image| image.map(row)).collect();
            }
        }
        Ok(done)
    }

    fn see(&self, file: &ImageFile, kept: &[Option<Kept>]) -> Result<Seen, Error> {
        let bytes = fs::read(&file.path).map_err(|cause| io_error(&file.path, cause))?;
        let content = Content::of(&bytes);
        let look_up = |kept: &Option<Kept>| kept.as_ref().and_then(|kept| kept.get(content));
        let kept: Vec<Option<Vec<f32>>> = kept.iter().map(look_up).collect();
        let complete = !kept.is_empty() && kept.iter().all(Option::is_some);
        let pixels = if complete {
            None
        } else {
            Some(decode(&file.path, &bytes)?)
        };
        Ok(Seen {
            content,
            kept,
            pixels,
        })
    }
}

/// Computes what the cache lacks of one backbone, and returns it to be kept.
fn fill(
    backbone: &Backbone,
    number: usize,
    files: &[ImageFile],
    seen: &mut [Option<Seen>],
) -> Result<Vec<(Content, Vec<f32>)>, Error> {
    let missing: Vec<usize> = (0..seen.len())
        .filter(|&i| seen[i].as_ref().is_some_and(|image| image.kept[number].is_none()))
        .collect();
    let images: Vec<&RgbImage> = missing
        .iter()
        .filter_map(|&i| seen[i].as_ref()?.pixels.as_ref())
        .collect();
    if images.is_empty() {
        return Ok(Vec::new());
    }
    let features = backbone.features(&images)?;
    let rows = features.chunks_exact(backbone.n_features());
    let mut fresh = Vec::with_capacity(missing.len());
    for (&i, row) in missing.iter().zip(rows) {
        if row.iter().any(|value| !value.is_finite()) {
            let reason = format!(
                "{} computes features that are not finite: it cannot be used for this image",
                backbone.identity()
            );
            return Err(bad(&files[i].path, reason));
        }
        if let Some(image) = &mut seen[i] {
            fresh.push((image.content, row.to_vec()));
            image.kept[number] = Some(row.to_vec());
        }
    }
    Ok(fresh)
}
