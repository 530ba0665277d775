//! Pixels of images as people have them: turned, grey, transparent, deep, damaged.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

mod common;

use std::io::Cursor;
use std::path::Path;

use autoactivator_data::{RgbImage, decode};
use common::{picture, to_write};
use image::{
    DynamicImage, GrayImage, ImageBuffer, ImageDecoder, ImageFormat, ImageReader, Luma, Rgb, Rgba, RgbaImage,
};

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn decoded(bytes: &[u8]) -> RgbImage {
    decode(Path::new("image"), bytes).unwrap()
}

/// A pixel.
fn at(image: &RgbImage, x: u32, y: u32) -> [u8; 3] {
    image.pixels()[(y * image.width() + x) as usize]
}

fn sides(image: &RgbImage) -> (u32, u32) {
    (image.width(), image.height())
}

fn error(bytes: &[u8]) -> String {
    decode(Path::new("folder/image.png"), bytes)
        .unwrap_err()
        .to_string()
}

/// A JPEG whose EXIF says how to turn it: the segment goes right after the start of the image.
fn with_orientation(jpeg: &[u8], orientation: u8) -> Vec<u8> {
    let tiff = [
        &b"Exif\0\0II*\0\x08\0\0\0\x01\0"[..], // one entry, little endian
        &[0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0], // orientation, a short
        &[0; 4],                               // no other directory
    ]
    .concat();
    let length = (tiff.len() as u16 + 2).to_be_bytes();
    [&jpeg[..2], &[0xff, 0xe1], &length, &tiff, &jpeg[2..]].concat()
}

#[test]
fn a_photo_is_turned_upright() {
    let left_red =
        image::RgbImage::from_fn(32, 16, |x, _| Rgb(if x < 16 { [255, 0, 0] } else { [0, 0, 255] }));
    let jpeg = encoded(&left_red.into(), ImageFormat::Jpeg);
    assert_eq!(sides(&decoded(&jpeg)), (32, 16));
    // 6: to be turned clockwise, so that the left comes to the top.
    let turned = decoded(&with_orientation(&jpeg, 6));
    assert_eq!(sides(&turned), (16, 32));
    let (top, bottom) = (at(&turned, 8, 4), at(&turned, 8, 28));
    assert!(top[0] > 200 && top[2] < 50, "{top:?}");
    assert!(bottom[2] > 200 && bottom[0] < 50, "{bottom:?}");
}

#[test]
fn png_and_lossless_webp_come_back_as_they_were() {
    let image = picture(21, 13, 7);
    for format in [ImageFormat::Png, ImageFormat::WebP] {
        assert_eq!(decoded(&encoded(&to_write(&image).into(), format)), image);
    }
}

#[test]
fn grey_becomes_three_channels() {
    let grey = GrayImage::from_fn(5, 4, |x, y| Luma([(40 * x + y) as u8]));
    let image = decoded(&encoded(&grey.clone().into(), ImageFormat::Png));
    assert!(
        grey.enumerate_pixels()
            .all(|(x, y, p)| at(&image, x, y) == [p.0[0]; 3])
    );
}

#[test]
fn what_is_transparent_is_laid_over_white() {
    let mut image = RgbaImage::new(3, 1);
    image.put_pixel(0, 0, Rgba([10, 20, 30, 255]));
    image.put_pixel(1, 0, Rgba([10, 20, 30, 0]));
    image.put_pixel(2, 0, Rgba([0, 100, 255, 128]));
    let image = decoded(&encoded(&image.into(), ImageFormat::Png));
    assert_eq!(image.as_raw(), [10, 20, 30, 255, 255, 255, 127, 177, 255]);
}

#[test]
fn sixteen_bits_become_eight() {
    let deep: ImageBuffer<Rgb<u16>, Vec<u16>> = ImageBuffer::from_pixel(2, 2, Rgb([0, 0x8080, 0xffff]));
    let image = decoded(&encoded(&deep.into(), ImageFormat::Png));
    assert_eq!(at(&image, 1, 1), [0, 0x80, 0xff]);
}

/// What the image crate makes of the same bytes; it has the same decoders, but ways of its own from there.
fn by_the_image_crate(bytes: &[u8]) -> Vec<u8> {
    let reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .unwrap();
    let mut decoder = reader.into_decoder().unwrap();
    let orientation = decoder.orientation().unwrap();
    let mut image = DynamicImage::from_decoder(decoder).unwrap();
    image.apply_orientation(orientation);
    let over_white = |pixel: &Rgba<u8>| {
        let [red, green, blue, alpha] = pixel.0.map(u32::from);
        [red, green, blue].map(|value| ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8)
    };
    image.to_rgba8().pixels().flat_map(over_white).collect()
}

