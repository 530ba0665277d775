//! Screening: a look at all candidates on some of the rows finds the few that are worth judging on all of them.
//!
//! The rows of a lesson stand in such an order that any first part of them is a stratified sample, so a heat is run
//! on the first rows. It is an estimate and admits nobody: what joins has passed Eq. (xi_2) on all rows
//! ([`recruit`](crate::recruit)).

use crate::judge::judge;
use crate::linalg::{Matrix, View};
use crate::node::Nodes;
use crate::supervisor::{Reduction, Supervisor};

/// One look at the candidates that are still in.
#[derive(Clone, Copy, Debug)]
pub struct Heat {
    /// Rows it is run on.
    pub rows: usize,
    /// One in so many of the batches drawn goes on.
    pub one_in: usize,
}

/// The heats before the judgement on all rows. With them a join costs a fifth of judging everybody on pairs of MNIST
/// classes, and the units grow no larger.
pub const HEATS: [Heat; 2] = [
    Heat { rows: 480, one_in: 5 },
    Heat {
        rows: 1920,
        one_in: 10,
    },
];

/// At least so many go on from a heat, which may rank the best of all second or third.
const AT_LEAST: usize = 3;

/// A heat must have this many rows for every node of a batch: the fewer, the more a batch fits by chance.
const ROWS_PER_NODE: usize = 16;

/// The batches of `l` among `nodes` that are worth judging on all rows `x`; all of them where rows are few.
pub fn finalists(
    heats: &[Heat],
    supervisor: &Supervisor,
    r: f64,
    nodes: &Nodes,
    x: View<'_, f32>,
    e: &Matrix<f32>,
    l: usize,
) -> Vec<usize> {
    let n_batches = nodes.len() / l;
    let mut batches: Vec<usize> = (0..n_batches).collect();
    for heat in heats {
        let survivors = n_batches.div_ceil(heat.one_in).max(AT_LEAST);
        // Half of all rows or more would cost about as much as all of them.
        let worthwhile = 2 * heat.rows < x.n_rows() && survivors < batches.len();
        if worthwhile && heat.rows >= ROWS_PER_NODE * l {
            let entered = nodes.batches(&batches, l);
            let estimates = estimates(supervisor, &entered, x, e, heat.rows, l);
            let ranking = supervisor.ranking(&estimates, r);
            batches = ranking[..survivors].iter().map(|&place| batches[place]).collect();
        }
    }
    batches
}

/// What the batches of `nodes` would take off the residual on all rows, from what they take off on the first `n`.
///
/// A batch of l nodes fits part of any n rows by chance, so of the residual it leaves there, n/(n - l) times as much is
/// left on rows in general, and of that again (N - l)/N on the N rows of the task.
fn estimates(
    supervisor: &Supervisor,
    nodes: &Nodes,
    x: View<'_, f32>,
    e: &Matrix<f32>,
    n: usize,
    l: usize,
) -> Vec<Reduction> {
    let judged = judge(nodes, x.rows(0..n), e.view().rows(0..n), l);
    let by_chance = n as f64 / (n - l) as f64 * (x.n_rows() - l) as f64 / x.n_rows() as f64;
    let squared = |e_c: &[f32]| e_c[..n].iter().map(|&v| f64::from(v) * f64::from(v)).sum();
    let squared_there: Vec<f64> = e.cols().map(squared).collect();
    let estimate = |(c, gain): (usize, &f64)| {
        let left = 1.0 - gain / squared_there[c].max(f64::MIN_POSITIVE);
        supervisor.residual()[c] * (1.0 - left * by_chance)
    };
    let of_batch = |there: &Reduction| Reduction(there.0.iter().enumerate().map(estimate).collect());
    judged.reductions.iter().map(of_batch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::rng::{Random, Stream};

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
        let estimated = mean(&estimates(&supervisor, &nodes, x.view(), &e, 480, l));
        let truth = mean(&judge(&nodes, x.view(), e.view(), l).reductions);
        assert!((estimated - truth).abs() < 6e-3, "{estimated} instead of {truth}");
    }

    #[test]
    fn heats_that_cannot_tell_are_left_out() {
        let mut random = Random::new(2, Stream::Pool { layer: 0 });
        let x = Matrix::from_fn(1000, 3, |_, _| random.symmetric(1.0));
        let e = Matrix::from_fn(1000, 2, |_, _| random.symmetric(1.0));
        let supervisor = Supervisor::new(&e.to_f64(), 1);
        for (n_nodes, l, expected) in [(50, 1, 10), (50, 50, 1), (1, 1, 1), (200, 40, 5)] {
            let nodes = Nodes::draw(&mut random, 3, n_nodes, 1.0, Activation::Tanh);
            let chosen = finalists(&HEATS, &supervisor, 0.9, &nodes, x.view(), &e, l);
            assert_eq!(chosen.len(), expected, "{n_nodes} nodes in batches of {l}");
        }
    }
}
