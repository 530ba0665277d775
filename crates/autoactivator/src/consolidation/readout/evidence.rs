//! Evidence: one number per class and row, from which ridge, discriminant analysis and "unknown" all follow.
//!
//! A = S + ρ is factored once, S the scatter around class means and M the class means about h̄. With the
//! evidence u = MᵀA⁻¹(h - h̄) and K = MᵀA⁻¹M, discriminant analysis scores N (u_c - K_cc / 2), and since
//! G + ρ = A + M diag(n) Mᵀ, ridge scores B u with B = (diag(n)⁻¹ + K)⁻¹: no second factor is needed.

use crate::math::{Cholesky, Lower, Matrix, Real, product};

use super::centred::Centred;

/// As good as no rows of a class, where they divide.
pub const NO_ROWS: f64 = 1e-9;

/// What does not depend on the ridge constant.
pub struct Around<'a> {
    pub centred: &'a Centred,
    /// M, `(n, n_classes)`.
    pub means: Matrix<f64>,
    /// What S lacks of the sums about the mean of all rows: the products of these columns. Without them, S is 0 instead of
    /// what rows scatter, so that leaving one out does not change it.
    between: Option<Matrix<f64>>,
}

impl<'a> Around<'a> {
    /// With the scatter around class means.
    pub fn new(centred: &'a Centred) -> Self {
        let means = centred.class_means();
        Self {
            between: Some(centred.between(&means)),
            means,
            centred,
        }
    }

    /// With an S of zeros: distances then do not depend on how rows scatter.
    pub fn without_scatter(centred: &'a Centred) -> Self {
        Self {
            between: None,
            means: centred.class_means(),
            centred,
        }
    }

    /// Whether S is what rows scatter, so that leaving one out changes it.
    pub fn scatters(&self) -> bool {
        self.between.is_some()
    }

    /// The entry of S on the diagonal, in column `j`.
    pub fn diagonal(&self, j: usize) -> f64 {
        self.between.as_ref().map_or(0.0, |between| {
            let lacks: f64 = (0..between.n_cols()).map(|c| between[(j, c)].powi(2)).sum();
            self.centred.diagonal(j) - lacks
        })
    }

    /// S + ρ. It is made anew for each factor, which takes its place: beside both, there may be no room for anything else.
    pub fn with_ridge<T: Real>(&self, rho: f64) -> Lower<T> {
        let n = self.means.n_rows();
        match &self.between {
            Some(between) => self.centred.lower(n, rho, between.view()),
            None => Lower::filled(n, |_, column| column[0] = rho, Matrix::zeros(n, 0).view()),
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
        let factor = Cholesky::of(around.with_ridge(rho))?;
        let means = T::rounded(around.means.clone());
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

impl Evidence<'_, f64> {
    /// A⁻¹M, `(n, n_classes)`.
    pub fn weights(&self) -> Matrix<f64> {
        self.factor.backward(self.means.clone())
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
