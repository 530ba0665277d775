//! What left-out witnesses say about the scores of each method, and the readout that follows.

use super::belief::Belief;
use super::blend::Weighed;
use super::centred::Centred;
use super::confidence::Heard;
use super::evidence::NO_ROWS;
use super::jury::Jury;
use super::left_out::LeftOut;
use super::lift::Lift;
use super::seen::Seen;
use super::solve::{Solution, Wanted};
use super::{Blend, Readout};
use crate::consolidation::calibration::Calibration;
use crate::consolidation::params::ReadoutKind;
use crate::consolidation::unknown::Unknown;
use crate::consolidation::whitening::Apart;
use crate::math::Matrix;

/// Weight of ridge where no witness can be left out.
const UNTESTED: f64 = 8.0;

/// What left-out witnesses say.
pub struct Judgement {
    /// Weights of the methods in use.
    pub methods: Vec<f64>,
    /// Weights of discriminant analysis, ridge and lift.
    theta: [f64; 3],
    belief: Belief,
    lift: Lift,
    pub calibration: Calibration,
    pub unknown: Option<Unknown>,
    pub loss: f64,
}

/// What was solved.
pub struct Solved<'a> {
    /// A⁻¹M, `(n, n_classes)`.
    pub weights: Matrix<f64>,
    /// K, `(n_classes, n_classes)`.
    pub inner: &'a Matrix<f64>,
    /// B, `(n_classes, n_classes)`.
    pub ridge: &'a Matrix<f64>,
}

/// Judges what was solved.
pub struct Judge<'a> {
    pub wanted: Wanted,
    pub centred: &'a Centred,
}

