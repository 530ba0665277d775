//! The readout that left-out witnesses believe most: a search for the ridge constant, then one solve in full.

use std::collections::BTreeMap;

use super::Readout;
use super::centred::{Centred, rounded_rows};
use super::evidence::{Around, Evidence};
use super::judgement::{Judge, Judgement, Solved};
use super::jury::Jury;
use super::left_out::LeftOut;
use super::seen::Seen;
use super::warm::Left;
use crate::consolidation::calibration::Calibration;
use crate::consolidation::params::{Prior, ReadoutKind};
use crate::consolidation::unknown::Unknown;
use crate::consolidation::whitening::Apart;
use crate::consolidation::witness::Witness;
use crate::data::Rows;
use crate::math::{Cholesky, Real, go_on};
use crate::params::Precision;

/// Where the search for the ridge constant begins: its power of ten, relative to the number of rows.
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

/// How much more than left-out witnesses the learned ones may lose, or how much stranger they may look, before rounding is
/// to blame.
const ROUNDED: (f64, f64) = (1.2, 0.02);

/// How many times a ridge constant is raised tenfold before a solve is given up.
const RAISED: i32 = 16;

/// With fewer nodes, a solve from nothing is about as fast.
const WORTH_FOLLOWING: usize = 512;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// How nodes are read.
    pub kind: ReadoutKind,
    /// The ridge constant relative to the number of rows; none looks for the best.
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
    /// The readout that the witnesses, left out one by one, believe most, and what the next one may follow from; `h` are
    /// their node outputs. `None` when every solve breaks down.
    pub(in super::super) fn solve(
        &self,
        wanted: Wanted,
        witnesses: &[Witness],
        h: Rows<'_>,
    ) -> Option<(Solution, Option<Left>)> {
        let jury = Jury::new(&self.counts, witnesses, h);
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
                let mean = self.around.centred.mean_over_nodes(|j| self.around.diagonal(j));
                let units = mean / self.unit();
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

    /// Whether single precision is enough to judge this constant. It saves little where rows are few, and there a row says much
    /// about itself, which takes more digits to leave out.
    fn in_single_precision(&self, relative: f64) -> bool {
        let many = self.around.centred.span.is_none();
        many && self.wanted.precision == Precision::F32 && relative >= SINGLE_PRECISION
    }

    fn loss<T: Real>(&self, relative: f64, jury: &Jury<'_>) -> Option<f64> {
        let evidence = Evidence::<T>::new(self.around, relative * self.unit())?;
        let seen = Seen::without_blocks(&evidence, jury);
        go_on()?;
        let left_out = LeftOut::new(&seen)?;
        let judge = self.judge();
        let belief = judge.belief(&seen, &left_out);
        Some(jury.weigh(&judge.methods(&left_out, jury, belief).0, None).loss)
    }

    /// What a relative ridge constant is multiplied with.
    fn unit(&self) -> f64 {
        rounded_rows(self.around.centred.n_rows())
    }

    fn judge(&self) -> Judge<'_> {
        Judge {
            wanted: self.wanted,
            centred: self.around.centred,
        }
    }

    /// Everything that predicts, in double precision, and what the next readout may follow from; `None` when the solve
    /// breaks down.
    fn solution(
        &self,
        relative: f64,
        jury: &Jury<'_>,
        with_unknown: bool,
    ) -> Option<(Solution, Option<Left>)> {
        let (judge, rho) = (self.judge(), relative * self.unit());
        // Before there is a factor: what this takes on the way is gone by then.
        let is_apart = with_unknown && !jury.witnesses.is_empty();
        let apart = is_apart
            .then(|| Apart::new(self.around.centred, jury, rho))
            .flatten();
        go_on()?;
        let evidence = Evidence::<f64>::new(self.around, rho)?;
        let solved = Solved {
            weights: evidence.weights(),
            inner: &evidence.inner,
            ridge: &evidence.ridge,
        };
        if jury.witnesses.is_empty() {
            let judgement = judge.without_jury();
            let (readout, _) = judge.readout(&solved, &judgement, relative)?;
            return Some((Solution::new(readout, judgement), None));
        }
        let seen = if self.in_single_precision(relative) {
            Seen::in_single(&evidence, jury)
        } else {
            Seen::new(&evidence, jury)
        };
        go_on()?;
        let judgement = judge.judge(&seen, apart.as_ref(), None)?;
        go_on()?;
        let (readout, weights) = judge.readout(&solved, &judgement, relative)?;
        // Rows that were learned are answered better than left-out ones and look less strange, unless rounding has spoilt it.
        let is_more = |learned: f64, left_out: f64| learned > ROUNDED.0 * left_out + ROUNDED.1;
        let strange =
            |unknown: &Unknown| is_more(jury.strangeness(&readout, unknown), unknown.mean_strangeness());
        let sound = jury.rounding(
            self.around.centred,
            &readout,
            &weights,
            judgement.unknown.as_ref(),
        ) < ROUNDING
            && !is_more(jury.loss(&readout, &judge.prior()), judgement.loss)
            && !judgement.unknown.as_ref().is_some_and(strange);
        let left = apart.filter(|apart| sound && apart.whitening.is_followed() && self.is_worth_following());
        let left = left.map(|apart| self.left(&solved, &seen, &judgement, apart, relative));
        drop(seen);
        let left = left.map(|left| left(evidence.factor));
        sound.then(|| (Solution::new(readout, judgement), left))
    }

    fn is_worth_following(&self) -> bool {
        let Centred { counts, .. } = self.around.centred;
        let n_rows = counts.iter().sum();
        is_followed(self.wanted.kind, self.around.centred.n_nodes(), n_rows, n_rows)
    }

    /// What the next readout may follow from, but for the factor.
    fn left(
        &self,
        solved: &Solved<'_>,
        seen: &Seen<'_>,
        judgement: &Judgement,
        apart: Apart,
        relative: f64,
    ) -> impl FnOnce(Cholesky<f64>) -> Left + use<> {
        let rho = relative * self.unit();
        let (weights, inner) = (solved.weights.clone(), solved.inner.clone());
        let (u, lengths, blocks) = (seen.u.clone(), seen.lengths.clone(), seen.blocks.clone());
        let methods = judgement.methods.clone();
        move |factor| Left {
            methods,
            relative,
            rho,
            factor,
            weights,
            inner,
            u,
            lengths,
            blocks,
            apart,
        }
    }
}

/// Whether a readout of this kind follows from the last one when a few rows change their number from `before` to `after`;
/// then it has the same ridge constant, too.
pub(in super::super) fn is_followed(kind: ReadoutKind, n_nodes: usize, before: f64, after: f64) -> bool {
    let scatters = matches!(kind, ReadoutKind::Blend | ReadoutKind::Ridge);
    scatters && n_nodes >= WORTH_FOLLOWING && rounded_rows(before) == rounded_rows(after)
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
