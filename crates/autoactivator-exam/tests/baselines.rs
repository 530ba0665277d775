//! The baselines do what they are there for: simple learners that remember, an upper bound, and one that forgets.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Error, Labels, Learner, Table};
use autoactivator_exam::baselines::{JointRidge, NearestMean, SequentialSgd, StreamingLda};

const N_FEATURES: usize = 4;

/// Thirty rows of each class around corners of a cube, a little noise in every feature.
fn task(classes: &[&str]) -> (Table, Labels) {
    let mut values = Vec::new();
    let mut names = Vec::new();
    for i in 0..30 * classes.len() {
        let name = classes[i % classes.len()];
        let corner = name.as_bytes()[0] - b'a' + 1;
        let noise = |j: usize| ((i * 31 + j * 17) % 23) as f32 / 23.0 - 0.5;
        values.extend((0..N_FEATURES).map(|j| f32::from((corner >> j) & 1) + 0.3 * noise(j)));
        names.push(name);
    }
    (Table::new(values, N_FEATURES).unwrap(), Labels::from_names(names))
}

fn all() -> Vec<Box<dyn Learner>> {
    vec![
        Box::new(NearestMean::default()),
        Box::new(StreamingLda::default()),
        Box::new(JointRidge::new(1, 1.0)),
        Box::new(SequentialSgd::new(1)),
    ]
}

fn learn(learner: &mut dyn Learner, tasks: &[&[&str]]) {
    for classes in tasks {
        let (x, y) = task(classes);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
    }
}

/// Part of a task's rows that are right.
fn right(learner: &dyn Learner, classes: &[&str]) -> f64 {
    let (x, y) = task(classes);
    let predicted = learner.predict(x.rows()).unwrap();
    let right = predicted
        .iter()
        .enumerate()
        .filter(|(i, c)| learner.classes()[**c as usize] == y.name(*i));
    right.count() as f64 / y.len() as f64
}

#[test]
fn all_but_one_remember_the_first_task() {
    for mut learner in all() {
        learn(&mut *learner, &[&["a", "b"], &["c", "d"], &["e", "f"]]);
        assert_eq!(learner.classes(), ["a", "b", "c", "d", "e", "f"]);
        let (first, last) = (right(&*learner, &["a", "b"]), right(&*learner, &["e", "f"]));
        assert!(last > 0.95, "{} knows {last} of the last task", learner.name());
        if learner.name() == "sequential-sgd" {
            assert!(
                first < 0.5,
                "nothing keeps it from forgetting, but it knows {first}"
            );
        } else {
            assert!(first > 0.95, "{} knows {first} of the first task", learner.name());
        }
    }
}

#[test]
fn sums_do_not_care_for_the_order_of_tasks() {
    for (mut one, mut other) in all().into_iter().zip(all()).take(3) {
        learn(&mut *one, &[&["a", "b"], &["c", "d"]]);
        learn(&mut *other, &[&["c", "d"], &["a", "b"]]);
        let (x, _) = task(&["a", "b", "c", "d"]);
        let names = |learner: &dyn Learner| -> Vec<String> {
            let predicted = learner.predict(x.rows()).unwrap();
            predicted
                .iter()
                .map(|&c| learner.classes()[c as usize].clone())
                .collect()
        };
        assert_eq!(names(&*one), names(&*other), "{}", one.name());
    }
}

#[test]
fn bad_rows_are_refused_and_change_nothing() {
    for mut learner in all() {
        let (x, y) = task(&["a", "b"]);
        assert!(matches!(learner.predict(x.rows()), Err(Error::NothingLearned)));
        learner.learn(x.rows(), &y, &mut ()).unwrap();
        let before = learner.predict(x.rows()).unwrap();
        let narrow = Table::new(vec![0.5; 60], 1).unwrap();
        assert!(matches!(
            learner.learn(narrow.rows(), &y, &mut ()),
            Err(Error::FeatureCount { .. })
        ));
        assert!(matches!(
            learner.predict(narrow.rows()),
            Err(Error::FeatureCount { .. })
        ));
        let mut values = x.rows().values().to_vec();
        values[9] = f32::NAN;
        let holes = Table::new(values, N_FEATURES).unwrap();
        assert!(matches!(
            learner.learn(holes.rows(), &y, &mut ()),
            Err(Error::NotFinite {
                row: 2,
                feature: 1,
                ..
            })
        ));
        assert_eq!(learner.predict(x.rows()).unwrap(), before);
        assert_eq!(
            learner.size().memory_floats > 0,
            learner.name() != "sequential-sgd"
        );
    }
}
