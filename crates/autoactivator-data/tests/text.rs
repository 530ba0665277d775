//! Sentence encoders: tokens, groups, pooling, the cache, and pairs of files that do not fit.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
#[path = "common/words.rs"]
mod words;

use std::fs;
use std::path::Path;

use autoactivator_data::sentences::{SentenceBatches, Sentences};
use autoactivator_data::text::{EncoderFiles, TextOptions};
use autoactivator_data::{Batch, Cache, Encoder, Error, Pooling, Runtime, TextSpec};
use common::*;

fn open(place: &Path, spec: TextSpec) -> Result<Encoder, Error> {
    Encoder::open(&EncoderFiles::of(place)?, spec, Runtime::Rten)
}

#[track_caller]
fn refused(place: &Path, expected: &str) {
    let error = open(place, TextSpec::default()).err().unwrap().to_string();
    assert!(error.contains(expected), "{error}");
}

fn sentences(texts: &[String]) -> SentenceBatches {
    let pieces: Vec<Result<Sentences, Error>> = texts
        .chunks(50)
        .map(|texts| Ok(Sentences::of(texts.to_vec())))
        .collect();
    Box::new(pieces.into_iter())
}

/// Sentences of 1 to 12 words.
fn many() -> Vec<String> {
    let words = |row: usize| (0..=row % 12).map(move |at| words::WORDS[(row * 7 + at * at) % 9]);
    (0..120)
        .map(|row| words(row).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn a_sentence_is_the_mean_of_its_tokens_whatever_stands_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let encoder = open(&words::write(folder.path(), "tiny"), TextSpec::default()).unwrap();
    assert_eq!(
        (encoder.n_features(), encoder.identity().name.as_str()),
        (words::FEATURES, "tiny")
    );
    let texts = many();
    let batches: Result<Vec<Batch>, Error> =
        encoder.rows(sentences(&texts), TextOptions::default()).collect();
    let streamed: Vec<f32> = batches
        .unwrap()
        .into_iter()
        .flat_map(|batch| batch.x.into_values())
        .collect();
    for (text, row) in texts.iter().zip(streamed.chunks_exact(words::FEATURES)) {
        let alone = encoder.of_texts(&[text], &()).unwrap();
        assert_eq!(alone.rows().row(0), row, "{text}");
        let length: f32 = row.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-5, "{text}: {length}");
    }
    // By hand: the frame, and the vectors of the words.
    let vector = |token: usize| {
        let value = |i: u32| ((i + 1).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32 - 0.5;
        (0..words::FEATURES)
            .map(|at| value((token * words::FEATURES + at) as u32))
            .collect::<Vec<f32>>()
    };
    let tokens = [vector(0), vector(3), vector(2), vector(1)];
    let mut mean: Vec<f32> = (0..words::FEATURES)
        .map(|at| tokens.iter().map(|token| token[at]).sum())
        .collect();
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
    mean.iter_mut().for_each(|value| *value /= length);
    let found = encoder.of_texts(&["HOW unheard"], &()).unwrap();
    for (value, expected) in found.rows().row(0).iter().zip(&mean) {
        assert!((value - expected).abs() < 1e-6, "{value} {expected}");
    }
}

#[test]
fn long_sentences_are_cut_and_others_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let place = words::write(folder.path(), "tiny");
    let four = TextSpec {
        max_tokens: Some(4),
        ..TextSpec::default()
    };
    let encoder = open(&place, four).unwrap();
    let rows = encoder
        .of_texts(&["how are", "how are you", &"how are ".repeat(10_000)], &())
        .unwrap();
    assert_eq!(rows.rows().row(0), rows.rows().row(1));
    assert_eq!(rows.rows().row(0), rows.rows().row(2));
    let error = |texts: &[&str]| encoder.of_texts(texts, &()).unwrap_err().to_string();
    assert!(error(&["how", " \n"]).contains("sentence 1: the sentence is empty"));
    assert!(error(&[&"a ".repeat(1 << 20)]).contains("sentence 0: the sentence has 2097152 bytes"));
}