#[test]
fn pixels_are_those_of_the_image_crate() {
    // Every value that 16 bits can have, next to others.
    let deep: ImageBuffer<Rgba<u16>, Vec<u16>> = ImageBuffer::from_fn(256, 256, |x, y| {
        let value = (256 * y + x) as u16;
        Rgba([value, !value, value.rotate_left(4), value.rotate_left(8)])
    });
    let deep = DynamicImage::from(deep);
    let kinds: [DynamicImage; 8] = [
        deep.to_luma8().into(),
        deep.to_luma16().into(),
        deep.to_luma_alpha8().into(),
        deep.to_luma_alpha16().into(),
        deep.to_rgb8().into(),
        deep.to_rgb16().into(),
        deep.to_rgba8().into(),
        deep,
    ];
    for image in &kinds {
        let png = encoded(image, ImageFormat::Png);
        assert_eq!(
            decoded(&png).as_raw(),
            by_the_image_crate(&png),
            "{:?}",
            image.color()
        );
    }
    for image in [&kinds[4], &kinds[6]] {
        let webp = encoded(image, ImageFormat::WebP);
        assert_eq!(
            decoded(&webp).as_raw(),
            by_the_image_crate(&webp),
            "{:?}",
            image.color()
        );
    }
    for image in [&kinds[0], &kinds[4]] {
        let jpeg = encoded(&image.crop_imm(0, 0, 101, 67), ImageFormat::Jpeg);
        for orientation in 0..=9 {
            let jpeg = with_orientation(&jpeg, orientation);
            let expected = by_the_image_crate(&jpeg);
            assert_eq!(
                decoded(&jpeg).as_raw(),
                expected,
                "{:?} {orientation}",
                image.color()
            );
        }
    }
}

#[test]
fn damaged_files_are_named() {
    let photo = to_write(&picture(64, 64, 1)).into();
    let png = encoded(&photo, ImageFormat::Png);
    let jpeg = encoded(&photo, ImageFormat::Jpeg);
    let webp = encoded(&photo, ImageFormat::WebP);
    for bytes in [
        &b""[..],
        b"text, not an image",
        b"GIF89a..",
        &png[..png.len() / 2],
        &webp[..webp.len() / 2],
    ] {
        assert!(
            error(bytes).starts_with("folder/image.png: is "),
            "{}",
            error(bytes)
        );
    }
    // Cut anywhere, even behind a thumbnail that is whole.
    let thumbnail = [&jpeg[..2], &[0xff, 0xe1, 0, 6], b"..", &[0xff, 0xd9], &jpeg[2..]].concat();
    assert_eq!(sides(&decoded(&thumbnail)), (64, 64));
    for cut in (3..jpeg.len() - 2).step_by(40) {
        assert!(error(&jpeg[..cut]).contains(": is "), "{cut}");
        assert!(error(&thumbnail[..cut + 8]).contains(": is "), "{cut}");
    }
    assert!(error(&jpeg[..20]).contains("damaged"), "{}", error(&jpeg[..20]));
}

/// The head of a PNG that claims this size; nothing after it.
fn claims(width: u32, height: u32) -> Vec<u8> {
    let mut head = b"IHDR".to_vec();
    head.extend(width.to_be_bytes());
    head.extend(height.to_be_bytes());
    head.extend([8, 2, 0, 0, 0]);
    let mut checksum = !0_u32;
    for &byte in &head {
        checksum ^= u32::from(byte);
        for _ in 0..8 {
            checksum = checksum >> 1 ^ (0xedb8_8320 & (checksum & 1).wrapping_neg());
        }
    }
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    png.extend(head);
    png.extend((!checksum).to_be_bytes());
    png.extend(*b"\0\0\0\x01IDAT");
    png
}

#[test]
fn huge_images_are_refused_before_they_are_decoded() {
    let long = error(&claims(20_000, 10));
    assert!(long.contains("larger than 16384 pixels a side"), "{long}");
    let large = error(&claims(16_000, 16_000));
    assert!(large.contains("more than 512 MB"), "{large}");
}
