//! From the bytes of a file to upright pixels in red, green and blue.
//!
//! Images come from strangers: sizes are limited before anything is decoded, and a damaged file is refused.

use std::io::Cursor;
use std::path::Path;

/// An image of red, green and blue bytes. It is deliberately the type of the crate `image`, so that images can be passed
/// to and from other code that uses that crate.
pub use image::RgbImage;
use image::error::{ImageError, LimitErrorKind};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, Rgb};

use super::jpeg;
use crate::error::{Error, bad};

/// The longest side that is decoded, in pixels.
const LONGEST_SIDE: u32 = 16_384;

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
    if image::guess_format(bytes).is_ok_and(|format| format == ImageFormat::Jpeg) && !jpeg::is_whole(bytes) {
        return Err(bad(path, "is damaged: the end of the JPEG is missing"));
    }
    let image = upright(bytes, most_bytes).map_err(|error| bad(path, reason(&error, most_bytes)))?;
    if image.width() == 0 || image.height() == 0 {
        return Err(bad(path, "has no pixels"));
    }
    Ok(if image.color().has_alpha() {
        over_white(&image)
    } else {
        image.into_rgb8()
    })
}

fn upright(bytes: &[u8], most_bytes: u64) -> Result<DynamicImage, ImageError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(most_bytes);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder()?;
    // The reader does not count the memory of the decoded pixels.
    limits.reserve(decoder.total_bytes())?;
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(image)
}

fn over_white(image: &DynamicImage) -> RgbImage {
    let image = image.to_rgba8();
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let [red, green, blue, alpha] = image.get_pixel(x, y).0.map(u32::from);
        Rgb([red, green, blue].map(|value| ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8))
    })
}

fn reason(error: &ImageError, most_bytes: u64) -> String {
    match error {
        ImageError::Unsupported(_) => {
            format!("is not a JPEG, PNG or WebP image that can be decoded: {error}")
        }
        ImageError::Limits(limit) => match limit.kind() {
            LimitErrorKind::DimensionError => {
                format!("is larger than {LONGEST_SIDE} pixels a side: make it smaller")
            }
            _ => format!(
                "takes more than {} MB once decoded: make it smaller",
                most_bytes >> 20
            ),
        },
        _ => format!("is damaged: {error}"),
    }
}
