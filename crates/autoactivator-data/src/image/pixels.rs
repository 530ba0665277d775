//! Pixels as features, for small images that need no backbone.

use autoactivator::ImageShape;

use super::resize::to_size;
use super::{Filter, ImageFolder, RgbImage, decode};
use crate::error::{Error, bad, io_error};

/// The longest side that is taken from the images themselves: more than that asks for a backbone.
const LONGEST_SIDE: u32 = 64;

/// The longest side that may be asked for.
const MOST_GIVEN: usize = 1024;

/// How many images are looked at to see whether they are grey.
const LOOKED_AT: usize = 100;

/// Turns each image into its pixels, 0 to 1, in the order of [`ImageShape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// What each image is resized to.
    pub shape: ImageShape,
}

impl Pixels {
    /// Takes pixels at this shape.
    pub fn new(shape: ImageShape) -> Result<Self, Error> {
        let sides = 1..=MOST_GIVEN;
        if matches!(shape.channels, 1 | 3) && sides.contains(&shape.height) && sides.contains(&shape.width) {
            return Ok(Self { shape });
        }
        Err(Error::Method(autoactivator::Error::Parameter {
            name: "image",
            value: shape.to_string(),
            allowed: "sides of 1 to 1024 pixels, and 1 channel (grey) or 3 (red, green, blue)",
        }))
    }

    /// Takes the shape of the first image that can be read, of at most 64 pixels a side, with one channel when all of
    /// the first 100 images are grey.
    pub fn like(folder: &ImageFolder) -> Result<Self, Error> {
        let mut readable = folder.images().iter().filter_map(|image| {
            let bytes = std::fs::read(&image.path).map_err(|cause| io_error(&image.path, cause));
            bytes.and_then(|bytes| decode(&image.path, &bytes)).ok()
        });
        let Some(first) = readable.next() else {
            return Err(bad(folder.root(), "holds no image that can be read"));
        };
        let grey = is_grey(&first) && readable.take(LOOKED_AT - 1).all(|image| is_grey(&image));
        let side = |length: u32| length.min(LONGEST_SIDE) as usize;
        Self::new(ImageShape {
            height: side(first.height()),
            width: side(first.width()),
            channels: if grey { 1 } else { 3 },
        })
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
