//! G as it is: its lower triangle, column after column.

use rayon::prelude::*;

use crate::math::{View, add_gram_packed};

/// The lower triangle of G.
#[derive(Clone, Debug, Default)]
pub(super) struct Triangle {
    n_nodes: usize,
    values: Vec<f64>,
}

impl Triangle {
    /// Sums over nothing.
    pub fn zeros(n_nodes: usize) -> Self {
        Self::new(vec![0.0; n_nodes * (n_nodes + 1) / 2], n_nodes)
    }

    /// Takes the values, column after column.
    pub fn new(values: Vec<f64>, n_nodes: usize) -> Self {
        debug_assert_eq!(values.len(), n_nodes * (n_nodes + 1) / 2);
        Self { n_nodes, values }
    }

    /// The values, column after column.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The entry in row `i` and column `j`, at or below the diagonal.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.values[self.start(j) + i - j]
    }

    /// Column `j` from the diagonal down.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[self.start(j)..self.start(j + 1)]
    }

    /// Where column `j` begins.
    fn start(&self, j: usize) -> usize {
        j * self.n_nodes - j * j.saturating_sub(1) / 2
    }

    /// Changes every column, from its diagonal down.
    pub fn for_each_column(&mut self, change: impl Fn(usize, &mut [f64]) + Sync) {
        let mut rest = self.values.as_mut_slice();
        let columns = (0..self.n_nodes).map(|j| {
            let (column, after) = std::mem::take(&mut rest).split_at_mut(self.n_nodes - j);
            rest = after;
            column
        });
        let columns: Vec<&mut [f64]> = columns.collect();
        let columns = columns.into_par_iter().enumerate();
        columns.for_each(|(j, column)| change(j, column));
    }

    /// Adds (`sign` 1) or subtracts (-1) h hᵀ of every row h, with products in its precision.
    pub fn add<T: crate::math::Real>(&mut self, rows: View<'_, T>, sign: f64) {
        add_gram_packed(&mut self.values, rows, sign);
    }
}
