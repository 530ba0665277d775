//! What witnesses see: of classes, of each other, and by ridge.

use super::evidence::Evidence;
use super::jury::Jury;
use crate::math::{Matrix, Real, product};

/// Products of the witnesses at some places.
type Products<'a> = Box<dyn Fn(&[usize]) -> Matrix<f64> + Sync + 'a>;

/// Witnesses beside the evidence. All points are about the mean of all rows, and all products are by A⁻¹.
pub struct Seen<'a> {
    pub jury: &'a Jury<'a>,
    /// n by class.
    pub counts: &'a [f64],
    /// Whether A holds what rows scatter, so that leaving one out changes it.
    pub scatters: bool,
    /// K, `(n_classes, n_classes)`.
    pub inner: &'a Matrix<f64>,
    /// B, `(n_classes, n_classes)`.
    pub ridge: &'a Matrix<f64>,
    /// Evidence of each witness for each class, `(n_witnesses, n_classes)`.
    pub u: Matrix<f64>,
    /// What ridge makes of it.
    pub fitted: Matrix<f64>,
    /// Squared length of each witness.
    pub lengths: Vec<f64>,
    /// Products of the witnesses at some places.
    pub products: Products<'a>,
}

impl<'a> Seen<'a> {
    /// From L⁻¹x of each witness x, whose products are those by A⁻¹.
    pub fn new<T: Real>(evidence: &'a Evidence<'_, T>, jury: &'a Jury<'a>) -> Self {
        let around = evidence.around;
        let columns = around.centred.columns::<T>(jury.outputs.rows());
        let columns = evidence.factor.forward(columns);
        let u = in_double(&product(columns.t(), evidence.means.view()));
        Self {
            jury,
            counts: &around.centred.counts,
            scatters: around.scatters,
            inner: &evidence.inner,
            ridge: &evidence.ridge,
            fitted: product(u.view(), evidence.ridge.view()),
            u,
            lengths: columns.cols().map(square_length).collect(),
            products: Box::new(move |places| {
                let columns = columns.gather(places.iter().copied());
                in_double(&product(columns.t(), columns.view()))
            }),
        }
    }

    /// N, the number of rows learned.
    pub fn n_rows(&self) -> f64 {
        self.counts.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

fn square_length<T: Real>(column: &[T]) -> f64 {
    column.iter().map(|&v| v.into() * v.into()).sum()
}

fn in_double<T: Real>(a: &Matrix<T>) -> Matrix<f64> {
    Matrix::from_fn(a.n_rows(), a.n_cols(), |i, j| a[(i, j)].into())
}
