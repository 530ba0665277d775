//! Σ (h - h̄)(h - h̄)ᵀ, as parts of a readout ask for it: nobody needs all of it twice, and G already has it.

use super::super::gram::Gram;
use crate::math::Matrix;

/// The sums of products about the mean of all rows.
pub enum AboutMean {
    /// Of nodes: entries of G, less what the mean makes of them, each times the factors of two nodes.
    Nodes {
        /// G.
        gram: Gram,
        /// The nodes.
        nodes: Vec<usize>,
        /// Σ h / √N of each.
        sums: Vec<f64>,
        /// The factor of each.
        factors: Vec<f64>,
    },
    /// In the space that few rows span, or of little else: all of it.
    All(Matrix<f64>),
}

impl AboutMean {
    /// Number of coordinates.
    pub fn n(&self) -> usize {
        match self {
            Self::Nodes { nodes, .. } => nodes.len(),
            Self::All(sums) => sums.n_cols(),
        }
    }

    /// The entry in row `i` and column `j`, at or below the diagonal.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Nodes {
                gram,
                nodes,
                sums,
                factors,
            } => (gram.at(nodes[i], nodes[j]) - sums[i] * sums[j]) * (factors[i] * factors[j]),
            Self::All(sums) => sums[(i, j)],
        }
    }
}
