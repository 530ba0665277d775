//! Recruitment in Gram space: which pool nodes join next, judged over all classes ever seen, without any data.
//!
//! After every choice the pool is orthogonalised against the chosen node, so that the residual inner products
//! <e_c, h_j> = Q_jc - G_jS β_Sc and the remaining length of each node are at hand, and Eq. (xi_2) with l = 1
//! needs nothing else. This is forward orthogonal least squares under the supervisory mechanism.

use rayon::prelude::*;

use super::memory::Memory;
use crate::math::Matrix;
use crate::math::{is_stopped, vectorised};
use crate::reactivation::relaxed;

/// Part of its length that a node must keep after projection to count as a new direction.
const SPENT: f64 = 1e-8;

/// Nodes of a strip: enough for memory to be read in long runs, few enough for sums over them to stay in the
/// cache. The division into strips does not change the result.
const STRIP_NODES: std::ops::RangeInclusive<usize> = 256..=2048;

/// Nodes that are recruited between two moments at which work may be stopped.
const AT_A_STRETCH: usize = 16;

/// Chosen nodes that are projected out at a time, so that the sums are read and written this much less often.
const AT_ONCE: usize = 8;

/// When to stop recruiting.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest number of nodes.
    pub max_nodes: usize,
    /// r of the supervisory mechanism.
    pub r: f64,
    /// Fraction of the residual that a node must take away.
    pub expected_gain: f64,
}

/// Why recruitment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The node limit was reached.
    NodeLimit,
    /// The best node would take away less than the expected gain.
    ExpectedGain,
    /// The generalised cross-validation score had stopped falling.
    CrossValidation,
    /// No node passed the supervisory mechanism.
    NoCandidate,
}

/// The pool as it stands after some nodes have joined.
struct Standing<'a> {
    memory: &'a Memory,
    /// The nodes, `strip` by `strip`.
    strips: Vec<Strip>,
    strip: usize,
    /// <e_c, e_c>.
    residual: Vec<f64>,
    /// Σ h_j.
    sums: Vec<f64>,
    /// Number of directions taken so far.
    n_chosen: usize,
}

/// Consecutive nodes of the pool.
struct Strip {
    /// Index of the first node.
    start: usize,
    /// Rows of the Cholesky factor: the components of the nodes along each chosen node, one after the other.
    chosen: Vec<f64>,
    /// Remaining squared length of each node.
    lengths: Vec<f64>,
    first_lengths: Vec<f64>,
    /// <h_j, e_c>, `(n_nodes, n_classes)`.
    products: Matrix<f64>,
    joined: Vec<bool>,
    /// min_c of the fraction of class c's residual that each node would take away; -∞ for nodes that cannot join.
    lowest: Vec<f64>,
    /// Σ_c of what each node would take away.
    reduction: Vec<f64>,
}

/// A node that joins, and what all others lose to it.
struct Direction {
    /// Square root of the node's remaining length.
    root: f64,
    /// Components of the node along each node chosen before.
    factors: Vec<f64>,
    /// <h, e_c> / root.
    coordinates: Vec<f64>,
}

/// Recruits from the memory's pool in addition to `recruited`; returns all recruited nodes and why recruitment ended. Work
/// that is stopped ends with the nodes so far.
pub fn recruit(memory: &Memory, recruited: &[usize], limits: Limits) -> (Vec<usize>, Ended) {
    // On a thread of the pool, the parallel part of every join begins at once, without a handover.
    let mut recruitment = rayon::scope(|_| Recruitment::new(memory, recruited, limits));
    loop {
        let ended = rayon::scope(|_| (0..AT_A_STRETCH).find_map(|_| recruitment.join_one()));
        match ended {
            Some(ended) => return (recruitment.nodes, ended),
            None if is_stopped() => return (recruitment.nodes, Ended::NodeLimit),
            None => {}
        }
    }
}

/// The nodes recruited so far.
struct Recruitment<'a> {
    standing: Standing<'a>,
    nodes: Vec<usize>,
    limits: Limits,
    /// The lowest generalised cross-validation score.
    lowest: f64,
}

impl<'a> Recruitment<'a> {
    fn new(memory: &'a Memory, recruited: &[usize], limits: Limits) -> Self {
        let mut standing = Standing::new(memory);
        for &node in recruited {
            standing.join(node);
        }
        Self {
            standing,
            nodes: recruited.to_vec(),
            limits,
            lowest: f64::INFINITY,
        }
    }

