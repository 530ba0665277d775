//! From the bytes of a file to upright pixels in red, green and blue.
//!
//! Images come from strangers: sizes are limited before anything is decoded, and a damaged file is refused.

use std::path::Path;

use super::codecs::{Failure, Format, LONGEST_SIDE, Raw, raw};
use super::orientation::upright;
use super::{RgbImage, foreign, jpeg};
use crate::error::{Error, bad};

/// The most memory that an image may take.
const MOST_BYTES: u64 = 512 << 20;

/// Decodes a JPEG, PNG or WebP image, whatever the file is called.
///
/// `path` is its name in errors. The image is turned upright as its EXIF orientation says, grey becomes three equal
/// channels, 16 bits become 8, and transparent pixels are laid over white. An image of more than 16,384 pixels a side, or
/// of more than 512 MB, is refused before it is decoded.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<RgbImage, Error> {
    decode_within(path, bytes, MOST_BYTES)
}

/// Decodes an image as [`decode`] does, but allows it at most `most_bytes` of memory.
pub(crate) fn decode_within(path: &Path, bytes: &[u8], most_bytes: u64) -> Result<RgbImage, Error> {
    if bytes.is_empty() {
        return Err(bad(path, "is an empty file, not an image"));
    }
    let Some(format) = Format::of(bytes) else {
        let reason = match foreign::kind_of(bytes) {
            Some(kind) => format!("is a {kind} image, which is not read: {}", foreign::REMEDY),
            None => "is no JPEG, PNG or WebP image".to_owned(),
        };
        return Err(bad(path, reason));
    };
    if format == Format::Jpeg && !jpeg::is_whole(bytes) {
        return Err(bad(path, "is damaged: the end of the JPEG is missing"));
    }
    let raw = raw(format, bytes, most_bytes).map_err(|failure| bad(path, reason(failure, most_bytes)))?;
    if raw.width == 0 || raw.height == 0 {
        return Err(bad(path, "has no pixels"));
    }
    let orientation = raw.orientation;
    let image = in_colour(raw).ok_or_else(|| bad(path, "is damaged: it has too few pixels"))?;
    Ok(upright(image, orientation))
}

/// Three channels, whatever there were.
fn in_colour(raw: Raw) -> Option<RgbImage> {
    let samples = raw.samples;
    let values = match raw.channels {
        1 => samples.iter().flat_map(|&grey| [grey; 3]).collect(),
        2 => each(&samples, |[grey, alpha]| over_white([grey; 3], alpha)),
        4 => each(&samples, |[red, green, blue, alpha]| {
            over_white([red, green, blue], alpha)
        }),
        _ => samples,
    };
    RgbImage::new(raw.width, raw.height, values)
}

fn each<const N: usize>(samples: &[u8], pixel: impl Fn([u8; N]) -> [u8; 3]) -> Vec<u8> {
    samples
        .as_chunks()
        .0
        .iter()
        .flat_map(|&samples| pixel(samples))
        .collect()
}

fn over_white(colour: [u8; 3], alpha: u8) -> [u8; 3] {
    let alpha = u32::from(alpha);
    colour.map(|value| ((u32::from(value) * alpha + 255 * (255 - alpha) + 127) / 255) as u8)
}

fn reason(failure: Failure, most_bytes: u64) -> String {
    match failure {
        Failure::Unsupported(what) => format!("is a JPEG that cannot be decoded: {what}"),
        Failure::TooLong => format!("is larger than {LONGEST_SIDE} pixels a side: make it smaller"),
        Failure::TooLarge => format!(
            "takes more than {} MB once decoded: make it smaller",
            most_bytes >> 20
        ),
        Failure::Damaged(how) => format!("is damaged: {how}"),
    }
}
