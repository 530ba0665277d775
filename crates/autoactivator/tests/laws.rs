//! Laws of the paper's learner, whatever the data: same seed, same bytes; the training residual never grows;
//! a new task leaves earlier units unchanged; predicting changes nothing; a group of one is an instance.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

use autoactivator::{
    Activation, Check, Error, Labels, Learner, Model, Reactivation, ReactivationParams, Rows, Table,
};
use proptest::prelude::*;

/// Rows around one centre per class; the classes of a task are named after it.
#[derive(Clone, Debug)]
struct TaskData {
    x: Table,
    y: Labels,
}

fn task(name: usize, n_classes: usize, rows: usize, n_features: usize, noise: Vec<f32>) -> TaskData {
    let centre = |class: usize, feature: usize| (((name * 31 + class * 17 + feature * 7) % 13) as f32) / 13.0;
    let mut noise = noise.into_iter().cycle();
    let mut values = Vec::new();
    let mut names = Vec::new();
    for i in 0..rows * n_classes {
        let class = i % n_classes;
        values.extend((0..n_features).map(|j| centre(class, j) + 0.3 * noise.next().unwrap_or(0.0)));
        names.push(format!("{name}-{class}"));
    }
    TaskData {
        x: Table::new(values, n_features).unwrap(),
        y: Labels::from_names(names),
    }
}

fn tasks() -> impl Strategy<Value = Vec<TaskData>> {
    (
        2usize..4,
        4usize..20,
        1usize..6,
        proptest::collection::vec(-1.0f32..1.0, 17..40),
    )
        .prop_map(|(n_classes, rows, n_features, noise)| {
            (0..2)
                .map(|t| task(t, n_classes, rows, n_features, noise.clone()))
                .collect()
        })
}

fn params() -> impl Strategy<Value = ReactivationParams> {
    (
        1usize..5,
        1usize..6,
        0u64..1000,
        0usize..3,
        any::<bool>(),
        1usize..3,
    )
        .prop_map(|(step_size, t_max, seed, g, reuse, layers)| ReactivationParams {
            step_size,
            t_max,
            seed,
            reuse,
            layers,
            l_max: 23,
            expected_accuracy: 1.0,
            scopes: vec![0.5, 2.0],
            activation: [Activation::Sigmoid, Activation::Tanh, Activation::Relu][g],
            ..ReactivationParams::default()
        })
}

fn learn(params: &ReactivationParams, tasks: &[TaskData]) -> Reactivation {
    try_learn(params, tasks).unwrap()
}

fn try_learn(params: &ReactivationParams, tasks: &[TaskData]) -> Result<Reactivation, Error> {
    let mut learner = Reactivation::new(params.clone().check()?);
    for task in tasks {
        learner.learn(task.x.rows(), &task.y, &mut ())?;
    }
    Ok(learner)
}