#[test]
fn what_was_computed_is_kept_by_encoder_and_settings() {
    let folder = tempfile::tempdir().unwrap();
    let place = words::write(folder.path(), "tiny");
    let cache = Cache::new(&folder.path().join("cache"));
    let run = |spec: TextSpec| {
        let encoder = open(&place, spec).unwrap();
        let options = TextOptions {
            cache: Some(&cache),
            ..TextOptions::default()
        };
        let mut rows = encoder.rows(sentences(&many()), options);
        let values: Vec<f32> = rows
            .by_ref()
            .flat_map(|batch| batch.unwrap().x.into_values())
            .collect();
        assert_eq!(rows.warnings(), [""; 0]);
        (rows.computed(), values)
    };
    let (computed, values) = run(TextSpec::default());
    assert!(computed > 0);
    assert_eq!(run(TextSpec::default()), (0, values.clone()));
    let first = TextSpec {
        pooling: Some(Pooling::First),
        ..TextSpec::default()
    };
    let (other, first) = run(first);
    assert_eq!(other, computed);
    assert_ne!(first, values);
}

#[test]
fn a_tokenizer_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let place = words::write(folder.path(), "tiny");
    let onnx = place.join("model.onnx");
    fs::write(&onnx, words::network(5, &["input_ids"])).unwrap();
    refused(&place, "12 words");
    fs::write(&onnx, words::network(12, &["input_ids", "token_type_ids"])).unwrap();
    open(&place, TextSpec::default()).unwrap();
    fs::write(&onnx, words::network(12, &["input_ids", "pixels"])).unwrap();
    refused(&place, "`pixels`");
    fs::write(&onnx, tiny(1, &ANY_IMAGES, &[features_output()])).unwrap();
    refused(&place, "a sentence encoder takes whole numbers");
    fs::write(&onnx, "").unwrap();
    refused(&place, "empty file");
}

#[test]
fn a_malicious_tokenizer_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let place = words::write(folder.path(), "tiny");
    let file = place.join("tokenizer.json");
    let deep = "[".repeat(1_000_000);
    for text in [
        "",
        "{}",
        "null",
        "{\"model\": 1}",
        "\u{0}",
        &deep,
        &format!("{{\"model\": {deep}"),
    ] {
        fs::write(&file, text).unwrap();
        refused(&place, "not a usable tokenizer.json");
    }
    let changed = |pointer: &str, value: serde_json::Value| {
        let mut json = words::tokenizer();
        *json.pointer_mut(pointer).unwrap() = value;
        fs::write(&file, json.to_string()).unwrap();
        // It may open or not; a sentence may work or not; it never panics.
        if let Ok(encoder) = open(&place, TextSpec::default()) {
            let _ = encoder.of_texts(&["how are you", "what is this"], &());
        }
    };
    changed("/model/vocab", serde_json::json!({}));
    changed("/model/vocab/how", serde_json::json!(4_294_967_295_u32));
    changed("/model/vocab/how", serde_json::json!(9999));
    changed("/model/unk_token", serde_json::json!("gone"));
    changed(
        "/post_processor/special_tokens/[CLS]/ids",
        serde_json::json!([77]),
    );
    changed("/post_processor/special_tokens", serde_json::json!({}));
    changed(
        "/normalizer",
        serde_json::json!({ "type": "Replace", "pattern": { "Regex": "(a*)*b" }, "content": "" }),
    );
    changed(
        "/pre_tokenizer",
        serde_json::json!({ "type": "Split", "pattern": { "Regex": "(" }, "behavior": "Isolated", "invert": false }),
    );
    changed(
        "/truncation",
        serde_json::json!({ "max_length": 0, "strategy": "LongestFirst", "stride": 9, "direction": "Right" }),
    );
}

#[test]
fn both_runtimes_agree() {
    let folder = tempfile::tempdir().unwrap();
    let files = EncoderFiles::of(&words::write(folder.path(), "tiny")).unwrap();
    let other = match Encoder::open(&files, TextSpec::default(), Runtime::OnnxRuntime) {
        Ok(other) => other,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return;
        }
    };
    let pure = Encoder::open(&files, TextSpec::default(), Runtime::Rten).unwrap();
    assert_eq!(pure.identity(), other.identity());
    let (a, b) = (
        pure.of_texts(&["how are you"], &()),
        other.of_texts(&["how are you"], &()),
    );
    let (a, b) = (a.unwrap().into_values(), b.unwrap().into_values());
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-5));
}
