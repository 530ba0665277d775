//! Learning and unlearning another class, again and again: probabilities are those of a model that never knew it.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Labels, Model, Table};
use serde_json::{Value, json};

const N_FEATURES: usize = 8;

/// Noisy rows: classes overlap, so that a probability says something.
fn rows(n: usize, classes: &[&str], salt: u64) -> (Table, Labels) {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let mut values = Vec::new();
    for i in 0..n {
        let at = 0.25 * (i % classes.len()) as f32;
        values.extend((0..N_FEATURES).map(|_| at + next() + next()));
    }
    let names = (0..n).map(|i| classes[i % classes.len()]);
    (Table::new(values, N_FEATURES).unwrap(), Labels::from_names(names))
}

/// Mean highest probability, log loss, and accuracy.
fn measured(model: &Model, x: &Table, y: &Labels) -> [f64; 3] {
    let probabilities = model.probabilities(x.rows()).unwrap();
    let (classes, n) = (model.classes(), y.len());
    let mut sums = [0.0; 3];
    for i in 0..n {
        let row: Vec<f64> = (0..classes.len()).map(|c| probabilities[(i, c)]).collect();
        let right = classes.iter().position(|class| class == y.name(i)).unwrap();
        let highest = row.iter().copied().fold(0.0, f64::max);
        sums[0] += highest;
        sums[1] -= row[right].max(1e-12).ln();
        sums[2] += f64::from(u8::from(row[right] == highest));
    }
    sums.map(|sum| sum / n as f64)
}

#[track_caller]
fn cycles(parameters: &Value, n_rows: usize, n_other: usize, n_cycles: u64) {
    let (x, y) = rows(n_rows, &["a", "b", "c"], 1);
    let (test, truth) = rows(600, &["a", "b", "c"], 2);
    let mut fresh = Model::new("consolidation", parameters).unwrap();
    fresh.learn(x.rows(), &y, &mut ()).unwrap();
    let mut model = fresh.clone();
    for cycle in 0..n_cycles {
        let (other, name) = rows(n_other, &["other"], 100 + cycle);
        model.learn(other.rows(), &name, &mut ()).unwrap();
        model.unlearn(other.rows(), &name).unwrap();
    }
    let (before, after) = (measured(&fresh, &test, &truth), measured(&model, &test, &truth));
    let near = before.iter().zip(&after).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(
        near,
        "{parameters}, {n_cycles} cycles of {n_other} rows: {after:?} is not {before:?}"
    );
}

#[test]
fn probabilities_after_twenty_cycles() {
    for parameters in [
        json!({ "nodes": 40 }),
        json!({ "nodes": 40, "readout": "ridge" }),
        json!({ "nodes": 40, "readout": "lda" }),
        json!({ "nodes": 40, "witnesses": 0 }),
        json!({ "nodes": 40, "max_nodes": 16 }),
    ] {
        cycles(&parameters, 300, 100, 20);
    }
}

#[test]
fn probabilities_after_two_hundred_cycles() {
    cycles(&json!({ "nodes": 40 }), 300, 100, 200);
}

/// More rows than are kept, so that rows of the other class take the places of some, but of none that judges.
#[test]
fn probabilities_with_more_rows_than_witnesses() {
    cycles(&json!({ "nodes": 40, "witnesses": 150 }), 600, 300, 20);
}
