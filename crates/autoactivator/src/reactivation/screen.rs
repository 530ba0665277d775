//! Screening: judging all candidates on some of the rows finds the few that are worth judging on all of them.
//!
//! The rows of a lesson are ordered such that any first part of them is a stratified sample, so a heat is run
//! on the first rows. Its result is an estimate and admits nothing: every batch that joins has passed Eq.
//! (xi_2) on all rows (see `recruit`).

use super::judge::Trial;
use super::supervisor::{Reduction, Supervisor};
use crate::math::square_lengths;

/// One round of screening of the candidates that are still in.
#[derive(Clone, Copy, Debug)]
pub struct Heat {
    /// Number of rows that the heat is run on.
    pub rows: usize,
    /// One in this many of the batches drawn goes on.
    pub one_in: usize,
}

/// The heats before candidates are judged on all rows. On pairs of MNIST classes a join then costs a seventh
/// of judging every candidate on all rows, and the units grow no larger.
pub const HEATS: [Heat; 4] = [
    Heat { rows: 240, one_in: 3 },
    Heat { rows: 720, one_in: 6 },
    Heat {
        rows: 1920,
        one_in: 10,
    },
    Heat {
        rows: 4800,
        one_in: 25,
    },
];

/// At least this many batches go on from a heat, since it may rank the best of all second or third.
const AT_LEAST: usize = 3;

/// Rows that a heat needs for every node of a batch: the fewer rows, the more a batch fits by chance.
const ROWS_PER_NODE: usize = 16;

/// The batches of `trial` that are worth judging on all rows; all of them when there are few rows.
pub fn finalists(heats: &[Heat], supervisor: &Supervisor, r: f64, trial: &mut Trial<'_>) -> Vec<usize> {
    let n_batches = trial.n_batches();
    let mut batches: Vec<usize> = (0..n_batches).collect();
    for heat in heats {
        let survivors = n_batches.div_ceil(heat.one_in).max(AT_LEAST);
        // Half of all rows or more would cost about as much as all of them.
        let worthwhile = 2 * heat.rows < trial.n_rows() && survivors < batches.len();
        if worthwhile && heat.rows >= ROWS_PER_NODE * trial.l() {
            let ranking = supervisor.ranking(&estimates(supervisor, trial, &batches, heat.rows), r);
            batches = ranking[..survivors].iter().map(|&place| batches[place]).collect();
        }
    }
    batches
}

/// Estimates what `batches` would take off the residual on all rows from what they take off on the first `n`.
///
/// A batch of l nodes fits part of any n rows by chance, so n/(n - l) times the residual that it leaves there
/// is left on rows in general, and (N - l)/N of that on the N rows of the task.
fn estimates(supervisor: &Supervisor, trial: &mut Trial<'_>, batches: &[usize], n: usize) -> Vec<Reduction> {
    let (l, n_rows) = (trial.l(), trial.n_rows());
    let by_chance = n as f64 / (n - l) as f64 * (n_rows - l) as f64 / n_rows as f64;
    let squared_there = square_lengths(trial.e().rows(0..n));
    let estimate = |(c, gain): (usize, &f64)| {
        let left = 1.0 - gain / squared_there[c].max(f64::MIN_POSITIVE);
        supervisor.residual()[c] * (1.0 - left * by_chance)
    };
    let of_batch = |there: &Reduction| Reduction(there.0.iter().enumerate().map(estimate).collect());
    trial.go_on(batches, n).iter().map(of_batch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Matrix;
    use crate::math::{Random, Stream};
    use crate::pool::Activation;
    use crate::pool::Nodes;

    /// On noise a batch of 10 takes about 10/480 off the residual on 480 rows, but only 10/6000 on 6000.
    #[test]
    fn what_is_fitted_by_chance_is_not_taken_for_merit() {
        let (n, l) = (6000, 10);
        let mut random = Random::new(2, Stream::Pool { layer: 0 });
        let x = Matrix::from_fn(n, 12, |_, _| random.symmetric(1.0));
        let e = Matrix::from_fn(n, 2, |_, _| random.symmetric(1.0));
        let nodes = Nodes::draw(&mut random, 12, 50 * l, 2.0, Activation::Sigmoid);
        let supervisor = Supervisor::new(&e.to_f64(), l);
        let mean = |reductions: &[Reduction]| {
            let all = reductions.iter().flat_map(|reduction| &reduction.0);
            all.sum::<f64>() / reductions.len() as f64 / supervisor.residual().iter().sum::<f64>()
        };
        let mut trial = Trial::new(nodes, x.view(), e.view(), l);
        let everybody: Vec<usize> = (0..50).collect();
        let estimated = mean(&estimates(&supervisor, &mut trial, &everybody, 480));
        let truth = mean(&trial.go_on(&everybody, n));
        assert!((estimated - truth).abs() < 6e-3, "{estimated} instead of {truth}");
    }

    #[test]
    fn heats_that_cannot_tell_are_left_out() {
        let mut random = Random::new(2, Stream::Pool { layer: 0 });
        let x = Matrix::from_fn(1000, 3, |_, _| random.symmetric(1.0));
        let e = Matrix::from_fn(1000, 2, |_, _| random.symmetric(1.0));
        let supervisor = Supervisor::new(&e.to_f64(), 1);
        for (n_nodes, l, expected) in [(50, 1, 17), (50, 50, 1), (1, 1, 1), (200, 40, 5)] {
            let nodes = Nodes::draw(&mut random, 3, n_nodes, 1.0, Activation::Tanh);
            let mut trial = Trial::new(nodes, x.view(), e.view(), l);
            let chosen = finalists(&HEATS, &supervisor, 0.9, &mut trial);
            assert_eq!(chosen.len(), expected, "{n_nodes} nodes in batches of {l}");
        }
    }
}
