//! The exported ONNX model answers like the deployed one, in another runtime.
//!
//! `onnxruntime` is installed from PyPI into a virtual environment under the target folder; without Python,
//! or if it cannot be installed, these tests say so and pass.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use autoactivator::format::Container;
use autoactivator::math::{Random, Stream};
use autoactivator::pool::{
    ConvolutionSpec, DifferencesSpec, FeaturesSpec, GaussianSpec, PatchesSpec, PoolSpec, Preparation,
    StackSpec, UniformSpec,
};
use autoactivator::{
    Activation, Check, Consolidation, ConsolidationParams, Deployed, ImageShape, Labels, Learner,
    ReadoutKind, Rows, Table,
};

const IMAGE: ImageShape = ImageShape {
    height: 9,
    width: 12,
    channels: 2,
};

const ACTIVATIONS: [Activation; 4] = [
    Activation::Sigmoid,
    Activation::Tanh,
    Activation::Relu,
    Activation::Square,
];

const PREPARATIONS: [Preparation; 7] = [
    Preparation::None,
    Preparation::Columns,
    Preparation::SoftRoot,
    Preparation::Standardise,
    Preparation::SquareRoot,
    Preparation::RowSquareRoot,
    Preparation::Row,
];

/// Noisy images around one random image per class.
fn task(number: usize, n_rows: usize) -> (Table, Labels) {
    let mut random = Random::new(
        number as u64,
        Stream::Candidates {
            task: number,
            layer: 0,
        },
    );
    let n_classes = 3;
    let centres: Vec<f32> = (0..n_classes * IMAGE.n_values())
        .map(|_| random.normal())
        .collect();
    let mut values = Vec::new();
    for i in 0..n_rows {
        let centre = &centres[i % n_classes * IMAGE.n_values()..][..IMAGE.n_values()];
        values.extend(centre.iter().map(|v| 0.5 * v + 0.6 * random.normal()));
    }
    // Names that need escaping in JSON.
    let labels = (0..n_rows).map(|i| format!("task {number} \"{}\" é", i % n_classes));
    (
        Table::new(values, IMAGE.n_values()).unwrap(),
        Labels::from_names(labels),
    )
}

fn learned(params: ConsolidationParams) -> Deployed {
    let params = ConsolidationParams {
        image: Some(IMAGE),
        ..params
    };
    let mut learner = Consolidation::new(params.check().unwrap());
    for number in 0..2 {
        let (x, y) = task(number, 90);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
    }
    learner.deployed().unwrap().clone()
}

fn of_pool(pool: PoolSpec) -> ConsolidationParams {
    ConsolidationParams {
        pool: Some(pool),
        ..ConsolidationParams::default()
    }
}

fn small_convolution() -> ConvolutionSpec {
    ConvolutionSpec {
        filters: 12,
        sides: vec![3, 5],
        grid: 3,
        overlap: 1,
        ..ConvolutionSpec::default()
    }
}

/// Python with `onnxruntime`; none when it is not available.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    PYTHON.get_or_init(install).as_deref()
}

