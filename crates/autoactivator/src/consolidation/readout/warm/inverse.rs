//! A⁻¹ of a matrix that has changed a little since it was factored.
//!
//! A change s v vᵀ takes γ z zᵀ from A⁻¹, with z = A⁻¹v and γ = s / (1 + s vᵀz). So every z and γ is kept, and A⁻¹b is what
//! the old factor makes of b, less what the changes since then take from it.

use crate::math::{Cholesky, Matrix, Span, add_product, dot, product};

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
    /// What the factor is of, if not of nodes: there, D A D is nothing but ridge in all other directions.
    span: Option<Span>,
    /// The ridge constant.
    rho: f64,
    /// D.
    scale: Vec<f64>,
    taken: Taken,
}

impl Inverse {
    pub fn new(factor: Cholesky<f64>, span: Option<Span>, rho: f64, scale: Vec<f64>) -> Self {
        let taken = Taken {
            z: Matrix::zeros(scale.len(), 0),
            gains: Vec::new(),
        };
        Self {
            factor,
            span,
            rho,
            scale,
            taken,
        }
    }

    /// A⁻¹b.
    pub fn solve(&self, b: &Matrix<f64>) -> Matrix<f64> {
        let scaled =
            |m: &Matrix<f64>| Matrix::from_fn(m.n_rows(), m.n_cols(), |i, j| self.scale[i] * m[(i, j)]);
        let mut x = scaled(&self.before(scaled(b)));
        self.taken.correct(&mut x, b);
        x
    }

    /// (D A D)⁻¹b, as it was.
    fn before(&self, mut b: Matrix<f64>) -> Matrix<f64> {
        let Some(span) = &self.span else {
            return self.factor.solve(&b);
        };
        let within = span.onto(b.view());
        let mut solved = self.factor.solve(&within);
        let pairs = solved.values_mut().iter_mut().zip(within.values());
        pairs.for_each(|(solved, b)| *solved -= b / self.rho);
        b.values_mut().iter_mut().for_each(|v| *v /= self.rho);
        add_product(&mut b, 1.0, span.basis().view(), solved.view());
        b
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
