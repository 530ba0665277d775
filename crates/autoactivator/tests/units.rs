//! Laws of units that are woken by densities: they are separate, come and go one by one, and know what they do not know.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{
    Check, Error, GateKind, Labels, Learner, Model, Reactivation, ReactivationParams, Rows, Table,
};

const N_FEATURES: usize = 6;

fn params() -> ReactivationParams {
    ReactivationParams {
        gate: GateKind::Density,
        gate_nodes: 24,
        t_max: 5,
        l_max: 30,
        scopes: vec![1.0],
        ..ReactivationParams::default()
    }
}

/// A number in [-1, 1) that looks random.
fn noise(i: usize) -> f32 {
    let mixed = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// Rows of some classes, each around a corner of its own; `shift` chooses other rows of the same classes.
fn rows(classes: &[usize], shift: usize) -> (Table, Labels) {
    let n_rows = 60 * classes.len();
    let class = |i: usize| classes[i % classes.len()];
    let value = |i: usize, j: usize| {
        let corner = ((class(i) + 1) >> (j % 4)) & 1;
        corner as f32 + 0.4 * noise((shift + i * 977 + class(i) * 131) * N_FEATURES + j)
    };
    let values = (0..n_rows).flat_map(|i| (0..N_FEATURES).map(move |j| (i, j)));
    let values = values.map(|(i, j)| value(i, j)).collect();
    let names = (0..n_rows).map(|i| format!("class {}", class(i)));
    (Table::new(values, N_FEATURES).unwrap(), Labels::from_names(names))
}

fn learned(tasks: &[&[usize]], params: &ReactivationParams) -> Reactivation {
    let mut learner = Reactivation::new(params.clone().check().unwrap());
    for task in tasks {
        let (x, y) = rows(task, 0);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
    }
    learner
}

fn accuracy(learner: &Reactivation, x: &Table, y: &Labels) -> f64 {
    let found = learner.predict(x.rows()).unwrap();
    let right = found
        .iter()
        .enumerate()
        .filter(|(i, place)| learner.classes()[**place as usize] == y.name(*i));
    right.count() as f64 / y.len() as f64
}

const TASKS: [&[usize]; 3] = [&[0, 1, 2], &[3, 4], &[5, 6]];

#[test]
fn one_row_finds_its_unit() {
    let learner = learned(&TASKS, &params());
    let (x, y) = rows(&[0, 1, 2, 3, 4, 5, 6], 5000);
    assert!(accuracy(&learner, &x, &y) > 0.9);
}

#[test]
fn units_learned_apart_and_put_together_are_those_learned_in_a_row() {
    let mut together = learned(&TASKS[..1], &params());
    together.adopt(&learned(&TASKS[1..2], &params())).unwrap();
    together.adopt(&learned(&TASKS[2..], &params())).unwrap();
    let in_a_row = learned(&TASKS, &params());
    assert_eq!(together, in_a_row);
    together.adopt(&in_a_row).unwrap();
    assert_eq!(together, in_a_row, "a unit that both have counts once");
}

#[test]
fn the_order_of_tasks_changes_no_answer() {
    let one = learned(&TASKS, &params());
    let other = learned(&[TASKS[2], TASKS[0], TASKS[1]], &params());
    let (x, _) = rows(&[0, 1, 2, 3, 4, 5, 6], 5000);
    let named = |learner: &Reactivation| -> Vec<String> {
        let found = learner.predict(x.rows()).unwrap().into_iter();
        found
            .map(|place| learner.classes()[place as usize].clone())
            .collect()
    };
    assert_eq!(named(&one), named(&other));
}

/// The scores of the classes that stay are the same to the last bit, and so are answers that the removed unit did not give.
#[test]
fn a_unit_that_is_removed_leaves_the_others_as_they_were() {
    let before = learned(&TASKS, &params());
    let mut after = before.clone();
    let removed = after.remove_unit(1).unwrap();
    assert_eq!(removed.growth.classes, ["class 3", "class 4"]);
    assert_eq!(after, learned(&[TASKS[0], TASKS[2]], &params()));
    let (x, _) = rows(&[0, 1, 2, 3, 4, 5, 6], 5000);
    let (old, new) = (before.scores(x.rows()).unwrap(), after.scores(x.rows()).unwrap());
    let (was, is) = (
        before.predict(x.rows()).unwrap(),
        after.predict(x.rows()).unwrap(),
    );
    for i in 0..x.rows().len() {
        for (c, name) in after.classes().iter().enumerate() {
            let place = before.classes().iter().position(|known| known == name).unwrap();
            assert_eq!(new[(i, c)].to_bits(), old[(i, place)].to_bits());
        }
        let name = &before.classes()[was[i] as usize];
        assert!(removed.growth.classes.contains(name) || *name == after.classes()[is[i] as usize]);
    }
}

#[test]
fn a_class_is_dropped_and_the_last_one_takes_its_unit_along() {
    let mut model = Model::from(learned(&TASKS[..2], &params()));
    model.drop_class("class 3").unwrap();
    assert_eq!(model.classes(), ["class 0", "class 1", "class 2", "class 4"]);
    assert_eq!(model.tasks().len(), 2);
    model.drop_class("class 4").unwrap();
    assert_eq!(model.tasks().len(), 1);
    assert_eq!(
        model.to_bytes().unwrap(),
        Model::from(learned(&TASKS[..1], &params())).to_bytes().unwrap()
    );
    assert!(matches!(
        model.drop_class("class 4"),
        Err(Error::UnknownClass { .. })
    ));
}

#[test]
fn units_that_do_not_go_together_are_refused() {
    let mut learner = learned(&TASKS[..1], &params());
    let other_seed = ReactivationParams { seed: 1, ..params() };
    let reuse = ReactivationParams {
        reuse: true,
        ..params()
    };
    let refused = |learner: &mut Reactivation, other: &Reactivation| {
        let before = learner.clone();
        let error = learner.adopt(other).unwrap_err().to_string();
        assert_eq!(*learner, before);
        error
    };
    let seeds = refused(&mut learner, &learned(&TASKS[1..], &other_seed));
    assert!(seeds.contains("different parameters or seeds"), "{seeds}");
    let repeated = refused(&mut learner, &learned(&[&[2, 3]], &params()));
    assert!(
        repeated.contains("'class 2' was already learned in task 1"),
        "{repeated}"
    );
    let mut borrowing = learned(&TASKS[..2], &reuse);
    assert!(borrowing.remove_unit(0).is_err());
    let mut by_threshold = Model::from(learned(
        &TASKS[..1],
        &ReactivationParams {
            gate: GateKind::Threshold,
            ..params()
        },
    ));
    assert!(by_threshold.drop_class("class 0").is_err());
}

#[test]
fn tasks_of_one_class_are_learned_under_both_gates() {
    let tasks: Vec<[usize; 1]> = (0..5).map(|class| [class]).collect();
    let tasks: Vec<&[usize]> = tasks.iter().map(|task| &task[..]).collect();
    let (x, y) = rows(&[0, 1, 2, 3, 4], 5000);
    assert!(accuracy(&learned(&tasks, &params()), &x, &y) > 0.9);
    let by_threshold = ReactivationParams {
        gate: GateKind::Threshold,
        ..params()
    };
    let learner = learned(&tasks, &by_threshold);
    let groups = (0..5).filter(|class| {
        let (x, _) = rows(&[*class], 5000);
        learner.reactivate(x.rows()).unwrap().unit == *class
    });
    assert!(groups.count() >= 3, "groups of one class mostly wake its unit");
}

#[test]
fn probabilities_sum_to_one_and_are_about_right() {
    let learner = learned(&TASKS, &params());
    let (x, y) = rows(&[0, 1, 2, 3, 4, 5, 6], 5000);
    let probabilities = learner.probabilities(x.rows()).unwrap();
    let mut confidence = 0.0;
    for i in 0..y.len() {
        let row = (0..probabilities.n_cols()).map(|c| probabilities[(i, c)]);
        assert!((row.clone().sum::<f64>() - 1.0).abs() < 1e-9);
        confidence += row.fold(0.0, f64::max) / y.len() as f64;
    }
    let accuracy = accuracy(&learner, &x, &y);
    assert!((confidence - accuracy).abs() < 0.05, "{confidence} {accuracy}");
}

#[test]
fn rows_that_no_unit_finds_likely_are_unknown() {
    let model = Model::from(learned(&TASKS, &params()));
    let (x, _) = rows(&[0, 1, 2, 3, 4, 5, 6], 5000);
    let unknown = |x: Rows<'_>| {
        let answers = model.answers(x, 0.05).unwrap();
        answers.iter().filter(|answer| answer.class.is_none()).count() as f64 / x.len() as f64
    };
    assert!(unknown(x.rows()) < 0.15);
    let far: Vec<f32> = x.rows().values().iter().map(|v| 9.0 - 20.0 * v).collect();
    assert!(unknown(Rows::new(&far, N_FEATURES).unwrap()) > 0.95);
}

