//! Backbones run on ONNX Runtime where it is installed, and else on rten: the features are the same.
//!
//! `onnxruntime` is installed from PyPI into a virtual environment under the target folder; without it, tests that need
//! it say so and pass.

#![cfg(unix)]
#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use common::{Said, Workplace, said};

const BACKBONE: [&str; 3] = ["--no-cache", "--backbone", "net.onnx"];

/// A Python environment with ONNX Runtime; none when it cannot be had.
static PYTHON: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtime-venv");
    let succeeds = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        let quiet = command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    };
    let python = folder.join("bin/python");
    let ready = || succeeds(&python, &["-c", "import onnxruntime"]);
    let made = || succeeds(Path::new("python3"), &["-m", "venv", folder.to_str().unwrap()]);
    let filled = || succeeds(&python, &["-m", "pip", "install", "--quiet", "onnxruntime"]);
    let found = ready() || (made() && filled() && ready());
    if !found {
        eprintln!("skipped: python3 with onnxruntime is not available");
    }
    found.then_some(folder)
});

/// Photographs and a backbone.
fn workplace() -> Workplace {
    let place = Workplace::new();
    for class in ["mug", "plate"] {
        photos::write(&place, "photos", class, 6);
    }
    place.write("net.onnx", photos::backbone(1));
    place.write("net.toml", photos::SETTINGS);
    place
}

/// Runs the program inside an active Python environment.
fn inside(environment: &Path, place: &Workplace, words: &[&str]) -> Said {
    said(place.command(words).env("VIRTUAL_ENV", environment))
}

#[track_caller]
fn succeed(environment: &Path, place: &Workplace, words: &[&str]) -> Said {
    let said = inside(environment, place, words);
    assert_eq!(said.code, Some(0), "{words:?}: {}", said.stderr);
    said
}

/// The features of all photographs, and what the program said.
fn features(environment: &Path, place: &Workplace, runtime: &str, options: &[&str]) -> (Vec<f32>, String) {
    let words = ["features", "photos", "-o", "rows.csv", "--runtime", runtime];
    let said = succeed(environment, place, &[&words[..], &BACKBONE, options].concat());
    let text = String::from_utf8(place.read("rows.csv")).unwrap();
    let values = text.lines().skip(1).flat_map(|line| line.split(','));
    (
        values.filter_map(|value| value.parse().ok()).collect(),
        said.stderr,
    )
}

#[test]
fn both_compute_the_same_features() {
    let Some(environment) = PYTHON.as_deref() else {
        return;
    };
    let place = workplace();
    let (a, by_rten) = features(environment, &place, "rten", &[]);
    let (b, by_other) = features(environment, &place, "auto", &[]);
    assert!(by_rten.contains("features by rten 0."), "{by_rten}");
    assert!(by_other.contains("features by onnxruntime 1."), "{by_other}");
    assert_eq!((a.len(), b.len()), (12 * 8, 12 * 8));
    let largest = a.iter().fold(0.0, |most: f32, value| most.max(value.abs()));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-3 * largest));
}

#[test]
fn both_read_tensors_inside_the_graph() {
    let Some(environment) = PYTHON.as_deref() else {
        return;
    };
    let place = workplace();
    let options = ["--backbone-output", "features,responses", "--mirror"];
    let (a, _) = features(environment, &place, "rten", &options);
    let (b, by_other) = features(environment, &place, "onnxruntime", &options);
    assert!(by_other.contains("features by onnxruntime 1."), "{by_other}");
    assert_eq!((a.len(), b.len()), (12 * 16, 12 * 16));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-3));
}

#[test]
fn a_model_takes_rows_of_either() {
    let Some(environment) = PYTHON.as_deref() else {
        return;
    };
    let place = workplace();
    let ask = |runtime| {
        let words = ["predict", "m.aact", "photos", "--no-cache", "--runtime", runtime];
        succeed(environment, &place, &words).stdout
    };
    let learn = ["learn", "m.aact", "photos", "--runtime", "rten"];
    succeed(environment, &place, &[&learn[..], &BACKBONE].concat());
    assert_eq!(ask("rten"), ask("onnxruntime"));
    let told = place.succeed(&["inspect", "m.aact"]).stdout;
    assert!(told.contains("run by rten 0."), "{told}");

    photos::write(&place, "more", "spoon", 3);
    succeed(environment, &place, &["learn", "m.aact", "more", "--no-cache"]);
    let told = place.succeed(&["inspect", "m.aact"]).stdout;
    assert!(told.contains("run by onnxruntime 1."), "{told}");
}

#[test]
fn rows_are_unlearned_as_they_were_learned() {
    let Some(environment) = PYTHON.as_deref() else {
        return;
    };
    let place = workplace();
    let learn = ["learn", "m.aact", "photos", "--runtime", "rten"];
    succeed(environment, &place, &[&learn[..], &BACKBONE].concat());
    succeed(
        environment,
        &place,
        &["unlearn", "m.aact", "photos", "--no-cache"],
    );
}

#[test]
fn a_library_that_cannot_be_used_is_told_once() {
    let place = workplace();
    let library = place.write("libonnxruntime.so.1.30.0", "no library");
    place.write("other.onnx", photos::backbone(2));
    place.write("other.toml", photos::SETTINGS);
    let learn = [
        &["learn", "m.aact", "photos", "--backbone", "other.onnx"],
        &BACKBONE[..],
    ]
    .concat();
    let mut command = place.command(&learn);
    let told = said(command.env("ORT_DYLIB_PATH", &library));
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert_eq!(
        told.stderr.matches("ONNX Runtime cannot be used").count(),
        1,
        "{}",
        told.stderr
    );
    assert!(told.stderr.contains("features by rten 0."), "{}", told.stderr);

    let mut command = place.command(&[&learn[..], &["--runtime", "onnxruntime"]].concat());
    let told = said(command.env("ORT_DYLIB_PATH", &library));
    assert_eq!(told.code, Some(2), "{}", told.stderr);
    for part in [
        "libonnxruntime.so.1.30.0",
        "pip install onnxruntime",
        "ORT_DYLIB_PATH",
    ] {
        assert!(told.stderr.contains(part), "{}", told.stderr);
    }
}
