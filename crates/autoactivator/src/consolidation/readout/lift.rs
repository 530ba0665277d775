//! Ridge among classes of uneven size, as lift.
//!
//! Ridge says how often rows like this one are of a class. Divided by how often all rows are, that is the lift of the
//! class, less 1. Rows of a class have about the same lift however many there are, so classes of few rows can be told from
//! others by it. But the fewer rows, the more their lift varies by chance among rows of other classes. Where it varies more
//! than usual for that reason, it is turned down until it does not.

use rayon::prelude::*;

use super::evidence::NO_ROWS;
use super::jury::Jury;
use super::left_out::LeftOut;
use crate::math::Matrix;

/// How lifts are read.
#[derive(Clone, Debug)]
pub struct Lift {
    /// The lift of their own class for rows that were left out, on average.
    pub own: f64,
    /// How far the lift of each class is turned down. At most 1.
    pub shares: Vec<f64>,
}

impl Lift {
    /// From the lifts of `jury`, `(n_witnesses, n_classes)`.
    fn new(lifts: &Matrix<f64>, jury: &Jury<'_>, counts: &[f64]) -> Self {
        let of_others = |c: usize, place: u32| f64::from(u8::from(place as usize != c));
        let variance = |c: usize| {
            let sum = jury.mean(|i, witness| of_others(c, witness.place) * lifts[(i, c)].powi(2));
            sum / jury
                .mean(|_, witness| of_others(c, witness.place))
                .max(f64::MIN_POSITIVE)
        };
        let variances: Vec<f64> = (0..counts.len()).into_par_iter().map(variance).collect();
        Self {
            own: jury
                .mean(|i, witness| lifts[(i, witness.place as usize)])
                .max(0.0),
            shares: shares(&variances, jury, counts),
        }
    }

    /// The scores of left-out witnesses by lift, and how they were read. Half of the lift that rows of a class have is as
    /// likely one of them as not.
    pub fn judge(left_out: &LeftOut, jury: &Jury<'_>, counts: &[f64]) -> (Self, Matrix<f64>) {
        let lifts = left_out.lifts(jury, counts);
        let lift = Self::new(&lifts, jury, counts);
        let scores = lift.scores(lifts);
        (lift, scores)
    }

    /// Scores of lifts, `(n_witnesses, n_classes)`.
    pub fn scores(&self, mut lifts: Matrix<f64>) -> Matrix<f64> {
        for c in 0..lifts.n_cols() {
            let scores = lifts.col_mut(c).iter_mut();
            scores.for_each(|score| *score = self.score(c, *score));
        }
        lifts
    }

    /// Score of the class at `c`.
    pub fn score(&self, c: usize, lift: f64) -> f64 {
        self.shares[c] * (lift - 0.5 * self.own)
    }

    /// Takes no lift of `n_classes` classes into account.
    pub fn none(n_classes: usize) -> Self {
        Self {
            own: 0.0,
            shares: vec![0.0; n_classes],
        }
    }
}

/// What takes the deviation of each lift back to the usual one. Chance adds the more to its square the fewer rows a class has,
/// in proportion to 1/n_c: how much, all classes tell together.
fn shares(variances: &[f64], jury: &Jury<'_>, counts: &[f64]) -> Vec<f64> {
    let rarity = |c: usize| 1.0 / counts[c].max(NO_ROWS);
    let (usual, commonly) = (
        jury.mean(|_, witness| variances[witness.place as usize]),
        jury.mean(|_, witness| rarity(witness.place as usize)),
    );
    let known = (0..counts.len()).filter(|&c| counts[c] > 0.0);
    let (along, squares) = known.fold((0.0, 0.0), |(along, squares), c| {
        let rarer = rarity(c) - commonly;
        (along + rarer * (variances[c] - usual), squares + rarer * rarer)
    });
    let slope = if squares > 0.0 {
        (along / squares).max(0.0)
    } else {
        0.0
    };
    let share = |c: usize| {
        let chance = slope * (rarity(c) - commonly).max(0.0);
        if usual > 0.0 {
            (usual / (usual + chance)).sqrt()
        } else {
            1.0
        }
    };
    (0..counts.len()).map(share).collect()
}
