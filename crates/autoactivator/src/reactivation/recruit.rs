//! Recruitment: draw batches of candidate nodes, let the supervisor judge them, hand over the one that joins.
//!
//! Candidates are drawn at random, scope after scope, and - when reuse is on - taken from earlier units. With
//! many rows, a screening (`screen`) on some of them finds the few candidates that are judged on all. No
//! batch joins, and growth does not end, on the evidence of only some rows.

use super::judge::Trial;
use super::params::ReactivationParams;
use super::screen::{Heat, finalists};
use super::supervisor::{Reduction, Supervisor, Verdict, relaxed};
use crate::math::Random;
use crate::math::{Matrix, View};
use crate::pool::{NodeId, Nodes};

/// A batch of nodes that joins.
pub struct Recruits {
    /// Where the nodes come from.
    pub source: Source,
    /// Outputs of the nodes on the training rows, `(n_samples, l)`.
    pub outputs: Matrix<f32>,
    /// The λ that the nodes were drawn with; none for nodes of earlier units.
    pub scope: Option<f32>,
    /// How the nodes passed.
    pub verdict: Verdict,
}

/// Where recruited nodes come from.
pub enum Source {
    /// Newly drawn at random.
    Drawn(Nodes),
    /// Nodes of earlier units, by their place among [`EarlierNodes`].
    Earlier(std::ops::Range<usize>),
}

/// Nodes of earlier units, as candidates for a new one.
pub struct EarlierNodes {
    /// Identities of the nodes.
    pub ids: Vec<NodeId>,
    /// The nodes themselves.
    pub nodes: Nodes,
    /// Whether each node has joined already.
    pub joined: Vec<bool>,
}

impl EarlierNodes {
    /// The consecutive runs of `l` nodes of which none has joined, by their place among all runs.
    fn free(&self, l: usize) -> Vec<usize> {
        let runs = self.joined.chunks_exact(l).enumerate();
        let free = runs.filter(|(_, run)| run.iter().all(|joined| !joined));
        free.map(|(place, _)| place).collect()
    }
}

/// A vacancy: the next place in a layer that nodes are sought for.
pub struct Vacancy<'a> {
    /// The learner's parameters.
    pub params: &'a ReactivationParams,
    /// The screenings before candidates are judged on all rows.
    pub heats: &'a [Heat],
    /// Training rows, `(n_samples, inputs.len())`.
    pub x: View<'a, f32>,
    /// The inputs of a node that are columns of `x`; the others are zero on all rows.
    pub inputs: &'a [usize],
    /// Number of all inputs of a node.
    pub n_inputs: usize,
    /// The residual, `(n_samples, n_classes)`.
    pub e: &'a Matrix<f64>,
    /// Number of nodes so far.
    pub n_nodes: usize,
    /// Number of nodes that join.
    pub l: usize,
}

/// Candidates of one origin, some of them judged on all rows.
struct Candidates<'a> {
    nodes: Nodes,
    origin: Origin,
    trial: Trial<'a>,
    /// The batches that are judged on all rows.
    batches: Vec<usize>,
    /// What each of these batches takes off the squared residual.
    reductions: Vec<Reduction>,
}

enum Origin {
    Drawn {
        scope: f32,
    },
    /// The run of earlier nodes behind each batch.
    Earlier {
        runs: Vec<usize>,
    },
}

