//! Fewer rows than nodes: sums are kept as a factor, and solved in the space that rows span. Beside it, the slow truth.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod beside;

use autoactivator::consolidation::{Consolidation, ConsolidationParams, ReadoutKind};
use autoactivator::params::{Check, Precision};
use autoactivator::{Labels, Learner, Model, Partial};
use beside::{N_NODES, WIDTH, check, learn, learned, learned_in, rows};

fn is_factor(learner: &Consolidation) -> bool {
    learner.memory().gram().is_factor()
}

/// Rows of a class after which there are still fewer than half as many as nodes, and after which there are more.
const FEW: usize = 20;
const MANY: usize = 200;

#[test]
fn few_rows_are_what_all_entries_say() {
    // A row among few says much about itself; in single precision, the slow truth has no digit left of the rest.
    let mut learner = learned_in(Precision::F64, 2);
    assert!(is_factor(&learner));
    check(&learner, "two rows of each class");
    for (class, n) in [(5, 1), (0, 3), (1, 60), (2, 70), (6, 2), (5, 5)] {
        learn(&mut learner, &rows(class, n, 7 + n as u64));
        assert!(is_factor(&learner));
        check(&learner, &format!("{n} rows of class {class}"));
    }
}

/// The factor gives way to a triangle once there is no use for it, and nothing else changes.
#[test]
fn the_form_changes_where_it_says() {
    let mut learner = learned(FEW);
    let n_nodes = learner.memory().n_nodes();
    let mut n_rows = 5 * FEW;
    while is_factor(&learner) {
        learn(&mut learner, &rows(n_rows as u64 % 7, 25, n_rows as u64));
        n_rows += 25;
        check(&learner, &format!("{n_rows} rows"));
    }
    assert!(
        2 * n_rows > n_nodes && 2 * (n_rows - 25) <= n_nodes,
        "{n_rows} of {n_nodes}"
    );
    assert!(n_nodes >= N_NODES);
}

#[test]
fn rows_are_unlearned_and_classes_dropped() {
    let mut learner = learned(FEW);
    let before = learner.clone();
    let (few, more) = (rows(5, 3, 3), rows(1, 30, 4));
    learn(&mut learner, &few);
    learn(&mut learner, &more);
    learner.unlearn(few.0.rows(), &few.1).unwrap();
    check(&learner, "a class unlearned");
    learner
        .unlearn(more.0.rows().gather(&[1]).rows(), &more.1.gather(&[1]))
        .unwrap();
    check(&learner, "a row unlearned");
    let rest: Vec<usize> = (0..30).filter(|&i| i != 1).collect();
    learner
        .unlearn(more.0.rows().gather(&rest).rows(), &more.1.gather(&rest))
        .unwrap();
    is_as(&learner, &before, 1e-9);
    assert_eq!(
        learner.memory().n_floats(),
        before.memory().n_floats(),
        "the factor is as small as before"
    );
    learner.drop_class("class 3").unwrap();
    assert!(is_factor(&learner));
    check(&learner, "a class dropped");
    let never = rows(2, 1, 77);
    assert!(learner.unlearn(never.0.rows(), &never.1).is_err());
}

/// The sums of two learners are the same, relative to their size.
#[track_caller]
fn is_as(a: &Consolidation, b: &Consolidation, tolerance: f64) {
    let (a, b) = (a.memory().gram(), b.memory().gram());
    let size = a.diagonal().into_iter().fold(0.0, f64::max);
    for j in 0..a.n_nodes() {
        let apart = a
            .column(j)
            .into_iter()
            .zip(b.column(j))
            .map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) <= tolerance * size, "column {j}");
    }
}

#[test]
fn copies_and_weights() {
    let mut learner = learned(FEW);
    let row = rows(5, 1, 3);
    for copies in 1..6 {
        learn(&mut learner, &row);
        check(&learner, &format!("{copies} copies"));
    }
    let (x, y) = rows(6, 4, 3);
    let y = y.weighed(vec![0.5, 2.0, 1e-3, 3.25]).unwrap();
    learn(&mut learner, &(x.clone(), y.clone()));
    check(&learner, "weights");
    learner
        .unlearn(x.rows().gather(&[1]).rows(), &y.gather(&[1]))
        .unwrap();
    check(&learner, "the heaviest row unlearned");
}

