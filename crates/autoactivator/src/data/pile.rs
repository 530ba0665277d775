//! Rows on their way into one piece, with the class and the weight of each.

use super::{Labels, Rows, Table};
use crate::error::Error;

/// Rows that came one by one or batch by batch. Rows that weigh nothing are not taken.
#[derive(Default)]
pub struct Pile {
    values: Vec<f32>,
    n_features: usize,
    names: Vec<String>,
    weights: Vec<f64>,
}

impl Pile {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Takes a batch.
    pub fn extend(&mut self, x: Rows<'_>, y: &Labels) {
        y.present().for_each(|i| self.push(x, y, i));
    }

    /// Takes row `i` of a batch.
    pub fn push(&mut self, x: Rows<'_>, y: &Labels, i: usize) {
        self.n_features = x.n_features();
        self.values.extend_from_slice(x.row(i));
        self.names.push(y.name(i).to_owned());
        self.weights.push(y.weight(i));
    }

    /// Splits off the rows from the `n`th on.
    #[must_use]
    pub fn split_off(&mut self, n: usize) -> Self {
        Self {
            values: self.values.split_off(n * self.n_features),
            n_features: self.n_features,
            names: self.names.split_off(n),
            weights: self.weights.split_off(n),
        }
    }

    /// Drops every other row.
    pub fn halve(&mut self) {
        let kept = self.values.chunks_exact(self.n_features).step_by(2);
        self.values = kept.flatten().copied().collect();
        self.names = std::mem::take(&mut self.names).into_iter().step_by(2).collect();
        self.weights = self.weights.iter().copied().step_by(2).collect();
    }

    /// The rows, in one piece.
    pub fn into_rows(self) -> Result<(Table, Labels), Error> {
        let y = Labels::from_names(self.names).weighed(self.weights)?;
        Ok((Table::new(self.values, self.n_features.max(1))?, y))
    }
}