/// Finds the batch of nodes that fills the vacancy; none when nothing passes even under the most relaxed r.
pub fn recruit(vacancy: &Vacancy<'_>, random: &mut Random, earlier: &EarlierNodes) -> Option<Recruits> {
    let (params, l) = (vacancy.params, vacancy.l);
    let supervisor = Supervisor::new(vacancy.e, vacancy.n_nodes + l);
    let e = vacancy.e.to_f32();
    let screened = |nodes: Nodes, origin| {
        let mut trial = Trial::new(nodes.over(vacancy.inputs), vacancy.x, e.view(), l);
        let batches = finalists(vacancy.heats, &supervisor, params.r, &mut trial);
        Candidates::judged(nodes, origin, trial, batches)
    };
    let mut pool = Vec::new();
    let runs = earlier.free(l);
    if !runs.is_empty() {
        pool.push(screened(
            earlier.nodes.batches(&runs, l),
            Origin::Earlier { runs },
        ));
    }
    for &scope in &params.scopes {
        let n_nodes = params.t_max * l;
        let nodes = Nodes::draw(random, vacancy.n_inputs, n_nodes, scope, params.activation);
        pool.push(screened(nodes, Origin::Drawn { scope }));
        if let Some(found) = best(&supervisor, &pool, params.r) {
            return Some(hand_over(&pool, found, l));
        }
    }
    // r itself has already been tried on everything drawn.
    let mut more_relaxed = relaxed(params.r).skip(1);
    if let Some(found) = more_relaxed.find_map(|r| best(&supervisor, &pool, r)) {
        return Some(hand_over(&pool, found, l));
    }
    // No batch is turned away on the evidence of only some rows: those left out are now judged on all of them.
    let left_out: Vec<Candidates<'_>> = pool.into_iter().filter_map(Candidates::left_out).collect();
    let found = relaxed(params.r).find_map(|r| best(&supervisor, &left_out, r))?;
    Some(hand_over(&left_out, found, l))
}

impl<'a> Candidates<'a> {
    /// Judges some batches of `nodes` on all rows.
    fn judged(nodes: Nodes, origin: Origin, mut trial: Trial<'a>, batches: Vec<usize>) -> Self {
        Self {
            nodes,
            origin,
            reductions: trial.go_on(&batches, trial.n_rows()),
            trial,
            batches,
        }
    }

    /// Judges the batches that were left out on all rows; none if there are none.
    fn left_out(self) -> Option<Self> {
        let others = (0..self.trial.n_batches()).filter(|batch| !self.batches.contains(batch));
        let others: Vec<usize> = others.collect();
        (!others.is_empty()).then(|| Self::judged(self.nodes, self.origin, self.trial, others))
    }
}

