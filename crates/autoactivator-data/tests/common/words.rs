//! A tiny sentence encoder written by hand: each word has a vector, and the output is that of every token.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::common::{Any, Fixed, Message, Side, model, node, port, weights};

/// Features of the encoders of [`write`].
pub const FEATURES: usize = 6;

/// The words that the tokenizer knows; every other one is `[UNK]`.
pub const WORDS: [&str; 9] = ["how", "are", "you", "what", "is", "the", "time", "my", "name"];

/// Tokens that frame sentences, before the words.
const FRAME: [&str; 3] = ["[CLS]", "[SEP]", "[UNK]"];

/// An input of 64-bit integers.
pub fn integers_port(name: &str, sides: &[Side]) -> Message {
    let shape = sides.iter().fold(Message::default(), |shape, side| {
        let side = match side {
            Fixed(n) => Message::default().int(1, *n as u64),
            Any(name) => Message::default().text(2, name),
        };
        shape.message(1, &side)
    });
    let tensor = Message::default().int(1, 7).message(2, &shape);
    Message::default()
        .text(1, name)
        .message(2, &Message::default().message(1, &tensor))
}

/// A network with vectors for this many tokens, and these inputs.
pub fn network(n_tokens: usize, inputs: &[&str]) -> Vec<u8> {
    let vectors: Vec<f32> = (0..(n_tokens * FEATURES) as u32)
        .map(|i| ((i + 1).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32 - 0.5)
        .collect();
    let sentences = [Any("N"), Any("T")];
    let inputs: Vec<Message> = inputs
        .iter()
        .map(|name| integers_port(name, &sentences))
        .collect();
    model(
        &[node("Gather", &["vectors", "input_ids"], "last_hidden_state")],
        &[weights("vectors", &[n_tokens, FEATURES], &vectors)],
        &inputs,
        &[port("last_hidden_state", &[Any("N"), Any("T"), Fixed(FEATURES)])],
    )
}

/// A tokenizer of [`WORDS`].
pub fn tokenizer() -> Value {
    let tokens = || FRAME.iter().chain(&WORDS).enumerate();
    let vocabulary: serde_json::Map<String, Value> = tokens()
        .map(|(id, word)| ((*word).to_owned(), json!(id)))
        .collect();
    let special = |token: &str| json!({ "SpecialToken": { "id": token, "type_id": 0 } });
    let sentence = json!({ "Sequence": { "id": "A", "type_id": 0 } });
    let one = |token: &str, id: u32| json!({ "id": token, "ids": [id], "tokens": [token] });
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": { "strategy": { "Fixed": 16 }, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[CLS]" },
        "added_tokens": [],
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": { "type": "Whitespace" },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]"), sentence, special("[SEP]")],
            "pair": [special("[CLS]"), sentence, special("[SEP]"), { "Sequence": { "id": "B", "type_id": 1 } }],
            "special_tokens": { "[CLS]": one("[CLS]", 0), "[SEP]": one("[SEP]", 1) },
        },
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" },
    })
}

/// Writes an encoder into a folder of this name.
pub fn write(folder: &Path, name: &str) -> PathBuf {
    let place = folder.join(name);
    fs::create_dir_all(&place).unwrap();
    let n_tokens = FRAME.len() + WORDS.len();
    fs::write(
        place.join("model.onnx"),
        network(n_tokens, &["input_ids", "attention_mask"]),
    )
    .unwrap();
    fs::write(place.join("tokenizer.json"), tokenizer().to_string()).unwrap();
    place
}
