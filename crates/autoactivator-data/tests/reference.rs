//! EfficientNet-Lite0 on real images: the same features as ONNX Runtime, from the same pixels as Pillow.
//!
//! The images and the model come from `AUTOACTIVATOR_DATA`, Python's packages from PyPI into a virtual environment
//! under the target folder; without one of them the test says so and passes.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use autoactivator_data::{
    Backbone, BackboneSpec, ExtractOptions, Extractor, ImageFolder, Outputs, RgbImage, Runtime,
};
use common::*;

const N_IMAGES: usize = 32;

fn data() -> Option<PathBuf> {
    let data = std::env::var_os("AUTOACTIVATOR_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("skipped: AUTOACTIVATOR_DATA is not set");
    }
    data
}

/// Python with `onnxruntime` and Pillow; none when that cannot be had.
fn python() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("backbone-venv");
    let python = folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let ready = || succeeds(Command::new(&python).args(["-c", "import numpy, onnxruntime, PIL"]));
    let made = || succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    let filled = || {
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "numpy",
            "onnxruntime",
            "pillow",
        ];
        succeeds(Command::new(&python).args(pip))
    };
    let found = (ready() || (made() && filled() && ready())).then_some(python);
    if found.is_none() {
        eprintln!("skipped: python3 with onnxruntime and pillow is not available");
    }
    found
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Every hundredth image, and its pixels.
fn some_images(data: &Path) -> (Vec<PathBuf>, Vec<RgbImage>) {
    let folder = ImageFolder::open(&data.join("cifar100-images/train")).unwrap();
    let paths: Vec<PathBuf> = folder
        .images()
        .iter()
        .step_by(61)
        .take(N_IMAGES)
        .map(|image| image.path.clone())
        .collect();
    let pixels = paths.iter().map(|path| read(path)).collect();
    (paths, pixels)
}

fn open(path: &Path, runtime: Runtime) -> Backbone {
    Backbone::open(path, BackboneSpec::default(), runtime).unwrap()
}

/// The largest distance between features, relative to the largest feature of the image.
fn distance(a: &[f32], b: &[f32], n_features: usize) -> f32 {
    let row = |(a, b): (&[f32], &[f32])| {
        let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        apart / b.iter().map(|b| b.abs()).fold(0.0, f32::max)
    };
    assert_eq!(a.len(), b.len());
    a.chunks(n_features)
        .zip(b.chunks(n_features))
        .map(row)
        .fold(0.0, f32::max)
}

#[test]
fn features_are_those_of_onnx_runtime_and_pixels_those_of_pillow() {
    let (Some(data), Some(python)) = (data(), python()) else {
        return;
    };
    let model = data.join("backbones/efficientnet_lite0.onnx");
    let (paths, pixels) = some_images(&data);
    let pixels: Vec<&RgbImage> = pixels.iter().collect();
    let spec = BackboneSpec {
        output: Some(Outputs::from(vec!["features".to_owned()])),
        ..BackboneSpec::default()
    };
    let lite0 = Backbone::open(&model, spec, Runtime::Rten).unwrap();
    let side = lite0.identity().settings.size;
    let features = lite0.features(&pixels).unwrap();

    // Under the same name, a model that hands on what it is shown.
    let folder = tempfile::tempdir().unwrap();
    let mirror = folder.path().join("efficientnet_lite0.onnx");
    let nodes = [node("Flatten", &["image"], "features")];
    let output = port("features", &[Any("N"), Any("F")]);
    fs::write(
        &mirror,
        common::model(&nodes, &[], &[port("image", &ANY_IMAGES)], &[output]),
    )
    .unwrap();
    let shown = open(&mirror, Runtime::Rten).features(&pixels).unwrap();
    let tensors = folder.path().join("tensors");
    fs::write(
        &tensors,
        shown.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(),
    )
    .unwrap();

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference.py");
    let output = Command::new(python)
        .args([Path::new(script), &model, &tensors])
        .arg(side.to_string())
        .args(&paths)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let expected: Vec<f32> = fs::read(folder.path().join("tensors.features"))
        .unwrap()
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    let apart = distance(&features, &expected, lite0.n_features());
    println!("features differ by {apart:.1e} of the largest");
    assert!(apart < 1e-3, "{apart}");

    let pillow: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("pixels differ from Pillow's: {pillow}");
    assert!(pillow["largest"].as_f64().unwrap() < 1.01, "{pillow}");
    assert!(pillow["mean"].as_f64().unwrap() < 0.2, "{pillow}");
}

#[test]
fn batches_of_a_folder_are_those_of_single_images() {
    let Some(data) = data() else { return };
    let lite0 = open(&data.join("backbones/efficientnet_lite0.onnx"), Runtime::Rten);
    let folder = ImageFolder::open(&data.join("cifar100-images/test/apple")).unwrap();
    let extractor = Extractor::Backbones(vec![lite0]);
    let batch = extractor
        .rows(&folder, ExtractOptions::default())
        .next()
        .unwrap()
        .unwrap();
    let Extractor::Backbones(backbones) = &extractor else {
        unreachable!()
    };
    for (image, row) in folder.images().iter().zip(batch.x.rows().iter()) {
        let pixels = read(&image.path);
        let alone = backbones[0].features(&[&pixels]).unwrap();
        assert!(distance(row, &alone, alone.len()) < 1e-4, "{}", image.name);
    }
}

#[test]
fn both_runtimes_agree() {
    let Some(data) = data() else { return };
    let model = data.join("backbones/efficientnet_lite0.onnx");
    let other = match Backbone::open(&model, BackboneSpec::default(), Runtime::OnnxRuntime) {
        Ok(other) => other,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return;
        }
    };
    let (_, pixels) = some_images(&data);
    let pixels: Vec<&RgbImage> = pixels.iter().collect();
    let pure = open(&model, Runtime::Rten);
    assert_eq!(pure.identity(), other.identity());
    let (a, b) = (pure.features(&pixels).unwrap(), other.features(&pixels).unwrap());
    assert!(distance(&a, &b, pure.n_features()) < 1e-3);
}
