//! Model files written by earlier versions: each is read, written again, queried, and taught more, and must
//! answer as the version that wrote it did. `tests/files/VERSION` holds files of every kind and that version's answers;
//! the rows are those in `tests/files/0.1.0`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may fail loudly.

mod kinds;
mod write;

use std::fs;
use std::path::{Path, PathBuf};

use autoactivator::prelude::*;
use autoactivator::{FORMAT_VERSION, Partial};
use serde_json::Value;

/// How far apart probabilities may be: other processors round differently.
const TOLERANCE: f64 = 1e-3;

/// Versions whose files are here: the first release, the first that kept witnesses, and the first whose sums of few rows are
/// a factor, with the kinds that were new then.
const FIRST: &str = "0.1.0";
const WITNESSED: &str = "0.1.0-witnesses";
const FACTORED: &str = "0.1.0-factors";

fn folder(version: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/files")
        .join(version)
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
    let text = fs::read_to_string(folder(FIRST).join(name)).unwrap();
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
/// models from before there were witnesses keep none, so what they learn from now on leaves their calibration as it is.
#[track_caller]
fn check_answers(model: &Model, written: &Path, calibrated: bool) {
    let (x, _) = rows("asked.csv");
    let answers = model.answers(x.rows(), 0.0).unwrap();
    let known = model.known(x.rows()).ok();
    let text = fs::read_to_string(written).unwrap();
    assert_eq!(text.lines().count(), answers.len());
    for (i, (answer, line)) in answers.iter().zip(text.lines()).enumerate() {
        let then: Value = serde_json::from_str(line).unwrap();
        let class = &model.classes()[answer.class.unwrap() as usize];
        assert_eq!(then["class"], class.as_str(), "{}: {line}", written.display());
        let close = |then: f64, now: f32| {
            let apart = (then - f64::from(now)).abs();
            assert!(apart < TOLERANCE, "{}: {now} {line}", written.display());
        };
        for (class, now) in model.classes().iter().zip(&answer.probabilities) {
            if let Some(then) = then["probabilities"][class].as_f64().filter(|_| calibrated) {
                close(then, *now);
            }
        }
        if let Some(then) = then["known"].as_f64() {
            close(then, known.as_ref().unwrap()[i]);
        }
    }
}

fn load(version: &str, name: &str) -> Model {
    let path = folder(version).join(format!("{name}.aact"));
    Model::load(&path).unwrap_or_else(|reason| panic!("{name} of {version}: {reason}"))
}

#[test]
fn every_kind_is_read_written_again_and_answers_as_it_did() {
    for (version, at_least) in [(FIRST, 15), (WITNESSED, 20), (FACTORED, 2)] {
        let names = names(&folder(version), "aact");
        assert!(names.len() >= at_least, "{names:?}");
        for name in names {
            let model = load(version, &name);
            let again = model.to_bytes().unwrap();
            let read = Model::from_bytes(&again).unwrap();
            assert!(read == model, "{name} of {version}");
            assert!(read.to_bytes().unwrap() == again, "{name} of {version}");
            if !model.classes().is_empty() {
                let written = folder(version).join(format!("{name}.jsonl"));
                check_answers(&model, &written, true);
                check_answers(&read, &written, true);
            }
        }
    }
}

#[test]
fn files_of_the_first_release_are_written_as_they_were() {
    // A file contains the version that wrote it.
    if env!("CARGO_PKG_VERSION") != "0.1.0" || FORMAT_VERSION != 1 {
        return;
    }
    for name in names(&folder(FIRST), "aact") {
        let bytes = fs::read(folder(FIRST).join(format!("{name}.aact"))).unwrap();
        // Half precision is read into single.
        if name != "deployed-half" {
            let model = Model::from_bytes(&bytes).unwrap();
            assert!(model.to_bytes().unwrap() == bytes, "{name}");
        }
    }
}

#[test]
fn every_learner_goes_on_as_it_would_have() {
    let (x, y) = rows("third.csv");
    for version in [FIRST, WITNESSED, FACTORED] {
        for name in names(&folder(version).join("learned"), "jsonl") {
            if name == "absorbed" {
                continue;
            }
            let mut model = load(version, &name);
            model.learn(x.rows(), &y, &mut ()).unwrap();
            let written = folder(version).join(format!("learned/{name}.jsonl"));
            let calibrated = version != FIRST || model.name() == "reactivation";
            check_answers(&model, &written, calibrated);
            let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            check_answers(&read, &written, calibrated);
        }
    }
}

#[test]
fn what_a_file_of_before_learned_is_unlearned() {
    let (x, y) = rows("third.csv");
    let of = |version| {
        names(&folder(version).join("learned"), "jsonl")
            .into_iter()
            .map(move |name| (version, name))
    };
    for (version, name) in of(WITNESSED).chain(of(FACTORED)) {
        let path = folder(version).join(format!("{name}.aact"));
        let able = |model: &Model| model.abilities().unlearns && model.parameters()["fading"] == 1.0;
        let Some(mut model) = Model::load(&path).ok().filter(able) else {
            continue;
        };
        model.learn(x.rows(), &y, &mut ()).unwrap();
        model.unlearn(x.rows(), &y).unwrap();
        check_answers(&model, &folder(version).join(format!("{name}.jsonl")), true);
    }
}

#[test]
fn partial_memories_are_read_and_added() {
    for version in [FIRST, WITNESSED] {
        let folder = folder(version);
        let bytes = fs::read(folder.join("sums.partial")).unwrap();
        let sums = Partial::from_bytes(&bytes).unwrap();
        let again = Partial::from_bytes(&sums.to_bytes(false).unwrap()).unwrap();
        assert_eq!((sums.sums().n_rows(), sums.files().len()), (48.0, 2));
        for sums in [sums, again] {
            let mut model = load(version, "pool");
            assert!(model.consolidation_mut().unwrap().absorb(&sums).unwrap());
            check_answers(&model, &folder.join("learned/absorbed.jsonl"), version != FIRST);
        }
        let single = Partial::load(&folder.join("single.partial")).unwrap();
        assert!([24.0, 48.0].contains(&single.sums().n_rows()));
    }
}

/// A new kind of model needs a file.
#[test]
fn there_is_a_file_of_every_kind() {
    if let Some(folder) = std::env::var_os("AUTOACTIVATOR_WRITE_FILES") {
        write::write(Path::new(&folder));
    }
    let there = [FIRST, WITNESSED, FACTORED].map(|version| names(&folder(version), "aact"));
    let there = there.concat();
    for kind in kinds::all() {
        assert!(there.contains(&kind.name), "no file of kind {}", kind.name);
    }
}
