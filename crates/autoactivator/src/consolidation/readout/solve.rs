//! The readout that left-out witnesses believe most: a search for the ridge constant, then one solve in full.

use std::collections::BTreeMap;

use super::belief::Belief;
use super::blend::Weighed;
use super::centred::Centred;
use super::confidence::Heard;
use super::evidence::{Around, Evidence, NO_ROWS};
use super::jury::Jury;
use super::left_out::LeftOut;
use super::lift::Lift;
use super::newcomer::Newcomer;
use super::seen::Seen;
use super::{Blend, Readout};
use crate::consolidation::calibration::Calibration;
use crate::consolidation::params::{Prior, ReadoutKind};
use crate::consolidation::unknown::Unknown;
use crate::consolidation::witness::Witness;
use crate::data::Table;
use crate::math::{Matrix, Real};
use crate::params::Precision;

/// Where the search for the ridge constant begins: its power of ten, relative to the mean diagonal.
const FIRST: i32 = -1;

/// The largest power of ten.
const LAST: i32 = 2;

/// From this constant on, a factor in single precision ranks constants as one in double does.
const SINGLE_PRECISION: f64 = 0.0099;

/// Number of witnesses that rank constants; all of them set the weights.
const RANKING: usize = 1024;

/// Fewer witnesses than this cannot rank constants: one answer more or less would decide.
const TOO_FEW: usize = 16;

/// Largest error by single precision of scores, which are logarithms of probabilities, and of strangeness, whose unit is
/// its spread.
const ROUNDING: f64 = 0.05;

/// How much more than left-out witnesses the learned ones may lose before rounding is to blame.
const ROUNDED: (f64, f64) = (1.2, 0.02);

/// Weight of ridge where no witness can be left out.
const UNTESTED: f64 = 8.0;

/// How many times a ridge constant is raised tenfold before a solve is given up.
const RAISED: i32 = 16;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// How nodes are read.
    pub kind: ReadoutKind,
    /// The ridge constant relative to the mean diagonal; none looks for the best.
    pub ridge: Option<f64>,
    /// Shrinkage of linear discriminant analysis on its own.
    pub shrinkage: f64,
    /// Whether classes of many rows are more probable.
    pub prior: Prior,
    /// Precision that the sums were made in.
    pub precision: Precision,
}

/// What predicts.
pub struct Solution {
    /// Scores.
    pub readout: Readout,
    /// Probabilities.
    pub calibration: Calibration,
    /// "Unknown"; none if no witness can be left out.
    pub unknown: Option<Unknown>,
}

impl Centred {
    /// The readout that the witnesses, left out one by one, believe most; `h` are their node outputs. `None`
    /// when every solve breaks down.
    pub fn solve(&self, wanted: Wanted, witnesses: &[Witness], h: &Table) -> Option<Solution> {
        let jury = Jury::new(self, witnesses, h);
        let around = match wanted.kind {
            ReadoutKind::NearestMean => Around::without_scatter(self),
            _ => Around::new(self),
        };
        let search = Search {
            wanted,
            around: &around,
        };
        let relative = search.constant(&jury);
        let raised = |with_unknown: bool| {
            (0..RAISED).find_map(|n| search.solution(relative * 10f64.powi(n), &jury, with_unknown))
        };
        // A class can be told where "unknown" cannot.
        raised(true).or_else(|| raised(false))
    }
}

/// What left-out witnesses say.
struct Judgement {
    /// Weights of discriminant analysis, ridge and lift.
    theta: [f64; 3],
    belief: Belief,
    lift: Lift,
    calibration: Calibration,
    unknown: Option<Unknown>,
    loss: f64,
}

struct Search<'a> {
    wanted: Wanted,
    around: &'a Around<'a>,
}

