//! How rows of one class lie about their mean: what the sums say of any few nodes.

use rayon::prelude::*;

use super::memory::Memory;
use crate::math::{Matrix, subtract_gram_lower};

/// Sums of some comparable nodes, as means and scatter.
pub(crate) struct Scatter {
    /// The mean of all rows, `(n_nodes)`.
    pub mean: Vec<f64>,
    /// Means of the classes, less that of all rows, `(n_nodes, n_classes)`.
    pub classes: Matrix<f64>,
    /// Σ (h - m_c)(h - m_c)ᵀ / N, lower triangle.
    pub within: Matrix<f64>,
}

impl Scatter {
    /// Of the nodes at `nodes`, ascending.
    pub fn of(memory: &Memory, nodes: &[usize]) -> Self {
        let n_rows = memory.n_rows().max(f64::MIN_POSITIVE);
        let sums = memory.moments.gather_rows(nodes);
        let mean = |i: usize| sums.cols().map(|sum| sum[i]).sum::<f64>() / n_rows;
        let mean: Vec<f64> = (0..nodes.len()).map(mean).collect();
        let roots: Vec<f64> = memory
            .counts
            .iter()
            .map(|n| n.max(f64::MIN_POSITIVE).sqrt())
            .collect();
        let mut within = products(memory, nodes);
        let between = Matrix::from_fn(nodes.len(), roots.len(), |i, c| sums[(i, c)] / roots[c]);
        subtract_gram_lower(&mut within, between.t());
        within.values_mut().iter_mut().for_each(|v| *v /= n_rows);
        Self {
            classes: Matrix::from_fn(nodes.len(), roots.len(), |i, c| {
                sums[(i, c)] / roots[c].powi(2) - mean[i]
            }),
            mean,
            within,
        }
    }
}

/// G of these nodes, lower triangle.
fn products(memory: &Memory, nodes: &[usize]) -> Matrix<f64> {
    let (n, end) = (nodes.len(), nodes.last().map_or(0, |last| last + 1));
    let mut products = Matrix::zeros(n, n);
    let columns = products.values_mut().par_chunks_mut(n.max(1)).enumerate();
    columns.for_each(|(j, column)| {
        let start = nodes[j];
        let entries = memory.gram.entries(start..end, start);
        (j..n).for_each(|i| column[i] = entries[nodes[i] - start]);
    });
    products
}
