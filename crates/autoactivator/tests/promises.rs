//! What docs say a model file holds of rows: searched for in the bytes, and compared before and after unlearning.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Labels, Model, Rows};
use serde_json::{Value, json};

/// A value that no other number is likely to be.
const MARKER: f32 = 1234.567;

fn model(parameters: &Value) -> Model {
    Model::new("consolidation", parameters).unwrap()
}

fn learn(model: &mut Model, values: &[f32], classes: &[&str]) {
    model
        .learn(
            Rows::new(values, 4).unwrap(),
            &Labels::from_names(classes),
            &mut (),
        )
        .unwrap();
}

fn holds(bytes: &[u8], value: f32) -> bool {
    let (single, double) = (value.to_le_bytes(), f64::from(value).to_le_bytes());
    let found = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    found(&single) || found(&double)
}

/// The pools that a private model may have.
fn private() -> Vec<Value> {
    vec![
        json!({ "private": true }),
        json!({ "private": true, "pool": { "kind": "uniform", "nodes": 40, "scope": 0.5, "activation": "sigmoid" } }),
        json!({ "private": true, "image": "2x2", "pool": { "kind": "patches", "nodes": 40, "activation": "relu" } }),
        json!({ "private": true, "pool": {
            "kind": "gaussian", "nodes": 40, "activation": "relu", "preparation": "row-square-root"
        } }),
    ]
}

#[test]
fn a_first_task_of_one_row_is_stored_by_default_and_not_in_private() {
    let row = [MARKER, 2.0, 3.0, 4.0];
    let mut usual = model(&json!({}));
    learn(&mut usual, &row, &["only"]);
    assert!(
        holds(&usual.to_bytes().unwrap(), MARKER),
        "the search can find it"
    );
    for parameters in private() {
        let mut model = model(&parameters);
        learn(&mut model, &row, &["only"]);
        assert!(!holds(&model.to_bytes().unwrap(), MARKER), "{parameters}");
    }
}

#[test]
fn only_parameters_of_the_readout_may_change() {
    let rows: Vec<f32> = (0..80)
        .map(|at| ((at * 37) % 17) as f32 + (at / 40) as f32 * 9.0)
        .collect();
    let classes: Vec<&str> = (0..20).map(|row| if row < 10 { "a" } else { "b" }).collect();
    let changed = json!({ "readout": "lda", "prior": "seen", "ridge": 0.1, "shrinkage": 0.01 });
    let mut expected = model(&changed);
    let mut found = model(&json!({}));
    for model in [&mut expected, &mut found] {
        learn(model, &rows, &classes);
    }
    found.set_parameters(changed.as_object().unwrap()).unwrap();
    for model in [&mut expected, &mut found] {
        learn(model, &rows[..40], &classes[..10]);
    }
    assert_eq!(found.deployed().unwrap(), expected.deployed().unwrap());
    let before = found.to_bytes().unwrap();
    for refused in [
        json!({ "readout": "ridge", "seed": 1 }),
        json!({ "prior": "equal", "ridge": -1 }),
    ] {
        assert!(found.set_parameters(refused.as_object().unwrap()).is_err());
        assert!(found.to_bytes().unwrap() == before, "{refused} changed something");
    }
}

/// What is exported says it, too, and a file that says nothing is as it was before.
#[test]
fn the_kind_of_labels_is_kept() {
    let mut model = model(&json!({}));
    learn(
        &mut model,
        &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        &["10", "9"],
    );
    let before = model.to_bytes().unwrap();
    assert_eq!(model.sorted(), [1, 0]);
    model.set_labels(Some("strings".to_owned()));
    let read = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let deployed = Model::from_bytes(&model.deployed().unwrap().to_bytes(true).unwrap()).unwrap();
    for model in [&read, &deployed] {
        assert_eq!(
            (model.sorted(), model.input().labels.as_deref()),
            (vec![0, 1], Some("strings"))
        );
    }
    model.set_labels(None);
    assert!(model.to_bytes().unwrap() == before);
}

#[test]
fn a_private_model_says_why_it_cannot_reject() {
    let mut model = model(&json!({ "private": true }));
    learn(
        &mut model,
        &[0.0, 0.1, 5.0, 2.0, 0.9, 1.0, 4.0, 1.0],
        &["low", "high"],
    );
    let error = model.check_reject(0.1).unwrap_err().to_string();
    assert!(error.contains("private"), "{error}");
}

#[test]
fn a_private_model_takes_no_pool_from_rows() {
    for pool in [
        json!({ "kind": "features", "preparation": "columns" }),
        json!({ "kind": "features", "preparation": "none" }),
        json!({ "kind": "gaussian", "nodes": 9, "activation": "relu", "preparation": "standardise" }),
        json!({ "kind": "differences", "nodes": 9, "scale": 4.0, "activation": "relu" }),
    ] {
        let refused = Model::new("consolidation", &json!({ "private": true, "pool": pool }));
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("takes nothing from rows"), "{message}");
    }
}

