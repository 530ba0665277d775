//! How often classes will come, and classes of which only one row is known.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::data::Table;
use autoactivator::math::{Random, Stream};
use autoactivator::{Check, Consolidation, ConsolidationParams, Labels, Learner};

const WIDTH: usize = 6;

/// `count` rows of each class, around a mean of its own.
fn rows(counts: &[(usize, usize)], spread: f32, seed: u64) -> (Table, Vec<String>) {
    let mut means = Random::new(1, Stream::Pool { layer: 0 });
    let means: Vec<Vec<f32>> = (0..24)
        .map(|_| (0..WIDTH).map(|_| means.normal()).collect())
        .collect();
    let mut random = Random::new(seed, Stream::Pool { layer: 1 });
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for &(class, count) in counts {
        for _ in 0..count {
            values.extend(means[class].iter().map(|mean| mean + spread * random.normal()));
            names.push(format!("class {class}"));
        }
    }
    (Table::new(values, WIDTH).unwrap(), names)
}

fn learned(prior: &str, tasks: &[(Table, Vec<String>)]) -> Consolidation {
    let params = serde_json::json!({ "prior": prior, "nodes": 200 });
    let params: ConsolidationParams = serde_json::from_value(params).unwrap();
    let mut learner = Consolidation::new(params.check().unwrap());
    for (x, names) in tasks {
        learner
            .learn(x.rows(), &Labels::from_names(names), &mut ())
            .unwrap();
    }
    learner
}

/// The share of rows that are answered rightly.
fn right(learner: &Consolidation, (x, names): &(Table, Vec<String>)) -> f64 {
    let places = learner.predict(x.rows()).unwrap();
    let answers = places.iter().zip(names);
    let right = answers.filter(|(place, name)| learner.classes()[**place as usize] == **name);
    right.count() as f64 / names.len() as f64
}

#[test]
fn each_prior_is_best_at_what_it_is_for() {
    let task = [rows(&[(0, 900), (1, 60)], 1.5, 2)];
    let (common, rare) = (rows(&[(0, 2000)], 1.5, 3), rows(&[(1, 2000)], 1.5, 4));
    let [seen, cautious, equal] = ["seen", "cautious", "equal"].map(|prior| {
        let learner = learned(prior, &task);
        (right(&learner, &common), right(&learner, &rare))
    });
    let over_rows = |(common, rare): (f64, f64)| (900.0 * common + 60.0 * rare) / 960.0;
    let by_class = |(common, rare): (f64, f64)| (common + rare) / 2.0;
    assert!(
        over_rows(seen) > over_rows(equal),
        "{seen:?} {cautious:?} {equal:?}"
    );
    assert!(
        by_class(equal) > by_class(seen) + 0.02,
        "{seen:?} {cautious:?} {equal:?}"
    );
    assert!(
        seen.1 < cautious.1 && cautious.1 < equal.1,
        "{seen:?} {cautious:?} {equal:?}"
    );
}

#[test]
fn classes_of_one_row_disturb_no_other_and_are_known() {
    let old: Vec<(usize, usize)> = (0..12).map(|class| (class, 80)).collect();
    let new: Vec<(usize, usize)> = (12..24).map(|class| (class, 1)).collect();
    let asked = |classes: &[(usize, usize)], seed| {
        let classes: Vec<(usize, usize)> = classes.iter().map(|&(class, _)| (class, 50)).collect();
        rows(&classes, 0.4, seed)
    };
    let (asked_old, asked_new) = (asked(&old, 7), asked(&new, 8));
    let before = learned("cautious", &[rows(&old, 0.4, 5)]);
    let after = learned("cautious", &[rows(&old, 0.4, 5), rows(&new, 0.4, 6)]);
    let (before, after, new) = (
        right(&before, &asked_old),
        right(&after, &asked_old),
        right(&after, &asked_new),
    );
    assert!(after > before - 0.1, "{before} {after}");
    assert!(new > 0.4, "{new}");
}

/// Answers are as often right as they are sure to be, also where half of the classes are known by one row.
#[test]
fn classes_of_one_row_make_nobody_too_sure() {
    let old: Vec<(usize, usize)> = (0..12).map(|class| (class, 80)).collect();
    let new: Vec<(usize, usize)> = (12..24).map(|class| (class, 1)).collect();
    let asked: Vec<(usize, usize)> = (0..24).map(|class| (class, 60)).collect();
    let learner = learned("cautious", &[rows(&old, 0.5, 5), rows(&new, 0.5, 6)]);
    let (x, names) = rows(&asked, 0.5, 9);
    let answers = learner.deployed().unwrap().answers(x.rows(), 0.0).unwrap();
    let (mut sure, mut right) = (0.0, 0.0);
    for (answer, name) in answers.iter().zip(&names) {
        let class = answer.class.unwrap() as usize;
        sure += f64::from(answer.probabilities[class]);
        right += f64::from(u8::from(learner.classes()[class] == *name));
    }
    let (sure, right) = (sure / names.len() as f64, right / names.len() as f64);
    assert!((sure - right).abs() < 0.06, "sure {sure}, right {right}");
}
