//! G = Σ h hᵀ: one triangle, which copies of a memory share, and the last few rows, which have yet to be added to it.
//!
//! A few rows then cost their own length, not a pass over the triangle, and no copy of it. They are added one after the other,
//! with one product and one sum for each entry, so G is the same to the last bit whenever that is done.

use std::sync::Arc;

use rayon::prelude::*;

use crate::data::Rows;
use crate::format::Numbers;
use crate::math::{Matrix, View, add_gram_packed, vectorised};
use crate::params::Precision;

/// Rows that wait at most until they are added to the triangle.
const WAITING: usize = 64;

/// A symmetric matrix of sums.
#[derive(Clone, Debug)]
pub struct Gram {
    n_nodes: usize,
    /// The lower triangle, column after column.
    triangle: Arc<Vec<f64>>,
    waiting: Vec<Waiting>,
}

/// A row that has yet to be added.
#[derive(Clone, Debug)]
struct Waiting {
    /// The row times the root of its weight.
    row: Vec<f64>,
    /// 1 if it is added, -1 if it is subtracted.
    sign: f64,
    /// Precision of products.
    precision: Precision,
}

impl Waiting {
    fn at(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.row[j], self.row[i]);
        match self.precision {
            Precision::F32 => self.sign * f64::from(a as f32 * b as f32),
            Precision::F64 => self.sign * a * b,
        }
    }

    /// Adds column `j` of its products, from the diagonal down.
    fn add(&self, j: usize, column: &mut [f64]) {
        let (sign, row) = (self.sign, &self.row[j..]);
        match self.precision {
            Precision::F32 => {
                let factor = row[0] as f32;
                vectorised(
                    #[inline(always)]
                    || {
                        let pairs = column.iter_mut().zip(row);
                        pairs.for_each(|(sum, v)| *sum += sign * f64::from(factor * *v as f32));
                    },
                );
            }
            Precision::F64 => {
                let factor = sign * row[0];
                vectorised(
                    #[inline(always)]
                    || {
                        let pairs = column.iter_mut().zip(row);
                        pairs.for_each(|(sum, v)| *sum += factor * v);
                    },
                );
            }
        }
    }
}

/// Equal sums are equal, whether rows wait or not.
impl PartialEq for Gram {
    fn eq(&self, other: &Self) -> bool {
        let columns = |gram: &Self, j: usize| gram.column(j);
        self.n_nodes == other.n_nodes && (0..self.n_nodes).all(|j| columns(self, j) == columns(other, j))
    }
}

impl Gram {
    /// Sums over nothing.
    pub(super) fn zeros(n_nodes: usize) -> Self {
        Self::from_triangle(vec![0.0; n_nodes * (n_nodes + 1) / 2], n_nodes)
    }

    /// Takes the lower triangle, column after column.
    pub(super) fn from_triangle(triangle: Vec<f64>, n_nodes: usize) -> Self {
        debug_assert_eq!(triangle.len(), n_nodes * (n_nodes + 1) / 2);
        Self {
            n_nodes,
            triangle: Arc::new(triangle),
            waiting: Vec::new(),
        }
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// The entry in row `i` and column `j`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        let mut entry = self.triangle[self.start(j) + i - j];
        for waiting in &self.waiting {
            entry += waiting.at(i, j);
        }
        entry
    }

    /// Column `j` from the diagonal down.
    pub fn column(&self, j: usize) -> Vec<f64> {
        let mut column = self.triangle[self.start(j)..self.start(j + 1)].to_vec();
        self.add_waiting(j, &mut column);
        column
    }

    /// The lower triangle as a square matrix; the rest is 0.
    pub fn to_square(&self) -> Matrix<f64> {
        let n = self.n_nodes;
        let mut square = Matrix::zeros(n, n);
        let columns = square.values_mut().par_chunks_mut(n.max(1)).enumerate();
        columns.for_each(|(j, column)| column[j..].copy_from_slice(&self.column(j)));
        square
    }

    /// Where column `j` begins in the triangle.
    fn start(&self, j: usize) -> usize {
        j * self.n_nodes - j * j.saturating_sub(1) / 2
    }

    fn add_waiting(&self, j: usize, column: &mut [f64]) {
        self.waiting.iter().for_each(|waiting| waiting.add(j, column));
    }

