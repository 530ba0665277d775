//! Model files written by earlier versions: each is read, written again, queried, and taught more, and must
//! answer as the version that wrote it did. `tests/files/VERSION` holds files of every kind, rows, and that
//! version's answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may fail loudly.

use std::fs;
use std::path::{Path, PathBuf};

use autoactivator::prelude::*;
use autoactivator::{FORMAT_VERSION, Partial};
use serde_json::Value;

/// How far apart probabilities may be: other processors round differently.
const TOLERANCE: f64 = 1e-3;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/0.1.0")
}

/// Names of all files of a folder with this ending, without it.
fn names(folder: &Path, ending: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

fn rows(name: &str) -> (Table, Labels) {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let (mut values, mut classes) = (Vec::new(), Vec::new());
    for line in text.lines().skip(1) {
        let (features, class) = line.rsplit_once(',').unwrap();
        values.extend(features.split(',').map(|value| value.parse::<f32>().unwrap()));
        classes.push(class.to_owned());
    }
    let n_features = values.len() / classes.len();
    (
        Table::new(values, n_features).unwrap(),
        Labels::from_names(classes),
    )
}

/// Compares with the answers written by that version, and with their probabilities if these are `calibrated` as then:
/// older models keep no witnesses, so what they learn from now on leaves their calibration as it is.
#[track_caller]
fn check_answers(model: &Model, written: &Path, calibrated: bool) {
    let (x, _) = rows("asked.csv");
    let answers = model.answers(x.rows(), 0.0).unwrap();
    let text = fs::read_to_string(written).unwrap();
    assert_eq!(text.lines().count(), answers.len());
    for (answer, line) in answers.iter().zip(text.lines()) {
        let then: Value = serde_json::from_str(line).unwrap();
        let class = &model.classes()[answer.class.unwrap() as usize];
        assert_eq!(then["class"], class.as_str(), "{}: {line}", written.display());
        for (class, now) in model.classes().iter().zip(&answer.probabilities) {
            if let Some(then) = then["probabilities"][class].as_f64().filter(|_| calibrated) {
                assert!(
                    (then - f64::from(*now)).abs() < TOLERANCE,
                    "{}: {line}",
                    written.display()
                );
            }
        }
    }
}

#[test]
fn every_kind_is_read_written_again_and_answers_as_it_did() {
    let names = names(&folder(), "aact");
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        let bytes = fs::read(folder().join(format!("{name}.aact"))).unwrap();
        let model = Model::from_bytes(&bytes).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        let again = model.to_bytes().unwrap();
        assert!(Model::from_bytes(&again).unwrap() == model, "{name}");
        // Half precision is read into single, and a file contains its version.
        if env!("CARGO_PKG_VERSION") == "0.1.0" && FORMAT_VERSION == 1 && name != "deployed-half" {
            assert!(again == bytes, "{name} is written as it was");
        }
        if !model.classes().is_empty() {
            check_answers(&model, &folder().join(format!("{name}.jsonl")), true);
        }
    }
}

#[test]
fn every_learner_goes_on_as_it_would_have() {
    let (x, y) = rows("third.csv");
    for name in names(&folder().join("learned"), "jsonl") {
        if name == "absorbed" {
            continue;
        }
        let mut model = Model::load(&folder().join(format!("{name}.aact"))).unwrap();
        model.learn(x.rows(), &y, &mut ()).unwrap();
        let calibrated = model.name() == "reactivation";
        check_answers(
            &model,
            &folder().join(format!("learned/{name}.jsonl")),
            calibrated,
        );
    }
}

#[test]
fn partial_memories_are_read_and_added() {
    let bytes = fs::read(folder().join("sums.partial")).unwrap();
    let sums = Partial::from_bytes(&bytes).unwrap();
    assert_eq!(sums.to_bytes(false).unwrap(), bytes);
    assert_eq!((sums.sums().n_rows(), sums.files().len()), (48.0, 2));
    let mut model = Model::load(&folder().join("pool.aact")).unwrap();
    assert!(model.consolidation_mut().unwrap().absorb(&sums).unwrap());
    check_answers(&model, &folder().join("learned/absorbed.jsonl"), false);
    assert_eq!(
        Partial::load(&folder().join("single.partial"))
            .unwrap()
            .sums()
            .n_rows(),
        24.0
    );
}
