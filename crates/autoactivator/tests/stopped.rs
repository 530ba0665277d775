//! Changes that are stopped at any moment leave the model as it was, and the next one finds everything in order.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use autoactivator::math::{Random, Stream, alone, until};
use autoactivator::{Error, Labels, Model, Table};
use serde_json::{Value, json};

const WIDTH: usize = 6;

/// How many moments of a change are tried at most; they are evenly spaced.
const MOMENTS: usize = 40;

/// Largest difference of a probability from that of a change that nobody stopped: a readout may be solved instead of
/// followed.
const TOLERANCE: f64 = 1e-4;

fn rows(n_rows: usize, n_classes: usize, seed: u64) -> (Table, Labels) {
    let mut random = Random::new(seed, Stream::Pool { layer: 0 });
    let mut values = Vec::new();
    for i in 0..n_rows {
        values.extend((0..WIDTH).map(|j| ((i % n_classes) * (j + 2) % 7) as f32 + random.normal()));
    }
    let names = (0..n_rows).map(|i| format!("class {}", i % n_classes));
    (Table::new(values, WIDTH).unwrap(), Labels::from_names(names))
}

fn taught(parameters: &Value) -> Model {
    let mut model = Model::new("consolidation", parameters).unwrap();
    let (x, y) = rows(120, 4, 1);
    model.learn(x.rows(), &y, &mut ()).unwrap();
    model
}

/// A change of a model.
type Change = Box<dyn Fn(&mut Model) -> Result<(), Error>>;

/// Each kind of change that solves a readout.
fn changes(model: &Model) -> Vec<(&'static str, Change)> {
    let other = {
        let (mut other, (x, y)) = (model.clone(), rows(40, 5, 2));
        other.learn(x.rows(), &y, &mut ()).unwrap();
        other
    };
    let learn = |n_rows: usize| -> Change {
        Box::new(move |model| {
            let (x, y) = rows(n_rows, 5, 3);
            model.learn(x.rows(), &y, &mut ())
        })
    };
    let unlearn = |model: &mut Model| {
        let (x, y) = rows(120, 4, 1);
        let some: Vec<usize> = (0..60).collect();
        model.unlearn(x.rows().gather(&some).rows(), &y.gather(&some))
    };
    let base = model.clone();
    vec![
        ("learn", learn(400)),
        ("learn a little", learn(5)),
        ("unlearn", Box::new(unlearn)),
        (
            "merge",
            Box::new(move |model| model.merge(&[&other], Some(&base))),
        ),
        ("drop", Box::new(|model| model.drop_class("class 1"))),
    ]
}

/// Makes the change until it is asked `moment` times whether to stop, or to its end; also how often it was asked.
fn change_until(model: &mut Model, change: &Change, moment: Option<usize>) -> (Result<(), Error>, usize) {
    let asked = Rc::new(Cell::new(0));
    let counting = Rc::clone(&asked);
    let stop = move || {
        counting.set(counting.get() + 1);
        moment.is_some_and(|moment| counting.get() > moment)
    };
    let done = until(stop, || change(model));
    (done, asked.get())
}

#[track_caller]
fn close(a: &Model, b: &Model, what: &str) {
    let (x, _) = rows(30, 5, 4);
    let of = |model: &Model| model.probabilities(x.rows()).unwrap();
    assert_eq!(a.classes(), b.classes(), "{what}");
    let (a, b) = (of(a), of(b));
    let apart = a.values().iter().zip(b.values()).map(|(a, b)| (a - b).abs());
    let worst = apart.fold(0.0, f64::max);
    assert!(worst < TOLERANCE, "{what}: {worst}");
}

