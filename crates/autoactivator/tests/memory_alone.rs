//! Probabilities and "unknown" are a function of the memory: any order of tasks, a merge, and a task that was learned
//! and unlearned again give the same. Over the standard pool, so do the sums, to the last bit.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::pool::PoolSpec;
use autoactivator::prelude::*;

/// How far apart probabilities may be: sums in another order round differently.
const TOLERANCE: f32 = 1e-3;

/// Rows of one class: points around a centre of its own.
fn rows(class: usize, n_rows: usize, salt: usize) -> (Table, Labels) {
    let noise = |i: usize, j: usize| {
        ((i * 7919 + j * 104_729 + salt * 1_299_709 + class * 31) % 1009) as f32 / 1009.0
    };
    let centre = |j: usize| ((class * (j + 2)) % 5) as f32 / 3.0;
    let values = (0..n_rows).flat_map(|i| (0..6).map(move |j| centre(j) + noise(i, j)));
    let names = (0..n_rows).map(|_| ["a", "b", "c", "d"][class]);
    (
        Table::new(values.collect(), 6).unwrap(),
        Labels::from_names(names),
    )
}

/// A model with a pool that has learned nothing.
fn begun() -> Consolidation {
    let params = ConsolidationParams {
        nodes: Some(100),
        ..ConsolidationParams::default()
    };
    let mut model = Consolidation::new(params.check().unwrap());
    let sample = std::iter::once(Ok::<_, Error>(rows(0, 40, 9)));
    model.begin(sample, &mut ()).unwrap();
    model
}

fn learned(mut model: Consolidation, classes: &[usize]) -> Consolidation {
    for &class in classes {
        let (x, y) = rows(class, 60, 0);
        model.learn(x.rows(), &y, &mut ()).unwrap();
    }
    model
}

/// Probability of each class by name, and how well known the row is, for rows that were not learned.
fn answers(model: &Consolidation) -> Vec<(Vec<(String, f32)>, f32)> {
    let deployed = model.deployed().unwrap();
    let asked: Vec<Table> = (0..4).map(|class| rows(class, 20, 3).0).collect();
    let answers = asked
        .iter()
        .flat_map(|x| deployed.answers(x.rows(), 0.1).unwrap());
    answers
        .map(|answer| {
            let mut by_name: Vec<(String, f32)> = model
                .classes()
                .iter()
                .cloned()
                .zip(answer.probabilities)
                .collect();
            by_name.sort_by(|a, b| a.0.cmp(&b.0));
            (by_name, answer.known.unwrap())
        })
        .collect()
}

#[track_caller]
fn assert_same(one: &Consolidation, other: &Consolidation) {
    for ((a, known_a), (b, known_b)) in answers(one).iter().zip(&answers(other)) {
        let near = |(a, b): (&(String, f32), &(String, f32))| a.0 == b.0 && (a.1 - b.1).abs() < TOLERANCE;
        assert!(a.iter().zip(b).all(near), "{a:?} is not {b:?}");
        // Rounding may move a row past one known row.
        assert!((known_a - known_b).abs() < 0.01, "{known_a} is not {known_b}");
    }
}

#[test]
fn the_order_of_tasks_does_not_matter() {
    let forward = learned(begun(), &[0, 1, 2, 3]);
    assert_same(&forward, &learned(begun(), &[3, 1, 0, 2]));
}

#[test]
fn a_merge_is_learning_in_one_place() {
    let mut here = learned(begun(), &[0, 2]);
    here.merge(&learned(begun(), &[3, 1])).unwrap();
    assert_same(&here, &learned(begun(), &[0, 1, 2, 3]));
}

#[test]
fn a_task_that_was_unlearned_leaves_no_trace() {
    let before = learned(begun(), &[0, 1, 2]);
    let mut after = learned(before.clone(), &[3]);
    let (x, y) = rows(3, 60, 0);
    after.unlearn(x.rows(), &y).unwrap();
    assert_same(&before, &after);
    assert_eq!(before.memory().witnesses(), after.memory().witnesses());
}

#[test]
fn what_lies_far_away_is_unknown_and_what_is_known_hardly_ever() {
    let model = learned(begun(), &[0, 1, 2, 3]);
    let shares: Vec<f32> = answers(&model).iter().map(|(_, known)| *known).collect();
    let rejected = shares.iter().filter(|share| **share <= 0.05).count();
    assert!(rejected <= shares.len() / 5, "{rejected} of {}", shares.len());
    let far = vec![40.0; 6];
    let known = model
        .deployed()
        .unwrap()
        .known(Rows::new(&far, 6).unwrap())
        .unwrap();
    assert!(known[0] < 0.01, "{known:?}");
}

/// Rows as a backbone gives them: wide, and of any length. Those of two classes come together.
fn embeddings(classes: [usize; 2], salt: usize) -> (Table, Labels) {
    let noise = |i: usize, j: usize| {
        ((i * 7919 + j * 104_729 + salt * 1_299_709 + i % 2 * 31) % 1009) as f32 / 1009.0
    };
    let centre = |class: usize, j: usize| ((class + 2) * (j + 3) % 7) as f32 / 2.0;
    let value = |i: usize, j: usize| centre(classes[i % 2], j) + noise(i, j);
    let values = (0..150).flat_map(|i| (0..64).map(move |j| value(i, j)));
    let names = (0..150).map(|i| ["a", "b", "c", "d"][classes[i % 2]]);
    (
        Table::new(values.collect(), 64).unwrap(),
        Labels::from_names(names),
    )
}

/// A model over the standard pool that has learned these tasks.
fn standard(seed: u64, tasks: &[[usize; 2]]) -> Model {
    let params = ConsolidationParams {
        pool: PoolSpec::named("standard"),
        nodes: Some(100),
        seed,
        ..ConsolidationParams::default()
    };
    let mut model = Consolidation::new(params.check().unwrap());
    for &classes in tasks {
        let (x, y) = embeddings(classes, classes[0]);
        model.learn(x.rows(), &y, &mut ()).unwrap();
    }
    model.into()
}

#[test]
fn people_who_never_met_merge_to_the_same_bytes() {
    let mut here = standard(3, &[[0, 2]]);
    here.merge(&[&standard(3, &[[3, 1]])], None).unwrap();
    let alone = standard(3, &[[0, 2], [3, 1]]);
    assert!(here.to_bytes().unwrap() == alone.to_bytes().unwrap());
    let again = Model::received("bytes", &here.to_bytes().unwrap()).unwrap();
    assert!(again == alone);
    let error = here.merge(&[&standard(4, &[[3, 1]])], None).unwrap_err();
    assert!(error.to_string().contains("different seeds"), "{error}");
}

#[test]
fn sums_over_the_standard_pool_know_no_order() {
    let sums = |model: &Model| model.consolidation().unwrap().memory().clone();
    let forward = sums(&standard(0, &[[0, 2], [3, 1], [1, 0]]));
    let mut backward = standard(0, &[[1, 0], [3, 1], [0, 2]]);
    // In G, classes have no order.
    assert!(forward.gram() == sums(&backward).gram());
    let (x, y) = embeddings([0, 2], 0);
    backward.unlearn(x.rows(), &y).unwrap();
    assert!(sums(&backward).gram() == sums(&standard(0, &[[3, 1], [1, 0]])).gram());
}
