//! How an image of any shape becomes one of the size that a backbone takes.
//!
//! Which part of the image is taken is decided here; `resample` computes the pixels.

use super::RgbImage;
use super::resample::{Span, resample};
use crate::origin::{Filter, Resize};

/// A square image with sides of `side` pixels.
pub(crate) fn square(image: &RgbImage, side: u32, resize: Resize, filter: Filter) -> RgbImage {
    match resize {
        Resize::Stretch => to_size(image, side, side, filter),
        Resize::Crop(share) => {
            let short = image.width().min(image.height()) as f32;
            let scale = (side as f32 / share).round() / short;
            let middle = |length: u32| Span::middle(length, scale, side);
            resample(image, middle(image.width()), middle(image.height()), filter)
        }
    }
}

/// The image at this width and height.
pub(super) fn to_size(image: &RgbImage, width: u32, height: u32, filter: Filter) -> RgbImage {
    let across = Span::whole(image.width(), width);
    let down = Span::whole(image.height(), height);
    resample(image, across, down, filter)
}
