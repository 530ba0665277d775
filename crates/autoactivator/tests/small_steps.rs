//! Readouts that follow from the last one, beside the slow truth: the same memory, solved from nothing.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod beside;

use autoactivator::consolidation::{Consolidation, ConsolidationParams};
use autoactivator::params::Check;
use autoactivator::{Labels, Learner, Model, Rows, Table};
use beside::{N_NODES, WIDTH, check, learn, learned, rows};

/// Whether the last readout followed from the one before: then what it was solved with is kept.
fn followed(learner: &Consolidation) -> bool {
    learner.n_changes().is_some_and(|n| n > 0)
}

#[test]
fn a_small_step_is_what_a_solve_from_nothing_gives() {
    let mut learner = learned(200);
    check(&learner, "five classes");
    for (class, n) in [(5, 1), (5, 1), (6, 3), (0, 2), (6, 10)] {
        learn(&mut learner, &rows(class, n, 7 + n as u64));
        assert!(followed(&learner), "{n} rows of class {class}");
        check(&learner, &format!("{n} rows of class {class}"));
    }
}

#[test]
fn the_same_row_many_times() {
    let mut learner = learned(200);
    let row = rows(5, 1, 3);
    for copies in 1..6 {
        learn(&mut learner, &row);
        assert!(followed(&learner));
        check(&learner, &format!("{copies} copies"));
    }
}

#[test]
fn rows_are_unlearned_and_classes_dropped() {
    let mut learner = learned(200);
    let (few, more) = (rows(5, 3, 3), rows(6, 4, 4));
    learn(&mut learner, &few);
    learn(&mut learner, &more);
    learner.unlearn(few.0.rows(), &few.1).unwrap();
    assert!(followed(&learner));
    assert_eq!(learner.classes().len(), 6, "no row is left of class 5");
    check(&learner, "a class unlearned");
    learner
        .unlearn(more.0.rows().gather(&[1]).rows(), &more.1.gather(&[1]))
        .unwrap();
    check(&learner, "a row unlearned");
    learner.drop_class("class 6").unwrap();
    check(&learner, "a class dropped");
    learn(&mut learner, &few);
    check(&learner, "the class again");
}

#[test]
fn a_row_of_any_weight() {
    let mut learner = learned(200);
    let (x, y) = rows(5, 4, 3);
    let y = y.weighed(vec![0.5, 2.0, 1e-3, 3.25]).unwrap();
    learn(&mut learner, &(x.clone(), y.clone()));
    assert!(followed(&learner));
    check(&learner, "weights");
    learner
        .unlearn(x.rows().gather(&[1]).rows(), &y.gather(&[1]))
        .unwrap();
    check(&learner, "the heaviest row unlearned");
}

/// Copies share what the next readout follows from: whoever goes on first takes it, and the other is right all the same.
#[test]
fn copies_go_their_own_ways() {
    let mut one = learned(200);
    let mut other = one.clone();
    learn(&mut one, &rows(5, 2, 3));
    learn(&mut other, &rows(6, 2, 3));
    check(&one, "one");
    check(&other, "the other");
    learn(&mut one, &rows(0, 2, 8));
    check(&one, "one again");
}

/// Features that are copies of each other leave the sums nearly singular.
#[test]
fn nearly_singular_sums() {
    let params = ConsolidationParams {
        nodes: Some(N_NODES - WIDTH),
        ..ConsolidationParams::default()
    };
    let mut learner = Consolidation::new(params.check().unwrap());
    let flat = |class: u64, n: usize, seed: u64| {
        let (x, y) = rows(class, n, seed);
        let values = x
            .rows()
            .iter()
            .flat_map(|row| (0..WIDTH).map(|j| row[j % 3]).collect::<Vec<f32>>());
        (Table::new(values.collect(), WIDTH).unwrap(), y)
    };
    for class in 0..4 {
        learn(&mut learner, &flat(class, 150, 1));
    }
    for step in 0..4 {
        learn(&mut learner, &flat(4, 2, 10 + step));
        check(&learner, &format!("step {step}"));
    }
}

/// Steps of one row, in between unlearned ones: nothing adds up.
#[test]
fn many_small_steps() {
    let mut learner = learned(200);
    let n_steps = if std::env::var("AUTOACTIVATOR_LONG").is_ok() {
        1000
    } else {
        60
    };
    for step in 0..n_steps {
        let row = rows(step % 8, 1, 1000 + step);
        learn(&mut learner, &row);
        if step % 5 == 4 {
            learner.unlearn(row.0.rows(), &row.1).unwrap();
        }
    }
    check(&learner, "many steps");
}

/// A step is all or nothing, and leaves no trace if it is refused.
#[test]
fn a_refused_step_leaves_everything_as_it_was() {
    let mut learner = learned(200);
    learn(&mut learner, &rows(5, 2, 3));
    let before = learner.clone();
    let bad = Table::new(vec![f32::NAN; WIDTH], WIDTH).unwrap();
    assert!(
        learner
            .learn(bad.rows(), &Labels::from_names(["x"]), &mut ())
            .is_err()
    );
    let never = rows(5, 1, 77);
    assert!(learner.unlearn(never.0.rows(), &never.1).is_err());
    assert_eq!(learner, before);
    learn(&mut learner, &rows(6, 2, 3));
    check(&learner, "after a refusal");
    let x = Rows::new(&[0.0; WIDTH], WIDTH).unwrap();
    assert!(learner.deployed().unwrap().scores(x).is_ok());
}

/// A model that was stored and loaded in between goes on as if it had not been.
#[test]
fn restarts_make_no_difference() {
    let mut learner = learned(200);
    learn(&mut learner, &rows(5, 2, 3));
    let bytes = Model::from(learner.clone()).to_bytes().unwrap();
    let loaded = Model::from_bytes(&bytes).unwrap();
    for warm in [false, true] {
        let mut after = loaded.consolidation().unwrap().clone();
        if warm {
            after.warm_up();
            assert_eq!(after.n_changes(), Some(0));
        }
        let mut on = learner.clone();
        learn(&mut on, &rows(6, 2, 3));
        learn(&mut after, &rows(6, 2, 3));
        assert_eq!(on.memory(), after.memory());
        let ridge = |learner: &Consolidation| learner.deployed().unwrap().readout.ridge;
        assert_eq!(ridge(&on), ridge(&after));
        check(&after, "after a restart");
    }
}
