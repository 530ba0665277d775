//! Pixels as features, for small images that need no backbone.
//!
//! [`Pixels`] is a shape; every image is resized to it.

use autoactivator::ImageShape;

use super::resize::to_size;
use super::{ImageFolder, RgbImage, decode};
use crate::error::{Error, bad, io_error};
use crate::origin::Filter;

/// The longest side that is taken from the images themselves: larger images need a backbone.
const LONGEST_OWN_SIDE: u32 = 64;

/// The longest side that may be asked for.
const MOST_GIVEN: usize = 1024;

/// How many images are checked for colour.
const LOOKED_AT: usize = 100;

/// Turns each image into its pixels, 0 to 1, in the order of [`ImageShape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// What each image is resized to.
    pub shape: ImageShape,
}

impl Pixels {
    /// Resizes every image to this shape: sides of 1 to 1024 pixels, and 1 channel or 3.
    pub fn new(shape: ImageShape) -> Result<Self, Error> {
        let sides = 1..=MOST_GIVEN;
        if matches!(shape.channels, 1 | 3) && sides.contains(&shape.height) && sides.contains(&shape.width) {
            return Ok(Self { shape });
        }
        Err(Error::Method(autoactivator::Error::Parameter {
            name: "image".to_owned(),
            value: shape.to_string(),
            allowed: "must have sides of 1 to 1024 pixels, and 1 channel (grey) or 3 (red, green, blue)"
                .to_owned(),
        }))
    }

    /// Takes the shape of the first image that can be read, but at most 64 pixels a side. It has one channel when the
    /// first 100 images are all grey, else three.
    pub fn like(folder: &ImageFolder) -> Result<Self, Error> {
        let mut readable = readable(folder);
        let Some(first) = readable.next() else {
            return Err(bad(folder.root(), "holds no image that can be read"));
        };
        let grey = is_grey(&first) && readable.take(LOOKED_AT - 1).all(|image| is_grey(&image));
        let side = |length: u32| length.min(LONGEST_OWN_SIDE) as usize;
        Self::new(ImageShape {
            height: side(first.height()),
            width: side(first.width()),
            channels: if grey { 1 } else { 3 },
        })
    }

    /// Whether images are so large that their pixels say little: the first one that can be read has more than 64 pixels
    /// on a side. They need a backbone.
    pub fn are_too_small_for(folder: &ImageFolder) -> bool {
        let first = readable(folder).next();
        first.is_some_and(|image| image.width().max(image.height()) > LONGEST_OWN_SIDE)
    }

    /// The features of one image.
    pub(crate) fn row(self, image: &RgbImage) -> Vec<f32> {
        let (width, height) = (self.shape.width as u32, self.shape.height as u32);
        let image = to_size(image, width, height, Filter::Bilinear);
        let values = |pixel: &[u8; 3]| pixel.map(|value| f32::from(value) / 255.0);
        match self.shape.channels {
            1 => image.pixels().iter().map(|pixel| luma(values(pixel))).collect(),
            _ => image.pixels().iter().flat_map(values).collect(),
        }
    }
}

/// The images that can be read, one after the other.
fn readable(folder: &ImageFolder) -> impl Iterator<Item = RgbImage> {
    folder.images().iter().filter_map(|image| {
        let bytes = std::fs::read(&image.path).map_err(|cause| io_error(&image.path, cause));
        bytes.and_then(|bytes| decode(&image.path, &bytes)).ok()
    })
}

fn is_grey(image: &RgbImage) -> bool {
    image
        .pixels()
        .iter()
        .all(|[red, green, blue]| red == green && green == blue)
}

/// Brightness of red, green and blue (ITU-R BT.601).
fn luma([red, green, blue]: [f32; 3]) -> f32 {
    0.299 * red + 0.587 * green + 0.114 * blue
}
