//! Backbones: what is known about one, which output is read, and what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use autoactivator_data::{
    Backbone, BackboneSpec, Channels, Filter, Layout, Preset, Resize, RgbImage, Runtime, Settings, Tokens,
};
use common::*;

fn open(path: &Path, given: BackboneSpec) -> Result<Backbone, String> {
    Backbone::open(path, given, Runtime::Rten).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(path: &Path, given: BackboneSpec) -> String {
    let message = open(path, given)
        .err()
        .unwrap_or_else(|| unreachable!("{} is taken", path.display()));
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    message
}

fn written(folder: &Path, name: &str, onnx: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, onnx).unwrap();
    path
}

fn at(size: usize) -> BackboneSpec {
    BackboneSpec {
        size: Some(size),
        ..BackboneSpec::default()
    }
}

/// A backbone that hands on its input in the given shape, to see what it is shown.
fn mirror(folder: &Path, input: &[Side]) -> PathBuf {
    let nodes = [node("Flatten", &["image"], "features")];
    let output = port("features", &[Any("N"), Any("F")]);
    written(
        folder,
        "mirror.onnx",
        &model(&nodes, &[], &[port("image", input)], &[output]),
    )
}

#[test]
fn features_do_not_depend_on_the_batch() {
    let folder = tempfile::tempdir().unwrap();
    let backbone = open(&write_tiny(folder.path(), "tiny", 1), BackboneSpec::default()).unwrap();
    assert_eq!(backbone.n_features(), TINY_FEATURES);
    let pictures: Vec<RgbImage> = (0..5).map(|seed| picture(30, 20, seed)).collect();
    let together = backbone.features(&pictures.iter().collect::<Vec<_>>()).unwrap();
    let one_by_one: Vec<f32> = pictures
        .iter()
        .flat_map(|picture| backbone.features(&[picture]).unwrap())
        .collect();
    assert_eq!(together.len(), 5 * TINY_FEATURES);
    for (a, b) in together.iter().zip(&one_by_one) {
        assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn a_fixed_batch_is_filled_up() {
    let folder = tempfile::tempdir().unwrap();
    let free = open(&write_tiny(folder.path(), "free", 1), BackboneSpec::default()).unwrap();
    let input = [Fixed(2), Fixed(3), Fixed(16), Fixed(16)];
    let output = port("features", &[Fixed(2), Fixed(TINY_FEATURES)]);
    let fixed = open(
        &written(folder.path(), "fixed.onnx", &tiny(1, &input, &[output])),
        BackboneSpec::default(),
    )
    .unwrap();
    assert_eq!(fixed.identity().settings.size, 16);
    let pictures: Vec<RgbImage> = (0..5).map(|seed| picture(30, 20, seed)).collect();
    let pictures: Vec<&RgbImage> = pictures.iter().collect();
    assert_eq!(
        fixed.features(&pictures).unwrap(),
        free.features(&pictures).unwrap()
    );
}

#[test]
fn pixels_are_shifted_scaled_and_ordered() {
    let folder = tempfile::tempdir().unwrap();
    let image = picture(2, 2, 3);
    let spec = BackboneSpec {
        mean: Some([1.0, 2.0, 3.0]),
        scale: Some([10.0, 20.0, 40.0]),
        ..at(2)
    };
    let value = |x, y, colour: usize, channel: usize| {
        let stored = f32::from(image.pixels()[(y * image.width() + x) as usize][colour]);
        (stored - [1.0, 2.0, 3.0][channel]) / [10.0, 20.0, 40.0][channel]
    };
    let places = [(0, 0), (1, 0), (0, 1), (1, 1)];

    let nchw = mirror(folder.path(), &ANY_IMAGES);
    let seen = open(&nchw, spec.clone()).unwrap().features(&[&image]).unwrap();
    let expected: Vec<f32> = (0..3)
        .flat_map(|c| places.map(|(x, y)| value(x, y, c, c)))
        .collect();
    assert_eq!(seen, expected);

    let nhwc = mirror(folder.path(), &[Any("N"), Any("H"), Any("W"), Fixed(3)]);
    let bgr = BackboneSpec {
        channels: Some(Channels::Bgr),
        ..spec
    };
    let backbone = open(&nhwc, bgr).unwrap();
    assert_eq!(backbone.identity().settings.layout, Layout::Nhwc);
    let expected: Vec<f32> = places
        .iter()
        .flat_map(|&(x, y)| [0, 1, 2].map(|c| value(x, y, 2 - c, c)))
        .collect();
    assert_eq!(backbone.features(&[&image]).unwrap(), expected);
}

#[test]
fn the_middle_is_cut_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = mirror(folder.path(), &ANY_IMAGES);
    let spec = BackboneSpec {
        mean: Some([0.0; 3]),
        scale: Some([1.0; 3]),
        resize: Some(Resize::Crop(0.5)),
        ..at(4)
    };
    // As the scaled image would have 8 rows, the image itself is not scaled at all.
    let image = picture(13, 8, 5);
    let seen = open(&path, spec).unwrap().features(&[&image]).unwrap();
    let red: Vec<f32> = (2..6)
        .flat_map(|y| (4..8).map(move |x| (x, y)))
        .map(|(x, y)| f32::from(image.pixels()[(y * image.width() + x) as usize][0]))
        .collect();
    assert_eq!(seen[..16], red);
}

#[test]
fn a_file_beside_the_model_states_settings_and_the_caller_overrides_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(
        folder.path(),
        "some.net.onnx",
        &tiny(1, &ANY_IMAGES, &[features_output()]),
    );
    let note = open(&path, at(16)).unwrap().notes().first().cloned();
    assert!(note.is_some_and(|note| note.contains("ImageNet") && note.contains("some.net.toml")));
    let toml = "size = 24\nchannels = 'bgr'\nmean = [1, 2, 3.5]\nscale = [4, 5, 6]\nfilter = 'bicubic'\nresize = 'crop:0.9'";
    fs::write(folder.path().join("some.net.toml"), toml).unwrap();
    let backbone = open(&path, BackboneSpec::default()).unwrap();
    let settings = &backbone.identity().settings;
    assert_eq!(
        (settings.size, settings.channels, settings.mean),
        (24, Channels::Bgr, [1.0, 2.0, 3.5])
    );
    assert_eq!(
        (settings.filter, settings.resize),
        (Filter::Bicubic, Resize::Crop(0.9))
    );
    assert_eq!(backbone.notes(), [""; 0]);
    assert_eq!(open(&path, at(32)).unwrap().identity().settings.size, 32);
    for (toml, part) in [
        ("sise = 24", "sise"),
        ("size = 0", "size"),
        ("resize = 'cut'", "resize"),
        ("scale = [0, 1, 1]", "scale"),
    ] {
        fs::write(folder.path().join("some.net.toml"), toml).unwrap();
        let message = open(&path, BackboneSpec::default()).err().unwrap();
        assert!(
            message.contains("some.net.") && message.contains(part),
            "{message}"
        );
    }
}

