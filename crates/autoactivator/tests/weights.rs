//! Laws of weights: a row of weight w counts as w copies of that row, on every way in and out of the memory.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

use autoactivator::{
    Check, Consolidation, ConsolidationParams, Error, Labels, Learner, Memory, Model, Precision,
    Reactivation, ReactivationParams, Share, Table,
};
use proptest::prelude::*;

const N_FEATURES: usize = 3;

/// Rows around one centre per class, every value reproducible.
fn rows(n_rows: usize, salt: usize) -> (Table, Labels) {
    let noise = |i: usize, j: usize| ((i * 193 + j * 71 + salt * 37) % 101) as f32 / 101.0;
    let value = |i: usize, j: usize| ((i % 3 * (j + 1)) % 4) as f32 + noise(i, j);
    let values = (0..n_rows).flat_map(|i| (0..N_FEATURES).map(move |j| value(i, j)));
    let names = (0..n_rows).map(|i| ["ape", "bee", "cow"][i % 3]);
    (
        Table::new(values.collect(), N_FEATURES).unwrap(),
        Labels::from_names(names),
    )
}

fn weighed(y: &Labels, weights: &[f64]) -> Labels {
    y.clone().weighed(weights.to_vec()).unwrap()
}

fn learner(private: bool, precision: Precision) -> Consolidation {
    let params = ConsolidationParams {
        private,
        precision,
        nodes: Some(24),
        class_weights: [("bee".to_owned(), 2.5)].into(),
        ..ConsolidationParams::default()
    };
    Consolidation::new(params.check().unwrap())
}

fn taught(begun: &Consolidation, x: &Table, y: &Labels) -> Consolidation {
    let mut learner = begun.clone();
    learner.learn(x.rows(), y, &mut ()).unwrap();
    learner
}

/// Largest difference of two memories, relative to the largest entry; classes and kept rows must be the same.
fn difference(a: &Memory, b: &Memory) -> f64 {
    assert_eq!(a.classes().names().len(), b.classes().names().len());
    let relative = |a: &[f64], b: &[f64]| {
        let scale = a.iter().fold(1e-30f64, |m, v| m.max(v.abs()));
        let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        apart.fold(0.0, f64::max) / scale
    };
    let mut worst = 0f64;
    for j in 0..a.n_nodes() {
        worst = worst.max(relative(&a.gram().column(j), &b.gram().column(j)));
    }
    for (c, name) in a.classes().names().iter().enumerate() {
        let d = b.classes().place(name).unwrap() as usize;
        worst = worst.max(relative(a.moments().col(c), b.moments().col(d)));
        worst = worst.max(relative(&a.counts()[c..=c], &b.counts()[d..=d]));
    }
    let (kept, other) = (a.witnesses().kept(), b.witnesses().kept());
    assert_eq!(kept.len(), other.len());
    for (one, other) in kept.iter().zip(other) {
        assert_eq!(one.row, other.row);
        worst = worst.max(relative(&[one.copies, one.weight], &[other.copies, other.weight]));
    }
    worst
}

/// How far answers are apart.
fn apart(a: &Consolidation, b: &Consolidation, x: &Table) -> f64 {
    let answers = |learner: &Consolidation| Model::from(learner.clone()).probabilities(x.rows()).unwrap();
    let (left, right) = (answers(a), answers(b));
    let (of_a, of_b) = (a.classes(), b.classes());
    let mut worst = 0f64;
    for (c, name) in of_a.iter().enumerate() {
        let d = of_b.iter().position(|other| other == name).unwrap();
        for i in 0..x.rows().len() {
            worst = worst.max((left[(i, c)] - right[(i, d)]).abs());
        }
    }
    worst
}

