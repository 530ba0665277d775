//! Which way up an image is: cameras write pixels as the sensor lies, and how to turn them into the EXIF data.

use super::RgbImage;

/// EXIF's tag of the orientation, and its type: one 16-bit number.
const ORIENTATION: u16 = 0x112;
const SHORT: u16 = 3;

/// Bytes of an entry of a directory.
const ENTRY: usize = 12;

/// EXIF's orientation, 1 to 8; 1, "as it is", when the data do not tell.
pub(super) fn orientation(exif: &[u8]) -> u8 {
    find(exif).filter(|found| (1..=8).contains(found)).unwrap_or(1)
}

fn find(exif: &[u8]) -> Option<u8> {
    let little_endian = match exif.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let number = |at: usize, length: usize| {
        let bytes = exif.get(at..at.checked_add(length)?)?;
        let append = |number: u32, byte: &u8| number << 8 | u32::from(*byte);
        Some(if little_endian {
            bytes.iter().rev().fold(0, append)
        } else {
            bytes.iter().fold(0, append)
        })
    };
    let short = |at: usize| number(at, 2).map(|number| number as u16);
    let directory = number(4, 4)? as usize;
    let entries = usize::from(short(directory)?);
    let mut entries = (0..entries).map(|entry| directory + 2 + ENTRY * entry);
    let is_orientation = |&at: &usize| {
        short(at) == Some(ORIENTATION) && short(at + 2) == Some(SHORT) && number(at + 4, 4) == Some(1)
    };
    u8::try_from(short(entries.find(is_orientation)? + 8)?).ok()
}

/// The image as it was seen.
pub(super) fn upright(image: RgbImage, orientation: u8) -> RgbImage {
    let (width, height) = (image.width(), image.height());
    let (right, bottom) = (width.saturating_sub(1), height.saturating_sub(1));
    // A size, and where each pixel is in what was written.
    match orientation {
        2 => rearranged(&image, [width, height], |x, y| (right - x, y)),
        3 => rearranged(&image, [width, height], |x, y| (right - x, bottom - y)),
        4 => rearranged(&image, [width, height], |x, y| (x, bottom - y)),
        5 => rearranged(&image, [height, width], |x, y| (y, x)),
        6 => rearranged(&image, [height, width], |x, y| (y, bottom - x)),
        7 => rearranged(&image, [height, width], |x, y| (right - y, bottom - x)),
        8 => rearranged(&image, [height, width], |x, y| (right - y, x)),
        _ => image,
    }
}

fn rearranged(
    image: &RgbImage,
    [width, height]: [u32; 2],
    source: impl Fn(u32, u32) -> (u32, u32),
) -> RgbImage {
    let (pixels, row) = (image.pixels(), image.width() as usize);
    let mut turned = RgbImage::black(width, height);
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let values = turned.as_raw_mut().as_chunks_mut().0;
    for (pixel, (x, y)) in values.iter_mut().zip(places) {
        let (from_x, from_y) = source(x, y);
        *pixel = pixels[from_y as usize * row + from_x as usize];
    }
    turned
}
