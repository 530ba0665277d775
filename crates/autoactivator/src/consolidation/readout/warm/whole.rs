//! The distance from all rows, kept up to date: T = Σ (h - h̄)(h - h̄)ᵀ + Λ of the first nodes, as √N L⁻¹.

use std::sync::Arc;

use rayon::prelude::*;

use super::inverse::Taken;
use super::witnesses::{Known, beside};
use crate::consolidation::whitening::{Form, Whitening};
use crate::math::{Matrix, dot, product, vectorised};

/// What a row of some weight changes.
pub struct Added<'a> {
    /// The row, from the origin.
    pub h: &'a [f64],
    /// Its weight; negative if it is taken away.
    pub weight: f64,
}

/// The first nodes of all rows.
pub struct Whole {
    /// √N L⁻¹, transposed.
    pub whitening: Arc<Matrix<f32>>,
    /// N that the whitening is multiplied with.
    n_rows: f64,
    /// Σ h, from the origin.
    sum: Vec<f64>,
    /// T⁻¹ Σ h.
    solved: Vec<f64>,
}

impl Whole {
    /// Of rows whose mean is the origin; none if it is not kept as a triangle.
    pub fn new(whitening: Whitening, n_rows: f64) -> Option<Self> {
        let Form::Triangle(whitening) = whitening.form else {
            return None;
        };
        let n = whitening.n_cols();
        Some(Self {
            whitening,
            n_rows,
            sum: vec![0.0; n],
            solved: vec![0.0; n],
        })
    }

    pub fn n_nodes(&self) -> usize {
        self.whitening.n_cols()
    }

    /// T⁻¹b.
    fn solve(&self, b: &Matrix<f64>) -> Matrix<f64> {
        let white = product(self.whitening.t(), b.to_f32().view());
        let mut x = product(self.whitening.view(), white.view()).to_f64();
        x.values_mut().iter_mut().for_each(|v| *v /= self.n_rows);
        x
    }

    /// What T⁻¹ makes of new witnesses.
    pub fn measure(&self, new: &mut [Known], origin: &[f64]) {
        let h = Matrix::from_fn(self.n_nodes(), new.len(), |j, t| {
            f64::from(new[t].h()[j]) - origin[j]
        });
        let x = self.solve(&h);
        for (t, known) in new.iter_mut().enumerate() {
            known.apart = dot(x.col(t), h.col(t));
            known.to_all = dot(x.col(t), &self.sum);
        }
    }

