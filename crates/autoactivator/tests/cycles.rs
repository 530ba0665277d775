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

/// Largest difference of two sums G, relative to the largest entry.
fn apart(a: &Model, b: &Model) -> f64 {
    let gram = |model: &Model| model.consolidation().unwrap().memory().gram().to_square();
    let (a, b) = (gram(a), gram(b));
    let largest = b.values().iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let pairs = a.values().iter().zip(b.values());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

/// Learns and unlearns other rows, a few at a time, and asks after every tenth part of the pairs.
fn pairs(parameters: &Value, n_pairs: u64, most_rows: u64) {
    let (x, y) = rows(300, &["a", "b", "c"], 1);
    let (test, truth) = rows(600, &["a", "b", "c"], 2);
    let mut fresh = Model::new("consolidation", parameters).unwrap();
    fresh.learn(x.rows(), &y, &mut ()).unwrap();
    let mut model = fresh.clone();
    let before = measured(&fresh, &test, &truth);
    let mut worst = [0f64; 4];
    for pair in 1..=n_pairs {
        let class = ["a", "b", "other", "and another"][(pair % 4) as usize];
        let n_rows = 1 + pair % most_rows;
        let (other, name) = rows(n_rows as usize, &[class], 100 + pair);
        model.learn(other.rows(), &name, &mut ()).unwrap();
        model.unlearn(other.rows(), &name).unwrap();
        if pair % n_pairs.div_ceil(10) == 0 || pair == n_pairs {
            let after = measured(&model, &test, &truth);
            let now = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
            let now = now.chain([apart(&model, &fresh)]);
            worst
                .iter_mut()
                .zip(now)
                .for_each(|(worst, now)| *worst = worst.max(now));
        }
    }
    let [highest, loss, accuracy, gram] = worst;
    println!(
        "{n_pairs} pairs, {parameters}: at most {highest:.1e} (highest probability), {loss:.1e} (log loss), \
         {accuracy:.1e} (accuracy) and {gram:.1e} (G) from a fresh model"
    );
    assert!(worst.iter().all(|&apart| apart < 1e-6), "{parameters}: {worst:?}");
}

/// `AUTOACTIVATOR_PAIRS=10000` asks for more than the 200 of the test command.
#[test]
fn a_model_after_many_pairs_is_a_fresh_one() {
    let asked = std::env::var("AUTOACTIVATOR_PAIRS");
    let n_pairs = asked.map_or(200, |n| n.parse().unwrap());
    pairs(&json!({ "nodes": 40 }), n_pairs, 20);
    pairs(&json!({ "nodes": 40, "witnesses": 150 }), n_pairs, 20);
    // Enough nodes for readouts that follow from the last one.
    pairs(&json!({ "nodes": 600 }), n_pairs / 10, 3);
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