/// Whatever is in the file is what it was before a task that was learned and unlearned: the pool to the byte, the
/// sums and the readout to rounding.
#[test]
fn what_a_private_model_unlearns_is_gone() {
    let first = [0.0, 0.1, 5.0, 2.0, 0.9, 1.0, 4.0, 1.0, 0.5, 0.7, 3.0, 2.0];
    let second = [9.0, 8.0, 1.0, 0.5, 9.5, 7.0, 1.5, 0.7];
    for mut parameters in private() {
        parameters["max_nodes"] = json!(30);
        parameters["precision"] = json!("f64");
        let mut model = model(&parameters);
        learn(&mut model, &first, &["low", "high", "low"]);
        let before = model.clone();
        learn(&mut model, &second, &["new", "new"]);
        let rows = Rows::new(&second, 4).unwrap();
        model.unlearn(rows, &Labels::from_names(["new", "new"])).unwrap();
        let (now, then) = (model.consolidation().unwrap(), before.consolidation().unwrap());
        assert!(now.pool() == then.pool());
        assert_eq!(model.classes(), before.classes());
        assert_eq!(model.growth(), before.growth(), "{parameters}");
        assert!(now.ledger().is_empty());
        assert_eq!(now.memory().counts(), then.memory().counts());
        let close = |a: &[f64], b: &[f64]| {
            a.iter()
                .zip(b)
                .all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs()))
        };
        assert!(close(
            now.memory().gram().to_square().values(),
            then.memory().gram().to_square().values()
        ));
        assert!(close(
            now.memory().moments().values(),
            then.memory().moments().values()
        ));
        let scores = |model: &Model| model.scores(Rows::new(&first, 4).unwrap()).unwrap();
        let (now, then) = (scores(&model), scores(&before));
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(near(now.values(), then.values()), "{parameters}");
    }
}

/// By default, the class leaves with its last row, and so do its name and the nodes that it brought.
#[test]
fn undo_returns_to_the_nodes_before() {
    let first = [0.0, 0.1, 5.0, 2.0, 0.9, 1.0, 4.0, 1.0, 0.5, 0.7, 3.0, 2.0];
    let second = [9.0, 8.0, 1.0, 0.5, 9.5, 7.0, 1.5, 0.7];
    let mut model = model(&json!({ "nodes_per_class": 3 }));
    learn(&mut model, &first, &["low", "high", "low"]);
    let before = (model.size().nodes, model.growth().len());
    learn(&mut model, &second, &["new", "new"]);
    assert!(model.size().nodes > before.0);
    let rows = Rows::new(&second, 4).unwrap();
    model.unlearn(rows, &Labels::from_names(["new", "new"])).unwrap();
    assert_eq!((model.size().nodes, model.growth().len()), before);
    let bytes = model.to_bytes().unwrap();
    assert!(
        !bytes.windows(5).any(|part| part == b"\"new\""),
        "its name is gone"
    );
}

#[test]
fn rows_that_were_never_there_are_refused() {
    let rows: Vec<f32> = (0..40).map(|i| (i * 7 % 11) as f32).collect();
    let mut model = model(&json!({}));
    learn(
        &mut model,
        &rows,
        &["a", "b", "a", "b", "a", "b", "a", "b", "a", "b"],
    );
    let one = &rows[..4];
    let unlearn = |model: &mut Model| model.unlearn(Rows::new(one, 4).unwrap(), &Labels::from_names(["a"]));
    unlearn(&mut model).unwrap();
    let error = unlearn(&mut model).unwrap_err().to_string();
    assert!(error.contains("cannot have been learned"), "{error}");
    let strange = [100.0, -3.0, 0.5, 8.0];
    let error = model.unlearn(Rows::new(&strange, 4).unwrap(), &Labels::from_names(["a"]));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("cannot have been learned")
    );
}

#[test]
fn sums_that_faded_keep_their_rows() {
    let rows = [0.0, 0.1, 5.0, 2.0, 0.9, 1.0, 4.0, 1.0];
    let mut model = model(&json!({ "fading": 0.5 }));
    learn(&mut model, &rows, &["a", "b"]);
    let before = model.to_bytes().unwrap();
    let error = model.unlearn(Rows::new(&rows, 4).unwrap(), &Labels::from_names(["a", "b"]));
    assert!(error.unwrap_err().to_string().contains("`fading` is 0.5"));
    assert_eq!(model.to_bytes().unwrap(), before);
}
