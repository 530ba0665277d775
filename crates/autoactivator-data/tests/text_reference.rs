//! MiniLM on real sentences: the same rows as ONNX Runtime with Hugging Face's own tokenizer.
//!
//! The sentences and the model come from `AUTOACTIVATOR_DATA`, Python's packages from PyPI into a virtual environment
//! under the target folder; without one of them the test says so and passes.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use autoactivator_data::text::EncoderFiles;
use autoactivator_data::{Encoder, Runtime, TextSpec};

/// Sentences beside those of the data set: accents, other alphabets, words in pieces, and one that is cut.
const OTHERS: [&str; 5] = [
    "Où est l'église, s'il vous plaît?",
    "我想订一张去北京的票 😀",
    "electroencephalographically speaking: $1,234.56 (or 7%)!",
    "x",
    "    many   blanks\tand\ttabs ",
];

fn data() -> Option<PathBuf> {
    let data = std::env::var_os("AUTOACTIVATOR_DATA").map(PathBuf::from);
    let found = data.filter(|data| data.join("backbones/minilm").is_dir() && data.join("clinc150").is_dir());
    if found.is_none() {
        eprintln!("skipped: AUTOACTIVATOR_DATA names no folder with MiniLM and CLINC150");
    }
    found
}

/// Python with `onnxruntime` and `tokenizers`; none when that cannot be had.
fn python() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("text-venv");
    let python = folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let ready = || succeeds(Command::new(&python).args(["-c", "import numpy, onnxruntime, tokenizers"]));
    let made = || succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    let packages = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "numpy",
        "onnxruntime",
        "tokenizers",
    ];
    let filled = || succeeds(Command::new(&python).args(packages));
    let found = (ready() || (made() && filled() && ready())).then_some(python);
    if found.is_none() {
        eprintln!("skipped: python3 with onnxruntime and tokenizers is not available");
    }
    found
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Some sentences of the training file, and harder ones.
fn sentences(data: &Path) -> Vec<String> {
    let train = fs::read_to_string(data.join("clinc150/train.csv")).unwrap();
    let plain = train.lines().skip(1).filter(|line| !line.contains('"'));
    let texts = plain
        .filter_map(|line| line.rsplit_once(','))
        .map(|(text, _)| text.to_owned());
    let long = "what is the weather like over there today ".repeat(60);
    texts
        .step_by(211)
        .chain(OTHERS.map(str::to_owned))
        .chain([long])
        .collect()
}

#[test]
fn rows_are_those_of_onnx_runtime() {
    let (Some(data), Some(python)) = (data(), python()) else {
        return;
    };
    let place = data.join("backbones/minilm");
    let encoder = Encoder::open(
        &EncoderFiles::of(&place).unwrap(),
        TextSpec::default(),
        Runtime::Rten,
    )
    .unwrap();
    assert_eq!(encoder.identity().settings.max_tokens, 256);
    let texts = sentences(&data);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sentences.json");
    fs::write(&file, serde_json::to_vec(&texts).unwrap()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/text_reference.py");
    let output = Command::new(python)
        .args([Path::new(script), &place, &file])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let expected: Vec<f32> = output
        .stdout
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    let given: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = encoder.of_texts(&given, &()).unwrap().into_values();
    assert_eq!(found.len(), expected.len());
    let apart = found
        .iter()
        .zip(&expected)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    println!("{} sentences, rows differ by {apart:.1e}", texts.len());
    assert!(apart < 1e-3, "{apart}");
}
