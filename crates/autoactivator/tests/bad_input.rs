//! Bad input gets an error that names the place and the remedy, and leaves the learner unchanged.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

use autoactivator::{
    Check, Error, Labels, Learner, Model, Observer, Reactivation, ReactivationParams, RepeatedClasses, Table,
};

fn params() -> ReactivationParams {
    ReactivationParams {
        t_max: 3,
        step_size: 2,
        l_max: 6,
        ..ReactivationParams::default()
    }
}

fn table() -> Table {
    Table::new((0..40).map(|i| (i % 7) as f32 / 7.0).collect(), 2).unwrap()
}

fn labels(names: [&str; 2]) -> Labels {
    Labels::from_names((0..20).map(|i| names[i % 2]))
}

fn learned() -> Reactivation {
    let mut learner = Reactivation::new(params().check().unwrap());
    learner
        .learn(table().rows(), &labels(["a", "b"]), &mut ())
        .unwrap();
    learner
}

/// Learning must fail with a message that contains `words`, and change nothing.
#[track_caller]
fn refused(learner: &mut Reactivation, x: &Table, y: &Labels, words: &str) {
    let before = learner.clone();
    let error = learner.learn(x.rows(), y, &mut ()).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
    assert_eq!(*learner, before);
}

#[test]
fn tasks_that_cannot_be_learned() {
    let mut learner = learned();
    let y = labels(["c", "d"]);
    let mut values: Vec<f32> = table().rows().values().to_vec();
    values[7] = f32::NAN;
    refused(
        &mut learner,
        &Table::new(values.clone(), 2).unwrap(),
        &y,
        "row 3, feature 1 is NaN",
    );
    values[7] = f32::INFINITY;
    refused(
        &mut learner,
        &Table::new(values, 2).unwrap(),
        &y,
        "row 3, feature 1 is inf",
    );
    refused(
        &mut learner,
        &Table::new(vec![0.5; 40], 4).unwrap(),
        &labels(["c", "d"]).gather(&[0; 10]),
        "4 features",
    );
    refused(&mut learner, &table(), &y.gather(&[0, 1]), "20 rows but 2 labels");
    refused(
        &mut learner,
        &Table::new(vec![], 2).unwrap(),
        &y.gather(&[]),
        "task 2 has no rows",
    );
    let lonely = Labels::from_names((0..20).map(|i| if i == 4 { "lonely" } else { "c" }));
    refused(&mut learner, &table(), &lonely, "'lonely' has only 1 row");
    refused(
        &mut learner,
        &table(),
        &labels(["c", "b"]),
        "class 'b' was already learned in task 1",
    );
}

#[test]
fn a_class_with_one_row_is_learned_when_nothing_is_kept_back() {
    let params = ReactivationParams {
        validation: 0.0,
        ..params()
    };
    let mut learner = Reactivation::new(params.check().unwrap());
    let y = Labels::from_names((0..20).map(|i| if i == 4 { "lonely" } else { "c" }));
    learner.learn(table().rows(), &y, &mut ()).unwrap();
    assert_eq!(learner.classes().len(), 2);
}

#[test]
fn repeated_classes_are_accepted_on_demand() {
    let params = ReactivationParams {
        repeated_classes: RepeatedClasses::Accept,
        ..params()
    };
    let mut learner = Reactivation::new(params.check().unwrap());
    learner
        .learn(table().rows(), &labels(["a", "b"]), &mut ())
        .unwrap();
    learner
        .learn(table().rows(), &labels(["b", "c"]), &mut ())
        .unwrap();
    assert_eq!(learner.classes(), ["a", "b", "c"]);
    assert_eq!(learner.units()[1].classes, [1, 2]);
}

#[test]
fn predictions_that_cannot_be_made() {
    let nothing = Reactivation::new(params().check().unwrap());
    assert!(matches!(
        nothing.predict(table().rows()),
        Err(Error::NothingLearned)
    ));
    let wide = Table::new(vec![0.5; 9], 3).unwrap();
    let error = learned().predict(wide.rows()).unwrap_err().to_string();
    assert_eq!(error, "rows have 3 features, the model was learned with 2");
}

#[test]
fn shapes_that_make_no_rows() {
    assert!(matches!(
        Table::new(vec![1.0; 7], 2),
        Err(Error::RaggedRows {
            values: 7,
            n_features: 2
        })
    ));
    assert!(matches!(Table::new(vec![], 0), Err(Error::NoFeatures)));
    assert!(matches!(
        Labels::new(vec!["a".to_owned()], vec![0, 1]),
        Err(Error::LabelCode { row: 1, .. })
    ));
}

#[test]
fn parameters_out_of_range_are_named() {
    let d = ReactivationParams::default;
    for (name, params) in [
        ("step_size", ReactivationParams { step_size: 0, ..d() }),
        ("t_max", ReactivationParams { t_max: 0, ..d() }),
        ("l_max", ReactivationParams { l_max: 0, ..d() }),
        (
            "expected_accuracy",
            ReactivationParams {
                expected_accuracy: 1.5,
                ..d()
            },
        ),
        (
            "expected_accuracy",
            ReactivationParams {
                expected_accuracy: f64::NAN,
                ..d()
            },
        ),
        ("r", ReactivationParams { r: 1.0, ..d() }),
        (
            "scopes",
            ReactivationParams {
                scopes: vec![],
                ..d()
            },
        ),
        (
            "scopes",
            ReactivationParams {
                scopes: vec![-1.0],
                ..d()
            },
        ),
        ("ridge", ReactivationParams { ridge: -1.0, ..d() }),
        (
            "validation",
            ReactivationParams {
                validation: 1.0,
                ..d()
            },
        ),
        ("patience", ReactivationParams { patience: 0, ..d() }),
        ("layers", ReactivationParams { layers: 0, ..d() }),
    ] {
        let error = params.check().unwrap_err().to_string();
        assert!(error.starts_with(&format!("parameter `{name}` is ")), "{error}");
    }
}

#[test]
fn an_interrupted_learner_is_as_it_was() {
    struct Impatient;
    impl Observer for Impatient {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let mut learner = learned();
    let before = learner.clone();
    let result = learner.learn(table().rows(), &labels(["c", "d"]), &mut Impatient);
    assert!(matches!(result, Err(Error::Interrupted)));
    assert_eq!(learner, before);
}

#[test]
fn model_files_are_whole_or_refused() {
    let bytes = Model::from(learned()).to_bytes().unwrap();
    assert!(Model::from_bytes(&bytes).is_ok());
    for end in [0, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(Model::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(Model::from_bytes(&damaged).is_err(), "byte {at} flipped");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(Model::from_bytes(&longer).is_err());
}

#[test]
fn a_newer_format_is_refused_by_name() {
    let bytes = Model::from(learned()).to_bytes().unwrap();
    let text = br#"format_version\":1"#;
    let at = bytes.windows(text.len()).position(|w| w == text).unwrap();
    let mut newer = bytes;
    newer[at + text.len() - 1] = b'9';
    let error = Model::from_bytes(&newer).unwrap_err();
    assert!(
        error.contains("format version 9") && error.contains("newer"),
        "{error}"
    );
}

#[test]
fn saving_replaces_the_file_whole_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.aact");
    let model = Model::from(learned());
    std::fs::write(&path, "something else").unwrap();
    model.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap(), model);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let missing = Model::load(folder.path().join("absent.aact"))
        .unwrap_err()
        .to_string();
    assert!(missing.contains("absent.aact"), "{missing}");
}