#[test]
fn presets_are_known_by_the_name_of_the_file() {
    for (stem, preset) in [
        ("efficientnet_lite0", Some(Preset::EfficientNetLite0)),
        ("EfficientNet-Lite0-int8", Some(Preset::EfficientNetLite0)),
        ("resnet50-v1-7", Some(Preset::ResNet50)),
        ("resnet_18", Some(Preset::ResNet18)),
        ("mobilenetv2-12", Some(Preset::MobileNetV2)),
        ("mobilenet_v3_small", Some(Preset::MobileNetV3)),
        ("vit_b_16", Some(Preset::VitB16)),
        ("dinov2_vits14", Some(Preset::DinoV2)),
        ("clip-vit-b32-vision", Some(Preset::Clip)),
        ("my-resnet50", None),
    ] {
        assert_eq!(Preset::of_file(stem), preset, "{stem}");
    }
    for preset in Preset::ALL {
        assert_eq!(preset.name().parse(), Ok(preset));
        assert_eq!(serde_json::to_value(preset).unwrap(), preset.name());
    }
    let folder = tempfile::tempdir().unwrap();
    let outputs = [map_output(), features_output()];
    let path = written(
        folder.path(),
        "EfficientNet_Lite0.onnx",
        &tiny(1, &ANY_IMAGES, &outputs),
    );
    let lite0 = open(&path, BackboneSpec::default()).unwrap();
    let settings = &lite0.identity().settings;
    assert_eq!(
        (settings.size, settings.mean, settings.scale),
        (224, [127.0; 3], [128.0; 3])
    );
    // What enters its only convolution is the image, which is no second output.
    assert_eq!(settings.output.names(), ["features"]);
    let clip = BackboneSpec {
        preset: Some(Preset::Clip),
        ..BackboneSpec::default()
    };
    let clip = open(&path, clip).unwrap();
    assert_eq!(
        (clip.identity().settings.size, clip.identity().settings.filter),
        (224, Filter::Bicubic)
    );
    assert_ne!(clip.identity(), lite0.identity());
}