    /// Recruits the next node, or says why there is none.
    fn join_one(&mut self) -> Option<Ended> {
        let Self {
            standing,
            nodes,
            limits,
            ..
        } = self;
        if nodes.len() >= limits.max_nodes.min(standing.memory.n_nodes()) {
            return Some(Ended::NodeLimit);
        }
        let before: f64 = standing.residual.iter().sum();
        let Some(node) = standing.best(limits.r) else {
            return Some(Ended::NoCandidate);
        };
        standing.join(node);
        let after: f64 = standing.residual.iter().sum();
        // The first node joins no matter what it gains: a readout needs something to read.
        if !nodes.is_empty() && before - after < limits.expected_gain * before {
            return Some(Ended::ExpectedGain);
        }
        // The readout has a constant besides the nodes.
        let freedom = standing.memory.n_rows() - (nodes.len() + 2) as f64;
        let cross_validation = if freedom > 0.0 {
            after / (freedom * freedom)
        } else {
            f64::INFINITY
        };
        if cross_validation >= self.lowest {
            return Some(Ended::CrossValidation);
        }
        self.lowest = cross_validation;
        nodes.push(node);
        None
    }
}

impl<'a> Standing<'a> {
    /// All sums about the mean: the readout has a constant, so that is where the residual begins.
    fn new(memory: &'a Memory) -> Self {
        let (n, n_rows) = (memory.n_nodes(), memory.n_rows().max(f64::MIN_POSITIVE));
        let sum = |j: usize| memory.moments.cols().map(|moment| moment[j]).sum();
        let sums: Vec<f64> = (0..n).map(sum).collect();
        let residual = |&count: &f64| count - count * count / n_rows;
        let strip = n
            .div_ceil(rayon::current_num_threads())
            .clamp(*STRIP_NODES.start(), *STRIP_NODES.end());
        let mut standing = Self {
            strips: Vec::new(),
            strip,
            residual: memory.counts.iter().map(residual).collect(),
            sums,
            memory,
            n_chosen: 0,
        };
        let strips = (0..n).step_by(strip).map(|start| standing.strip_from(start));
        standing.strips = strips.collect();
        standing
    }

    /// The strip that begins at node `start`, before any node has joined.
    fn strip_from(&self, start: usize) -> Strip {
        let (memory, sums) = (self.memory, &self.sums);
        let n_rows = memory.n_rows().max(f64::MIN_POSITIVE);
        let nodes = start..(start + self.strip).min(memory.n_nodes());
        let diagonal = memory.gram.diagonal();
        let length = |j: usize| diagonal[j] - sums[j] * sums[j] / n_rows;
        let lengths: Vec<f64> = nodes.map(length).collect();
        let n = lengths.len();
        let mut strip = Strip {
            start,
            chosen: Vec::new(),
            first_lengths: lengths.clone(),
            lengths,
            products: Matrix::from_fn(n, memory.counts.len(), |j, c| {
                memory.moments[(start + j, c)] - sums[start + j] * memory.counts[c] / n_rows
            }),
            joined: vec![false; n],
            lowest: vec![0.0; n],
            reduction: vec![0.0; n],
        };
        strip.judge(&self.residual);
        strip
    }

    /// The node with the largest Σ ξ_c among those that pass under r, which is relaxed until one does.
    fn best(&self, r: f64) -> Option<usize> {
        let candidates = || {
            self.strips.iter().flat_map(|strip| {
                let judged = strip.lowest.iter().zip(&strip.reduction).enumerate();
                judged.map(|(j, (&lowest, &reduction))| (strip.start + j, lowest, reduction))
            })
        };
        let highest = candidates()
            .map(|(_, lowest, _)| lowest)
            .fold(f64::NEG_INFINITY, f64::max);
        let level = self.n_chosen as f64 + 1.0;
        let asked = |r: f64| (1.0 - r) * level / (level + 1.0); // 1 - r - μ_L
        let asked = relaxed(r).map(asked).find(|&asked| highest > asked)?;
        // Under one r, Σ ξ_c and Σ reductions differ by a constant.
        let passed = candidates().filter(|&(_, lowest, _)| lowest > asked);
        passed.max_by(|a, b| a.2.total_cmp(&b.2)).map(|(node, ..)| node)
    }