/// A few random nodes may all be zero on a few rows; the laws are about units that did grow.
fn grows(params: &ReactivationParams, tasks: &[TaskData]) -> bool {
    match try_learn(params, tasks) {
        Err(Error::NothingRecruited { .. }) => false,
        other => other.is_ok(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn same_seed_same_bytes(params in params(), tasks in tasks()) {
        prop_assume!(grows(&params, &tasks));
        let bytes = |learner| Model::from(learner).to_bytes().unwrap();
        prop_assert_eq!(bytes(learn(&params, &tasks)), bytes(learn(&params, &tasks)));
    }

    #[test]
    fn the_training_residual_never_grows(params in params(), tasks in tasks()) {
        prop_assume!(grows(&params, &tasks));
        for unit in learn(&params, &tasks).units() {
            for layer in &unit.growth.layers {
                let residuals: Vec<f64> = layer.joins.iter().map(|join| join.residual).collect();
                prop_assert!(residuals.windows(2).all(|pair| pair[1] <= pair[0]), "{:?}", residuals);
                prop_assert!(residuals.iter().all(|&residual| residual <= 1.0));
            }
        }
    }

    #[test]
    fn a_new_task_leaves_earlier_units_bit_identical(params in params(), tasks in tasks()) {
        prop_assume!(grows(&params, &tasks));
        let (first, both) = (learn(&params, &tasks[..1]), learn(&params, &tasks));
        prop_assert_eq!(&first.units()[0], &both.units()[0]);
    }

    #[test]
    fn a_saved_model_goes_on_as_if_it_had_never_been_saved(params in params(), tasks in tasks()) {
        prop_assume!(grows(&params, &tasks));
        let saved = Model::from(learn(&params, &tasks[..1])).to_bytes().unwrap();
        let mut loaded = Model::from_bytes(&saved).unwrap();
        loaded.learn(tasks[1].x.rows(), &tasks[1].y, &mut ()).unwrap();
        prop_assert_eq!(loaded.to_bytes().unwrap(), Model::from(learn(&params, &tasks)).to_bytes().unwrap());
    }

    #[test]
    fn predict_is_pure(params in params(), tasks in tasks()) {
        prop_assume!(grows(&params, &tasks));
        let learner = learn(&params, &tasks);
        let before = Model::from(learner.clone()).to_bytes().unwrap();
        let once = learner.predict(tasks[0].x.rows()).unwrap();
        prop_assert_eq!(once, learner.predict(tasks[0].x.rows()).unwrap());
        learner.predict_group(tasks[1].x.rows()).unwrap();
        prop_assert_eq!(before, Model::from(learner).to_bytes().unwrap());
    }

    #[test]
    fn a_group_of_one_is_an_instance(params in params(), tasks in tasks()) {
        prop_assume!(grows(&params, &tasks));
        let learner = learn(&params, &tasks);
        let x = tasks[1].x.rows();
        let alone: Vec<u32> = x.chunks(1).map(|row| learner.predict_group(row).unwrap()[0]).collect();
        let together = learner.predict(x).unwrap();
        for (row, (alone, together)) in x.chunks(1).zip(alone.iter().zip(&together)) {
            // A product of many rows rounds otherwise than that of one: two units as near as that may change places.
            prop_assert!(alone == together || has_two_nearest(&learner, row));
        }
    }
}

/// Whether two units are as near to waking as rounding can tell, or two scores of a unit as high.
fn has_two_nearest(learner: &Reactivation, row: Rows<'_>) -> bool {
    let mut distances = learner.reactivate(row).unwrap().distances;
    distances.sort_by(f64::total_cmp);
    distances[1] - distances[0] < 1e-4
}

#[test]
fn reuse_borrows_nodes_of_earlier_units() {
    let params = ReactivationParams {
        reuse: true,
        step_size: 2,
        t_max: 1,
        l_max: 20,
        expected_accuracy: 1.0,
        ..ReactivationParams::default()
    };
    let noise = vec![0.3, -0.8, 0.1, 0.9, -0.4, 0.7, -0.2];
    let tasks = [task(0, 2, 40, 4, noise.clone()), task(1, 2, 40, 4, noise)];
    let learner = learn(&params, &tasks);
    assert!(!learner.units()[1].layers[0].borrowed.is_empty());
    let reloaded = Model::from_bytes(&Model::from(learner.clone()).to_bytes().unwrap()).unwrap();
    assert_eq!(
        reloaded.predict(tasks[1].x.rows()).unwrap(),
        learner.predict(tasks[1].x.rows()).unwrap()
    );
}

/// Enough rows for heats, products of several tiles and a second thread.
#[test]
fn the_number_of_threads_changes_nothing() {
    let noise: Vec<f32> = (0..4999)
        .map(|i| ((i * 7919) % 1013) as f32 / 506.5 - 1.0)
        .collect();
    let tasks = [task(0, 3, 1700, 9, noise.clone()), task(1, 2, 2100, 9, noise)];
    let params = ReactivationParams {
        l_max: 60,
        expected_accuracy: 1.0,
        reuse: true,
        layers: 2,
        ..ReactivationParams::default()
    };
    let bytes = || Model::from(learn(&params, &tasks)).to_bytes().unwrap();
    let directly = bytes();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert!(pool.install(bytes) == directly, "{threads} threads");
    }
}