#[test]
fn a_group_says_how_likely_each_unit_finds_it() {
    let learner = learned(&TASKS, &params());
    let (x, _) = rows(&[3, 4], 5000);
    let awake = learner.reactivate(x.rows()).unwrap();
    assert_eq!((awake.unit, awake.likely.len()), (1, 3));
    assert!((awake.likely.iter().sum::<f64>() - 1.0).abs() < 1e-9 && awake.likely[1] > 0.99);
}

#[test]
fn a_saved_model_is_the_same_model() {
    let model = Model::from(learned(&TASKS, &params()));
    let bytes = model.to_bytes().unwrap();
    let loaded = Model::from_bytes(&bytes).unwrap();
    assert_eq!(loaded.to_bytes().unwrap(), bytes);
    let (x, _) = rows(&[0, 3, 6], 5000);
    assert_eq!(
        loaded.answers(x.rows(), 0.05).unwrap(),
        model.answers(x.rows(), 0.05).unwrap()
    );
}

/// A flipped bit is found by the checksum, a shorter file by its length; neither may panic.
#[test]
fn a_damaged_file_is_refused() {
    let bytes = Model::from(learned(&TASKS[..1], &params())).to_bytes().unwrap();
    for at in (0..bytes.len()).step_by(97) {
        assert!(Model::from_bytes(&bytes[..at]).is_err());
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert!(Model::from_bytes(&damaged).is_err(), "byte {at}");
    }
}