fn precision() -> impl Strategy<Value = (Precision, f64)> {
    prop_oneof![Just((Precision::F32, 1e-5)), Just((Precision::F64, 1e-9))]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn a_whole_weight_is_as_many_copies(
        weights in prop::collection::vec(0usize..6, 60), private in any::<bool>(), (precision, tolerance) in precision(),
        in_pieces in any::<bool>(),
    ) {
        let (x, y) = rows(60, 1);
        let copies: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, weights[i])).collect();
        let begun = learner(private, precision);
        let copied = taught(&begun, &x.rows().gather(&copies), &y.gather(&copies));
        let weights: Vec<f64> = weights.iter().map(|&w| w as f64).collect();
        let y = weighed(&y, &weights);
        let mut light = begun.clone();
        if in_pieces {
            let piece = |rows: &[usize]| Ok((x.rows().gather(rows), y.gather(rows)));
            let all: Vec<usize> = (0..60).collect();
            light.learn_batches(|| Ok::<_, Error>(all.chunks(7).map(piece)), &mut ()).unwrap();
        } else {
            light = taught(&begun, &x, &y);
        }
        prop_assert!(difference(copied.memory(), light.memory()) < tolerance);
        // In single precision, rounding moves answers as much as another order of the copies does.
        let apart = if precision == Precision::F64 { apart(&copied, &light, &x) } else { 0.0 };
        prop_assert!(apart < 1e-3, "answers are {apart} apart");
    }

    #[test]
    fn a_row_that_weighs_nothing_is_not_there(
        weights in prop::collection::vec(prop_oneof![Just(0.0), 0.01f64..9.0], 60), private in any::<bool>(),
    ) {
        let (x, y) = rows(60, 2);
        let y = weighed(&y, &weights);
        let there: Vec<usize> = y.present().collect();
        let begun = learner(private, Precision::F32);
        let without = taught(&begun, &x.rows().gather(&there), &y.gather(&there));
        prop_assert_eq!(&without, &taught(&begun, &x, &y));
        let mut unlearned = without.clone();
        let nothing = weighed(&y, &[0.0; 60]);
        assert!(matches!(unlearned.unlearn(x.rows(), &nothing), Err(Error::EmptyTask { .. })));
        assert!(matches!(unlearned.learn(x.rows(), &nothing, &mut ()), Err(Error::EmptyTask { .. })));
        prop_assert_eq!(unlearned, without);
    }

    #[test]
    fn what_was_learned_is_taken_back(
        weights in prop::collection::vec(prop_oneof![1e-3f64..3.0, 1e-5f64..1e-3, Just(20.0)], 45),
        private in any::<bool>(), (precision, tolerance) in precision(), shift in 0usize..45, piece in 1usize..46,
    ) {
        let (x, y) = rows(60, 3);
        let before = taught(&learner(private, precision), &x, &y);
        let (x, y) = rows(45, 4);
        let names = (0..45).map(|i| ["ape", "dog", "elk"][i % 3]);
        let y = weighed(&Labels::from_names(names.take(y.len())), &weights);
        let mut after = taught(&before, &x, &y);
        // In another order, and in pieces.
        let order: Vec<usize> = (0..45).map(|i| (i * 7 + shift) % 45).collect();
        for piece in order.chunks(piece) {
            after.unlearn(x.rows().gather(piece).rows(), &y.gather(piece)).unwrap();
        }
        prop_assert_eq!(after.classes(), before.classes());
        let heaviest = weights.iter().fold(1.0, |m: f64, &w| m.max(w));
        prop_assert!(difference(before.memory(), after.memory()) < tolerance * heaviest);
        // Once more, and it shows.
        let first = [order[0]];
        prop_assert!(after.unlearn(x.rows().gather(&first).rows(), &y.gather(&first)).is_err() || y.name(order[0]) == "ape");
    }

    #[test]
    fn order_parts_and_merges_do_not_matter(
        weights in prop::collection::vec(0.0f64..4.0, 90), private in any::<bool>(), shards in 1usize..5,
    ) {
        let (x, y) = rows(60, 5);
        let begun = taught(&learner(private, Precision::F64), &x, &y);
        let (x, y) = rows(90, 6);
        let y = weighed(&y, &weights);
        let whole = taught(&begun, &x, &y);
        let order: Vec<usize> = (0..90).map(|i| (i * 77 + 13) % 90).collect();
        let other = taught(&begun, &x.rows().gather(&order), &y.gather(&order));
        prop_assert!(difference(whole.memory(), other.memory()) < 1e-9);
        let (mut merged, mut summed) = (begun.clone(), begun.clone());
        for part in order.chunks(90usize.div_ceil(shards)) {
            let (x, y) = (x.rows().gather(part), y.gather(part));
            merged.merge(&taught(&begun.pool_alone(), &x, &y)).unwrap();
            let mut share = Share::of(&begun).unwrap();
            share.add(x.rows(), &y).unwrap();
            summed.absorb(&share.into_partial().unwrap()).unwrap();
        }
        prop_assert!(difference(whole.memory(), merged.memory()) < 1e-9);
        prop_assert!(difference(whole.memory(), summed.memory()) < 1e-9);
        let again = Model::from_bytes(&Model::from(whole.clone()).to_bytes().unwrap()).unwrap();
        prop_assert_eq!(again, Model::from(whole));
    }

    #[test]
    fn any_weights_are_learned_or_refused(
        powers in prop::collection::vec(-330i32..16, 12), private in any::<bool>(),
    ) {
        let (x, y) = rows(12, 7);
        let weights: Vec<f64> = powers.iter().map(|&power| 10f64.powi(power)).collect();
        let mut learner = learner(private, Precision::F32);
        let y = weighed(&y, &weights);
        if learner.learn(x.rows(), &y, &mut ()).is_ok() {
            let answers = Model::from(learner).probabilities(x.rows()).unwrap();
            let finite = answers.values().iter().all(|p| p.is_finite());
            prop_assert!(finite, "{weights:?}");
        }
    }
}

