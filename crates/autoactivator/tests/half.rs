//! Half precision: what is written answers like the model, or is refused with the remedy and leaves nothing behind.

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

/// Exports a model of features of this size in half precision; returns whether that was possible.
fn exported(parameters: &Value, exponent: i32) -> bool {
    let place = format!("{parameters}, 1e{exponent}");
    let (x, y) = rows(10f32.powi(exponent));
    let mut model = Model::new("consolidation", parameters).unwrap();
    model.learn(x.rows(), &y, &mut ()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("half.aact");
    if let Err(error) = model.export(&path, true) {
        let said = error.to_string();
        assert!(said.contains("store it in single"), "{place}: {said}");
        assert!(!path.exists(), "{place}");
        return false;
    }
    let half = Model::load(&path).unwrap().predict(x.rows()).unwrap();
    let whole = model.predict(x.rows()).unwrap();
    let same = half.iter().zip(&whole).filter(|(a, b)| a == b).count();
    assert!(same >= 57, "{place}: {same} of 60");
    true
}

#[test]
fn features_of_any_size() {
    for parameters in [json!({ "nodes": 24 }), json!({ "nodes": 24, "pool": "gaussian" })] {
        for exponent in EXPONENTS {
            assert!(exported(&parameters, exponent), "{parameters}, 1e{exponent}");
        }
    }
}

/// Features that are read as they are need weights of the opposite size.
#[test]
fn what_would_be_rounded_away_is_refused() {
    let raw = json!({ "pool": { "kind": "features", "preparation": "none" } });
    for parameters in [raw, json!({ "pool": "features" })] {
        let written = EXPONENTS.map(|exponent| exported(&parameters, exponent));
        assert!(written[8], "features around 1");
        assert!(written.contains(&false), "{written:?}");
    }
}
