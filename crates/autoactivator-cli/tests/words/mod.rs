//! A tiny sentence encoder: each word has a vector, and a sentence is the mean of them.

#![allow(dead_code)] // Each test file uses its part.

use serde_json::{Map, Value, json};

use super::common::Workplace;

/// Features of a sentence.
const FEATURES: usize = 6;

/// The tokens, the frame first; every other word is `[UNK]`.
const TOKENS: [&str; 12] = [
    "[CLS]", "[SEP]", "[UNK]", "how", "are", "you", "what", "is", "the", "time", "my", "name",
];

/// Writes an encoder into a folder.
pub fn write(place: &Workplace, folder: &str) {
    place.write(&format!("{folder}/model.onnx"), network());
    place.write(&format!("{folder}/tokenizer.json"), tokenizer().to_string());
}

/// Sentences with their classes, as csv; every class has words of its own.
pub fn intents(n: usize) -> String {
    let mut text = "text,intent\n".to_owned();
    for row in 0..n {
        let (a, b) = (row % 3, row % 4);
        text += &format!(
            "\"how {}are you{}\",greeting\n",
            "really ".repeat(a),
            " today".repeat(b)
        );
        text += &format!(
            "what is the time{} now{},time\n",
            " please".repeat(a),
            " then".repeat(b)
        );
    }
    text
}

fn tokenizer() -> Value {
    let words = TOKENS.iter().enumerate();
    let vocabulary: Map<String, Value> = words.map(|(id, word)| ((*word).to_owned(), json!(id))).collect();
    let special = |token: &str| json!({ "SpecialToken": { "id": token, "type_id": 0 } });
    let one = |token: &str, id: u32| json!({ "id": token, "ids": [id], "tokens": [token] });
    let frame = json!([special("[CLS]"), { "Sequence": { "id": "A", "type_id": 0 } }, special("[SEP]")]);
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": { "type": "Whitespace" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": frame,
            "pair": frame,
            "special_tokens": { "[CLS]": one("[CLS]", 0), "[SEP]": one("[SEP]", 1) },
        },
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" },
    })
}

/// Just enough of ONNX: the vector of each token, called `last_hidden_state`.
fn network() -> Vec<u8> {
    let vectors: Vec<u8> = (0..(TOKENS.len() * FEATURES) as u32)
        .flat_map(|i| {
            let bits = (i + 1).wrapping_mul(2_654_435_761) >> 8;
            (bits as f32 / (1 << 24) as f32 - 0.5).to_le_bytes()
        })
        .collect();
    let table = Message::default()
        .int(1, TOKENS.len() as u64)
        .int(1, FEATURES as u64)
        .int(2, 1)
        .text(8, "vectors")
        .bytes(9, &vectors);
    let gather = Message::default()
        .text(1, "vectors")
        .text(1, "input_ids")
        .text(2, "last_hidden_state")
        .text(3, "last_hidden_state")
        .text(4, "Gather");
    let graph = Message::default()
        .bytes(1, &gather.0)
        .text(2, "tiny")
        .bytes(5, &table.0)
        .bytes(11, &port("input_ids", 7, &[None, None]).0)
        .bytes(11, &port("attention_mask", 7, &[None, None]).0)
        .bytes(
            12,
            &port("last_hidden_state", 1, &[None, None, Some(FEATURES as u64)]).0,
        );
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

/// An input or output of this kind of values; sides without a number are of any length.
fn port(name: &str, kind: u64, sides: &[Option<u64>]) -> Message {
    let shape = sides
        .iter()
        .enumerate()
        .fold(Message::default(), |shape, (at, side)| {
            let side = match side {
                Some(n) => Message::default().int(1, *n),
                None => Message::default().text(2, ["n", "t"][at]),
            };
            shape.bytes(1, &side.0)
        });
    let tensor = Message::default().int(1, kind).bytes(2, &shape.0);
    let kind = Message::default().bytes(1, &tensor.0);
    Message::default().text(1, name).bytes(2, &kind.0)
}