impl Judge<'_> {
    /// How far class means can be believed.
    pub fn belief(&self, seen: &Seen<'_>, left_out: &LeftOut) -> Belief {
        if self.wanted.kind == ReadoutKind::NearestMean {
            return Belief::blind();
        }
        let n_rows = seen.n_rows();
        let lengths = (0..seen.counts.len()).map(|c| n_rows * seen.inner[(c, c)]);
        Belief::new(lengths, seen.counts, left_out.spread(seen.jury, seen.counts))
    }

    /// The scores that are weighed: of discriminant analysis and ridge. Where both are, ridge is read as lift.
    pub fn methods(&self, left_out: &LeftOut, jury: &Jury<'_>, belief: Belief) -> (Vec<Matrix<f64>>, Lift) {
        let counts = &self.centred.counts;
        if self.wanted.kind != ReadoutKind::Blend {
            let none = Lift::none(counts.len());
            return (self.scores(left_out, jury, belief, &none), none);
        }
        let (lift, scores) = Lift::judge(left_out, jury, counts);
        (vec![self.likely(left_out, jury, belief), scores], lift)
    }

    /// The same scores where it is known how lifts are read.
    pub fn scores(
        &self,
        left_out: &LeftOut,
        jury: &Jury<'_>,
        belief: Belief,
        lift: &Lift,
    ) -> Vec<Matrix<f64>> {
        let ridge = || {
            Matrix::filled(left_out.ridge.n_rows(), left_out.ridge.n_cols(), |i, c| {
                left_out.ridge[(i, c)] * self.centred.target(c)
            })
        };
        match self.wanted.kind {
            ReadoutKind::Blend => {
                let lifts = left_out.lifts(jury, &self.centred.counts);
                vec![self.likely(left_out, jury, belief), lift.scores(lifts)]
            }
            ReadoutKind::Ridge => vec![ridge()],
            ReadoutKind::Lda | ReadoutKind::NearestMean => vec![self.likely(left_out, jury, belief)],
        }
    }

    /// The scores by discriminant analysis.
    fn likely(&self, left_out: &LeftOut, jury: &Jury<'_>, belief: Belief) -> Matrix<f64> {
        let counts = &self.centred.counts;
        Matrix::filled(left_out.ridge.n_rows(), left_out.ridge.n_cols(), |i, c| {
            left_out.likely(i, c, jury.witnesses[i], counts, belief)
        })
    }

    /// What the prior that is asked for adds to the score of each class.
    pub fn prior(&self) -> Vec<f64> {
        self.wanted.prior.offsets(&self.centred.counts)
    }

    /// What left-out witnesses say, with "unknown" if distances from all rows are given; `None` when rounding has spoilt it.
    /// Weights are looked for from `start` on.
    pub fn judge(&self, seen: &Seen<'_>, apart: Option<&Apart>, start: Option<&[f64]>) -> Option<Judgement> {
        let (left_out, newcomers) = (LeftOut::new(seen)?, seen.newcomers());
        let belief = self.belief(seen, &left_out);
        let (scores, lift) = self.methods(&left_out, seen.jury, belief);
        let Weighed { weights: theta, loss } = seen.jury.weigh(&scores, start);
        let heard = Heard {
            wanted: self.wanted,
            centred: self.centred,
            jury: seen.jury,
            methods: &scores,
            theta: &theta,
            belief,
            lift: &lift,
            newcomers,
        };
        Some(Judgement {
            theta: self.spread_out(&theta),
            belief,
            methods: theta.clone(),
            calibration: heard.calibration(),
            lift,
            unknown: apart.and_then(|apart| Unknown::fit(seen, &left_out, belief, apart)),
            loss,
        })
    }

    /// The judgement if no witness can be left out, because each class has one row. Ridge's scores do not depend on how
    /// rows scatter, so they are read if they are in use.
    pub fn without_jury(&self) -> Judgement {
        Judgement {
            methods: Vec::new(),
            theta: match self.wanted.kind {
                ReadoutKind::Blend | ReadoutKind::Ridge => [0.0, UNTESTED, 0.0],
                ReadoutKind::Lda | ReadoutKind::NearestMean => [1.0, 0.0, 0.0],
            },
            belief: Belief::blind(),
            lift: Lift::none(self.centred.counts.len()),
            calibration: Calibration::default(),
            unknown: None,
            loss: f64::INFINITY,
        }
    }

    /// Weights of discriminant analysis, ridge and lift, in this order, from those of the methods in use.
    fn spread_out(&self, theta: &[f64]) -> [f64; 3] {
        match (self.wanted.kind, theta) {
            (ReadoutKind::Blend, &[lda, lift]) => [lda, 0.0, lift],
            (ReadoutKind::Ridge, &[ridge]) => [0.0, ridge, 0.0],
            (_, &[lda]) => [lda, 0.0, 0.0],
            _ => [0.0; 3],
        }
    }

    /// Scores θ_lda N (g u_c - g² K_cc / 2) + θ_ridge t_c (B u + n_c / N) + θ_lift s_c (N B u / n_c - ℓ / 2) and the
    /// prior, of evidence N u; g is how far the mean of class c is believed, s_c how far its lift is turned down, and ℓ the lift
    /// of rows of their own class.
    pub fn readout(
        &self,
        solved: &Solved<'_>,
        judgement: &Judgement,
        relative: f64,
    ) -> Option<(Readout, Matrix<f64>)> {
        let Judgement { belief, lift, .. } = judgement;
        let [lda, ridge, by_lift] = judgement.theta;
        let centred = self.centred;
        let (n_rows, n_classes) = (centred.n_rows(), centred.counts.len());
        let mut weights = solved.weights.clone();
        weights.values_mut().iter_mut().for_each(|w| *w *= n_rows);
        let at_mean = |c: usize| -> f64 {
            weights
                .col(c)
                .iter()
                .zip(&centred.means)
                .map(|(w, m)| -w * m)
                .sum()
        };
        let biases: Vec<f64> = (0..n_classes).map(at_mean).collect();
        let target = |c: usize| ridge * centred.target(c);
        let share = |c: usize| belief.of(centred.counts[c]);
        let prior = self.prior();
        let mut blended = Matrix::from_fn(n_classes, n_classes, |k, c| {
            let own = if k == c { lda * share(c) } else { 0.0 };
            let by_lift = by_lift * lift.shares[c] / centred.counts[c].max(NO_ROWS);
            own + (target(c) / n_rows + by_lift) * solved.ridge[(k, c)]
        });
        without_counts(&mut blended, &centred.counts);
        let blend = Blend {
            weights: blended.to_f32(),
            biases: (0..n_classes)
                .map(|c| {
                    let length = share(c).powi(2) * n_rows * solved.inner[(c, c)];
                    let ridge = target(c) * centred.counts[c] / n_rows;
                    let expected = lda * length + by_lift * lift.shares[c] * lift.own;
                    (prior[c] + ridge - 0.5 * expected) as f32
                })
                .collect(),
        };
        let readout = centred.on_raw_outputs(&weights, &biases, relative)?;
        let finite = blend
            .weights
            .values()
            .iter()
            .chain(&blend.biases)
            .all(|v| v.is_finite());
        let readout = Readout {
            blend: Some(blend),
            ..readout
        };
        finite.then_some((readout, weights))
    }
}

impl Solution {
    /// With evidence in a unit that half precision can hold.
    pub fn new(readout: Readout, judgement: Judgement) -> Self {
        let unit = readout.unit();
        Self {
            readout: readout.in_units_of(unit),
            calibration: judgement.calibration,
            unknown: judgement
                .unknown
                .map(|unknown| unknown.in_units_of(unit))
                .filter(Unknown::is_sound),
        }
    }
}

/// Takes from each column what it has of n. Evidence weighted by n adds up to 0, since class means are about the mean of all
/// rows, so no score changes; but where classes lie far apart that part is large, and single precision would round all else.
fn without_counts(blended: &mut Matrix<f64>, counts: &[f64]) {
    let square: f64 = counts.iter().map(|n| n * n).sum();
    for c in 0..counts.len() {
        let column = blended.col_mut(c);
        let along: f64 = column.iter().zip(counts).map(|(w, n)| w * n).sum();
        let pairs = column.iter_mut().zip(counts);
        pairs.for_each(|(w, n)| *w -= n * along / square.max(f64::MIN_POSITIVE));
    }
}
