//! Learners of a few classes, and the slow truth beside their readouts: the same memory, solved from all of its entries.

use autoactivator::consolidation::{Consolidation, ConsolidationParams};
use autoactivator::params::{Check, Precision};
use autoactivator::{Labels, Learner, Table};

/// Enough nodes for a readout to follow from the last one.
pub const N_NODES: usize = 600;
pub const WIDTH: usize = 20;

/// Largest difference between scores, relative to the largest one.
const TOLERANCE: f32 = 1e-5;

/// Reproducible numbers in [-1, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// `n` rows around the middle of a class.
pub fn rows(class: u64, n: usize, seed: u64) -> (Table, Labels) {
    let mut own = Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ class);
    let mut values = Vec::new();
    for _ in 0..n {
        let mut middle = Numbers(class * 7919 + 1);
        values.extend((0..WIDTH).map(|_| middle.next() + own.next() + own.next()));
    }
    let names = vec![format!("class {class}"); n];
    (Table::new(values, WIDTH).unwrap(), Labels::from_names(&names))
}

pub fn learn(learner: &mut Consolidation, (x, y): &(Table, Labels)) {
    learner.learn(x.rows(), y, &mut ()).unwrap();
}

/// A learner of five classes with `n` rows each.
pub fn learned(n: usize) -> Consolidation {
    learned_in(Precision::F32, n)
}

/// The same with sums of this precision.
pub fn learned_in(precision: Precision, n: usize) -> Consolidation {
    let params = ConsolidationParams {
        nodes: Some(N_NODES - WIDTH),
        precision,
        ..ConsolidationParams::default()
    };
    let mut learner = Consolidation::new(params.check().unwrap());
    for class in 0..5 {
        learn(&mut learner, &rows(class, n, 1));
    }
    learner
}

/// Refuses a readout that is not the one that its memory has with this ridge constant.
pub fn check(learner: &Consolidation, what: &str) {
    let deployed = learner.deployed().unwrap();
    let mut truth = learner.clone();
    truth.solve_from_nothing(Some(deployed.readout.ridge)).unwrap();
    let truth = truth.deployed().unwrap();
    for class in 0..8 {
        let (x, _) = rows(class, 10, 99);
        let (found, wanted) = (
            deployed.scores(x.rows()).unwrap(),
            truth.scores(x.rows()).unwrap(),
        );
        let size = wanted.values().iter().fold(0f32, |size, v| size.max(v.abs()));
        let pairs = || found.values().iter().zip(wanted.values());
        let apart = pairs().fold(0f32, |most, (a, b)| most.max((a - b).abs()));
        assert!(
            apart <= TOLERANCE * size,
            "{what}: scores of class {class} differ by {apart} of {size}"
        );
        let (a, b) = (
            deployed.answers(x.rows(), 0.05).unwrap(),
            truth.answers(x.rows(), 0.05).unwrap(),
        );
        for (a, b) in a.iter().zip(&b) {
            for (p, q) in a.probabilities.iter().zip(&b.probabilities) {
                assert!((p - q).abs() < 1e-4, "{what}: probability {p} {q}");
            }
            let (known, wanted) = (a.known.unwrap(), b.known.unwrap());
            assert!((known - wanted).abs() < 0.01, "{what}: known {known} {wanted}");
        }
    }
}
