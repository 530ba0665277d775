//! A model remembers its backbone: the content of the file decides, not its name, and nobody types it twice.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;

use std::fs;

use common::Workplace;

/// A model of photographs, and the answers that it gives.
fn learned() -> (Workplace, String) {
    let place = Workplace::new();
    for class in ["mug", "plate"] {
        photos::write(&place, "photos", class, 6);
    }
    place.write("nets/net.onnx", photos::backbone(1));
    place.write("nets/net.toml", photos::SETTINGS);
    place.succeed(&[
        "learn",
        "m.aact",
        "photos",
        "--backbone",
        "nets/net.onnx",
        "--no-cache",
    ]);
    let answers = ask(&place, &[]);
    (place, answers)
}

fn ask(place: &Workplace, options: &[&str]) -> String {
    place
        .succeed(&[&["predict", "m.aact", "photos", "--no-cache"], options].concat())
        .stdout
}

#[test]
fn it_need_not_be_typed_again() {
    let (place, answers) = learned();
    assert_eq!(ask(&place, &["--backbone", "nets/net.onnx"]), answers);
    place.succeed(&["eval", "m.aact", "photos", "--no-cache"]);
    photos::write(&place, "more", "spoon", 3);
    place.succeed(&["learn", "m.aact", "more", "--no-cache"]);
    place.succeed(&["unlearn", "m.aact", "more", "--no-cache"]);
    assert_eq!(ask(&place, &[]), answers);
}

#[test]
fn another_name_is_the_same_backbone() {
    let (place, answers) = learned();
    // Without the settings that lay beside it: they come from the model.
    place.write("efficientnet-lite0.onnx", photos::backbone(1));
    assert_eq!(ask(&place, &["--backbone", "efficientnet-lite0.onnx"]), answers);
}

#[test]
fn it_is_found_beside_the_model_and_in_the_data_folder() {
    let (place, answers) = learned();
    fs::rename(place.path().join("nets/net.onnx"), place.path().join("net.onnx")).unwrap();
    assert_eq!(ask(&place, &[]), answers);
    fs::create_dir(place.path().join("data")).unwrap();
    fs::rename(place.path().join("net.onnx"), place.path().join("data/net.onnx")).unwrap();
    assert_eq!(ask(&place, &["--data-dir", "data"]), answers);
    fs::remove_file(place.path().join("data/net.onnx")).unwrap();
    place.refuse(
        &["predict", "m.aact", "photos", "--no-cache"],
        &["net (sha256", "was not found", "--backbone"],
    );
}

#[test]
fn another_content_is_refused() {
    let (place, _) = learned();
    place.write("nets/net.onnx", photos::backbone(2));
    place.refuse(
        &["predict", "m.aact", "photos", "--no-cache"],
        &["has another content", "--backbone"],
    );
    place.refuse(
        &[
            "predict",
            "m.aact",
            "photos",
            "--no-cache",
            "--backbone",
            "nets/net.onnx",
        ],
        &["the model was learned from net", "these rows come from net"],
    );
}