    /// Follows rows that come and go, and changes of Λ by `ridge` at some nodes. `None` if nothing would be left in some
    /// direction.
    pub fn follow(
        &mut self,
        rows: &[Added<'_>],
        ridge: &[(usize, f64)],
        witnesses: &mut [Known],
        origin: &[f64],
    ) -> Option<()> {
        let n = self.n_nodes();
        let mut n_rows = self.n_rows;
        let (mut changes, mut signs) = (Matrix::zeros(n, 0), Vec::new());
        let mut sum = self.sum.clone();
        for row in rows {
            let apart: Vec<f64> = row.h.iter().zip(&sum).map(|(h, sum)| h - sum / n_rows).collect();
            changes.push(&apart[..n]);
            signs.push(row.weight * n_rows / (n_rows + row.weight));
            sum.iter_mut()
                .zip(row.h)
                .for_each(|(sum, h)| *sum += row.weight * h);
            n_rows += row.weight;
        }
        for &(node, change) in ridge.iter().filter(|(node, _)| *node < n) {
            changes.push(
                &(0..n)
                    .map(|j| if j == node { 1.0 } else { 0.0 })
                    .collect::<Vec<f64>>(),
            );
            signs.push(change);
        }
        let moved: Vec<f64> = sum
            .iter()
            .zip(&self.sum)
            .map(|(after, before)| after - before)
            .collect();
        let both = {
            let mut both = changes.clone();
            both.push(&moved);
            self.solve(&both)
        };
        let moved = both.col(signs.len());
        let taken = Taken::new(&changes, both.columns(0, signs.len()).to_matrix(), &signs)?;
        self.sum = sum;
        self.solved
            .iter_mut()
            .zip(moved)
            .for_each(|(solved, moved)| *solved += moved);
        let along: Vec<f64> = taken.z.cols().map(|z| dot(z, &self.sum)).collect();
        let mut directions = taken.z.clone();
        directions.push(moved);
        let seen = beside(witnesses, origin, &directions);
        for (i, known) in witnesses.iter_mut().enumerate() {
            known.to_all += seen[(signs.len(), i)];
            for (t, gain) in taken.gains.iter().enumerate() {
                let g = seen[(t, i)];
                known.apart -= gain * g * g;
                known.to_all -= gain * g * along[t];
            }
        }
        for (t, gain) in taken.gains.iter().enumerate() {
            let share = gain * along[t];
            self.solved
                .iter_mut()
                .zip(taken.z.col(t))
                .for_each(|(solved, z)| *solved -= share * z);
        }
        self.refactor(&changes, &signs, n_rows)
    }

    /// Squared distance of a witness from the mean of all rows.
    pub fn distance(&self, known: &Known) -> f64 {
        let n = self.n_rows;
        known.apart - 2.0 * known.to_all / n + dot(&self.sum, &self.solved) / (n * n)
    }

    /// L⁻¹ after the changes s v vᵀ. With p = L⁻¹v and τ_i = 1 + s Σ_{j ≤ i} p_j², row i becomes
    /// (b_i - p_i Σ_{j < i} s p_j y_j / τ_j) √(τ_{i-1} / τ_i), where y_j is row j before its own root.
    fn refactor(&mut self, changes: &Matrix<f64>, signs: &[f64], n_rows: f64) -> Option<()> {
        let root = self.n_rows.sqrt();
        let n = self.n_nodes();
        let mut along = product(self.whitening.t(), changes.to_f32().view()).to_f64();
        along.values_mut().iter_mut().for_each(|v| *v /= root);
        let mut steps: Vec<Vec<[f64; 3]>> = vec![Vec::with_capacity(signs.len()); n];
        for (t, &sign) in signs.iter().enumerate() {
            let p = along.col(t).to_vec();
            let mut tau = 1.0;
            // What the change does to the rows of L⁻¹, it does to what they make of later changes.
            let mut sums = vec![0.0; signs.len()];
            for i in 0..n {
                let before = tau;
                tau += sign * p[i] * p[i];
                if tau.is_nan() || tau <= 0.0 {
                    return None;
                }
                let (share, shrunk) = (sign * p[i] / tau, (before / tau).sqrt());
                steps[i].push([p[i], share, shrunk]);
                for later in t + 1..signs.len() {
                    let y = along[(i, later)] - p[i] * sums[later];
                    sums[later] += share * y;
                    along[(i, later)] = y * shrunk;
                }
            }
        }
        self.apply(&steps, (n_rows / self.n_rows).sqrt() as f32);
        self.n_rows = n_rows;
        Some(())
    }

    /// Applies what each change does to each row. The columns of L⁻¹ know nothing of each other.
    fn apply(&mut self, steps: &[Vec<[f64; 3]>], scale: f32) {
        const STRIP: usize = 256;
        let n = self.n_nodes();
        let n_changes = steps.first().map_or(0, Vec::len);
        let old = &self.whitening;
        let strips: Vec<(usize, Vec<f32>)> = (0..n.div_ceil(STRIP))
            .into_par_iter()
            .map(|strip| {
                let columns = strip * STRIP..n.min((strip + 1) * STRIP);
                let width = columns.len();
                let mut sums = vec![0f32; n_changes * width];
                let mut out = Vec::with_capacity((n - columns.start) * width);
                for (i, steps) in steps.iter().enumerate().skip(columns.start) {
                    let mut row = old.col(i)[columns.clone()].to_vec();
                    for (&[p, share, shrunk], sums) in steps.iter().zip(sums.chunks_mut(width)) {
                        let (p, share, shrunk) = (p as f32, share as f32, shrunk as f32);
                        vectorised(
                            #[inline(always)]
                            || {
                                for (v, sum) in row.iter_mut().zip(sums.iter_mut()) {
                                    let y = *v - p * *sum;
                                    *sum += share * y;
                                    *v = y * shrunk;
                                }
                            },
                        );
                    }
                    out.extend(row.iter().map(|v| v * scale));
                }
                (columns.start, out)
            })
            .collect();
        let whitening = Arc::make_mut(&mut self.whitening);
        for (start, values) in strips {
            let width = STRIP.min(n - start);
            for (i, row) in (start..n).zip(values.chunks(width)) {
                whitening.col_mut(i)[start..start + width].copy_from_slice(row);
            }
        }
    }
}