/// Units that read images of 6 x 6 pixels through filters.
fn through_filters() -> ReactivationParams {
    ReactivationParams {
        filters: 8,
        image: Some("6x6".parse().unwrap()),
        ..params()
    }
}

/// A bar of some length and place, standing or lying, on noise: what a class is does not depend on single pixels.
fn bars(classes: &[usize], shift: usize) -> (Table, Labels) {
    let n_rows = 80 * classes.len();
    let class = |i: usize| classes[i % classes.len()];
    let value = |i: usize, at: usize| {
        let (y, x) = (at / 6, at % 6);
        let (along, across) = if class(i) % 2 == 0 { (y, x) } else { (x, y) };
        let place = i / classes.len() % 4 + usize::from(class(i) > 1);
        let on = across == place && (class(i) < 4 || along < 3);
        f32::from(u8::from(on)) + 0.1 * noise((shift + i) * 36 + at)
    };
    let values = (0..n_rows).flat_map(|i| (0..36).map(move |at| (i, at)));
    let values = values.map(|(i, at)| value(i, at)).collect();
    let names = (0..n_rows).map(|i| format!("class {}", class(i)));
    (Table::new(values, 36).unwrap(), Labels::from_names(names))
}

fn learned_bars(tasks: &[&[usize]]) -> Reactivation {
    let mut learner = Reactivation::new(through_filters().check().unwrap());
    for task in tasks {
        let (x, y) = bars(task, 0);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
    }
    learner
}

#[test]
fn filters_tell_bars_apart_wherever_they_are() {
    let learner = learned_bars(&[&[0, 1], &[4, 5]]);
    let (x, y) = bars(&[0, 1, 4, 5], 9000);
    assert!(accuracy(&learner, &x, &y) > 0.9);
}

#[test]
fn units_over_filters_come_and_go_and_are_kept_in_files() {
    let mut together = learned_bars(&[&[0, 1]]);
    together.adopt(&learned_bars(&[&[4, 5]])).unwrap();
    let in_a_row = learned_bars(&[&[0, 1], &[4, 5]]);
    assert_eq!(together, in_a_row);
    let bytes = Model::from(in_a_row.clone()).to_bytes().unwrap();
    let read = Model::from_bytes(&bytes).unwrap();
    let (x, _) = bars(&[0, 1, 4, 5], 9000);
    let scores = |learner: &Reactivation| learner.scores(x.rows()).unwrap();
    assert_eq!(scores(read.reactivation().unwrap()), scores(&in_a_row));
    let weights = in_a_row.units()[0].layers[0].own.weights.n_rows();
    assert_ne!(weights, 36, "nodes are over filters, not over pixels");
}

#[test]
fn filters_are_bounded_by_what_they_read() {
    let wide = vec![0.0; 2 * 2 * 200_000];
    let (x, y) = (Rows::new(&wide, 400_000).unwrap(), Labels::from_names(["a", "a"]));
    for image in ["1x400000", "2x2x100000"] {
        let params = ReactivationParams {
            filters: 1024,
            image: Some(image.parse().unwrap()),
            ..params()
        };
        let mut learner = Reactivation::new(params.check().unwrap());
        let refused = learner.learn(x, &y, &mut ()).unwrap_err();
        assert!(refused.to_string().contains("`filters`"), "{refused}");
    }
}

#[test]
fn filters_need_images_that_fit() {
    let (x, y) = bars(&[0, 1], 0);
    for image in [None, Some("5x6".parse().unwrap())] {
        let params = ReactivationParams {
            image,
            ..through_filters()
        };
        let mut learner = Reactivation::new(params.check().unwrap());
        let refused = learner.learn(x.rows(), &y, &mut ()).unwrap_err();
        assert!(matches!(
            refused,
            Error::NoImages { .. } | Error::ImageShape { .. }
        ));
        assert!(learner.classes().is_empty());
    }
}
