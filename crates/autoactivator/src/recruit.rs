//! Recruitment: draw batches of candidate nodes, let the supervisor judge them, hand over the one that joins.
//!
//! Candidates are drawn at random, scope after scope, and - when reuse is on - taken from earlier units.

use crate::linalg::{Matrix, View};
use crate::node::{NodeId, Nodes};
use crate::params::ReactivationParams;
use crate::rng::Random;
use crate::supervisor::{Reduction, Supervisor, Verdict, reductions, relaxed};

/// A batch of nodes that joins.
pub struct Recruits {
    /// Where its nodes come from.
    pub source: Source,
    /// Their outputs on the training rows, `(n_samples, l)`.
    pub outputs: Matrix<f32>,
    /// λ they were drawn with; none for nodes of earlier units.
    pub scope: Option<f32>,
    /// How they passed.
    pub verdict: Verdict,
}

/// Where recruited nodes come from.
pub enum Source {
    /// Drawn at random just now.
    Drawn(Nodes),
    /// Nodes of earlier units, by their place among [`EarlierNodes`].
    Earlier(std::ops::Range<usize>),
}

/// Nodes of earlier units, as candidates for a new one.
pub struct EarlierNodes {
    /// Their names.
    pub ids: Vec<NodeId>,
    /// Their outputs on the training rows of the new task, `(n_samples, ids.len())`.
    pub outputs: Matrix<f32>,
    /// Whether each has joined already.
    pub joined: Vec<bool>,
}

impl EarlierNodes {
    /// Consecutive runs of `l` nodes none of which has joined.
    fn batches(&self, l: usize) -> Vec<std::ops::Range<usize>> {
        let mut free = Vec::new();
        for start in (0..self.ids.len().saturating_sub(l - 1)).step_by(l) {
            let batch = start..start + l;
            if self.joined[batch.clone()].iter().all(|joined| !joined) {
                free.push(batch);
            }
        }
        free
    }
}

/// All candidates of one origin with their reductions of the residual.
struct Candidates {
    sources: Sources,
    scope: Option<f32>,
    outputs: Matrix<f32>,
    reductions: Vec<Reduction>,
}

enum Sources {
    Drawn(Nodes),
    Earlier(Vec<std::ops::Range<usize>>),
}

/// Finds the batch of `l` nodes that joins next to `n_nodes` others, or none when even the most relaxed r lets
/// nothing pass.
pub fn recruit(
    params: &ReactivationParams,
    random: &mut Random,
    x: View<'_, f32>,
    earlier: &EarlierNodes,
    e: &Matrix<f64>,
    n_nodes: usize,
    l: usize,
) -> Option<Recruits> {
    let supervisor = Supervisor::new(e, n_nodes + l);
    let e = e.to_f32();
    let mut pool: Vec<Candidates> = from_earlier(earlier, l, &e).into_iter().collect();
    for &scope in &params.scopes {
        let nodes = Nodes::draw(random, x.n_cols(), params.t_max * l, scope, params.activation);
        let outputs = nodes.outputs(x);
        pool.push(Candidates {
            reductions: reductions(&outputs, l, &e),
            outputs,
            sources: Sources::Drawn(nodes),
            scope: Some(scope),
        });
        if let Some(found) = best(&supervisor, &pool, params.r) {
            return Some(hand_over(&pool, found, l));
        }
    }
    // r itself has been tried on everything drawn.
    let found = relaxed(params.r)
        .skip(1)
        .find_map(|r| best(&supervisor, &pool, r))?;
    Some(hand_over(&pool, found, l))
}

fn from_earlier(earlier: &EarlierNodes, l: usize, e: &Matrix<f32>) -> Option<Candidates> {
    let batches = earlier.batches(l);
    let outputs = earlier.outputs.gather(batches.iter().cloned().flatten());
    (!batches.is_empty()).then(|| Candidates {
        reductions: reductions(&outputs, l, e),
        outputs,
        sources: Sources::Earlier(batches),
        scope: None,
    })
}

/// The best batch over all origins: which origin, and the verdict.
fn best(supervisor: &Supervisor, pool: &[Candidates], r: f64) -> Option<(usize, Verdict)> {
    let verdicts = pool
        .iter()
        .map(|candidates| supervisor.best(&candidates.reductions, r));
    let passed = verdicts.clone().flatten().map(|verdict| verdict.passed).sum();
    verdicts
        .enumerate()
        .filter_map(|(origin, verdict)| Some((origin, Verdict { passed, ..verdict? })))
        .max_by(|a, b| a.1.xi.total_cmp(&b.1.xi))
}

fn hand_over(pool: &[Candidates], (origin, verdict): (usize, Verdict), l: usize) -> Recruits {
    let candidates = &pool[origin];
    let (start, end) = (verdict.batch * l, (verdict.batch + 1) * l);
    Recruits {
        source: match &candidates.sources {
            Sources::Drawn(nodes) => Source::Drawn(nodes.slice(start, end)),
            Sources::Earlier(batches) => Source::Earlier(batches[verdict.batch].clone()),
        },
        outputs: candidates.outputs.gather(start..end),
        scope: candidates.scope,
        verdict,
    }
}
