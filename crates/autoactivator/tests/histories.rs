//! Long histories of changes beside an oracle that keeps all rows and learns them afresh: memory, answers, probabilities
//! and "unknown" must be the same.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::collections::BTreeMap;

use autoactivator::math::{Matrix, Random, Stream};
use autoactivator::{Labels, Model, Rows, Table};
use serde_json::json;

/// Histories in the test command; `AUTOACTIVATOR_HISTORIES` asks for more.
const HISTORIES: u64 = 20;
const STEPS: usize = 50;
const WIDTH: usize = 4;
const NAMES: usize = 5;

/// Largest difference of a probability, and of the share of known rows that are stranger: answers are in single precision.
const TOLERANCE: f64 = 3e-5;

/// A row and its class. A class that was dropped and came again is another one.
#[derive(Clone, Debug, PartialEq)]
struct Learned {
    row: [f32; WIDTH],
    class: String,
}

/// What the model should know.
struct Oracle {
    /// The first task, which sets what nodes are compared by.
    first: Vec<Learned>,
    rows: Vec<Learned>,
    /// Rows of classes that were dropped: their scatter stays.
    dropped: Vec<Learned>,
    /// Names of classes by the names that they were learned under.
    names: BTreeMap<String, String>,
    random: Random,
    n_classes: usize,
}

fn empty() -> Model {
    let pool = json!({ "kind": "gaussian", "nodes": 12, "activation": "tanh" });
    Model::new("consolidation", &json!({ "pool": pool, "precision": "f64" })).unwrap()
}

fn table(rows: &[Learned]) -> Table {
    Table::new(rows.iter().flat_map(|row| row.row).collect(), WIDTH).unwrap()
}

fn labels(rows: &[Learned], names: &BTreeMap<String, String>) -> Labels {
    Labels::from_names(rows.iter().map(|row| names[&row.class].clone()))
}

impl Oracle {
    /// Begins with a first task of two classes.
    fn new(seed: u64) -> (Self, Model) {
        let mut oracle = Self {
            first: Vec::new(),
            rows: Vec::new(),
            dropped: Vec::new(),
            names: BTreeMap::new(),
            random: Random::new(seed, Stream::Pool { layer: 0 }),
            n_classes: 0,
        };
        let (mut model, mut first) = (empty(), oracle.some_of(0, 6));
        first.extend(oracle.some_of(1, 6));
        oracle.first.clone_from(&first);
        oracle.learn(&mut model, first);
        (oracle, model)
    }

    /// Rows around the place of a class, of which there are `NAMES`.
    fn some_of(&mut self, name: usize, n_rows: usize) -> Vec<Learned> {
        let shown = format!("class {name}");
        let known = self.names.iter().find(|(_, now)| **now == shown);
        let class = known.map(|(class, _)| class.clone()).unwrap_or_else(|| {
            self.n_classes += 1;
            let class = format!("{} of class {name}", self.n_classes);
            self.names.insert(class.clone(), shown);
            class
        });
        let mut row = || {
            let mut at = |j: usize| (name * (j + 1) % NAMES) as f32 + 0.8 * self.random.normal();
            [at(0), at(1), at(2), at(3)]
        };
        (0..n_rows)
            .map(|_| Learned {
                row: row(),
                class: class.clone(),
            })
            .collect()
    }

    fn learn(&mut self, model: &mut Model, rows: Vec<Learned>) {
        let x = table(&rows);
        model
            .learn(x.rows(), &labels(&rows, &self.names), &mut ())
            .unwrap();
        self.rows.extend(rows);
    }

    /// One change.
    fn step(&mut self, model: &mut Model) {
        let (name, n_rows) = (self.random.below(NAMES), 1 + self.random.below(5));
        match self.random.below(10) {
            0..4 => {
                let rows = self.some_of(name, n_rows);
                self.learn(model, rows);
            }
            4..7 => self.unlearn(model, n_rows),
            7 => self.merge(model, name, n_rows),
            8 => self.rename_and_back(model),
            _ if self.random.below(3) == 0 => self.drop_class(model),
            _ => *model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap(),
        }
    }

    fn n_rows_of(&self, class: &str) -> usize {
        self.rows.iter().filter(|row| row.class == class).count()
    }

    /// Unlearns some rows, but never the last of a class.
    fn unlearn(&mut self, model: &mut Model, n_rows: usize) {
        let mut gone = Vec::new();
        for _ in 0..n_rows {
            let at = self.random.below(self.rows.len());
            if self.n_rows_of(&self.rows[at].class.clone()) > 1 {
                gone.push(self.rows.swap_remove(at));
            }
        }
        if !gone.is_empty() {
            let x = table(&gone);
            model.unlearn(x.rows(), &labels(&gone, &self.names)).unwrap();
        }
    }

