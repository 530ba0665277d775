//! A few rows of a class that nobody had seen before are enough to tell it from the others, and these stay known.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Check, Consolidation, ConsolidationParams, Labels, Learner, Table};
use autoactivator_data::dataset::{self, Dataset, Split};
use autoactivator_server::starter;

/// The rows of some classes, so many of each.
fn rows(part: &Split, classes: &[&str], of_each: usize) -> (Table, Labels) {
    let of_class = |class| {
        let is_of = move |&row: &usize| part.y.name(row) == class;
        (0..part.y.len()).filter(is_of).take(of_each)
    };
    let places: Vec<usize> = classes.iter().flat_map(|&class| of_class(class)).collect();
    (part.x.rows().gather(&places), part.y.gather(&places))
}

fn accuracy(learner: &Consolidation, (x, y): &(Table, Labels)) -> f64 {
    let found = learner.predict(x.rows()).unwrap();
    let right = |i: &usize| learner.classes()[found[*i] as usize] == y.name(*i);
    (0..y.len()).filter(right).count() as f64 / y.len() as f64
}

fn taught(params: &ConsolidationParams, digits: &Dataset) -> Consolidation {
    let params = ConsolidationParams {
        image: digits.image,
        ..params.clone()
    };
    let mut learner = Consolidation::new(params.check().unwrap());
    for task in [&["0", "1"][..], &["2", "3", "4"]] {
        let (x, y) = rows(&digits.train, task, usize::MAX);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
    }
    learner
}

/// The part of the test rows of a new class of `n` rows that is recognised, and the part of those of the others: the
/// mean over five classes and eight sets of rows.
fn recognised(params: &ConsolidationParams, n: usize) -> (f64, f64) {
    const SETS: usize = 8;
    let digits = dataset::open("digits", None).unwrap();
    let old = rows(&digits.test, &["0", "1", "2", "3", "4"], usize::MAX);
    let start = taught(params, &digits);
    let (mut of_new, mut of_old) = (Vec::new(), Vec::new());
    for class in ["5", "6", "7", "8", "9"] {
        let (x, y) = rows(&digits.train, &[class], n * SETS);
        let unseen = rows(&digits.test, &[class], usize::MAX);
        for set in 0..SETS {
            let set: Vec<usize> = (n * set..n * (set + 1)).collect();
            let mut learner = start.clone();
            let (x, y) = (x.rows().gather(&set), y.gather(&set));
            learner.learn(x.rows(), &y, &mut ()).unwrap();
            of_new.push(accuracy(&learner, &unseen));
            of_old.push(accuracy(&learner, &old));
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (of_new, of_old) = (mean(&of_new), mean(&of_old));
    println!("built-in digits, instance, {n} rows: {of_new:.3} of the new class, {of_old:.3} of the others");
    (of_new, of_old)
}

#[test]
fn three_rows_are_enough_for_a_class_on_the_page() {
    let (of_new, of_old) = recognised(&starter::params(), 3);
    assert!(of_new > 0.7, "{of_new:.3} of the new class");
    assert!(of_old > 0.98, "{of_old:.3} of the others");
}

#[test]
fn ten_rows_are_enough_for_a_class_by_default() {
    let (of_new, of_old) = recognised(&ConsolidationParams::default(), 10);
    assert!(of_new > 0.7, "{of_new:.3} of the new class");
    assert!(of_old > 0.98, "{of_old:.3} of the others");
}
