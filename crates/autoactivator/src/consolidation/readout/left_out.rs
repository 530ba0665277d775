//! What a witness would be answered had it not been learned, in closed form.
//!
//! Leaving out a row of weight ω changes the mean of its class and takes ω n/(n - ω) d dᵀ from S, d its
//! distance from that mean: a change of rank one, whose effect on every distance follows from the evidence.

use super::evidence::Evidence;
use crate::consolidation::witness::Witness;
use crate::data::Table;
use crate::math::{Matrix, Real, product};

/// Share of itself that a row may determine before its own answer is rounding: 1 - leverage must exceed this.
const FREE: f64 = 1e-6;

/// Witnesses that can be left out: those whose class has other rows.
pub struct Jury<'a> {
    pub witnesses: Vec<&'a Witness>,
    /// Their node outputs about the mean, `(n, n_witnesses)`.
    pub columns: Matrix<f64>,
    /// The same as the pool puts them out.
    pub outputs: Table,
}

/// Scores of witnesses that were left out.
pub struct LeftOut {
    /// -N/2 times the squared distance to each class mean, `(n_witnesses, n_classes)`.
    pub lda: Matrix<f64>,
    /// One-hot least squares, `(n_witnesses, n_classes)`.
    pub ridge: Matrix<f64>,
    /// How far each witness is from the mean of all rows, squared, in units of their scatter.
    pub apart: Vec<f64>,
}

impl LeftOut {
    /// The scores of `jury`; `None` when a row determines its own answer entirely, which is a sign of rounding.
    pub fn new<T: Real>(evidence: &Evidence<'_, T>, jury: &Jury<'_>) -> Option<Self> {
        let centred = evidence.around.centred;
        let (n_rows, n_classes) = (centred.n_rows(), centred.counts.len());
        let columns = &jury.columns;
        let cast = Matrix::from_fn(columns.n_rows(), columns.n_cols(), |i, j| {
            T::nearest(columns[(i, j)])
        });
        let solved = evidence.factor.forward(cast);
        let u = product(solved.t(), evidence.means.view());
        let u = Matrix::from_fn(u.n_rows(), n_classes, |i, c| u[(i, c)].into());
        let fitted = product(u.view(), evidence.ridge.view());
        let mut out = Self {
            lda: Matrix::zeros(jury.witnesses.len(), n_classes),
            ridge: Matrix::zeros(jury.witnesses.len(), n_classes),
            apart: Vec::new(),
        };
        let inner = &evidence.inner;
        for (i, witness) in jury.witnesses.iter().enumerate() {
            let own = witness.place as usize;
            let (weight, count) = (witness.weight / witness.copies, centred.counts[own]);
            let length: f64 = solved.col(i).iter().map(|&v| v.into() * v.into()).sum();
            let distance = |c: usize| length - 2.0 * u[(i, c)] + inner[(c, c)];
            let moved = count / (count - weight);
            let (taken, to_own) = (weight * moved, distance(own));
            let free = 1.0 - taken * to_own;
            let explained: f64 = (0..n_classes).map(|c| fitted[(i, c)] * u[(i, c)]).sum();
            let apart = (length - explained).max(0.0);
            let leverage = weight * (apart + 1.0 / n_rows);
            if !(free > FREE && 1.0 - leverage > FREE) {
                return None;
            }
            for c in 0..n_classes {
                let along = length - u[(i, c)] - u[(i, own)] + inner[(own, c)];
                let left = if c == own {
                    moved * moved * to_own / free
                } else {
                    distance(c) + taken * along * along / free
                };
                out.lda[(i, c)] = -0.5 * (n_rows - weight) * left;
                let target = if c == own { 1.0 } else { 0.0 };
                let score = fitted[(i, c)] + centred.counts[c] / n_rows;
                out.ridge[(i, c)] = (score - leverage * target) / (1.0 - leverage);
            }
            out.apart.push(left_out_distance(apart, weight, n_rows));
        }
        Some(out)
    }

    /// N d²/(1 + 1/n) to the own class, on average: how far rows lie from the mean of their class.
    pub fn spread(&self, jury: &Jury<'_>, counts: &[f64]) -> f64 {
        let (mut sum, mut copies) = (0.0, 0.0);
        for (i, witness) in jury.witnesses.iter().enumerate() {
            let own = witness.place as usize;
            let others = counts[own] - witness.weight / witness.copies;
            sum += witness.copies * -2.0 * self.lda[(i, own)] / (1.0 + 1.0 / others);
            copies += witness.copies;
        }
        if copies > 0.0 { sum / copies } else { 0.0 }
    }
}

/// (N - ω) times the squared distance from the mean of the others, of a row of weight ω at distance
/// `apart` from the mean of all, by the scatter of the others.
pub fn left_out_distance(apart: f64, weight: f64, n_rows: f64) -> f64 {
    let moved = n_rows / (n_rows - weight).max(f64::MIN_POSITIVE);
    let free = (1.0 - weight * moved * apart).max(FREE);
    (n_rows - weight) * moved * moved * apart / free
}