/// Whatever form the sums of each part have, those of all parts are the same.
#[test]
fn parts_in_any_form_add_up() {
    let start = learned(2);
    for (first, second) in [(FEW, FEW), (FEW, MANY), (MANY, FEW), (MANY, MANY)] {
        let (one, other) = (rows(0, first, 5), rows(6, second, 6));
        let mut whole = start.clone();
        learn(&mut whole, &one);
        learn(&mut whole, &other);
        let (mut a, mut b) = (start.clone(), start.clone());
        learn(&mut a, &one);
        learn(&mut b, &other);
        a.merge_all(&[&b], Some(&start)).unwrap();
        is_as(&a, &whole, 1e-6);
        check(&a, &format!("{first} and {second} rows merged"));
        a.subtract(&{
            let mut other_alone = b.clone();
            other_alone.subtract(&start).unwrap();
            other_alone
        })
        .unwrap();
        check(&a, "taken away again");
    }
}

/// A file of few rows is small, and says no row by itself; what is learned after loading it is the same to the last bit.
#[test]
fn files_of_few_rows_are_small() {
    let mut few = learned(FEW);
    let bytes = Model::from(few.clone()).to_bytes().unwrap();
    let triangle = few.memory().n_nodes().pow(2) / 2 * size_of::<f64>();
    assert!(
        bytes.len() < triangle,
        "{} bytes, {triangle} of a triangle",
        bytes.len()
    );
    let loaded = Model::from_bytes(&bytes).unwrap();
    assert!(loaded == Model::from(few.clone()));
    let mut loaded = loaded.consolidation().unwrap().clone();
    learn(&mut loaded, &rows(6, 2, 3));
    learn(&mut few, &rows(6, 2, 3));
    assert_eq!(loaded.memory(), few.memory());
    check(&loaded, "after a restart");
}

/// Readouts of sums alone, of some of the nodes, and of every kind.
#[test]
fn every_readout_is_what_all_entries_say() {
    for kind in [
        ReadoutKind::Blend,
        ReadoutKind::Ridge,
        ReadoutKind::Lda,
        ReadoutKind::NearestMean,
    ] {
        for (witnesses, max_nodes) in [
            (0, None),
            (0, Some(150)),
            (100, Some(150)),
            (100, Some(40)),
            (100, None),
        ] {
            let params = ConsolidationParams {
                nodes: Some(N_NODES - WIDTH),
                readout: kind,
                witnesses,
                max_nodes,
                ..ConsolidationParams::default()
            };
            let mut learner = Consolidation::new(params.check().unwrap());
            for class in 0..4 {
                learn(&mut learner, &rows(class, 12, 1));
            }
            assert!(is_factor(&learner));
            let found = learner.deployed().unwrap();
            let ridge =
                matches!(kind, ReadoutKind::Blend | ReadoutKind::Ridge).then_some(found.readout.ridge);
            let mut truth = learner.clone();
            truth.solve_from_nothing(ridge).unwrap();
            let truth = truth.deployed().unwrap();
            let (x, _) = rows(0, 30, 99);
            let (a, b) = (found.scores(x.rows()).unwrap(), truth.scores(x.rows()).unwrap());
            let size = b.values().iter().fold(0f32, |size, v| size.max(v.abs()));
            let apart = a.values().iter().zip(b.values()).map(|(a, b)| (a - b).abs());
            let apart = apart.fold(0.0, f32::max);
            assert!(
                apart <= 1e-5 * size,
                "{kind:?}, {witnesses}, {max_nodes:?}: {apart} of {size}"
            );
        }
    }
}

#[test]
fn damaged_factors_are_refused() {
    let bytes = Model::from(learned(FEW)).to_bytes().unwrap();
    for cut in [9, 100, bytes.len() / 2, bytes.len() - 1] {
        assert!(Model::from_bytes(&bytes[..cut]).is_err());
    }
    assert!(Partial::from_bytes(&bytes).is_err());
}

/// Nothing varies, or hardly any node does.
#[test]
fn rows_that_are_all_the_same() {
    let params = ConsolidationParams::default();
    let mut learner = Consolidation::new(params.check().unwrap());
    let (x, _) = rows(0, 1, 1);
    let same = x.rows().gather(&[0, 0, 0, 0]);
    let y = Labels::from_names(["a", "a", "b", "b"]);
    learner.learn(same.rows(), &y, &mut ()).unwrap();
    assert!(learner.predict(same.rows()).is_ok());
}
