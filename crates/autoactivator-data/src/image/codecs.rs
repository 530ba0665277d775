//! The decoders of each format, and what they have in common: a head that tells the size, then samples.

use std::io::Cursor;

use image_webp::WebPDecoder;
use png::{Limits, Transformations};
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::orientation::orientation;

/// The longest side that is decoded, in pixels.
pub(super) const LONGEST_SIDE: u32 = 16_384;

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Jpeg,
    Png,
    WebP,
}

impl Format {
    /// The format that a file begins like.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            _ => None,
        }
    }
}

/// An image as its file has it.
pub(super) struct Raw {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Samples of a pixel: grey, grey and alpha, colour, or colour and alpha.
    pub(super) channels: usize,
    /// 8 bits each.
    pub(super) samples: Vec<u8>,
    /// EXIF's, 1 to 8.
    pub(super) orientation: u8,
}

/// Why an image is not decoded.
pub(super) enum Failure {
    Unsupported(String),
    TooLong,
    TooLarge,
    Damaged(String),
}

/// Decodes what is within the limits.
pub(super) fn raw(format: Format, bytes: &[u8], most_bytes: u64) -> Result<Raw, Failure> {
    match format {
        Format::Jpeg => jpeg(bytes, most_bytes),
        Format::Png => png(bytes, most_bytes),
        Format::WebP => webp(bytes, most_bytes),
    }
}

fn check_sides(width: u32, height: u32) -> Result<(), Failure> {
    if width.max(height) > LONGEST_SIDE {
        return Err(Failure::TooLong);
    }
    Ok(())
}

/// Room for the samples of an image that is within the limits.
fn room(width: u32, height: u32, bytes_per_pixel: usize, most_bytes: u64) -> Result<Vec<u8>, Failure> {
    check_sides(width, height)?;
    let bytes = u64::from(width) * u64::from(height) * bytes_per_pixel as u64;
    match usize::try_from(bytes) {
        Ok(length) if bytes <= most_bytes => Ok(vec![0; length]),
        _ => Err(Failure::TooLarge),
    }
}

fn jpeg(bytes: &[u8], most_bytes: u64) -> Result<Raw, Failure> {
    let failed = |error: DecodeErrors| match error {
        DecodeErrors::Unsupported(what) => Failure::Unsupported(format!("{what:?}")),
        DecodeErrors::LargeDimensions(_) => Failure::TooLong,
        error => Failure::Damaged(error.to_string()),
    };
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::MAX) // `room` says better what is too long
        .set_max_height(usize::MAX);
    let mut head = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    head.decode_headers().map_err(failed)?;
    let (Some((width, height)), Some(colours)) = (head.dimensions(), head.input_colorspace()) else {
        return Err(Failure::Damaged("it has no size".to_owned()));
    };
    let (width, height) = (width as u32, height as u32); // 16 bits in the file
    let (channels, colours) = match colours {
        ColorSpace::Luma => (1, colours),
        ColorSpace::LumaA => (2, colours),
        ColorSpace::RGBA => (4, colours),
        _ => (3, ColorSpace::RGB), // the decoder converts what has other colours
    };
    let mut samples = room(width, height, channels, most_bytes)?;
    let options = options.jpeg_set_out_colorspace(colours);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_into(&mut samples).map_err(failed)?;
    Ok(Raw {
        width,
        height,
        channels,
        samples,
        orientation: head.exif().map_or(1, |exif| orientation(exif)),
    })
}

fn png(bytes: &[u8], most_bytes: u64) -> Result<Raw, Failure> {
    let failed = |error: png::DecodingError| match error {
        png::DecodingError::LimitsExceeded => Failure::TooLarge,
        error => Failure::Damaged(error.to_string()),
    };
    let limits = Limits {
        bytes: usize::try_from(most_bytes).unwrap_or(usize::MAX),
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    let head = decoder.read_header_info().map_err(failed)?;
    let (width, height) = head.size();
    check_sides(width, height)?; // before more is read
    // Palettes and few bits become full samples; 16 bits stay, to be rounded below rather than cut off.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(failed)?;
    let (colours, depth) = reader.output_color_type();
    let channels = colours.samples();
    let deep = depth == png::BitDepth::Sixteen;
    let mut samples = room(width, height, channels * if deep { 2 } else { 1 }, most_bytes)?;
    reader.next_frame(&mut samples).map_err(failed)?;
    if deep {
        let round = |sample: &[u8; 2]| ((u32::from(u16::from_be_bytes(*sample)) + 128) / 257) as u8;
        samples = samples.as_chunks().0.iter().map(round).collect();
    }
    Ok(Raw {
        width,
        height,
        channels,
        samples,
        orientation: reader
            .info()
            .exif_metadata
            .as_ref()
            .map_or(1, |exif| orientation(exif)),
    })
}

fn webp(bytes: &[u8], most_bytes: u64) -> Result<Raw, Failure> {
    let failed = |error: image_webp::DecodingError| Failure::Damaged(error.to_string());
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(failed)?;
    decoder.set_memory_limit(usize::try_from(most_bytes).unwrap_or(usize::MAX));
    let (width, height) = decoder.dimensions();
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    let mut samples = room(width, height, channels, most_bytes)?;
    let exif = decoder.exif_metadata().map_err(failed)?;
    decoder.read_image(&mut samples).map_err(failed)?;
    Ok(Raw {
        width,
        height,
        channels,
        samples,
        orientation: exif.map_or(1, |exif| orientation(&exif)),
    })
}
