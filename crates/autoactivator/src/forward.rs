//! Recruitment in Gram space: which pool nodes join next, judged over all classes ever seen, without any data.
//!
//! With every choice the pool is orthogonalised against the chosen node, so that the residual inner products
//! <e_c, h_j> = Q_jc - G_jS β_Sc and the remaining length of each node are at hand, and Eq. (xi_2) with l = 1 needs
//! nothing else. This is forward orthogonal least squares under the supervisory mechanism.

use crate::linalg::Matrix;
use crate::memory::Memory;
use crate::supervisor::relaxed;

/// A node must keep this part of its length after projection to count as a new direction.
const NEW_DIRECTION: f64 = 1e-8;

/// When to stop recruiting.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nodes at the most.
    pub max_nodes: usize,
    /// r of the supervisory mechanism.
    pub r: f64,
    /// Part of the residual that a node must take away.
    pub expected_gain: f64,
}

/// Why recruitment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The node limit.
    NodeLimit,
    /// The best node would take away less than the expected gain.
    ExpectedGain,
    /// Generalised cross-validation had stopped falling.
    CrossValidation,
    /// No node passed the supervisory mechanism.
    NoCandidate,
}

/// The pool as it stands after some nodes have joined.
struct Standing<'a> {
    memory: &'a Memory,
    /// Rows of the Cholesky factor: the pool's part along each chosen node.
    chosen: Vec<Vec<f64>>,
    /// What is left of each node's squared length.
    lengths: Vec<f64>,
    first_lengths: Vec<f64>,
    /// <h_j, e_c>, `(n_nodes, n_classes)`.
    products: Matrix<f64>,
    /// <e_c, e_c>.
    residual: Vec<f64>,
    joined: Vec<bool>,
    sums: Vec<f64>,
}

/// Recruits from the memory's pool beside the nodes already `recruited`; returns all of them and why it ended.
pub fn recruit(memory: &Memory, recruited: &[usize], limits: Limits) -> (Vec<usize>, Ended) {
    let mut standing = Standing::new(memory);
    for &node in recruited {
        standing.join(node);
    }
    let mut nodes = recruited.to_vec();
    let n_rows = memory.n_rows();
    let mut lowest = f64::INFINITY;
    let ended = loop {
        if nodes.len() >= limits.max_nodes.min(memory.n_nodes()) {
            break Ended::NodeLimit;
        }
        let before: f64 = standing.residual.iter().sum();
        let Some(node) = standing.best(limits.r) else {
            break Ended::NoCandidate;
        };
        standing.join(node);
        let after: f64 = standing.residual.iter().sum();
        // The first node joins whatever it gains: a readout needs something to read.
        if !nodes.is_empty() && before - after < limits.expected_gain * before {
            break Ended::ExpectedGain;
        }
        // The readout has a constant beside the nodes.
        let freedom = n_rows - (nodes.len() + 2) as f64;
        let cross_validation = if freedom > 0.0 {
            after / (freedom * freedom)
        } else {
            f64::INFINITY
        };
        if cross_validation >= lowest {
            break Ended::CrossValidation;
        }
        lowest = cross_validation;
        nodes.push(node);
    };
    (nodes, ended)
}

impl<'a> Standing<'a> {
    /// Everything about its mean: the readout has a constant, so that is where the residual begins.
    fn new(memory: &'a Memory) -> Self {
        let (n, n_rows) = (memory.n_nodes(), memory.n_rows().max(f64::MIN_POSITIVE));
        let sums: Vec<f64> = (0..n)
            .map(|j| (0..memory.counts.len()).map(|c| memory.moments[(j, c)]).sum())
            .collect();
        let products = Matrix::from_fn(n, memory.counts.len(), |j, c| {
            memory.moments[(j, c)] - sums[j] * memory.counts[c] / n_rows
        });
        let lengths: Vec<f64> = (0..n)
            .map(|j| memory.gram[(j, j)] - sums[j] * sums[j] / n_rows)
            .collect();
        Self {
            chosen: Vec::new(),
            first_lengths: lengths.clone(),
            lengths,
            products,
            residual: memory
                .counts
                .iter()
                .map(|&count| count - count * count / n_rows)
                .collect(),
            joined: vec![false; n],
            sums,
            memory,
        }
    }

    /// The node with the largest Σ ξ_c among those that pass under r, relaxed until one does.
    fn best(&self, r: f64) -> Option<usize> {
        let candidates: Vec<Candidate> = (0..self.lengths.len()).filter_map(|j| self.judge(j)).collect();
        let level = self.chosen.len() as f64 + 1.0;
        relaxed(r).find_map(|r| {
            let asked = (1.0 - r) * level / (level + 1.0); // 1 - r - μ_L
            let passed = candidates.iter().filter(|candidate| candidate.lowest > asked);
            // Under one r, Σ ξ_c and Σ reductions differ by a constant.
            passed
                .max_by(|a, b| a.reduction.total_cmp(&b.reduction))
                .map(|candidate| candidate.node)
        })
    }

    fn judge(&self, node: usize) -> Option<Candidate> {
        let length = self.lengths[node];
        if self.joined[node] || length <= NEW_DIRECTION * self.first_lengths[node].max(f64::MIN_POSITIVE) {
            return None;
        }
        let (mut lowest, mut reduction) = (f64::INFINITY, 0.0);
        for (c, &residual) in self.residual.iter().enumerate() {
            let gain = self.products[(node, c)].powi(2) / length;
            reduction += gain;
            if residual > 0.0 {
                lowest = lowest.min(gain / residual);
            }
        }
        Some(Candidate {
            node,
            lowest,
            reduction,
        })
    }

    fn join(&mut self, node: usize) {
        self.joined[node] = true;
        let length = self.lengths[node];
        if length <= NEW_DIRECTION * self.first_lengths[node].max(f64::MIN_POSITIVE) {
            return;
        }
        let root = length.sqrt();
        let n_rows = self.memory.n_rows();
        let gram = &self.memory.gram;
        let entry = |j: usize| {
            if j >= node {
                gram[(j, node)]
            } else {
                gram[(node, j)]
            }
        };
        let mut along: Vec<f64> = (0..self.lengths.len())
            .map(|j| entry(j) - self.sums[j] * self.sums[node] / n_rows)
            .collect();
        for earlier in &self.chosen {
            let factor = earlier[node];
            along.iter_mut().zip(earlier).for_each(|(a, e)| *a -= factor * e);
        }
        along.iter_mut().for_each(|a| *a /= root);
        let coordinates: Vec<f64> = (0..self.residual.len())
            .map(|c| self.products[(node, c)] / root)
            .collect();
        for (c, &coordinate) in coordinates.iter().enumerate() {
            self.residual[c] = (self.residual[c] - coordinate * coordinate).max(0.0);
            self.products
                .col_mut(c)
                .iter_mut()
                .zip(&along)
                .for_each(|(p, a)| *p -= coordinate * a);
        }
        self.lengths
            .iter_mut()
            .zip(&along)
            .for_each(|(length, a)| *length -= a * a);
        self.chosen.push(along);
    }
}

struct Candidate {
    node: usize,
    /// min_c of the part of class c's residual that it would take away.
    lowest: f64,
    /// Σ_c of what it would take away.
    reduction: f64,
}
