//! The space that some columns span, by an orthonormal basis: what is done in it costs as much as there are columns, not as
//! much as they are long.

use super::{Matrix, View, add_product, product, vectorised};

/// Columns that are made orthogonal together to those before them.
const PANEL: usize = 32;

/// What must be left of a column, relative to its length, for it to be a direction of its own.
const SPENT: f64 = 1e-12;

/// A space, by an orthonormal basis.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The basis, `(n, dimension)`.
    basis: Matrix<f64>,
}

impl Span {
    /// The space that columns span, and their coordinates in it, `(dimension, n_columns)`.
    pub fn of(columns: View<'_, f64>) -> (Self, Matrix<f64>) {
        let n_columns = columns.n_cols();
        let mut span = Self {
            basis: Matrix::zeros(columns.n_rows(), 0),
        };
        let mut coordinates = Vec::with_capacity(n_columns);
        for start in (0..n_columns).step_by(PANEL) {
            let panel = columns.columns(start, n_columns.min(start + PANEL)).to_matrix();
            span.take(panel, &mut coordinates);
        }
        let entry = |i: usize, j: usize| coordinates[j].get(i).copied().unwrap_or(0.0);
        let coordinates = Matrix::from_fn(span.dimension(), n_columns, entry);
        (span, coordinates)
    }

    /// Takes in more columns, and adds the coordinates of each. What they have in common with the basis is removed twice:
    /// rounding spoils the first time where little is left.
    fn take(&mut self, mut panel: Matrix<f64>, coordinates: &mut Vec<Vec<f64>>) {
        let lengths: Vec<f64> = panel.cols().map(length).collect();
        let before = self.dimension();
        let mut along = Matrix::zeros(before, panel.n_cols());
        for _ in 0..2 {
            let more = product(self.basis.t(), panel.view());
            add_product(&mut panel, -1.0, self.basis.view(), more.view());
            let sums = along.values_mut().iter_mut().zip(more.values());
            sums.for_each(|(sum, v)| *sum += v);
        }
        for (j, whole) in lengths.into_iter().enumerate() {
            let column = panel.col_mut(j);
            let mut of_column = along.col(j).to_vec();
            of_column.resize(self.dimension(), 0.0);
            for _ in 0..2 {
                for (place, sum) in of_column.iter_mut().enumerate().skip(before) {
                    *sum += remove(column, self.basis.col(place));
                }
            }
            let left = length(column);
            if left > SPENT * whole {
                column.iter_mut().for_each(|v| *v /= left);
                of_column.push(left);
                self.basis.push(column);
            }
            coordinates.push(of_column);
        }
    }

    /// Number of directions.
    pub fn dimension(&self) -> usize {
        self.basis.n_cols()
    }

    /// The basis, `(n, dimension)`.
    pub fn basis(&self) -> &Matrix<f64> {
        &self.basis
    }

    /// Coordinates of columns, as far as they lie in the space.
    pub fn onto(&self, columns: View<'_, f64>) -> Matrix<f64> {
        product(self.basis.t(), columns)
    }

    /// Columns with these coordinates.
    pub fn out_of(&self, coordinates: View<'_, f64>) -> Matrix<f64> {
        product(self.basis.view(), coordinates)
    }
}

/// Removes from `column` what it has in common with `unit`, and returns how much that was.
fn remove(column: &mut [f64], unit: &[f64]) -> f64 {
    let along = dot(column, unit);
    vectorised(
        #[inline(always)]
        || {
            let pairs = column.iter_mut().zip(unit);
            pairs.for_each(|(v, u)| *v -= along * u);
        },
    );
    along
}

fn length(column: &[f64]) -> f64 {
    dot(column, column).sqrt()
}

/// aᵀb.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            // Eight sums at a time: one alone would wait for each addition.
            let mut sums = [0.0; 8];
            let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
            let rest = a8.remainder().iter().zip(b8.remainder());
            let rest: f64 = rest.map(|(a, b)| a * b).sum();
            for (a, b) in a8.zip(b8) {
                for k in 0..8 {
                    sums[k] += a[k] * b[k];
                }
            }
            sums.iter().sum::<f64>() + rest
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, Stream, rotation};

    fn random(n_rows: usize, n_cols: usize) -> Matrix<f64> {
        let mut random = Random::new(3, Stream::Pool { layer: 0 });
        Matrix::from_fn(n_rows, n_cols, |_, _| f64::from(random.normal()))
    }

    #[track_caller]
    fn is_close(a: &Matrix<f64>, b: &Matrix<f64>) {
        assert_eq!((a.n_rows(), a.n_cols()), (b.n_rows(), b.n_cols()));
        let apart = a.values().iter().zip(b.values()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-11);
    }

    fn identity(n: usize) -> Matrix<f64> {
        Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// Columns are their coordinates times the basis; those that repeat others add no direction.
    #[test]
    fn a_space_has_an_orthonormal_basis() {
        for (n, k) in [(1, 1), (9, 2), (40, 37), (90, 70), (5, 12)] {
            let mut columns = random(n, k);
            columns.push(&vec![0.0; n]);
            columns.push(&columns.col(0).iter().map(|v| 3.0 * v).collect::<Vec<f64>>());
            let (span, coordinates) = Span::of(columns.view());
            assert_eq!(span.dimension(), n.min(k));
            is_close(&product(span.basis.t(), span.basis.view()), &identity(n.min(k)));
            is_close(&span.out_of(coordinates.view()), &columns);
            is_close(&span.onto(columns.view()), &coordinates);
        }
    }

    #[test]
    fn a_rotation_makes_a_triangle() {
        for (n, k) in [(1, 1), (9, 2), (40, 40), (7, 12)] {
            let a = random(n, k);
            let q = rotation(a.clone());
            is_close(&product(q.t(), q.view()), &identity(n));
            let r = product(q.t(), a.view());
            for j in 0..k {
                assert!(j >= n || r[(j, j)] >= 0.0);
                assert!((j + 1..n).all(|i| r[(i, j)].abs() < 1e-12));
            }
        }
    }
}
