//! Evidence: one number per class and row, from which ridge, discriminant analysis and "unknown" all follow.
//!
//! A = S + ρ is factored once, S the scatter around class means and M the class means about h̄. With the
//! evidence u = MᵀA⁻¹(h - h̄) and K = MᵀA⁻¹M, discriminant analysis scores N (u_c - K_cc / 2), and since
//! G + ρ = A + M diag(n) Mᵀ, ridge scores B u with B = (diag(n)⁻¹ + K)⁻¹: no second factor is needed.

use crate::math::{Cholesky, Matrix, Real, product};

use super::centred::Centred;

/// As good as no rows of a class, where they divide.
pub const NO_ROWS: f64 = 1e-9;

/// What does not depend on the ridge constant.
pub struct Around<'a> {
    pub centred: &'a Centred,
    /// M, `(n, n_classes)`.
    pub means: Matrix<f64>,
    /// S, `(n, n)`, lower triangle.
    pub scatter: Matrix<f64>,
    /// Whether S is what rows scatter, so that leaving one out changes it.
    pub scatters: bool,
}

impl<'a> Around<'a> {
    /// From the sums about the mean of all rows, which are not needed any more.
    pub fn new(centred: &'a Centred, gram: Matrix<f64>) -> Self {
        let means = centred.class_means();
        Self {
            scatter: centred.scatter(gram, &means),
            means,
            centred,
            scatters: true,
        }
    }

    /// The same with an S of zeros: distances then do not depend on how rows scatter.
    pub fn without_scatter(centred: &'a Centred) -> Self {
        let means = centred.class_means();
        Self {
            scatter: Matrix::zeros(means.n_rows(), means.n_rows()),
            means,
            centred,
            scatters: false,
        }
    }
}

/// A = S + ρ, factored, and what it makes of the class means.
pub struct Evidence<'a, T> {
    pub around: &'a Around<'a>,
    pub factor: Cholesky<T>,
    /// L⁻¹M, `(n, n_classes)`.
    pub means: Matrix<T>,
    /// K, `(n_classes, n_classes)`.
    pub inner: Matrix<f64>,
    /// B, `(n_classes, n_classes)`.
    pub ridge: Matrix<f64>,
}

impl<'a, T: Real> Evidence<'a, T> {
    /// Factors S + ρ; `None` when that breaks down in this precision.
    pub fn new(around: &'a Around<'a>, rho: f64) -> Option<Self> {
        let n = around.scatter.n_cols();
        let mut shrunk = Matrix::zeros(n, n);
        for j in 0..n {
            let pairs = shrunk.col_mut(j)[j..].iter_mut().zip(&around.scatter.col(j)[j..]);
            pairs.for_each(|(to, &from): (&mut T, &f64)| *to = T::nearest(from));
            shrunk[(j, j)] = T::nearest(around.scatter[(j, j)] + rho);
        }
        let factor = Cholesky::new(shrunk)?;
        let means = Matrix::from_fn(n, around.means.n_cols(), |i, c| T::nearest(around.means[(i, c)]));
        let means = factor.forward(means);
        let inner = product(means.t(), means.view());
        let inner = Matrix::from_fn(inner.n_rows(), inner.n_cols(), |i, j| inner[(i, j)].into());
        let ridge = inverse_with(&inner, &around.centred.counts)?;
        Some(Self {
            around,
            factor,
            means,
            inner,
            ridge,
        })
    }
}

impl<'a> Evidence<'a, f64> {
    /// A⁻¹M, `(n, n_classes)`.
    pub fn weights(&self) -> Matrix<f64> {
        self.factor.backward(self.means.clone())
    }

    /// The same with a factor in single precision, for solves that need no more.
    pub fn to_f32(&self) -> Evidence<'a, f32> {
        Evidence {
            around: self.around,
            factor: self.factor.to_f32(),
            means: self.means.to_f32(),
            inner: self.inner.clone(),
            ridge: self.ridge.clone(),
        }
    }
}

/// (diag(n)⁻¹ + K)⁻¹.
pub fn inverse_with(inner: &Matrix<f64>, counts: &[f64]) -> Option<Matrix<f64>> {
    let n = counts.len();
    let identity = Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
    let mut sum = inner.clone();
    // A class without rows has no evidence: its own entry is as good as infinite.
    (0..n).for_each(|c| sum[(c, c)] += 1.0 / counts[c].max(NO_ROWS));
    Some(Cholesky::new(sum)?.solve(&identity))
}
