//! What witnesses see: of classes, of each other, and by ridge.

use super::evidence::Evidence;
use super::jury::Jury;
use crate::math::{Matrix, Real, product};

/// Witnesses beside the evidence.
pub struct Seen<'a, T> {
    pub evidence: &'a Evidence<'a, T>,
    pub jury: &'a Jury<'a>,
    /// L⁻¹x of each witness x, `(n_nodes, n_witnesses)`: their products are those by A⁻¹.
    columns: Matrix<T>,
    /// Evidence of each witness for each class, `(n_witnesses, n_classes)`.
    pub u: Matrix<f64>,
    /// What ridge makes of it.
    pub fitted: Matrix<f64>,
}

impl<'a, T: Real> Seen<'a, T> {
    pub fn new(evidence: &'a Evidence<'a, T>, jury: &'a Jury<'a>) -> Self {
        let rows = &jury.columns;
        let columns = Matrix::from_fn(rows.n_rows(), rows.n_cols(), |i, j| T::nearest(rows[(i, j)]));
        let columns = evidence.factor.forward(columns);
        let u = in_double(&product(columns.t(), evidence.means.view()));
        Self {
            fitted: product(u.view(), evidence.ridge.view()),
            evidence,
            jury,
            columns,
            u,
        }
    }

    /// xᵀA⁻¹x of witness `i`.
    pub fn length(&self, i: usize) -> f64 {
        self.columns.col(i).iter().map(|&v| v.into() * v.into()).sum()
    }

    /// Products of the witnesses at `places` by A⁻¹.
    pub fn products(&self, places: &[usize]) -> Matrix<f64> {
        let columns = self.columns.gather(places.iter().copied());
        in_double(&product(columns.t(), columns.view()))
    }
}

fn in_double<T: Real>(a: &Matrix<T>) -> Matrix<f64> {
    Matrix::from_fn(a.n_rows(), a.n_cols(), |i, j| a[(i, j)].into())
}