fn install() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("onnx-venv");
    let python = if cfg!(windows) {
        folder.join("Scripts/python.exe")
    } else {
        folder.join("bin/python")
    };
    let ready = || succeeds(Command::new(&python).args(["-c", "import numpy, onnxruntime"]));
    let made = || succeeds(Command::new("python3").args(["-m", "venv"]).arg(&folder));
    let filled = || {
        let pip = ["-m", "pip", "install", "--quiet", "numpy", "onnxruntime"];
        succeeds(Command::new(&python).args(pip))
    };
    (ready() || (made() && filled() && ready())).then_some(python)
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The answers of `onnxruntime` for the model and these rows; none when it is not available.
fn run(model: &[u8], x: Rows<'_>) -> Option<serde_json::Value> {
    let Some(python) = python() else {
        eprintln!("skipped: python3 with onnxruntime is not available");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let (model_file, rows_file) = (folder.path().join("model.onnx"), folder.path().join("rows.bin"));
    let rows: Vec<u8> = x.values().iter().flat_map(|v| v.to_le_bytes()).collect();
    std::fs::write(&model_file, model).unwrap();
    std::fs::write(&rows_file, rows).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run_onnx.py");
    let output = Command::new(python)
        .args([Path::new(script), &model_file, &rows_file])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Rows that were not learned, and a blank one.
fn unseen() -> Table {
    let mut values = task(0, 40).0.rows().values().to_vec();
    values.extend_from_slice(task(1, 40).0.rows().values());
    values.iter_mut().step_by(3).for_each(|v| *v *= 0.7);
    values.extend(vec![0.0; IMAGE.n_values()]);
    Table::new(values, IMAGE.n_values()).unwrap()
}

/// Both runtimes must give the same classes, and the same numbers up to rounding.
#[track_caller]
fn agree(params: ConsolidationParams) {
    let what = format!("{params:?}");
    let deployed = learned(params);
    agree_on(&deployed, unseen().rows(), &what);
}

#[track_caller]
fn agree_on(deployed: &Deployed, x: Rows<'_>, what: &str) {
    let Some(answers) = run(&deployed.to_onnx(), x) else {
        return;
    };
    let expected = deployed.scores(x).unwrap();
    let classes: Vec<u32> = serde_json::from_value(answers["class"].clone()).unwrap();
    assert_eq!(classes, deployed.predict(x).unwrap(), "{what}");
    let scores: Vec<Vec<f32>> = serde_json::from_value(answers["scores"].clone()).unwrap();
    let expected: Vec<Vec<f32>> = (0..x.len())
        .map(|i| (0..expected.n_cols()).map(|c| expected[(i, c)]).collect())
        .collect();
    close(&scores, &expected, what);
    let probabilities: Vec<Vec<f32>> = serde_json::from_value(answers["probabilities"].clone()).unwrap();
    let expected: Vec<Vec<f32>> = scores
        .iter()
        .map(|row| deployed.calibration.probabilities(row))
        .collect();
    close(&probabilities, &expected, what);
    if deployed.unknown.is_some() {
        let known: Vec<Vec<f32>> = serde_json::from_value(answers["known"].clone()).unwrap();
        let expected = deployed.known(x).unwrap();
        // A rounding error may move a row past one or two known ones.
        let near = |(found, expected): (&Vec<f32>, &f32)| (found[0] - expected).abs() < 0.05;
        assert!(
            known.iter().zip(&expected).all(near),
            "{known:?} instead of {expected:?} for {what}"
        );
    }
}

/// Equal to within 1e-4 of the largest number of each row.
#[track_caller]
fn close(found: &[Vec<f32>], expected: &[Vec<f32>], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.len(), expected.len(), "{what}");
        let size = expected.iter().fold(0f32, |size, v| size.max(v.abs()));
        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * size;
        assert!(
            found.iter().zip(expected).all(near),
            "row {i}: {found:?} instead of {expected:?} for {what}"
        );
    }
}

#[test]
fn uniform_nodes_of_every_activation() {
    for activation in ACTIVATIONS {
        agree(of_pool(PoolSpec::Uniform(UniformSpec {
            nodes: 60,
            scope: 0.1,
            activation,
        })));
    }
}

#[test]
fn gaussian_nodes_on_every_preparation() {
    for preparation in PREPARATIONS {
        agree(ConsolidationParams {
            max_nodes: Some(25),
            ..of_pool(PoolSpec::Gaussian(GaussianSpec {
                nodes: 60,
                activation: Activation::Tanh,
                preparation,
            }))
        });
    }
}

#[test]
fn features_on_every_preparation_under_every_readout() {
    let readouts = [ReadoutKind::Ridge, ReadoutKind::Lda, ReadoutKind::NearestMean];
    for (preparation, readout) in PREPARATIONS.into_iter().zip(readouts.into_iter().cycle()) {
        agree(ConsolidationParams {
            max_nodes: Some(40),
            readout,
            ..of_pool(PoolSpec::Features(FeaturesSpec { preparation }))
        });
    }
}

#[test]
fn a_row_that_preparation_leaves_without_length() {
    let deployed = learned(of_pool(PoolSpec::Features(FeaturesSpec {
        preparation: Preparation::Standardise,
    })));
    let mut container = Container::new("pool");
    deployed.pool.pack(&mut container, "pool");
    let shift = container.list("pool.shift").unwrap();
    let mean = Table::new(shift, deployed.pool.n_inputs()).unwrap();
    agree_on(&deployed, mean.rows(), "the mean row");
}

