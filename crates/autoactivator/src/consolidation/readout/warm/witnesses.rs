//! Witnesses, and what A⁻¹ makes of them, kept up to date.

use std::sync::Arc;

use rayon::prelude::*;

use super::inverse::Taken;
use crate::consolidation::witness::Witness;
use crate::data::Table;
use crate::math::{Matrix, alone, product};

/// Witnesses whose outputs are taken to double precision at a time.
const AT_ONCE: usize = 16;

/// A witness. All points are from the origin.
pub struct Known {
    /// Its hash, and the place of its class.
    pub key: (u64, u32),
    /// Comparable node outputs of witnesses that came with it, and which of them are its own.
    rows: Arc<Table>,
    at: usize,
    /// hᵀA⁻¹h.
    pub length: f64,
    /// hᵀA⁻¹q of the sum q of each class.
    pub across: Vec<f64>,
    /// hᵀT⁻¹h over the first nodes.
    pub apart: f64,
    /// hᵀT⁻¹q of the sum q of all rows.
    pub to_all: f64,
}

impl Known {
    /// A witness that nothing has been made of yet.
    pub fn new(witness: &Witness, rows: &Arc<Table>, at: usize) -> Self {
        Self {
            key: witness.key(),
            rows: Arc::clone(rows),
            at,
            length: 0.0,
            across: Vec::new(),
            apart: 0.0,
            to_all: 0.0,
        }
    }

    /// Comparable node outputs.
    pub fn h(&self) -> &[f32] {
        self.rows.rows().row(self.at)
    }
}

/// Products of the columns of `x` with each witness, `(n_columns, n_witnesses)`; the columns may be of the first nodes.
pub fn beside(witnesses: &[Known], origin: &[f64], x: &Matrix<f64>) -> Matrix<f64> {
    let n = x.n_rows();
    let parts: Vec<Matrix<f64>> = witnesses
        .par_chunks(AT_ONCE)
        .map(|part| {
            let mut h = Vec::with_capacity(n * part.len());
            for known in part {
                h.extend(
                    known.h()[..n]
                        .iter()
                        .zip(origin)
                        .map(|(&h, origin)| f64::from(h) - origin),
                );
            }
            let h = Matrix::from_columns(h, n, part.len());
            h.map_or_else(
                || Matrix::zeros(x.n_cols(), 0),
                |h| alone(|| product(x.t(), h.view())),
            )
        })
        .collect();
    let mut all = Matrix::zeros(x.n_cols(), 0);
    parts.iter().for_each(|part| all.append(part));
    all
}

/// Products of the witnesses of one class, in their order.
pub type Block = Matrix<f64>;

/// Takes from products of witnesses what A⁻¹ has lost; `seen` are Zᵀh of each, `along` Zᵀq of each class.
pub fn lose(
    witnesses: &mut [Known],
    blocks: &mut [Block],
    taken: &Taken,
    seen: &Matrix<f64>,
    along: &Matrix<f64>,
) {
    let weighed = taken.weighed(along);
    witnesses.par_iter_mut().enumerate().for_each(|(i, known)| {
        let seen = seen.col(i);
        known.length -= seen
            .iter()
            .zip(&taken.gains)
            .map(|(g, gain)| gain * g * g)
            .sum::<f64>();
        for (c, across) in known.across.iter_mut().enumerate() {
            *across -= seen.iter().zip(weighed.col(c)).map(|(g, w)| g * w).sum::<f64>();
        }
    });
    let members = members(witnesses, blocks.len());
    blocks.par_iter_mut().zip(members).for_each(|(block, members)| {
        let seen = seen.gather(members.iter().copied());
        let lost = alone(|| product(seen.t(), taken.weighed(&seen).view()));
        block
            .values_mut()
            .iter_mut()
            .zip(lost.values())
            .for_each(|(v, lost)| *v -= lost);
    });
}

/// The witnesses of each class.
pub fn members(witnesses: &[Known], n_classes: usize) -> Vec<Vec<usize>> {
    let mut members = vec![Vec::new(); n_classes];
    for (i, known) in witnesses.iter().enumerate() {
        members[known.key.1 as usize].push(i);
    }
    members
}
