//! A tiny ONNX backbone written by hand, and images to show to it.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)] // Shared by test binaries; a test may fail loudly.

use std::fs;
use std::path::{Path, PathBuf};

use autoactivator_data::RgbImage;

/// Just enough protobuf: fields one after the other. Field numbers are those of `onnx.proto`.
#[derive(Clone, Default)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn int(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub fn message(self, field: u64, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// A side of an input or output: fixed, or named.
#[derive(Clone, Copy)]
pub enum Side {
    Fixed(usize),
    Any(&'static str),
}

pub use Side::{Any, Fixed};

/// A 32-bit float input or output.
pub fn port(name: &str, sides: &[Side]) -> Message {
    let shape = sides.iter().fold(Message::default(), |shape, side| {
        let side = match side {
            Fixed(n) => Message::default().int(1, *n as u64),
            Any(name) => Message::default().text(2, name),
        };
        shape.message(1, &side)
    });
    let tensor = Message::default().int(1, 1).message(2, &shape);
    Message::default()
        .text(1, name)
        .message(2, &Message::default().message(1, &tensor))
}

pub fn node(operator: &str, inputs: &[&str], output: &str) -> Message {
    inputs
        .iter()
        .fold(Message::default(), |node, input| node.text(1, input))
        .text(2, output)
        .text(3, output)
        .text(4, operator)
}

/// An attribute of one integer.
pub fn integer(name: &str, value: u64) -> Message {
    Message::default().text(1, name).int(3, value).int(20, 2)
}

/// An attribute of some integers.
pub fn integers(name: &str, values: &[u64]) -> Message {
    let message = Message::default().text(1, name);
    values
        .iter()
        .fold(message, |message, &value| message.int(8, value))
        .int(20, 7)
}

pub fn weights(name: &str, shape: &[usize], values: &[f32]) -> Message {
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    shape
        .iter()
        .fold(Message::default(), |tensor, &side| tensor.int(1, side as u64))
        .int(2, 1)
        .text(8, name)
        .bytes(9, &raw)
}

pub fn model(nodes: &[Message], weights: &[Message], inputs: &[Message], outputs: &[Message]) -> Vec<u8> {
    let add = |field: u64| move |graph: Message, part: &Message| graph.message(field, part);
    let graph = nodes.iter().fold(Message::default(), add(1)).text(2, "tiny");
    let graph = weights.iter().fold(graph, add(5));
    let graph = inputs.iter().fold(graph, add(11));
    let graph = outputs.iter().fold(graph, add(12));
    let opset = Message::default().text(1, "").int(2, 17);
    let model = Message::default().int(1, 8).message(7, &graph).message(8, &opset);
    model.0
}

/// Features of [`tiny`].
pub const TINY_FEATURES: usize = 5;

/// Convolution, rectifier, mean over space: `map` (N, 5, H, W) and `features` (N, 5), for images of any size.
pub fn tiny(seed: u32, input: &[Side], outputs: &[Message]) -> Vec<u8> {
    let filters: Vec<f32> = (0..TINY_FEATURES as u32 * 3 * 9)
        .map(|i| ((i + 1).wrapping_mul(2_654_435_761 ^ seed) >> 8) as f32 / (1 << 24) as f32 - 0.5)
        .collect();
    let nodes = [
        node("Conv", &["image", "filters"], "responses").message(5, &integers("kernel_shape", &[3, 3])),
        node("Relu", &["responses"], "map"),
        node("GlobalAveragePool", &["map"], "pooled"),
        node("Flatten", &["pooled"], "features"),
    ];
    let filters = weights("filters", &[TINY_FEATURES, 3, 3, 3], &filters);
    model(&nodes, &[filters], &[port("image", input)], outputs)
}

/// Images of any number and size.
pub const ANY_IMAGES: [Side; 4] = [Any("N"), Fixed(3), Any("H"), Any("W")];

pub fn features_output() -> Message {
    port("features", &[Any("N"), Fixed(TINY_FEATURES)])
}

pub fn map_output() -> Message {
    port("map", &[Any("N"), Fixed(TINY_FEATURES), Any("H2"), Any("W2")])
}

/// Writes a tiny backbone with one output, at 16 pixels.
pub fn write_tiny(folder: &Path, name: &str, seed: u32) -> PathBuf {
    let path = folder.join(format!("{name}.onnx"));
    fs::write(&path, tiny(seed, &ANY_IMAGES, &[features_output()])).unwrap();
    fs::write(folder.join(format!("{name}.toml")), "size = 16").unwrap();
    path
}

/// A picture that differs from those of other seeds.
pub fn picture(width: u32, height: u32, seed: u32) -> RgbImage {
    let pixel = |x, y| [0, 1, 2].map(|c| ((x * (3 + seed) + y * (5 + c) + 40 * c + 17 * seed) % 256) as u8);
    let row = |y| (0..width).flat_map(move |x| pixel(x, y));
    RgbImage::new(width, height, (0..height).flat_map(row).collect()).unwrap()
}

/// The same image for the crate that writes files.
pub fn to_write(image: &RgbImage) -> image::RgbImage {
    image::RgbImage::from_raw(image.width(), image.height(), image.as_raw().to_vec()).unwrap()
}

/// What a file holds, read by the crate that wrote it.
pub fn read(path: &Path) -> RgbImage {
    let image = image::open(path).unwrap().into_rgb8();
    RgbImage::new(image.width(), image.height(), image.into_raw()).unwrap()
}

/// A folder per class with this many PNG images in each.
pub fn write_images(folder: &Path, classes: &[&str], images: u32) {
    for (number, class) in classes.iter().enumerate() {
        fs::create_dir_all(folder.join(class)).unwrap();
        for i in 0..images {
            let picture = picture(20 + i % 3, 18, number as u32 * 1000 + i);
            let path = folder.join(format!("{class}/{i:03}.png"));
            to_write(&picture).save(path).unwrap();
        }
    }
}