#[test]
fn patches_and_differences() {
    let activation = Activation::Sigmoid;
    agree(of_pool(PoolSpec::Patches(PatchesSpec {
        nodes: 50,
        activation,
    })));
    agree(ConsolidationParams {
        max_nodes: Some(20),
        ..of_pool(PoolSpec::Differences(DifferencesSpec {
            nodes: 50,
            scale: 2.0,
            activation,
        }))
    });
}

#[test]
fn convolution_padded_or_not() {
    let unpadded = small_convolution();
    let padded = ConvolutionSpec {
        padded: true,
        both_signs: true,
        contrast: 0.3,
        threshold: 0.05,
        overlap: 0,
        ..small_convolution()
    };
    for spec in [unpadded, padded] {
        agree(of_pool(PoolSpec::Convolution(spec)));
    }
}

#[test]
fn convolution_with_selected_nodes_and_other_powers() {
    for power in [0.5, 0.7, 1.0] {
        agree(ConsolidationParams {
            max_nodes: Some(40),
            ..of_pool(PoolSpec::Convolution(ConvolutionSpec {
                power,
                both_signs: true,
                ..small_convolution()
            }))
        });
    }
}

#[test]
fn stacks_with_and_without_selection() {
    // 216 first nodes: blocks of 256 directions, the second one only partly used.
    let of_features = PoolSpec::Stack(StackSpec {
        preparation: Preparation::Standardise,
        first: Box::new(PoolSpec::Features(FeaturesSpec {
            preparation: Preparation::Standardise,
        })),
        directions: 300,
        activations: vec![Activation::Relu, Activation::Square],
        gain: 1.0,
        bias: 0.0,
    });
    let of_convolution = PoolSpec::Stack(StackSpec {
        preparation: Preparation::Standardise,
        first: Box::new(PoolSpec::Convolution(small_convolution())),
        directions: 100,
        activations: ACTIVATIONS.to_vec(),
        gain: 1.0,
        bias: 0.0,
    });
    for pool in [of_features, of_convolution] {
        agree(of_pool(pool.clone()));
        agree(ConsolidationParams {
            max_nodes: Some(40),
            ..of_pool(pool)
        });
    }
}

#[test]
fn a_stack_on_a_stack() {
    let features = PoolSpec::Features(FeaturesSpec {
        preparation: Preparation::SquareRoot,
    });
    let stack = |first, directions| {
        PoolSpec::Stack(StackSpec {
            preparation: Preparation::Standardise,
            first: Box::new(first),
            directions,
            activations: vec![Activation::Tanh],
            gain: 1.0,
            bias: 0.0,
        })
    };
    agree(of_pool(stack(stack(features, 20), 30)));
}

#[test]
fn the_default_pool() {
    agree(ConsolidationParams::default());
}

/// Answers that are a class of one row become probabilities in a way of their own.
#[test]
fn a_class_of_one_row() {
    let params = ConsolidationParams {
        image: Some(IMAGE),
        ..ConsolidationParams::default()
    };
    let mut learner = Consolidation::new(params.check().unwrap());
    let (x, y) = task(0, 90);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    let (x, y) = task(1, 1);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    let deployed = learner.deployed().unwrap();
    assert!(deployed.calibration.singles().is_some());
    let found = deployed.predict(unseen().rows()).unwrap();
    assert!(found.contains(&3) && found.contains(&0), "{found:?}");
    agree_on(deployed, unseen().rows(), "a class of one row");
}

#[test]
fn class_names_travel_in_the_metadata() {
    let deployed = learned(of_pool(PoolSpec::Features(FeaturesSpec {
        preparation: Preparation::None,
    })));
    let Some(answers) = run(&deployed.to_onnx(), unseen().rows()) else {
        return;
    };
    let names = answers["metadata"]["classes"].as_str().unwrap();
    let names: Vec<String> = serde_json::from_str(names).unwrap();
    assert_eq!(names, deployed.classes.names());
}

