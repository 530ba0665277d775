//! Small pictures as text that a page can hold, so that the page needs no other file.

use std::path::Path;

use autoactivator::ImageShape;

use super::{RgbImage, decode, decode_within};
use crate::error::{Error, bad};

/// The longest side of a thumbnail, in pixels.
const SIDE: u32 = 96;

/// The 64 characters that bytes are written with.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The image in a file as a `data:` address, at most 96 pixels a side.
pub fn thumbnail(path: &Path) -> Result<String, Error> {
    let bytes = std::fs::read(path).map_err(|error| bad(path, error.to_string()))?;
    Ok(address(&decode(path, &bytes)?.thumbnail(SIDE)))
}

/// The same of an image that came as bytes, which may take at most `most_bytes` of memory; `name` is its name in errors.
pub fn thumbnail_of(name: &Path, bytes: &[u8], most_bytes: u64) -> Result<String, Error> {
    Ok(address(&decode_within(name, bytes, most_bytes)?.thumbnail(SIDE)))
}

/// A row of pixels as a `data:` address, from its darkest value to its brightest; none unless it has this shape, of one or
/// three channels.
pub fn drawn(row: &[f32], shape: ImageShape) -> Option<String> {
    let ImageShape {
        height,
        width,
        channels,
    } = shape;
    if row.len() != shape.n_values() || ![1, 3].contains(&channels) {
        return None;
    }
    let lowest = row.iter().copied().fold(f32::INFINITY, f32::min);
    let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let range = (highest - lowest).max(f32::MIN_POSITIVE);
    let value = |v: f32| ((v - lowest) / range * 255.0).round() as u8;
    let values = row.chunks(channels).flat_map(|pixel| {
        let last = pixel.len() - 1;
        [0, 1, 2].map(|at: usize| value(pixel[at.min(last)]))
    });
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    Some(address(&RgbImage::new(width, height, values.collect())?))
}

/// A PNG file as a `data:` address; an empty one if it cannot be written.
fn address(image: &RgbImage) -> String {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, image.width(), image.height());
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(image.as_raw())?;
        writer.finish()
    });
    match written {
        Ok(()) => format!("data:image/png;base64,{}", base64(&file)),
        Err(_) => String::new(),
    }
}

/// Bytes in base 64.
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at > three.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_everywhere() {
        let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let written = texts.map(|text| base64(text.as_bytes()));
        assert_eq!(
            written,
            ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]
        );
    }

    #[test]
    fn a_row_is_drawn_only_if_it_is_an_image() {
        let shape = ImageShape {
            height: 2,
            width: 3,
            channels: 1,
        };
        assert!(
            drawn(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], shape)
                .is_some_and(|text| text.starts_with("data:image/png"))
        );
        assert!(drawn(&[1.0; 6], shape).is_some(), "all of one brightness");
        assert_eq!(drawn(&[0.0; 5], shape), None);
        assert_eq!(drawn(&[0.0; 12], ImageShape { channels: 2, ..shape }), None);
    }
}