/// Stops every change of such a model at every moment.
fn stop_everywhere(parameters: &Value) {
    let before = taught(parameters);
    let file = before.to_bytes().unwrap();
    for (name, change) in changes(&before) {
        let mut expected = before.clone();
        let (done, asked) = change_until(&mut expected, &change, None);
        done.unwrap();
        assert!(asked > 0, "{name} is never asked whether to stop");
        for moment in (0..asked).step_by(asked.div_ceil(MOMENTS)) {
            let what = format!("{parameters}: {name}, stopped at {moment} of {asked}");
            let mut model = before.clone();
            let (stopped, _) = change_until(&mut model, &change, Some(moment));
            assert!(matches!(stopped, Err(Error::Interrupted)), "{what}: {stopped:?}");
            assert!(model.to_bytes().unwrap() == file, "{what}: the model has changed");
            change(&mut model).unwrap();
            close(&model, &expected, &what);
        }
    }
}

#[test]
fn a_change_that_is_stopped_leaves_the_model_as_it_was() {
    let pool = |nodes: usize| json!({ "kind": "gaussian", "nodes": nodes, "activation": "tanh" });
    stop_everywhere(&json!({ "pool": pool(40) }));
    stop_everywhere(&json!({ "pool": pool(600) }));
    stop_everywhere(&json!({ "pool": pool(40), "witnesses": 0 }));
    stop_everywhere(&json!({ "pool": pool(60), "max_nodes": 30 }));
    stop_everywhere(&json!({ "pool": pool(30), "readout": "lda", "precision": "f64" }));
}

#[test]
fn units_stop_between_their_nodes() {
    let (x, y) = rows(120, 4, 1);
    let mut model = Model::new("reactivation", &json!({})).unwrap();
    let learn: Change = Box::new(move |model| model.learn(x.rows(), &y, &mut ()));
    let (stopped, _) = change_until(&mut model, &learn, Some(1));
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert!(model.classes().is_empty());
    learn(&mut model).unwrap();
}

/// The longest that a lesson goes on after it should stop: printed, since it depends on the machine.
/// `AUTOACTIVATOR_NODES=6000 AUTOACTIVATOR_CLASSES=1000` makes it a long one.
#[test]
fn a_long_solve_is_asked_all_the_time() {
    let given = |name: &str, usual: usize| std::env::var(name).map_or(usual, |n| n.parse().unwrap());
    let (nodes, classes) = (
        given("AUTOACTIVATOR_NODES", 2500),
        given("AUTOACTIVATOR_CLASSES", 20),
    );
    let pool = json!({ "kind": "gaussian", "nodes": nodes, "activation": "tanh" });
    let mut model = Model::new("consolidation", &json!({ "pool": pool })).unwrap();
    // More rows than nodes: fewer could be solved by themselves.
    let (x, y) = rows((12 * classes).max(nodes + nodes / 10), classes, 1);
    let last = Cell::new(Instant::now());
    let longest = Rc::new(Cell::new(Duration::ZERO));
    let (asked, longest_so_far) = (Rc::new(Cell::new(0)), Rc::clone(&longest));
    let counting = Rc::clone(&asked);
    let began = Instant::now();
    let stop = move || {
        counting.set(counting.get() + 1);
        longest_so_far.set(longest_so_far.get().max(last.replace(Instant::now()).elapsed()));
        false
    };
    until(stop, || model.learn(x.rows(), &y, &mut ())).unwrap();
    println!(
        "{nodes} nodes, {classes} classes: {:.1} s, asked {} times whether to stop, at the longest after {:.2} s",
        began.elapsed().as_secs_f64(),
        asked.get(),
        longest.get().as_secs_f64()
    );
    assert!(asked.get() > 2 * nodes / 256, "asked {} times", asked.get());
}

#[test]
fn work_that_is_alone_as_a_whole_is_stopped_too() {
    let model = taught(&json!({}));
    let (x, _) = rows(60, 7, 5);
    let stopped = alone(|| until(|| true, || model.discover(x.rows()).map(drop)));
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    // Parts that are alone are not: nobody knows about the other parts.
    let part = until(|| true, || alone(|| model.discover(x.rows()).map(drop)));
    assert!(part.is_ok(), "{part:?}");
}
