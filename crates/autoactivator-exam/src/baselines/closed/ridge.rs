//! What do RanPAC and ACIL share? Random ReLU nodes without biases, and sums of products of their outputs.
//!
//! Sums are in single precision, as published: those of 10,000 nodes already take 400 MB.

use autoactivator::Rows;
use autoactivator::math::{Cholesky, Matrix, Random, Stream, add_gram_lower, product};

use super::CHUNK;

/// Random ReLU nodes: max(0, x W).
#[derive(Clone, Debug)]
pub struct ReluNodes {
    /// `(n_features, n_nodes)`
    weights: Matrix<f32>,
}

impl ReluNodes {
    /// Weights from what `weight` draws.
    pub fn draw(n_features: usize, n_nodes: usize, seed: u64, weight: impl Fn(&mut Random) -> f32) -> Self {
        let mut random = Random::new(seed, Stream::Candidates { task: 0, layer: 0 });
        Self {
            weights: Matrix::from_fn(n_features, n_nodes, |_, _| weight(&mut random)),
        }
    }

    /// What the nodes put out, `(n_rows, n_nodes)`.
    pub fn outputs(&self, x: Rows<'_>) -> Matrix<f32> {
        let mut outputs = product(x.into(), self.weights.view());
        outputs.values_mut().iter_mut().for_each(|v| *v = v.max(0.0));
        outputs
    }

    /// Number of weights.
    pub fn n_floats(&self) -> usize {
        self.weights.values().len()
    }
}

/// HᵀH and HᵀY of all rows so far.
#[derive(Clone, Debug)]
pub struct RidgeSums {
    /// HᵀH, lower triangle.
    gram: Matrix<f32>,
    /// HᵀY, `(n_nodes, n_classes)`.
    moments: Matrix<f32>,
}

impl RidgeSums {
    /// Sums of no rows.
    pub fn new(n_nodes: usize) -> Self {
        Self {
            gram: Matrix::zeros(n_nodes, n_nodes),
            moments: Matrix::zeros(n_nodes, 0),
        }
    }

    /// Adds some rows.
    pub fn add(&mut self, nodes: &ReluNodes, x: Rows<'_>, places: &[u32], n_classes: usize) {
        while self.moments.n_cols() < n_classes {
            self.moments.push(&vec![0.0; self.moments.n_rows()]);
        }
        for (rows, places) in x.chunks(CHUNK).zip(places.chunks(CHUNK)) {
            let h = nodes.outputs(rows);
            add_gram_lower(&mut self.gram, h.view());
            for j in 0..h.n_cols() {
                for (&v, &place) in h.col(j).iter().zip(places) {
                    self.moments[(j, place as usize)] += v;
                }
            }
        }
    }

    /// (HᵀH + λI)⁻¹ HᵀY; none if that cannot be solved.
    pub fn solve(&self, ridge: f32) -> Option<Matrix<f32>> {
        let mut gram = self.gram.clone();
        (0..gram.n_cols()).for_each(|j| gram[(j, j)] += ridge);
        let weights = Cholesky::new(gram)?.solve(&self.moments);
        weights.values().iter().all(|w| w.is_finite()).then_some(weights)
    }

    /// Number of values that are kept: a symmetric matrix and the moments.
    pub fn n_floats(&self) -> usize {
        let n = self.gram.n_cols();
        n * (n + 1) / 2 + self.moments.values().len()
    }
}