    fn join(&mut self, node: usize) {
        let (strip, place) = (&mut self.strips[node / self.strip], node % self.strip);
        strip.joined[place] = true;
        if strip.is_spent(place) {
            strip.lowest[place] = f64::NEG_INFINITY;
            return;
        }
        let direction = strip.direction(place);
        for (residual, coordinate) in self.residual.iter_mut().zip(&direction.coordinates) {
            *residual = (*residual - coordinate * coordinate).max(0.0);
        }
        self.n_chosen += 1;
        let (memory, sums, residual) = (self.memory, &self.sums, &self.residual);
        self.strips.par_iter_mut().for_each(|strip| {
            let mut along = strip.column(memory, sums, node);
            vectorised(
                #[inline(always)]
                || {
                    strip.orthogonalise(&mut along, &direction);
                    strip.project(&along, &direction);
                    strip.judge(residual);
                },
            );
        });
    }
}

impl Strip {
    /// Whether too little of a node remains to be a new direction.
    fn is_spent(&self, place: usize) -> bool {
        self.lengths[place] <= SPENT * self.first_lengths[place].max(f64::MIN_POSITIVE)
    }

    fn direction(&self, place: usize) -> Direction {
        let root = self.lengths[place].sqrt();
        Direction {
            root,
            factors: self
                .chosen
                .iter()
                .skip(place)
                .step_by(self.lengths.len())
                .copied()
                .collect(),
            coordinates: self
                .products
                .cols()
                .map(|product| product[place] / root)
                .collect(),
        }
    }

    /// <h_j, h_node> about the mean, for all nodes j of the strip.
    fn column(&self, memory: &Memory, sums: &[f64], node: usize) -> Vec<f64> {
        let n_rows = memory.n_rows().max(f64::MIN_POSITIVE);
        let nodes = self.start..self.start + self.lengths.len();
        let entries = memory.gram.entries(nodes.clone(), node);
        let about_mean = |(entry, j): (f64, usize)| entry - sums[j] * sums[node] / n_rows;
        entries.into_iter().zip(nodes).map(about_mean).collect()
    }

    /// Turns inner products with the joining node into each node's component along what is new in it.
    #[inline(always)]
    fn orthogonalise(&self, along: &mut [f64], direction: &Direction) {
        let n = along.len();
        let mut chosen = self.chosen.chunks_exact(AT_ONCE * n);
        let mut factors = direction.factors.chunks_exact(AT_ONCE);
        for (parts, f) in chosen.by_ref().zip(factors.by_ref()) {
            let part = |i: usize| parts[i * n..(i + 1) * n].iter();
            let ab_cd = part(0).zip(part(1)).zip(part(2).zip(part(3)));
            let ef_gh = part(4).zip(part(5)).zip(part(6).zip(part(7)));
            for (v, (((a, b), (c, d)), ((e, g), (h, i)))) in along.iter_mut().zip(ab_cd.zip(ef_gh)) {
                let first = f[0] * a + f[1] * b + f[2] * c + f[3] * d;
                *v -= first + (f[4] * e + f[5] * g + f[6] * h + f[7] * i);
            }
        }
        let rest = chosen.remainder().chunks_exact(n).zip(factors.remainder());
        for (part, factor) in rest {
            along.iter_mut().zip(part).for_each(|(v, e)| *v -= factor * e);
        }
        along.iter_mut().for_each(|v| *v /= direction.root);
    }

    /// Removes the components along the joining node.
    #[inline(always)]
    fn project(&mut self, along: &[f64], direction: &Direction) {
        for (c, &coordinate) in direction.coordinates.iter().enumerate() {
            let products = self.products.col_mut(c).iter_mut().zip(along);
            products.for_each(|(product, a)| *product -= coordinate * a);
        }
        let lengths = self.lengths.iter_mut().zip(along);
        lengths.for_each(|(length, a)| *length -= a * a);
        self.chosen.extend_from_slice(along);
    }

    /// Computes what each node would take away, as Eq. (xi_2) requires.
    #[inline(always)]
    fn judge(&mut self, residual: &[f64]) {
        self.lowest.fill(f64::INFINITY);
        self.reduction.fill(0.0);
        let per_length: Vec<f64> = self.lengths.iter().map(|length| 1.0 / length).collect();
        for (products, &residual) in self.products.cols().zip(residual) {
            // A class without residual has nothing left to take away.
            let share = if residual > 0.0 {
                1.0 / residual
            } else {
                f64::INFINITY
            };
            let judged = self.lowest.iter_mut().zip(&mut self.reduction);
            for ((product, per_length), (lowest, reduction)) in products.iter().zip(&per_length).zip(judged) {
                let gain = product * product * per_length;
                *reduction += gain;
                let part = gain * share;
                *lowest = if part < *lowest { part } else { *lowest };
            }
        }
        for place in 0..self.lengths.len() {
            if self.joined[place] || self.is_spent(place) {
                self.lowest[place] = f64::NEG_INFINITY;
            }
        }
    }
}
