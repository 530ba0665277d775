//! Rows of very many features: a pool is chosen that a machine can hold, and what was chosen is said.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Labels, Model, Table};
use serde_json::{Value, json};

fn rows(n: usize, n_features: usize) -> (Table, Labels) {
    let value =
        |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1013) as f32 / 1013.0 + (i % 2 * (j % 3)) as f32;
    let x = (0..n).flat_map(|i| (0..n_features).map(move |j| value(i, j)));
    let y = (0..n).map(|i| if i % 2 == 0 { "even" } else { "odd" });
    (
        Table::new(x.collect(), n_features).unwrap(),
        Labels::from_names(y),
    )
}

fn taught(parameters: &Value, n: usize, n_features: usize) -> (Model, Vec<String>) {
    let (x, y) = rows(n, n_features);
    let mut model = Model::new("consolidation", parameters).unwrap();
    let receipt = model.teach(x.rows(), &y, &mut ()).unwrap();
    let right = model.predict(x.rows()).unwrap();
    assert!((0..n).all(|i| model.classes()[right[i] as usize] == y.name(i)));
    (model, receipt.warnings)
}

#[test]
fn thirty_thousand_features() {
    for parameters in [json!({}), json!({ "private": true })] {
        let (model, said) = taught(&parameters, 10, 30_000);
        assert_eq!(model.size().nodes, 1118);
        assert!(
            said.iter()
                .any(|text| text.contains("1118 random nodes were chosen")),
            "{said:?}"
        );
    }
    let (model, _) = taught(&json!({ "nodes": 100 }), 10, 30_000);
    assert_eq!(model.size().nodes, 100);
}

#[test]
fn ordinary_rows_are_as_before() {
    let (model, said) = taught(&json!({ "nodes": 50 }), 10, 300);
    assert_eq!(model.size().nodes, 350);
    assert!(said.is_empty(), "{said:?}");
}

#[test]
fn what_no_machine_can_hold_is_refused_before_it_is_begun() {
    let (x, y) = rows(10, 40_000);
    let mut model = Model::new("consolidation", &json!({ "pool": "features" })).unwrap();
    let error = model.learn(x.rows(), &y, &mut ()).unwrap_err().to_string();
    assert!(
        error.contains("40000 nodes") && error.contains("--nodes"),
        "{error}"
    );
}