#[test]
fn the_output_is_chosen_by_name_and_reduced_to_rows() {
    let folder = tempfile::tempdir().unwrap();
    let both = tiny(1, &ANY_IMAGES, &[map_output(), features_output()]);
    let path = written(folder.path(), "both.onnx", &both);
    let named = |output: &str| BackboneSpec {
        output: output.parse().ok(),
        ..at(16)
    };
    let (map, features) = (open(&path, named("map")).unwrap(), open(&path, at(16)).unwrap());
    assert_eq!(features.identity().settings.output.names(), ["features"]);
    let image = picture(16, 16, 1);
    let (map, features) = (
        map.features(&[&image]).unwrap(),
        features.features(&[&image]).unwrap(),
    );
    for (a, b) in map.iter().zip(&features) {
        assert!((a - b).abs() <= 1e-5 * a.abs(), "{a} {b}");
    }
    let message = refused(&path, named("logits"));
    assert!(message.contains("no output `logits`"), "{message}");
    assert!(
        message.contains("`map` of ? x 5 x ? x ?, `features` of ? x 5"),
        "{message}"
    );

    let unclear = [
        map_output(),
        port("pooled", &[Any("N"), Fixed(5), Fixed(1), Fixed(1)]),
    ];
    let path = written(folder.path(), "unclear.onnx", &tiny(1, &ANY_IMAGES, &unclear));
    let message = refused(&path, at(16));
    assert!(
        message.contains("no output is known to hold features") && message.contains("`pooled`"),
        "{message}"
    );
}

#[test]
fn a_tensor_inside_the_graph_is_read_like_an_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(
        folder.path(),
        "one.onnx",
        &tiny(1, &ANY_IMAGES, &[features_output()]),
    );
    let reading = |output: &str| {
        let spec = BackboneSpec {
            output: output.parse().ok(),
            ..at(16)
        };
        open(&path, spec)
    };
    let image = picture(16, 16, 1);
    let rows = |output: &str| reading(output).unwrap().features(&[&image, &image]).unwrap();
    // `map` is inside the graph; its mean over space is `features`.
    let (inside, output) = (rows("map"), rows("features"));
    assert!(
        inside
            .iter()
            .zip(&output)
            .all(|(a, b)| (a - b).abs() <= 1e-5 * a.abs())
    );

    // Side by side, each has length 1. Of features, which come from a rectifier, these are the roots.
    let both = reading("features, responses").unwrap();
    assert_eq!(both.identity().settings.output.to_string(), "features,responses");
    let both = both.features(&[&image]).unwrap();
    assert_eq!(both.len(), 2 * TINY_FEATURES);
    let responses = &rows("responses")[..TINY_FEATURES];
    assert!(responses.iter().any(|&value| value < 0.0));
    let roots: Vec<f32> = output[..TINY_FEATURES].iter().map(|value| value.sqrt()).collect();
    for (part, raw) in both.chunks_exact(TINY_FEATURES).zip([&roots[..], responses]) {
        let length = raw.iter().map(|value| value * value).sum::<f32>().sqrt();
        for (value, raw) in part.iter().zip(raw) {
            assert!((value - raw / length).abs() < 1e-5, "{value} {raw}");
        }
    }

    let none = reading("features,nowhere").err().unwrap();
    assert!(none.contains("no output `nowhere`"), "{none}");
    let twice = reading("features,features").err().unwrap();
    assert!(twice.contains("names `features` twice"), "{twice}");
}