/// The best batch over all origins: the place of its origin, and the verdict.
fn best(supervisor: &Supervisor, pool: &[Candidates<'_>], r: f64) -> Option<(usize, Verdict)> {
    let verdicts = pool
        .iter()
        .map(|candidates| supervisor.best(&candidates.reductions, r));
    let passed = verdicts.clone().flatten().map(|verdict| verdict.passed).sum();
    verdicts
        .enumerate()
        .filter_map(|(origin, verdict)| Some((origin, Verdict { passed, ..verdict? })))
        .max_by(|a, b| a.1.xi.total_cmp(&b.1.xi))
}

fn hand_over(pool: &[Candidates<'_>], (origin, verdict): (usize, Verdict), l: usize) -> Recruits {
    let candidates = &pool[origin];
    let batch = candidates.batches[verdict.batch];
    let (source, scope) = match &candidates.origin {
        Origin::Drawn { scope } => (Source::Drawn(candidates.nodes.batches(&[batch], l)), Some(*scope)),
        Origin::Earlier { runs } => (Source::Earlier(runs[batch] * l..(runs[batch] + 1) * l), None),
    };
    Recruits {
        source,
        outputs: candidates.trial.outputs(batch),
        scope,
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Stream;
    use crate::pool::Activation;
    use crate::reactivation::screen::HEATS;

    fn nobody(n_inputs: usize) -> EarlierNodes {
        EarlierNodes {
            ids: Vec::new(),
            nodes: Nodes::none(n_inputs, Activation::Sigmoid),
            joined: Vec::new(),
        }
    }

    /// Rows, and targets that depend on them non-linearly.
    fn bent(n: usize) -> (Matrix<f32>, Matrix<f64>) {
        let mut random = Random::new(1, Stream::Validation { task: 7 });
        let x = Matrix::from_fn(n, 6, |_, _| random.symmetric(1.0));
        let above = |i: usize| x[(i, 0)] * x[(i, 1)] + x[(i, 2)] > 0.1 * x[(i, 3)];
        let y = Matrix::from_fn(n, 2, |i, c| f64::from(u8::from(above(i) == (c == 1))));
        (x, y)
    }

    fn recruits(x: &Matrix<f32>, e: &Matrix<f64>, heats: &[Heat], l: usize, seed: u64) -> Option<Recruits> {
        let params = ReactivationParams::default();
        let vacancy = Vacancy {
            params: &params,
            heats,
            x: x.view(),
            inputs: &[0, 1, 2, 3, 4, 5],
            n_inputs: x.n_cols(),
            e,
            n_nodes: 0,
            l,
        };
        let mut random = Random::new(seed, Stream::Candidates { task: 0, layer: 0 });
        recruit(&vacancy, &mut random, &nobody(x.n_cols()))
    }

    #[test]
    fn few_rows_are_judged_as_if_there_were_no_heats() {
        let (x, y) = bent(2 * HEATS[0].rows);
        for l in [1, 3, 10] {
            let screened = recruits(&x, &y, &HEATS, l, 5).unwrap();
            let thorough = recruits(&x, &y, &[], l, 5).unwrap();
            assert_eq!(screened.outputs, thorough.outputs);
            assert_eq!(screened.verdict, thorough.verdict);
        }
    }

    #[test]
    fn the_chosen_of_the_heats_is_among_the_best_of_all_and_passes_on_all_rows() {
        let (x, y) = bent(6000);
        for (l, seed) in [(1, 1), (3, 2), (10, 3), (10, 4)] {
            let screened = recruits(&x, &y, &HEATS, l, seed).unwrap();
            let thorough = recruits(&x, &y, &[], l, seed).unwrap();
            let Source::Drawn(nodes) = &screened.source else {
                panic!("there was nobody to borrow from")
            };
            let e = y.to_f32();
            let on_all_rows = &Trial::new(nodes.clone(), x.view(), e.view(), l).go_on(&[0], x.n_rows())[0];
            let xi = Supervisor::new(&y, l).xi(on_all_rows, screened.verdict.r);
            assert!(xi.unwrap() > 0.0);
            assert!(screened.verdict.xi > 0.9 * thorough.verdict.xi, "l = {l}");
        }
    }

    /// The rows of the heat say nothing, and the batches that go on are zero on all rows.
    #[test]
    fn those_whom_the_heats_left_out_are_judged_before_growth_ends() {
        let (n, heats) = (2000, [Heat { rows: 480, one_in: 5 }]);
        let x = Matrix::from_fn(n, 1, |i, _| (i + 1) as f32 / n as f32);
        let e = Matrix::from_fn(n, 2, |i, c| if i < 480 { 0.0 } else { c as f64 - 0.5 });
        let params = ReactivationParams {
            step_size: 1,
            t_max: 5,
            activation: Activation::Relu,
            ..ReactivationParams::default()
        };
        let candidates = |seed| Random::new(seed, Stream::Candidates { task: 0, layer: 0 });
        let silent = |nodes: &Nodes, j: usize| nodes.weights[(0, j)] < 0.0 && nodes.biases[j] < 0.0;
        let seed = (0..10_000).find(|&seed| {
            let drawn = Nodes::draw(&mut candidates(seed), 1, 5, 0.5, Activation::Relu);
            (0..3).all(|j| silent(&drawn, j)) && !silent(&drawn, 3)
        });
        let vacancy = Vacancy {
            params: &params,
            heats: &heats,
            x: x.view(),
            inputs: &[0],
            n_inputs: 1,
            e: &e,
            n_nodes: 0,
            l: 1,
        };
        let recruits = recruit(&vacancy, &mut candidates(seed.unwrap()), &nobody(1)).unwrap();
        assert!(recruits.outputs.values().iter().any(|&v| v > 0.0));
    }
}
