//! Batches of any size, recut into chunks of one size.

use super::{Labels, Rows, Table};
use crate::error::Error;

/// Recuts batches of any size into chunks of one size: sums are then bit-identical to those of the rows in one piece.
pub struct Chunks {
    /// Rows per chunk.
    size: usize,
    values: Vec<f32>,
    n_features: usize,
    names: Vec<String>,
}

impl Chunks {
    /// Begins with no rows; chunks will have `size` rows.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            values: Vec::new(),
            n_features: 0,
            names: Vec::new(),
        }
    }

    /// Takes a batch, and hands every chunk that is now complete to `add`.
    pub fn push(
        &mut self,
        x: Rows<'_>,
        y: &Labels,
        mut add: impl FnMut(Rows<'_>, &Labels) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.names.is_empty() && x.len() == self.size {
            return add(x, y);
        }
        self.n_features = x.n_features();
        self.values.extend_from_slice(x.values());
        self.names.extend((0..y.len()).map(|i| y.name(i).to_owned()));
        let whole = self.names.len() / self.size * self.size;
        if whole > 0 {
            let values = self.values.split_off(whole * self.n_features);
            let names = self.names.split_off(whole);
            self.flush(add)?;
            (self.values, self.names) = (values, names);
        }
        Ok(())
    }

    /// Hands the remaining rows to `add`.
    pub fn flush(
        &mut self,
        mut add: impl FnMut(Rows<'_>, &Labels) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.names.is_empty() {
            return Ok(());
        }
        let x = Table::new(std::mem::take(&mut self.values), self.n_features)?;
        let y = Labels::from_names(std::mem::take(&mut self.names));
        add(x.rows(), &y)
    }
}