#[test]
fn a_class_whose_rows_weigh_nothing_is_not_admitted() {
    let (x, y) = rows(30, 8);
    let weights: Vec<f64> = (0..30).map(|i| if i % 3 == 1 { 0.0 } else { 1.5 }).collect();
    let model = taught(&learner(false, Precision::F32), &x, &weighed(&y, &weights));
    assert_eq!(model.classes(), ["ape", "cow"]);
    assert_eq!(model.memory().n_rows(), 30.0);
    let mut model = Model::new("consolidation", &serde_json::json!({})).unwrap();
    let receipt = model.teach(x.rows(), &weighed(&y, &weights), &mut ()).unwrap();
    assert_eq!((receipt.rows, receipt.left_out), (20, 10));
}

#[test]
fn all_weights_equal_is_as_many_rows_each() {
    let (x, y) = rows(30, 9);
    let begun = learner(false, Precision::F64);
    let (light, heavy) = (
        taught(&begun, &x, &weighed(&y, &[1e-4; 30])),
        taught(&begun, &x, &weighed(&y, &[50.0; 30])),
    );
    assert_eq!(light.pool(), taught(&begun, &x, &y).pool());
    assert!((light.memory().n_rows() * 5e5 - heavy.memory().n_rows()).abs() < 1e-6);
    for learner in [light, heavy] {
        let found = learner.predict(x.rows()).unwrap();
        let right = (0..30).filter(|&i| learner.classes()[found[i] as usize] == y.name(i));
        assert!(right.count() > 27);
    }
}

#[test]
fn wrong_weights_are_refused_by_name() {
    let labels = || Labels::from_names(["a", "b", "a"]);
    let message = |weights: &[f64]| labels().weighed(weights.to_vec()).unwrap_err().to_string();
    let remedy = "a weight says how often the row counts; make it a number from 0 to 1e15";
    assert_eq!(message(&[1.0, -0.5, 1.0]), format!("row 1 weighs -0.5: {remedy}"));
    assert_eq!(
        message(&[1.0, 1.0, f64::NAN]),
        format!("row 2 weighs NaN: {remedy}")
    );
    assert_eq!(
        message(&[f64::INFINITY, 1.0, 1.0]),
        format!("row 0 weighs inf: {remedy}")
    );
    assert_eq!(
        message(&[1.0, 1.0]),
        "2 weights for 3 rows: give one weight per row"
    );
}

#[test]
fn a_learner_that_counts_every_row_once_says_so() {
    let (x, y) = rows(30, 10);
    let mut learner = Reactivation::new(ReactivationParams::default().check().unwrap());
    let refused = learner.learn(x.rows(), &weighed(&y, &[2.0; 30]), &mut ());
    assert!(matches!(refused, Err(Error::NoUseForWeights)));
    assert!(learner.classes().is_empty());
    learner
        .learn(x.rows(), &weighed(&y, &[1.0; 30]), &mut ())
        .unwrap();
}

/// Found by chance: the weights of the blend would be infinite in the unit of the evidence.
#[test]
fn one_row_that_outweighs_all_others() {
    let (x, y) = rows(12, 7);
    let powers = [-26, -27, -23, -27, -22, -24, -29, 11, -24, -29, -25, -24];
    let weights: Vec<f64> = powers.iter().map(|&power| 10f64.powi(power)).collect();
    let mut learner = learner(false, Precision::F32);
    learner.learn(x.rows(), &weighed(&y, &weights), &mut ()).unwrap();
    let answers = Model::from(learner).probabilities(x.rows()).unwrap();
    assert!(answers.values().iter().all(|p| p.is_finite()));
}
