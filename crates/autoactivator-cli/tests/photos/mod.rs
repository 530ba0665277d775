//! Photographs of simple things, and a tiny backbone that sees colours.

#![allow(dead_code, clippy::unwrap_used)] // Each test file uses its part; a test may fail loudly.

use image::imageops::FilterType;
use image::{Rgb, RgbImage};

use super::common::Workplace;

/// Writes `n` photographs of a class: its own colour and stripes, and some noise; as JPEG, PNG and WebP by turns.
pub fn write(place: &Workplace, folder: &str, class: &str, n: u32) {
    for number in 0..n {
        let ending = ["jpg", "png", "webp"][number as usize % 3];
        let path = place.write(&format!("{folder}/{class}/{number:03}.{ending}"), b"");
        photograph(class, number).save(path).unwrap();
    }
}

/// Writes `n` photographs of a class that are too large for their pixels to be features.
pub fn write_large(place: &Workplace, folder: &str, class: &str, n: u32) {
    for number in 0..n {
        let path = place.write(&format!("{folder}/{class}/{number:03}.png"), b"");
        let large = image::imageops::resize(&photograph(class, number), 96, 80, FilterType::Nearest);
        large.save(path).unwrap();
    }
}

/// A photograph of 24 × 20 pixels.
pub fn photograph(class: &str, number: u32) -> RgbImage {
    let name: u32 = class
        .bytes()
        .fold(7, |sum, letter| sum * 31 % 65_521 + u32::from(letter));
    let colour = [name % 256, name / 3 % 256, name / 7 % 256];
    RgbImage::from_fn(24, 20, |x, y| {
        let noise = (x * 31 + y * 17 + number * 101).wrapping_mul(2_654_435_761) >> 28;
        let stripe = if (x / (2 + name % 4)).is_multiple_of(2) {
            0
        } else {
            40
        };
        Rgb(colour.map(|value| (value + noise + stripe).min(255) as u8))
    })
}

/// What the backbones of [`backbone`] want to see, as the file beside them says it.
pub const SETTINGS: &str = "size = 32\nmean = [128, 128, 128]\nscale = [64, 64, 64]\n";

/// Just enough of ONNX: a convolution of 8 filters, a rectifier, and the mean over space, called `features`.
pub fn backbone(seed: u32) -> Vec<u8> {
    let n = 8;
    let filters: Vec<u8> = (0..n * 27)
        .flat_map(|i| {
            let bits = (i + 1_u32).wrapping_mul(2_654_435_761 ^ seed) >> 8;
            (bits as f32 / (1 << 24) as f32 - 0.5).to_le_bytes()
        })
        .collect();
    let tensor = [n, 3, 3, 3]
        .into_iter()
        .fold(Message::default(), |tensor, side| tensor.int(1, side.into()))
        .int(2, 1)
        .text(8, "filters")
        .bytes(9, &filters);
    let graph = [
        node("Conv", &["image", "filters"], "responses")
            .bytes(5, &integers("kernel_shape", &[3, 3]).0)
            .bytes(5, &integers("strides", &[1, 1]).0)
            .bytes(5, &integers("dilations", &[1, 1]).0)
            .bytes(5, &integers("pads", &[0, 0, 0, 0]).0),
        node("Relu", &["responses"], "map"),
        node("GlobalAveragePool", &["map"], "pooled"),
        node("Flatten", &["pooled"], "features"),
    ]
    .iter()
    .fold(Message::default(), |graph, node| graph.bytes(1, &node.0))
    .text(2, "tiny")
    .bytes(5, &tensor.0)
    .bytes(11, &port("image", &[None, Some(3), None, None]).0)
    .bytes(12, &port("features", &[None, Some(n.into())]).0);
    let opset = Message::default().text(1, "").int(2, 17);
    Message::default()
        .int(1, 8)
        .bytes(7, &graph.0)
        .bytes(8, &opset.0)
        .0
}

/// A graph of one node that no runtime knows.
pub fn strange_backbone() -> Vec<u8> {
    let graph = Message::default()
        .bytes(1, &node("Frobnicate", &["image"], "features").0)
        .text(2, "strange")
        .bytes(11, &port("image", &[None, Some(3), None, None]).0)
        .bytes(12, &port("features", &[None, Some(8)]).0);
    let opset = Message::default().text(1, "").int(2, 17);
    Message::default()
        .int(1, 8)
        .bytes(7, &graph.0)
        .bytes(8, &opset.0)
        .0
}

/// Protobuf fields one after the other; their numbers are those of `onnx.proto`.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn int(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Message {
    inputs
        .iter()
        .fold(Message::default(), |node, input| node.text(1, input))
        .text(2, output)
        .text(3, output)
        .text(4, operator)
}

/// An attribute of some integers.
fn integers(name: &str, values: &[u64]) -> Message {
    let attribute = Message::default().text(1, name);
    let attribute = values
        .iter()
        .fold(attribute, |attribute, &value| attribute.int(8, value));
    attribute.int(20, 7)
}

/// A 32-bit float input or output; sides without a number are of any length.
fn port(name: &str, sides: &[Option<u64>]) -> Message {
    let shape = sides.iter().fold(Message::default(), |shape, side| {
        let side = match side {
            Some(n) => Message::default().int(1, *n),
            None => Message::default().text(2, "any"),
        };
        shape.bytes(1, &side.0)
    });
    let tensor = Message::default().int(1, 1).bytes(2, &shape.0);
    let kind = Message::default().bytes(1, &tensor.0);
    Message::default().text(1, name).bytes(2, &kind.0)
}
