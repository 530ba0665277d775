//! A⁻¹ of a matrix that has changed a little since it was factored.
//!
//! A change s v vᵀ takes γ z zᵀ from A⁻¹, with z = A⁻¹v and γ = s / (1 + s vᵀz). So every z and γ is kept, and A⁻¹b is what
//! the old factor makes of b, less what the changes since then take from it.

use crate::math::{Cholesky, Matrix, add_product, product};

/// How much of itself a matrix must keep along a direction that is taken from it; below that, rounding decides.
const FREE: f64 = 1e-6;

/// Changes of A⁻¹, each γ z zᵀ.
pub struct Taken {
    /// z, `(n, n_changes)`.
    pub z: Matrix<f64>,
    /// γ.
    pub gains: Vec<f64>,
}

impl Taken {
    /// From the changes s v vᵀ of a matrix, and A⁻¹v of each v; `None` if one takes all that there is in some direction.
    pub fn new(changes: &Matrix<f64>, mut solved: Matrix<f64>, signs: &[f64]) -> Option<Self> {
        let mut gains: Vec<f64> = Vec::with_capacity(signs.len());
        for (t, &sign) in signs.iter().enumerate() {
            let v = changes.col(t);
            // Changes that came first have changed A⁻¹ already.
            let shares: Vec<f64> = (0..t).map(|u| gains[u] * dot(solved.col(u), v)).collect();
            let (before, rest) = solved.values_mut().split_at_mut(t * v.len());
            let z = &mut rest[..v.len()];
            for (u, share) in shares.into_iter().enumerate() {
                let earlier = &before[u * v.len()..(u + 1) * v.len()];
                z.iter_mut().zip(earlier).for_each(|(z, e)| *z -= share * e);
            }
            let free = 1.0 + sign * dot(z, v);
            if free.is_nan() || free <= FREE {
                return None;
            }
            gains.push(sign / free);
        }
        Some(Self { z: solved, gains })
    }

    /// Zᵀb of some columns b, `(n_changes, n_columns)`.
    pub fn along(&self, b: &Matrix<f64>) -> Matrix<f64> {
        product(self.z.t(), b.view())
    }

    /// diag(γ) a, row by row.
    pub fn weighed(&self, a: &Matrix<f64>) -> Matrix<f64> {
        Matrix::from_fn(a.n_rows(), a.n_cols(), |t, c| self.gains[t] * a[(t, c)])
    }

    /// Takes from `x`, which is A⁻¹b as it was, what it has lost.
    pub fn correct(&self, x: &mut Matrix<f64>, b: &Matrix<f64>) {
        add_product(x, -1.0, self.z.view(), self.weighed(&self.along(b)).view());
    }
}

/// A⁻¹, from the factor of D A D as it was and the changes since.
pub struct Inverse {
    factor: Cholesky<f64>,
    /// D.
    scale: Vec<f64>,
    taken: Taken,
}

impl Inverse {
    pub fn new(factor: Cholesky<f64>, scale: Vec<f64>) -> Self {
        let taken = Taken {
            z: Matrix::zeros(scale.len(), 0),
            gains: Vec::new(),
        };
        Self { factor, scale, taken }
    }

    /// A⁻¹b.
    pub fn solve(&self, b: &Matrix<f64>) -> Matrix<f64> {
        let scaled =
            |m: &Matrix<f64>| Matrix::from_fn(m.n_rows(), m.n_cols(), |i, j| self.scale[i] * m[(i, j)]);
        let mut x = scaled(&self.factor.solve(&scaled(b)));
        self.taken.correct(&mut x, b);
        x
    }

    /// Number of changes since A was factored.
    pub fn n_changes(&self) -> usize {
        self.taken.gains.len()
    }

    /// Remembers changes.
    pub fn change(&mut self, taken: &Taken) {
        self.taken.z.append(&taken.z);
        self.taken.gains.extend(&taken.gains);
    }
}

/// aᵀb.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::math::vectorised(
        #[inline(always)]
        || {
            // Eight sums at a time: one alone would wait for each addition.
            let mut sums = [0.0; 8];
            let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
            let rest: f64 = a8
                .remainder()
                .iter()
                .zip(b8.remainder())
                .map(|(a, b)| a * b)
                .sum();
            for (a, b) in a8.zip(b8) {
                for k in 0..8 {
                    sums[k] += a[k] * b[k];
                }
            }
            sums.iter().sum::<f64>() + rest
        },
    )
}