#[test]
fn a_mirror_image_counts_as_much_as_the_image() {
    let folder = tempfile::tempdir().unwrap();
    let image = picture(16, 16, 1);
    let flipped = image
        .pixels()
        .chunks_exact(16)
        .flat_map(|row| row.iter().rev().flatten().copied());
    let flipped = RgbImage::new(16, 16, flipped.collect()).unwrap();
    let layouts = [ANY_IMAGES, [Any("N"), Any("H"), Any("W"), Fixed(3)]];
    for input in layouts {
        let path = mirror(folder.path(), &input);
        let spec = |mirror| BackboneSpec {
            mirror: Some(mirror),
            ..at(16)
        };
        let plain = open(&path, spec(false)).unwrap();
        let mean = open(&path, spec(true)).unwrap();
        assert_ne!(plain.identity(), mean.identity());
        let (a, b) = (
            plain.features(&[&image]).unwrap(),
            plain.features(&[&flipped]).unwrap(),
        );
        let means = mean.features(&[&image]).unwrap();
        for ((a, b), mean) in a.iter().zip(&b).zip(&means) {
            assert!(((a + b) / 2.0 - mean).abs() < 1e-5, "{a} {b} {mean}");
        }
        assert_eq!(mean.features(&[&flipped]).unwrap(), means);
    }
}

#[test]
fn settings_of_earlier_versions_mean_the_same() {
    // As models of the versions with one output wrote them.
    let text = r#"{"output":"features","size":128,"layout":"nchw","channels":"rgb","mean":[127.0,127.0,127.0],
        "scale":[128.0,128.0,128.0],"resize":"stretch","filter":"bicubic"}"#;
    let settings: Settings = serde_json::from_str(text).unwrap();
    assert_eq!(settings.output.names(), ["features"]);
    assert_eq!((settings.tokens, settings.mirror), (Tokens::First, false));
    // And they are written in the same words, so that earlier versions can read them.
    let written = serde_json::to_string(&settings).unwrap();
    assert_eq!(written, text.split_whitespace().collect::<String>());
    let several = text.replace(r#""features""#, r#"["features","before"]"#);
    let several: Settings = serde_json::from_str(&several).unwrap();
    assert_eq!(several.output.to_string(), "features,before");
    assert_ne!(several, settings);
}

/// The constant 0, to name a side.
fn first_side() -> Message {
    Message::default()
        .int(1, 1)
        .int(2, 7)
        .text(8, "first")
        .bytes(9, &0_i64.to_le_bytes())
}

#[test]
fn of_tokens_the_first_or_the_mean_stands_for_the_image() {
    let folder = tempfile::tempdir().unwrap();
    // (1, 3, 1, 2), turned and flattened to (3, 2), as the three tokens of one image.
    let input = [Fixed(1), Fixed(3), Fixed(1), Fixed(1)];
    let nodes = [
        node("Concat", &["image", "image"], "wide").message(5, &integer("axis", 3)),
        node("Transpose", &["wide"], "turned").message(5, &integers("perm", &[0, 2, 1, 3])),
        node("Flatten", &["turned"], "flat").message(5, &integer("axis", 3)),
        node("Unsqueeze", &["flat", "first"], "tokens"),
    ];
    let onnx = model(
        &nodes,
        &[first_side()],
        &[port("image", &input)],
        &[port("tokens", &[Fixed(1), Fixed(3), Fixed(2)])],
    );
    let spec = BackboneSpec {
        mean: Some([0.0; 3]),
        scale: Some([1.0; 3]),
        ..BackboneSpec::default()
    };
    let path = written(folder.path(), "tokens.onnx", &onnx);
    let image = RgbImage::new(1, 1, vec![7, 8, 9]).unwrap();
    let rows = |tokens| {
        let spec = BackboneSpec {
            tokens,
            ..spec.clone()
        };
        open(&path, spec).unwrap().features(&[&image]).unwrap()
    };
    assert_eq!(rows(None), [7.0, 7.0]);
    assert_eq!(rows(Some(Tokens::Mean)), [8.0, 8.0]);
}

