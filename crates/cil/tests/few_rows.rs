//! Three rows of a class that nobody had seen before are enough to tell it from the others, and these stay known.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::pool::{ConvolutionSpec, PoolSpec};
use autoactivator::{Check, Consolidation, ConsolidationParams, Labels, Learner, ReadoutKind, Table};
use cil::data::{self, Dataset, Split};

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

fn taught(digits: &Dataset) -> Consolidation {
    let filters = ConvolutionSpec {
        filters: 16,
        sides: vec![3],
        padded: true,
        contrast: 0.3,
        threshold: 0.05,
        both_signs: true,
        grid: 4,
        overlap: 0,
        ..ConvolutionSpec::default()
    };
    let params = ConsolidationParams {
        pool: Some(PoolSpec::Convolution(filters)),
        image: digits.image,
        readout: ReadoutKind::Lda,
        shrinkage: 0.1,
        nodes_per_class: Some(25),
        ..ConsolidationParams::default()
    };
    let mut learner = Consolidation::new(params.check().unwrap());
    for task in [&["0", "1"][..], &["2", "3", "4"]] {
        let (x, y) = rows(&digits.train, task, usize::MAX);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
    }
    learner
}

#[test]
fn three_rows_are_enough_for_a_class() {
    const THREES: usize = 8;
    let digits = data::open("digits", None).unwrap();
    let old = rows(&digits.test, &["0", "1", "2", "3", "4"], usize::MAX);
    let start = taught(&digits);
    let (mut of_new, mut of_old) = (Vec::new(), Vec::new());
    for class in ["5", "6", "7", "8", "9"] {
        let (x, y) = rows(&digits.train, &[class], 3 * THREES);
        let unseen = rows(&digits.test, &[class], usize::MAX);
        for first in (0..THREES).map(|three| 3 * three) {
            let three = [first, first + 1, first + 2];
            let mut learner = start.clone();
            let (x, y) = (x.rows().gather(&three), y.gather(&three));
            learner.learn(x.rows(), &y, &mut ()).unwrap();
            of_new.push(accuracy(&learner, &unseen));
            of_old.push(accuracy(&learner, &old));
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (of_new, of_old) = (mean(&of_new), mean(&of_old));
    println!("built-in digits, instance: {of_new:.3} of the new class, {of_old:.3} of the others");
    assert!(of_new > 0.7, "{of_new:.3} of the new class");
    assert!(of_old > 0.98, "{of_old:.3} of the others");
}
