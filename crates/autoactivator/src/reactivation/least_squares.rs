//! The stepwise update (Eq. W_L+1): output weights that stay the least-squares optimum while nodes join.
//!
//! The paper updates the pseudoinverse of a partitioned matrix. [`StepwiseFit`] reaches the same optimum
//! through an orthogonal basis Q of the node outputs, A = Q R: new columns are orthogonalised against Q
//! (twice, which is enough), and the residual loses its projection on their remainder. Columns that add
//! nothing - the paper's second branch, duplicates, zeros - simply add no basis vector. The residual can
//! therefore never grow, and both branches are one. The tests have the paper's own formula, beside a solve
//! from scratch.

use std::ops::Range;

use rayon::prelude::*;

use super::TILE_ROWS;
use crate::math::{Matrix, add_product, alone, gram, product, solve_positive_definite, vectorised};

/// Part of its length that a new column must keep after projection to count as a new direction. Node outputs
/// carry the rounding of single precision, so anything below is noise.
const NEW_DIRECTION: f64 = 1e-7;

/// A column is orthogonal to the basis when no larger part of its length than this lies along it.
const RIGHT_ANGLE: f64 = 1e-12;

/// Partial sums of a dot product: enough for the widest instruction set, and the same on every machine.
const LANES: usize = 16;

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

    /// Number of columns so far.
    pub fn n_nodes(&self) -> usize {
        self.r.len()
    }

    /// e = Y - A W, `(n_samples, n_classes)`.
    pub fn residual(&self) -> &Matrix<f64> {
        &self.residual
    }

    /// Appends the columns of `g`.
    pub fn append(&mut self, g: &Matrix<f64>) {
        let (z, d) = self.outside(g);
        for j in 0..g.n_cols() {
            let coordinates = d.cols().map(|along| along[j]).collect();
            self.append_one(z.col(j).to_vec(), coordinates, dot(g.col(j), g.col(j)).sqrt());
        }
    }

    /// The part of `g` outside the basis, `(n_samples, l)`, and its coordinates inside, `(l, rank)`.
    ///
    /// Works on one tile of rows at a time, so that the second projection finds the result of the first in the cache.
    fn outside(&self, g: &Matrix<f64>) -> (Matrix<f64>, Matrix<f64>) {
        let n = g.n_rows();
        let tiles = (0..n)
            .step_by(TILE_ROWS)
            .map(|start| start..n.min(start + TILE_ROWS));
        let mut z: Vec<(Range<usize>, Matrix<f64>)> = tiles
            .map(|rows| (rows.clone(), g.view().rows(rows).to_matrix()))
            .collect();
        let q = |rows: &Range<usize>| self.q.view().rows(rows.clone());
        // zᵀQ is a product that needs no transposed copy of Q.
        let projected = |(rows, z): &(Range<usize>, Matrix<f64>)| product(z.t(), q(rows));
        let correct = |(rows, z): &mut (Range<usize>, Matrix<f64>), d: &Matrix<f64>| {
            add_product(z, -1.0, q(rows), d.t());
        };
        let projections: Vec<Matrix<f64>> = z.par_iter().map(|tile| alone(|| projected(tile))).collect();
        let mut d = self.sum(&projections, g.n_cols());
        let correct_and_project = |tile: &mut (Range<usize>, Matrix<f64>)| {
            correct(tile, &d);
            projected(tile)
        };
        let corrections: Vec<Matrix<f64>> = z
            .par_iter_mut()
            .map(|tile| alone(|| correct_and_project(tile)))
            .collect();
        let correction = self.sum(&corrections, g.n_cols());
        if !is_negligible(&correction, &z) {
            z.par_iter_mut()
                .for_each(|tile| alone(|| correct(tile, &correction)));
            add(d.values_mut(), correction.values());
        }
        (stacked(&z, n, g.n_cols()), d)
    }

    /// The sum over tiles of coordinates in the basis, in the order of the tiles.
    fn sum(&self, coordinates: &[Matrix<f64>], l: usize) -> Matrix<f64> {
        let mut sum = Matrix::zeros(l, self.q.n_cols());
        for of_tile in coordinates {
            add(sum.values_mut(), of_tile.values());
        }
        sum
    }

    /// Appends one column, given its part `z` outside the basis as it was before the batch, and its coordinates inside.
    fn append_one(&mut self, mut z: Vec<f64>, mut coordinates: Vec<f64>, length: f64) {
        let known = coordinates.len();
        coordinates.resize(self.q.n_cols(), 0.0);
        // Earlier columns of this batch have extended the basis in the meantime.
        let mut rest = dot(&z, &z).sqrt();
        for _ in 0..2 {
            let before = rest;
            for (k, coordinate) in coordinates.iter_mut().enumerate().skip(known) {
                let along = dot(self.q.col(k), &z);
                subtract(&mut z, along, self.q.col(k));
                *coordinate += along;
            }
            rest = dot(&z, &z).sqrt();
            // Rounding is then as small relative to the remainder as it was before.
            if rest > 0.5 * before {
                break;
            }
        }
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

    /// Removes all columns after the first `n_nodes`.
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
    /// As ρ goes to zero this is A†Y, even if columns depend on each other. `None` when the solve breaks down.
    pub fn weights(&self, ridge: f64) -> Option<Matrix<f64>> {
        let n = self.n_nodes();
        let r = Matrix::from_fn(self.q.n_cols(), n, |k, j| {
            self.r[j].get(k).copied().unwrap_or(0.0)
        });
        let mut gram = gram(r.view());
        let mean_diagonal = (0..n).map(|j| gram[(j, j)]).sum::<f64>() / n.max(1) as f64;
        // If all columns are zero there is nothing to scale by; any constant then gives zero weights.
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

/// Whether the remainder of every column, in tiles of rows, is already orthogonal to the basis.
fn is_negligible(correction: &Matrix<f64>, z: &[(Range<usize>, Matrix<f64>)]) -> bool {
    (0..correction.n_rows()).all(|j| {
        let along: f64 = correction.cols().map(|d| d[j] * d[j]).sum();
        let left: f64 = z.iter().map(|(_, tile)| dot(tile.col(j), tile.col(j))).sum();
        along <= RIGHT_ANGLE * RIGHT_ANGLE * left
    })
}

/// Stacks tiles of rows on top of each other.
fn stacked(tiles: &[(Range<usize>, Matrix<f64>)], n_rows: usize, n_cols: usize) -> Matrix<f64> {
    let mut stacked = Matrix::zeros(n_rows, n_cols);
    for j in 0..n_cols {
        for (rows, tile) in tiles {
            stacked.col_mut(j)[rows.clone()].copy_from_slice(tile.col(j));
        }
    }
    stacked
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    vectorised(
        #[inline(always)]
        || {
            let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
            let tail = a.remainder().iter().zip(b.remainder());
            let mut sums = [0.0; LANES];
            for (a, b) in a.clone().zip(b.clone()) {
                for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                    *sum += a * b;
                }
            }
            sums.iter().sum::<f64>() + tail.map(|(a, b)| a * b).sum::<f64>()
        },
    )
}

fn add(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

fn subtract(a: &mut [f64], factor: f64, b: &[f64]) {
    vectorised(
        #[inline(always)]
        || a.iter_mut().zip(b).for_each(|(a, b)| *a -= factor * b),
    );
}
