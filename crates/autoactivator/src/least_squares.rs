//! The stepwise update (Eq. W_L+1): output weights that stay the least-squares optimum while nodes join.
//!
//! The paper updates the pseudoinverse of a partitioned matrix. [`StepwiseFit`] reaches the same optimum through
//! an orthogonal basis Q of the node outputs, A = Q R: new columns are orthogonalised against Q (twice, which is
//! enough), the residual loses its projection on what is left of them, and columns that add nothing - the
//! paper's second branch, duplicates, zeros - simply add no basis vector. The residual can therefore never grow,
//! and both branches are one. The paper's own formula stands in the tests, beside a solve from scratch.

use crate::linalg::{Matrix, add_product, product, solve_positive_definite};

/// A new column must keep this much of its length after projection to count as a new direction. Node outputs
/// carry the rounding of single precision, so anything below it is noise.
const NEW_DIRECTION: f64 = 1e-7;

/// A least-squares fit of targets Y by a growing set of columns A.
#[derive(Clone, Debug)]
pub struct StepwiseFit {
    /// Orthonormal basis of the columns so far, `(n_samples, rank)`.
    q: Matrix<f64>,
    /// Columns in that basis: A = Q R. One vector per node, as long as the rank was when it joined.
    r: Vec<Vec<f64>>,
    /// Qᵀ Y, `(rank, n_classes)`, row after row.
    projections: Vec<Vec<f64>>,
    /// Y - Q Qᵀ Y, `(n_samples, n_classes)`.
    residual: Matrix<f64>,
    /// Rank after each node.
    ranks: Vec<usize>,
}

impl StepwiseFit {
    /// Starts with no columns: the residual is Y.
    pub fn new(y: Matrix<f64>) -> Self {
        Self {
            q: Matrix::zeros(y.n_rows(), 0),
            r: Vec::new(),
            projections: Vec::new(),
            residual: y,
            ranks: Vec::new(),
        }
    }

    /// Columns so far.
    pub fn n_nodes(&self) -> usize {
        self.r.len()
    }

    /// e = Y - A W, `(n_samples, n_classes)`.
    pub fn residual(&self) -> &Matrix<f64> {
        &self.residual
    }

    /// Lets the columns of `g` join.
    pub fn append(&mut self, g: &Matrix<f64>) {
        let (mut z, mut d) = (g.clone(), Matrix::zeros(self.q.n_cols(), g.n_cols()));
        for _ in 0..2 {
            let correction = product(self.q.t(), z.view());
            add_product(&mut z, -1.0, self.q.view(), correction.view());
            add(d.values_mut(), correction.values());
        }
        for j in 0..g.n_cols() {
            self.append_one(z.col(j), d.col(j), norm(g.col(j)));
        }
    }

    /// Adds one column, given its part `z` outside the basis as it was before the batch and its coordinates `d`.
    fn append_one(&mut self, z: &[f64], d: &[f64], length: f64) {
        let (mut z, mut coordinates) = (z.to_vec(), d.to_vec());
        coordinates.resize(self.q.n_cols(), 0.0);
        // The batch's own earlier columns have extended the basis meanwhile.
        for _ in 0..2 {
            for (k, coordinate) in coordinates.iter_mut().enumerate().skip(d.len()) {
                let along = dot(self.q.col(k), &z);
                subtract(&mut z, along, self.q.col(k));
                *coordinate += along;
            }
        }
        let rest = norm(&z);
        if rest > NEW_DIRECTION * length {
            z.iter_mut().for_each(|v| *v /= rest);
            coordinates.push(rest);
            self.q.push(&z);
            self.project_out_last();
        }
        self.r.push(coordinates);
        self.ranks.push(self.q.n_cols());
    }

    fn project_out_last(&mut self) {
        let direction = self.q.col(self.q.n_cols() - 1);
        let mut projection = Vec::with_capacity(self.residual.n_cols());
        for c in 0..self.residual.n_cols() {
            let along = dot(direction, self.residual.col(c));
            subtract(self.residual.col_mut(c), along, direction);
            projection.push(along);
        }
        self.projections.push(projection);
    }

    /// Takes back all columns after the first `n_nodes`.
    pub fn truncate(&mut self, n_nodes: usize) {
        let rank = n_nodes.checked_sub(1).map_or(0, |last| self.ranks[last]);
        for k in rank..self.q.n_cols() {
            for c in 0..self.residual.n_cols() {
                subtract(self.residual.col_mut(c), -self.projections[k][c], self.q.col(k));
            }
        }
        self.q.truncate(rank);
        self.projections.truncate(rank);
        self.r.truncate(n_nodes);
        self.ranks.truncate(n_nodes);
    }

    /// W, `(n_nodes, n_classes)`: minimises |Y - A W|² + ρ |W|², with ρ = `ridge` · mean(diag(AᵀA)).
    ///
    /// As ρ goes to zero this is A†Y, also where columns depend on each other. `None` when the solve breaks down.
    pub fn weights(&self, ridge: f64) -> Option<Matrix<f64>> {
        let n = self.n_nodes();
        let r = Matrix::from_fn(self.q.n_cols(), n, |k, j| {
            self.r[j].get(k).copied().unwrap_or(0.0)
        });
        let mut gram = product(r.t(), r.view());
        let mean_diagonal = (0..n).map(|j| gram[(j, j)]).sum::<f64>() / n.max(1) as f64;
        // Columns of zeros alone leave nothing to scale by; any constant then gives the zero weights.
        let rho = ridge * if mean_diagonal > 0.0 { mean_diagonal } else { 1.0 };
        for j in 0..n {
            gram[(j, j)] += rho;
        }
        let projections = Matrix::from_fn(self.q.n_cols(), self.residual.n_cols(), |k, c| {
            self.projections[k][c]
        });
        let weights = solve_positive_definite(&gram, &product(r.t(), projections.view()))?;
        weights.is_finite().then_some(weights)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

fn subtract(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a -= factor * b);
}
