//! From pixels to the tensor that a backbone was trained on: resized, normalised, in its order of dimensions.

use super::runtime::Tensor;
use crate::image::{RgbImage, square};
use crate::origin::{Channels, Layout, Settings};

/// Values of a pixel.
const COLOURS: usize = RgbImage::CHANNELS;

/// The images as one batch, padded with zeros to `n_images`.
pub(super) fn tensor(images: &[&RgbImage], n_images: usize, settings: &Settings) -> Tensor {
    let side = settings.size;
    let mut values = Vec::with_capacity(n_images * COLOURS * side * side);
    for image in images {
        let image = square(image, side as u32, settings.resize, settings.filter);
        append(&mut values, &image, settings);
    }
    values.resize(n_images * COLOURS * side * side, 0.0);
    let shape = match settings.layout {
        Layout::Nchw => [n_images, COLOURS, side, side],
        Layout::Nhwc => [n_images, side, side, COLOURS],
    };
    Tensor {
        shape: shape.to_vec(),
        values,
    }
}

/// The same batch with every image mirrored, left for right.
pub(super) fn mirrored(mut batch: Tensor, settings: &Settings) -> Tensor {
    let side = settings.size;
    match settings.layout {
        Layout::Nchw => batch.values.chunks_exact_mut(side).for_each(<[f32]>::reverse),
        Layout::Nhwc => batch.values.chunks_exact_mut(side * COLOURS).for_each(|row| {
            row.reverse();
            row.chunks_exact_mut(COLOURS).for_each(<[f32]>::reverse);
        }),
    }
    batch
}

fn append(values: &mut Vec<f32>, image: &RgbImage, settings: &Settings) {
    let value = |pixel: &[u8], channel: usize| {
        let colour = match settings.channels {
            Channels::Rgb => pixel[channel],
            Channels::Bgr => pixel[COLOURS - 1 - channel],
        };
        (f32::from(colour) - settings.mean[channel]) / settings.scale[channel]
    };
    let pixels = || image.as_raw().chunks_exact(COLOURS);
    match settings.layout {
        Layout::Nchw => {
            for channel in 0..COLOURS {
                values.extend(pixels().map(|pixel| value(pixel, channel)));
            }
        }
        Layout::Nhwc => values.extend(pixels().flat_map(|pixel| [0, 1, 2].map(|c| value(pixel, c)))),
    }
}