    /// Adds rows that wait to the triangle; the matrix stays the same.
    pub(super) fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        // Shared with a copy, the triangle itself is copied first.
        let mut triangle = std::mem::take(Arc::make_mut(&mut self.triangle));
        let columns: Vec<&mut [f64]> = columns(&mut triangle, self.n_nodes).collect();
        let this = &*self;
        columns
            .into_par_iter()
            .enumerate()
            .for_each(|(j, column)| this.add_waiting(j, column));
        self.triangle = Arc::new(triangle);
        self.waiting.clear();
    }

    /// Adds rows that wait to the triangle if `n` more would be too many: before a copy is made, it need not be copied for that.
    pub(super) fn make_room(&mut self, n: usize) {
        if n <= WAITING && self.waiting.len() + n > WAITING {
            self.settle();
        }
    }

    /// The triangle with all rows in it, to be changed.
    fn settled(&mut self) -> &mut Vec<f64> {
        self.settle();
        Arc::make_mut(&mut self.triangle)
    }

    /// Adds rows (`sign` 1), each times the root of its weight, or subtracts them (`sign` -1).
    pub(super) fn add(&mut self, h: Rows<'_>, roots: Option<&[f64]>, sign: f64, precision: Precision) {
        let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
        if self.waiting.len() + h.len() <= WAITING {
            for (i, row) in h.iter().enumerate() {
                let scaled = |v: &f32| match precision {
                    Precision::F32 => f64::from(v * root(i) as f32),
                    Precision::F64 => f64::from(*v) * root(i),
                };
                self.waiting.push(Waiting {
                    row: row.iter().map(scaled).collect(),
                    sign,
                    precision,
                });
            }
            return;
        }
        let n = self.n_nodes;
        match precision {
            Precision::F32 => {
                let scaled = roots.map(|_| Matrix::from_fn(n, h.len(), |j, i| h.row(i)[j] * root(i) as f32));
                let h = scaled.as_ref().map_or_else(|| View::from(h), Matrix::t);
                add_gram_packed(self.settled(), h, sign);
            }
            Precision::F64 => {
                let h = Matrix::from_fn(n, h.len(), |j, i| f64::from(h.row(i)[j]) * root(i));
                add_gram_packed(self.settled(), h.t(), sign);
            }
        }
    }

    /// Adds another matrix of the same size (`sign` 1) or subtracts it (`sign` -1).
    pub(super) fn combine(&mut self, other: &Self, sign: f64) {
        let n_nodes = self.n_nodes;
        let columns: Vec<&mut [f64]> = columns(self.settled(), n_nodes).collect();
        columns.into_par_iter().enumerate().for_each(|(j, column)| {
            let pairs = column.iter_mut().zip(other.column(j));
            pairs.for_each(|(sum, v)| *sum += sign * v);
        });
    }

    /// Multiplies every entry.
    pub(super) fn scale(&mut self, factor: f64) {
        self.settled().iter_mut().for_each(|v| *v *= factor);
    }

    /// Subtracts v vᵀ / `divisor`.
    pub(super) fn subtract(&mut self, v: &[f64], divisor: f64) {
        let n_nodes = self.n_nodes;
        for (j, column) in columns(self.settled(), n_nodes).enumerate() {
            let pairs = column.iter_mut().zip(&v[j..]);
            pairs.for_each(|(sum, other)| *sum -= v[j] * other / divisor);
        }
    }
}

/// The triangle, column after column.
impl Numbers for Gram {
    fn count(&self) -> usize {
        self.triangle.len()
    }

    fn each(&self, to: &mut dyn FnMut(&[f64])) {
        if self.waiting.is_empty() {
            return to(&self.triangle);
        }
        (0..self.n_nodes).for_each(|j| to(&self.column(j)));
    }
}

/// The columns of a triangle.
fn columns(triangle: &mut [f64], n_nodes: usize) -> impl Iterator<Item = &mut [f64]> {
    let mut rest = triangle;
    (0..n_nodes).map(move |j| {
        let (column, after) = std::mem::take(&mut rest).split_at_mut(n_nodes - j);
        rest = after;
        column
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, Stream};

    /// However rows are divided, and whether they wait or not, the sums are those of the definition.
    #[test]
    fn rows_that_wait_count() {
        const N: usize = 37;
        let mut random = Random::new(1, Stream::Pool { layer: 0 });
        let rows: Vec<f32> = (0..N * 150).map(|_| random.normal()).collect();
        let rows = Rows::new(&rows, N).unwrap();
        for precision in [Precision::F32, Precision::F64] {
            let mut by_steps = Gram::zeros(N);
            let mut at = 0;
            for step in [3, 60, 1, 5, 70, 11] {
                let part: Vec<usize> = (at..at + step).collect();
                by_steps.add(rows.gather(&part).rows(), None, 1.0, precision);
                at += step;
            }
            let taken = rows.gather(&[4, 148]);
            by_steps.add(taken.rows(), None, -1.0, precision);
            let inner = |i: usize, j: usize| -> f64 {
                let kept = (0..150).filter(|k| ![4, 148].contains(k)).map(|k| rows.row(k));
                kept.map(|row| f64::from(row[i]) * f64::from(row[j])).sum()
            };
            let mut settled = by_steps.clone();
            settled.settle();
            assert_eq!(settled, by_steps, "to the last bit");
            for j in 0..N {
                for i in 0..N {
                    assert!((by_steps.at(i, j) - inner(i, j)).abs() < 1e-4, "({i}, {j})");
                    assert_eq!(by_steps.at(i, j), settled.at(i, j));
                }
            }
        }
    }
}
