//! Batches of any size, recut into chunks of one size.

use super::{Labels, Pile, Rows};
use crate::error::Error;

/// Recuts batches of any size into chunks of one size: sums are then bit-identical to those of the rows in one piece.
pub struct Chunks {
    /// Rows per chunk.
    size: usize,
    pile: Pile,
}

impl Chunks {
    /// Begins with no rows; chunks will have `size` rows.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            pile: Pile::default(),
        }
    }

    /// Takes a batch, and hands every chunk that is now complete to `add`.
    pub fn push(
        &mut self,
        x: Rows<'_>,
        y: &Labels,
        mut add: impl FnMut(Rows<'_>, &Labels) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.pile.len() == 0 && x.len() == self.size && y.weights().is_none() {
            return add(x, y);
        }
        self.pile.extend(x, y);
        let whole = self.pile.len() / self.size * self.size;
        if whole > 0 {
            let rest = self.pile.split_off(whole);
            self.flush(add)?;
            self.pile = rest;
        }
        Ok(())
    }

    /// Hands the remaining rows to `add`.
    pub fn flush(
        &mut self,
        mut add: impl FnMut(Rows<'_>, &Labels) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.pile.len() == 0 {
            return Ok(());
        }
        let (x, y) = std::mem::take(&mut self.pile).into_rows()?;
        add(x.rows(), &y)
    }
}
