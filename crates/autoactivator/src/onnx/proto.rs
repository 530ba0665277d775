//! Just enough protobuf to write an ONNX file: the wire format, and the messages that a model needs.
//!
//! Field numbers and codes are those of `onnx.proto`. Files are only written here, never read.

const VARINT: u64 = 0;
const LENGTH_DELIMITED: u64 = 2;

/// A message under construction, its fields one after the other.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// The bytes of the message on the wire.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Adds an integer.
    pub fn int(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3 | VARINT);
        // Negative numbers travel as their two's complement.
        self.varint(value as u64);
        self
    }

    /// Adds a repeated integer.
    pub fn ints(self, field: u64, values: impl IntoIterator<Item = i64>) -> Self {
        values
            .into_iter()
            .fold(self, |message, value| message.int(field, value))
    }

    /// Adds bytes.
    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | LENGTH_DELIMITED);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a text.
    pub fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a message.
    pub fn message(self, field: u64, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    /// Adds a repeated message.
    pub fn messages<'a>(self, field: u64, messages: impl IntoIterator<Item = &'a Message>) -> Self {
        messages
            .into_iter()
            .fold(self, |parent, message| parent.message(field, message))
    }

    /// Writes seven bits per byte, the lowest first; the highest bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// Type of a tensor's elements.
#[derive(Clone, Copy)]
pub enum Element {
    /// `float32`.
    Float = 1,
    /// `int64`.
    Int = 7,
}

/// A constant tensor; `little_endian` holds its values row after row.
pub fn tensor(name: &str, element: Element, shape: &[usize], little_endian: &[u8]) -> Message {
    Message::default()
        .ints(1, shape.iter().map(|&n| n as i64)) // dims
        .int(2, element as i64) // data_type
        .text(8, name)
        .bytes(9, little_endian) // raw_data
}

/// A value that enters or leaves the graph: a batch of any size of items of this shape.
pub fn batch(name: &str, element: Element, item: &[usize]) -> Message {
    let any = Message::default().text(2, "batch"); // dim_param
    let sides = item.iter().map(|&n| Message::default().int(1, n as i64)); // dim_value
    let shape = sides.fold(Message::default().message(1, &any), |shape, side| {
        shape.message(1, &side)
    });
    let tensor = Message::default().int(1, element as i64).message(2, &shape); // elem_type, shape
    Message::default()
        .text(1, name)
        .message(2, &Message::default().message(1, &tensor)) // type, tensor_type
}

/// An attribute of an operator.
pub enum Attribute {
    /// One integer.
    Int(&'static str, i64),
    /// Several integers.
    Ints(&'static str, Vec<i64>),
}

impl Attribute {
    fn message(&self) -> Message {
        let (name, message, kind) = match self {
            Self::Int(name, value) => (name, Message::default().int(3, *value), 2),
            Self::Ints(name, values) => (name, Message::default().ints(8, values.iter().copied()), 7),
        };
        message.text(1, name).int(20, kind)
    }
}

/// An operator applied to named inputs; the node is named after its one output.
pub fn node<'a>(
    operator: &str,
    inputs: impl IntoIterator<Item = &'a str>,
    output: &str,
    attributes: &[Attribute],
) -> Message {
    let attributes: Vec<Message> = attributes.iter().map(Attribute::message).collect();
    inputs
        .into_iter()
        .fold(Message::default(), |node, input| node.text(1, input))
        .text(2, output)
        .text(3, output) // name
        .text(4, operator)
        .messages(5, &attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_protobuf_documentation() {
        assert_eq!(Message::default().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::default().text(2, "testing");
        assert_eq!(text.into_bytes(), b"\x12\x07testing");
        let inner = Message::default().int(1, 150);
        let outer = Message::default().message(3, &inner).into_bytes();
        assert_eq!(outer, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        let negative = Message::default().int(1, -2).into_bytes();
        assert_eq!(
            negative,
            [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
        );
    }

    #[test]
    fn a_high_field_number_takes_two_bytes() {
        assert_eq!(Message::default().int(20, 2).into_bytes(), [0xa0, 0x01, 0x02]);
    }
}