    /// Two copies learn apart and are put together.
    fn merge(&mut self, model: &mut Model, name: usize, n_rows: usize) {
        let (base, mut other) = (model.clone(), model.clone());
        let theirs = self.some_of(name, n_rows);
        self.learn(&mut other, theirs);
        let ours = self.some_of((name + 1) % NAMES, n_rows);
        self.learn(model, ours);
        model.merge(&[&other], Some(&base)).unwrap();
    }

    fn rename_and_back(&mut self, model: &mut Model) {
        let name = model.classes()[0].clone();
        model.rename_class(&name, "for a moment").unwrap();
        model.rename_class("for a moment", &name).unwrap();
    }

    fn drop_class(&mut self, model: &mut Model) {
        if model.classes().len() < 3 {
            return;
        }
        let name = model.classes()[self.random.below(model.classes().len())].clone();
        model.drop_class(&name).unwrap();
        let class = self
            .names
            .iter()
            .find(|(_, now)| **now == name)
            .unwrap()
            .0
            .clone();
        self.names.remove(&class);
        let (gone, kept) = self.rows.drain(..).partition(|row| row.class == class);
        self.rows = kept;
        self.dropped.extend::<Vec<Learned>>(gone);
    }

    /// A model that learns everything in as few steps as can be.
    fn fresh(&self) -> Model {
        let mut names = self.names.clone();
        for row in self.dropped.iter().chain(&self.first) {
            let gone = format!("gone: {}", row.class);
            names.entry(row.class.clone()).or_insert(gone);
        }
        let mut model = empty();
        let learn = |model: &mut Model, rows: &[Learned]| {
            if !rows.is_empty() {
                let x = table(rows);
                model.learn(x.rows(), &labels(rows, &names), &mut ()).unwrap();
            }
        };
        learn(&mut model, &self.first);
        learn(&mut model, &self.rows);
        learn(&mut model, &self.dropped);
        let x = table(&self.first);
        model.unlearn(x.rows(), &labels(&self.first, &names)).unwrap();
        for class in self.dropped.iter().map(|row| &names[&row.class]) {
            if model.classes().contains(class) {
                model.drop_class(class).unwrap();
            }
        }
        model
    }
}

/// Values of each class, by name.
fn by_name(model: &Model, values: &Matrix<f64>) -> BTreeMap<String, Vec<f64>> {
    let classes = model.classes().iter().enumerate();
    classes
        .map(|(c, name)| (name.clone(), values.col(c).to_vec()))
        .collect()
}

#[track_caller]
fn same(model: &Model, oracle: &Oracle, x: Rows<'_>, when: &str) -> f64 {
    let fresh = oracle.fresh();
    let [found, expected] = [model, &fresh].map(|model| by_name(model, &model.probabilities(x).unwrap()));
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        expected.keys().collect::<Vec<_>>(),
        "{when}"
    );
    let pairs = found.values().flatten().zip(expected.values().flatten());
    let mut worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if let (Ok(found), Ok(expected)) = (model.known(x), fresh.known(x)) {
        let pairs = found.iter().zip(&expected);
        worst = pairs.map(|(a, b)| f64::from((a - b).abs())).fold(worst, f64::max);
    }
    assert!(worst < TOLERANCE, "{when}: {worst}");
    worst
}

#[test]
fn a_history_is_worth_what_is_left_of_it() {
    let asked = std::env::var("AUTOACTIVATOR_HISTORIES");
    let histories = asked.map_or(HISTORIES, |n| n.parse().unwrap());
    let (mut compared, mut worst) = (0, 0f64);
    for seed in 0..histories {
        let (mut oracle, mut model) = Oracle::new(seed);
        let mut other = Oracle::new(seed + histories).0;
        let asked: Vec<Learned> = (0..NAMES).flat_map(|name| other.some_of(name, 3)).collect();
        let asked = table(&asked);
        for step in 1..=STEPS {
            oracle.step(&mut model);
            if step % 10 == 0 {
                let when = format!("history {seed}, step {step}");
                worst = worst.max(same(&model, &oracle, asked.rows(), &when));
                compared += 1;
            }
        }
    }
    println!("{histories} histories of {STEPS} steps, compared {compared} times: at most {worst:.1e} apart");
}
