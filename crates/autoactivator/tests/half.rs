//! Half precision: what is written can be loaded and answers like the model, whatever the size of features.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Labels, Model, Table};
use serde_json::{Value, json};

const EXPONENTS: [i32; 17] = [-30, -20, -10, -8, -7, -6, -5, -4, 0, 3, 4, 5, 6, 7, 8, 10, 14];

fn rows(scale: f32) -> (Table, Labels) {
    let value = |i: usize| ((i * 7919) % 101) as f32 / 101.0;
    let x = (0..60).flat_map(|i| (0..3).map(move |j| scale * (value(3 * i + j) + (i % 2) as f32)));
    let y = (0..60).map(|i| if i % 2 == 0 { "even" } else { "odd" });
    (Table::new(x.collect(), 3).unwrap(), Labels::from_names(y))
}

/// Exports a model of features of this size in half precision, and compares what is loaded.
fn exported(parameters: &Value, exponent: i32) {
    let (x, y) = rows(10f32.powi(exponent));
    let mut model = Model::new("consolidation", parameters).unwrap();
    model.learn(x.rows(), &y, &mut ()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.aact");
    model.export(&path, true).unwrap();
    let half = Model::load(&path).unwrap().predict(x.rows()).unwrap();
    let whole = model.predict(x.rows()).unwrap();
    let same = half.iter().zip(&whole).filter(|(a, b)| a == b).count();
    assert!(same >= 57, "{parameters}, 1e{exponent}: {same} of 60");
}

#[test]
fn features_of_any_size() {
    for parameters in [
        json!({ "nodes": 24 }),
        json!({ "nodes": 24, "pool": "gaussian" }),
        json!({ "pool": "features" }),
        json!({ "pool": { "kind": "features", "preparation": "none" } }),
    ] {
        for exponent in EXPONENTS {
            exported(&parameters, exponent);
        }
    }
}