impl Search<'_> {
    /// The ridge constant: the given one, or the one that left-out witnesses believe most. The search
    /// begins at the same place whatever was learned before, so that the result depends on the memory alone.
    fn constant(&self, jury: &Jury<'_>) -> f64 {
        match (self.wanted.kind, self.wanted.ridge) {
            (ReadoutKind::NearestMean, _) => return 1.0,
            (ReadoutKind::Lda, _) => {
                let units =
                    super::centred::mean_diagonal(&self.around.scatter) / self.around.centred.mean_diagonal();
                return (self.wanted.shrinkage * units).max(f64::EPSILON);
            }
            (_, Some(ridge)) => return ridge.max(f64::EPSILON),
            _ => {}
        }
        let few = jury.first(RANKING);
        if few.witnesses.len() < TOO_FEW {
            return 10f64.powi(FIRST);
        }
        10f64.powf(self.best_power(&few))
    }

    /// The power of ten with the lowest loss; a parabola through it and its neighbours tells the rest.
    fn best_power(&self, jury: &Jury<'_>) -> f64 {
        // Below this, what single precision has rounded away would be taken for evidence.
        let lowest = match self.wanted.precision {
            Precision::F32 => -6,
            Precision::F64 => -10,
        };
        let loss = |power: i32| {
            let at = 10f64.powi(power);
            let found = if self.in_single_precision(at) {
                self.loss::<f32>(at, jury)
            } else {
                self.loss::<f64>(at, jury)
            };
            found.unwrap_or(f64::INFINITY)
        };
        let mut losses = BTreeMap::from([(FIRST, loss(FIRST))]);
        let mut best = FIRST;
        for step in [1, -1] {
            let start = best;
            while (lowest..=LAST).contains(&(best + step)) {
                let next = loss(best + step);
                losses.insert(best + step, next);
                // An infinite loss says only that there is too little ridge.
                if next >= losses[&best] && (losses[&best].is_finite() || step < 0) {
                    break;
                }
                best += step;
            }
            if best != start {
                break;
            }
        }
        let at = |power: i32| losses.get(&power).copied().unwrap_or(f64::INFINITY);
        f64::from(best) + lowest_between(at(best - 1), at(best), at(best + 1))
    }

    /// Whether single precision is enough to judge this constant.
    fn in_single_precision(&self, relative: f64) -> bool {
        self.wanted.precision == Precision::F32 && relative >= SINGLE_PRECISION
    }

    fn loss<T: Real>(&self, relative: f64, jury: &Jury<'_>) -> Option<f64> {
        let rho = relative * self.around.centred.mean_diagonal();
        let evidence = Evidence::<T>::new(self.around, rho)?;
        let left_out = LeftOut::new(&Seen::new(&evidence, jury))?;
        let belief = self.belief(&evidence, &left_out, jury);
        Some(jury.weigh(&self.methods(&left_out, jury, belief).0).loss)
    }

    /// How far class means can be believed.
    fn belief<T>(&self, evidence: &Evidence<'_, T>, left_out: &LeftOut, jury: &Jury<'_>) -> Belief {
        if self.wanted.kind == ReadoutKind::NearestMean {
            return Belief::blind();
        }
        let Centred { counts, .. } = self.around.centred;
        let n_rows = self.around.centred.n_rows();
        let lengths = (0..counts.len()).map(|c| n_rows * evidence.inner[(c, c)]);
        Belief::new(lengths, counts, left_out.spread(jury, counts))
    }

    /// The scores that are weighed: of discriminant analysis and ridge. Where both are, ridge is read as lift.
    fn methods(&self, left_out: &LeftOut, jury: &Jury<'_>, belief: Belief) -> (Vec<Matrix<f64>>, Lift) {
        let centred = self.around.centred;
        let counts = &centred.counts;
        let of_each = |score: &dyn Fn(usize, usize) -> f64| {
            Matrix::from_fn(left_out.ridge.n_rows(), left_out.ridge.n_cols(), score)
        };
        let lda = || of_each(&|i, c| left_out.likely(i, c, jury.witnesses[i], counts, belief));
        let ridge = || of_each(&|i, c| left_out.ridge[(i, c)] * centred.target(c));
        let none = Lift::none(counts.len());
        match self.wanted.kind {
            ReadoutKind::Blend => {
                let (lift, scores) = Lift::judge(left_out, jury, counts);
                (vec![lda(), scores], lift)
            }
            ReadoutKind::Ridge => (vec![ridge()], none),
            ReadoutKind::Lda | ReadoutKind::NearestMean => (vec![lda()], none),
        }
    }

    /// What the prior that is asked for adds to the score of each class.
    fn prior(&self) -> Vec<f64> {
        self.wanted.prior.offsets(&self.around.centred.counts)
    }

    /// Everything that predicts, in double precision; `None` when the solve breaks down.
    fn solution(&self, relative: f64, jury: &Jury<'_>, with_unknown: bool) -> Option<Solution> {
        let rho = relative * self.around.centred.mean_diagonal();
        let evidence = Evidence::<f64>::new(self.around, rho)?;
        let judgement = if jury.witnesses.is_empty() {
            self.without_jury()
        } else {
            self.judge(&evidence, relative, jury, with_unknown)?
        };
        let (readout, weights) = self.readout(&evidence, &judgement, relative)?;
        let Judgement {
            calibration,
            unknown,
            loss,
            ..
        } = judgement;
        // Rows that were learned are answered better than left-out ones, unless rounding has spoilt the answers.
        let sound = jury.witnesses.is_empty()
            || (jury.rounding(&readout, &weights, unknown.as_ref()) < ROUNDING
                && jury.loss(&readout, &self.prior()) <= ROUNDED.0 * loss + ROUNDED.1);
        let unit = readout.unit();
        sound.then_some(Solution {
            readout: readout.in_units_of(unit),
            calibration,
            unknown: unknown
                .map(|unknown| unknown.in_units_of(unit))
                .filter(Unknown::is_sound),
        })
    }

    /// What left-out witnesses say; `None` when rounding has spoilt it.
    fn judge(
        &self,
        evidence: &Evidence<'_, f64>,
        relative: f64,
        jury: &Jury<'_>,
        with_unknown: bool,
    ) -> Option<Judgement> {
        let (left_out, newcomers) = if self.in_single_precision(relative) {
            ask(&Seen::new(&evidence.to_f32(), jury))?
        } else {
            ask(&Seen::new(evidence, jury))?
        };
        let belief = self.belief(evidence, &left_out, jury);
        let (scores, lift) = self.methods(&left_out, jury, belief);
        let Weighed { weights: theta, loss } = jury.weigh(&scores);
        let rho = relative * self.around.centred.mean_diagonal();
        let heard = Heard {
            wanted: self.wanted,
            centred: self.around.centred,
            jury,
            methods: &scores,
            theta: &theta,
            belief,
            lift: &lift,
            newcomers,
        };
        Some(Judgement {
            theta: self.spread_out(&theta),
            belief,
            calibration: heard.calibration(),
            lift,
            unknown: with_unknown
                .then(|| Unknown::fit(evidence, jury, &left_out, belief, rho))
                .flatten(),
            loss,
        })
    }

    /// The judgement if no witness can be left out, because each class has one row. Ridge's scores do not depend on how
    /// rows scatter, so they are read if they are in use.
    fn without_jury(&self) -> Judgement {
        Judgement {
            theta: match self.wanted.kind {
                ReadoutKind::Blend | ReadoutKind::Ridge => [0.0, UNTESTED, 0.0],
                ReadoutKind::Lda | ReadoutKind::NearestMean => [1.0, 0.0, 0.0],
            },
            belief: Belief::blind(),
            lift: Lift::none(self.around.centred.counts.len()),
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
    fn readout(
        &self,
        evidence: &Evidence<'_, f64>,
        judgement: &Judgement,
        relative: f64,
    ) -> Option<(Readout, Matrix<f64>)> {
        let Judgement { belief, lift, .. } = judgement;
        let [lda, ridge, by_lift] = judgement.theta;
        let centred = self.around.centred;
        let (n_rows, n_classes) = (centred.n_rows(), centred.counts.len());
        let mut weights = evidence.factor.backward(evidence.means.clone());
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
        let blend = Blend {
            weights: Matrix::from_fn(n_classes, n_classes, |k, c| {
                let own = if k == c { lda * share(c) } else { 0.0 };
                let by_lift = by_lift * lift.shares[c] / centred.counts[c].max(NO_ROWS);
                (own + (target(c) / n_rows + by_lift) * evidence.ridge[(k, c)]) as f32
            }),
            biases: (0..n_classes)
                .map(|c| {
                    let length = share(c).powi(2) * n_rows * evidence.inner[(c, c)];
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

/// What witnesses are answered when they are left out, and if their class were new.
fn ask<T: Real>(seen: &Seen<'_, T>) -> Option<(LeftOut, Vec<Newcomer>)> {
    Some((LeftOut::new(seen)?, seen.newcomers()))
}

/// Where between -1/2 and 1/2 a parabola is lowest that has these values at -1, 0 and 1, the second the lowest of them;
/// to a quarter, so that the rounding of losses does not move it.
fn lowest_between(before: f64, here: f64, after: f64) -> f64 {
    let bend = (before - here) + (after - here);
    let lowest = 0.5 * (before - after) / bend;
    if bend > 0.0 && lowest.is_finite() {
        (lowest * 4.0).round() / 4.0
    } else {
        0.0
    }
}
