//! The baselines and rivals do what they are there for: some remember, some forget, and two are bounds.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Error, Labels, Learner, Table};
use autoactivator_exam::baselines::closed::{
    Acil, FeCam, Klda, NearestNeighbours, RanPac, SimpleCil, UnitMean,
};
use autoactivator_exam::baselines::trained::{
    Bic, Der, Ewc, FineTuning, Gdumb, Icarl, Il2m, Joint, Lwf, Mas, Owm, Replay, Si, Training,
};
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

fn simple() -> Vec<Box<dyn Learner>> {
    vec![
        Box::new(NearestMean::default()),
        Box::new(StreamingLda::default()),
        Box::new(JointRidge::new(1, 1.0)),
        Box::new(SequentialSgd::new(1)),
    ]
}

/// Rivals that are fitted in closed form.
fn closed() -> Vec<Box<dyn Learner>> {
    vec![
        Box::new(UnitMean::default()),
        Box::new(SimpleCil::default()),
        Box::new(NearestNeighbours::new(3)),
        Box::new(FeCam::default()),
        Box::new(Klda::new(100, 1)),
        Box::new(Acil::new(50, 1)),
        Box::new(RanPac::new(50, 1)),
    ]
}

fn training() -> Training {
    Training {
        hidden: vec![20],
        epochs: 30,
        batch: 10,
        learning_rate: 0.1,
        momentum: 0.9,
        seed: 1,
    }
}

/// Rivals that keep no row and are trained.
fn without_rows() -> Vec<Box<dyn Learner>> {
    vec![
        Box::new(FineTuning::new(training())),
        Box::new(Ewc::new(training(), 10.0)),
        Box::new(Si::new(training(), 0.1)),
        Box::new(Mas::new(training(), 0.01)),
        Box::new(Lwf::new(training(), 1.0)),
        Box::new(Owm::new(training(), 0.01)),
    ]
}

/// Rivals that are trained, and keep so many rows.
fn with_exemplars(budget: usize) -> Vec<Box<dyn Learner>> {
    vec![
        Box::new(Replay::new(training(), budget)),
        Box::new(Der::new(training(), 0.5, budget)),
        Box::new(Gdumb::new(training(), budget)),
        Box::new(Icarl::new(training(), budget)),
        Box::new(Bic::new(training(), budget)),
        Box::new(Il2m::new(training(), budget)),
    ]
}

fn all() -> Vec<Box<dyn Learner>> {
    let mut all = [simple(), closed(), without_rows(), with_exemplars(60)];
    let joint: Box<dyn Learner> = Box::new(Joint::new(training()));
    all.iter_mut().flat_map(std::mem::take).chain([joint]).collect()
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
    for mut learner in simple() {
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

const TASKS: [&[&str]; 3] = [&["a", "b"], &["c", "d"], &["e", "f"]];

/// How much of the first and of the last task a learner knows after three of them.
fn after_three(learner: &mut dyn Learner) -> (f64, f64) {
    learn(learner, &TASKS);
    (right(learner, TASKS[0]), right(learner, TASKS[2]))
}

#[test]
fn rivals_in_closed_form_remember() {
    for mut learner in closed() {
        let (first, last) = after_three(&mut *learner);
        let name = learner.name();
        assert!(first > 0.8 && last > 0.8, "{name} knows {first} and {last}");
    }
}

#[test]
fn a_network_forgets_unless_rows_are_kept() {
    for mut learner in without_rows() {
        let (first, last) = after_three(&mut *learner);
        assert!(last > 0.9, "{} knows {last} of the last task", learner.name());
        if learner.name() == "fine-tuning" {
            assert!(
                first < 0.1,
                "nothing keeps it from forgetting, but it knows {first}"
            );
        }
    }
    for mut learner in with_exemplars(60) {
        let (first, last) = after_three(&mut *learner);
        let name = learner.name();
        assert!(first > 0.85 && last > 0.85, "{name} knows {first} and {last}");
    }
    let (first, last) = after_three(&mut Joint::new(training()));
    assert!(
        first > 0.95 && last > 0.95,
        "joint training knows {first} and {last}"
    );
}

/// What is kept counts: rows of four features, and for one rival what the network said of them.
#[test]
fn a_budget_is_kept_and_counted() {
    for mut learner in with_exemplars(31) {
        for (task, classes) in TASKS.iter().enumerate() {
            learn(&mut *learner, &[classes]);
            let floats = learner.size().memory_floats;
            let rows = 31 * N_FEATURES;
            if learner.name() == "der++" {
                assert!((rows + 31 * 2..=rows + 31 * 6).contains(&floats), "{floats}");
            } else {
                assert_eq!(floats, rows, "{} after task {task}", learner.name());
            }
        }
    }
}

#[test]
fn a_seed_decides_everything() {
    let (x, y) = task(&["a", "b", "c"]);
    for (mut one, mut other) in all().into_iter().zip(all()) {
        for learner in [&mut one, &mut other] {
            learner.learn(x.rows(), &y, &mut ()).unwrap();
            learn(&mut **learner, &[&["d", "e"]]);
        }
        assert_eq!(
            one.predict(x.rows()).unwrap(),
            other.predict(x.rows()).unwrap(),
            "{}",
            one.name()
        );
    }
}

/// A class that comes again, one class at a time, more classes than exemplars: nothing panics.
#[test]
fn odd_tasks_are_learned() {
    for mut learner in [all(), with_exemplars(2)].into_iter().flatten() {
        learn(&mut *learner, &[&["a"], &["b"], &["a", "c"], &["b"]]);
        assert_eq!(learner.classes(), ["a", "b", "c"]);
        let (x, _) = task(&["a", "b", "c"]);
        assert_eq!(learner.predict(x.rows()).unwrap().len(), 90);
        assert!(
            learner
                .predict_among(x.rows(), &[1])
                .unwrap()
                .iter()
                .all(|&c| c == 1)
        );
    }
}

/// Steps that lead to infinity are an error, and what was learned before stays.
#[test]
fn training_that_diverges_is_refused() {
    let mut learner = FineTuning::new(Training {
        learning_rate: 1e30,
        ..training()
    });
    let (x, y) = task(&["a", "b"]);
    let error = learner.learn(x.rows(), &y, &mut ()).unwrap_err().to_string();
    assert!(
        error.contains("`learning_rate`") && error.contains("lower it"),
        "{error}"
    );
    assert!(learner.classes().is_empty());
}

#[test]
fn sums_do_not_care_for_the_order_of_tasks() {
    for (mut one, mut other) in simple().into_iter().zip(simple()).take(3) {
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
            !["sequential-sgd", "nearest-neighbours", "fine-tuning", "lwf"].contains(&learner.name()),
            "{}",
            learner.name()
        );
    }
}
