//! What a new model begins with, and a browser that is opened on it.

#[cfg(target_os = "linux")]
use std::path::PathBuf;

use crate::common::Workplace;
use crate::photos;
use crate::serving::Serving;

const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

#[test]
fn photographs_need_nothing_but_the_backbone() {
    let place = Workplace::new();
    place.write("data/backbones/efficientnet_lite0.onnx", photos::backbone(3));
    place.write("data/backbones/efficientnet_lite0.toml", photos::SETTINGS);
    let words = ["--demo", "photos", "--data-dir", "data"];
    let serving = Serving::start(&place, &words);
    let model = serving.read("/v1/model");
    assert_eq!(model["takes"], "images");
    assert_eq!(model["classes"].as_array().map(Vec::len), Some(0));
    assert!(place.exists("photos.aact") && !place.exists("autoactivator.aact"));
    drop(serving);
    // The model remembers it.
    assert_eq!(
        Serving::start(&place, &["photos.aact"]).read("/v1/model")["takes"],
        "images"
    );
}

#[test]
fn without_the_backbone_the_remedy_is_told() {
    let place = Workplace::new();
    let mut serve = place.command(&[&["serve", "--demo", "photos", "--data-dir", "."][..], &LISTEN].concat());
    let output = serve
        .env("HOME", place.path())
        .env("XDG_CACHE_HOME", place.path())
        .env_remove("AUTOACTIVATOR_DATA")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    for words in [
        "efficientnet_lite0.onnx",
        "autoactivator backbone get efficientnet-lite0",
        "--backbone",
    ] {
        assert!(told.contains(words), "{told}");
    }
    assert!(!place.exists("photos.aact"));
}

/// A folder with an opener that writes down what it is given.
#[cfg(target_os = "linux")]
fn opener(place: &Workplace) -> PathBuf {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let script = place.write(
        "bin/xdg-open",
        "#!/bin/sh\nprintf %s \"$1\" > \"$(dirname \"$0\")/opened\"\n",
    );
    set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    place.path().join("bin")
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened_in_the_browser_of_this_machine() {
    use std::thread::sleep;
    use std::time::Duration;

    let place = Workplace::new();
    let path = format!("{}:/usr/bin:/bin", opener(&place).display());
    let words = [&["serve", "--open"][..], &LISTEN].concat();
    let serving = Serving::spawn(place.command(&words).env("PATH", path));
    for _ in 0..200 {
        if place.exists("bin/opened") && !place.read("bin/opened").is_empty() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    assert_eq!(
        String::from_utf8(place.read("bin/opened")).unwrap(),
        format!("http://{}/", serving.address)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn without_an_opener_the_server_runs_and_says_what_to_open() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    let place = Workplace::new();
    let words = [&["serve", "--open"][..], &LISTEN].concat();
    let mut serve = place.command(&words);
    let mut process = serve
        .env("PATH", place.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = BufReader::new(process.stderr.take().unwrap());
    let told = stderr
        .lines()
        .map_while(Result::ok)
        .find(|line| line.contains("xdg-open"));
    process.kill().unwrap();
    process.wait().unwrap();
    let told = told.unwrap();
    assert!(
        told.contains("opened no browser: open http://127.0.0.1:"),
        "{told}"
    );
}