#[test]
fn models_that_are_no_backbones_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, onnx: &[u8]| refused(&written(folder.path(), name, onnx), at(16));
    assert!(refused("empty.onnx", b"").contains("empty file"));
    assert!(refused("text.onnx", b"this is no model").contains("is not an ONNX file"));
    let whole = tiny(1, &ANY_IMAGES, &[features_output()]);
    refused("half.onnx", &whole[..whole.len() / 2]);

    let nodes = [node("NoSuchOperator", &["image"], "features")];
    let (image, output) = (port("image", &ANY_IMAGES), features_output());
    let message = refused(
        "operator.onnx",
        &model(
            &nodes,
            &[],
            std::slice::from_ref(&image),
            std::slice::from_ref(&output),
        ),
    );
    assert!(message.contains("NoSuchOperator"), "{message}");

    let nodes = [node("Add", &["image", "other"], "features")];
    let message = refused(
        "inputs.onnx",
        &model(&nodes, &[], &[image, port("other", &ANY_IMAGES)], &[output]),
    );
    assert!(
        message.contains("takes 2 inputs (`image` of ? x 3 x ? x ?, `other`"),
        "{message}"
    );

    let rows = refused("rows.onnx", &tiny(1, &[Any("N"), Fixed(3)], &[features_output()]));
    assert!(rows.contains("not a batch of images"), "{rows}");
    let grey = refused(
        "grey.onnx",
        &tiny(1, &[Any("N"), Fixed(1), Any("H"), Any("W")], &[features_output()]),
    );
    assert!(grey.contains("three channels"), "{grey}");
    let wide = [Any("N"), Fixed(3), Fixed(16), Fixed(32)];
    assert!(refused("wide.onnx", &tiny(1, &wide, &[features_output()])).contains("not square"));
    let size = [Any("N"), Fixed(3), Fixed(24), Fixed(24)];
    assert!(refused("size.onnx", &tiny(1, &size, &[features_output()])).contains("24 pixels a side, not 16"));
    let nodes = [node("Unsqueeze", &["image", "first"], "features")];
    let deep = port("features", &[Fixed(1), Any("N"), Fixed(3), Any("H"), Any("W")]);
    let deep = model(&nodes, &[first_side()], &[port("image", &ANY_IMAGES)], &[deep]);
    assert!(refused("deep.onnx", &deep).contains("holds no features"));
    assert!(
        open(&folder.path().join("missing.onnx"), at(16))
            .err()
            .unwrap()
            .contains("missing.onnx")
    );
}

#[test]
fn no_damage_of_a_model_file_panics() {
    let folder = tempfile::tempdir().unwrap();
    let whole = tiny(1, &ANY_IMAGES, &[features_output()]);
    for at_byte in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at_byte] ^= 0x55;
        let _ = open(&written(folder.path(), "damaged.onnx", &damaged), at(8));
        let _ = open(&written(folder.path(), "cut.onnx", &whole[..at_byte]), at(8));
    }
}

#[test]
fn identities_differ_by_content_and_settings_but_not_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let identity = |path: &Path, size| open(path, at(size)).unwrap().identity().clone();
    let (a, b) = (
        write_tiny(folder.path(), "a", 1),
        write_tiny(folder.path(), "b", 1),
    );
    let other = write_tiny(folder.path(), "other", 2);
    assert_eq!(identity(&a, 16), identity(&b, 16));
    assert_ne!(identity(&a, 16), identity(&other, 16));
    assert_ne!(identity(&a, 16), identity(&a, 24));
    let shown = identity(&a, 16).to_string();
    assert!(
        shown.starts_with("a (sha256 ") && shown.ends_with(", features, 16 px)"),
        "{shown}"
    );
    let json = serde_json::to_string(&identity(&a, 16)).unwrap();
    assert_eq!(
        serde_json::from_str::<autoactivator_data::Identity>(&json).unwrap(),
        identity(&a, 16)
    );
}

#[test]
fn the_runtime_is_told_with_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = write_tiny(folder.path(), "tiny", 1);
    let told = open(&tiny, at(16)).unwrap().identity().runtime.clone().unwrap();
    let workspace = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml")).unwrap();
    let stated = workspace
        .lines()
        .find(|line| line.starts_with("rten = "))
        .unwrap();
    let version = told.strip_prefix("rten ").unwrap();
    assert!(stated.contains(&format!("\"{version}\"")), "{told}, but {stated}");
}