/// Classes that arrive as 10, 9 and 2, and then others: the file has them sorted, by value or by name.
#[test]
fn classes_are_sorted() {
    let kinds = [
        (None, ["1", "2", "3", "9", "10", "20"]),
        (Some("strings"), ["1", "10", "2", "20", "3", "9"]),
    ];
    for (kind, expected) in kinds {
        let preparation = Preparation::None;
        let pool = PoolSpec::Features(FeaturesSpec { preparation });
        let mut learner = Consolidation::new(of_pool(pool).check().unwrap());
        learner.input_mut().labels = kind.map(str::to_owned);
        for (number, names) in [["10", "9", "2"], ["3", "20", "1"]].into_iter().enumerate() {
            let (x, y) = task(number, 90);
            let y = Labels::new(names.map(str::to_owned).to_vec(), y.codes().to_vec()).unwrap();
            learner.learn(x.rows(), &y, &mut ()).unwrap();
        }
        let deployed = learner.deployed().unwrap();
        let (x, found) = (unseen(), deployed.predict(unseen().rows()).unwrap());
        let Some(answers) = run(&deployed.to_onnx(), x.rows()) else {
            return;
        };
        let names: Vec<String> =
            serde_json::from_str(answers["metadata"]["classes"].as_str().unwrap()).unwrap();
        assert_eq!(names, expected);
        let classes: Vec<usize> = serde_json::from_value(answers["class"].clone()).unwrap();
        let probabilities: Vec<Vec<f32>> = serde_json::from_value(answers["probabilities"].clone()).unwrap();
        let ours = deployed.answers(x.rows(), 0.0).unwrap();
        for (row, &class) in classes.iter().enumerate() {
            assert_eq!(names[class], deployed.classes.names()[found[row] as usize]);
            for (name, probability) in names.iter().zip(&probabilities[row]) {
                let at = deployed.classes.place(name).unwrap() as usize;
                assert!((probability - ours[row].probabilities[at]).abs() < 1e-3, "{name}");
            }
        }
    }
}

/// The fields of a protobuf message: field numbers, each with an integer or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Int(value),
            2 => {
                let (content, rest) = bytes.split_at(value as usize);
                bytes = rest;
                Field::Bytes(content)
            }
            other => unreachable!("wire type {other} is never written"),
        };
        fields.push((key >> 3, field));
    }
    fields
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field<'a> {
    Int(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
    let (digits, rest) = bytes.split_at(length);
    *bytes = rest;
    digits
        .iter()
        .rev()
        .fold(0, |value, digit| value << 7 | u64::from(digit & 0x7f))
}

/// The bytes of every field with this number.
fn nested<'a>(fields: &[(u64, Field<'a>)], number: u64) -> Vec<&'a [u8]> {
    let content = |&(n, field): &(u64, Field<'a>)| match field {
        Field::Bytes(bytes) if n == number => Some(bytes),
        _ => None,
    };
    fields.iter().filter_map(content).collect()
}

#[test]
fn the_header_by_hand() {
    let model = learned(of_pool(PoolSpec::Features(FeaturesSpec {
        preparation: Preparation::None,
    })))
    .to_onnx();
    let model = fields(&model);
    assert_eq!(model[0], (1, Field::Int(8)));
    assert_eq!(nested(&model, 2), [b"autoactivator"]);
    assert_eq!(nested(&model, 3), [env!("CARGO_PKG_VERSION").as_bytes()]);
    assert_eq!(fields(nested(&model, 8)[0]), [(2, Field::Int(17))]);

    let names = |values: Vec<&[u8]>| -> Vec<String> {
        let name = |value| String::from_utf8(nested(&fields(value), 1)[0].to_vec()).unwrap();
        values.into_iter().map(name).collect()
    };
    assert_eq!(names(nested(&model, 14)), ["classes", "producer"]);
    let graph = fields(nested(&model, 7)[0]);
    assert_eq!(names(nested(&graph, 11)), ["x"]);
    assert_eq!(
        names(nested(&graph, 12)),
        ["class", "scores", "probabilities", "known"]
    );
}

#[test]
fn same_model_same_bytes() {
    let params = || {
        of_pool(PoolSpec::Stack(StackSpec {
            preparation: Preparation::Standardise,
            first: Box::new(PoolSpec::Convolution(small_convolution())),
            directions: 40,
            activations: vec![Activation::Relu],
            gain: 1.0,
            bias: 0.0,
        }))
    };
    assert_eq!(learned(params()).to_onnx(), learned(params()).to_onnx());
}
