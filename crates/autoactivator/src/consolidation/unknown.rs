//! "Unknown": how strange a row is beside rows that were learned.
//!
//! Three distances tell. The relative one asks how much closer a row is to some class than to the mean of all
//! rows: it finds rows that lie between known classes. The likely one asks the same with one scatter for both, and
//! with class means as far as they can be believed: it finds rows that are like no class in what tells classes apart.
//! The last one asks how far a row is from all rows, and finds what looks like nothing seen before. Each is brought to
//! the spread that it has over left-out witnesses, and the three are added, as far as they are large. How strange
//! witnesses are says what that means: a row is as well known as the share of witnesses that are stranger.

use rayon::prelude::*;

use super::readout::{Belief, Jury, LeftOut, Seen, left_out_distance};
use super::whitening::{Apart, Whitening};
use crate::math::{Matrix, product};

/// How much the relative distance counts, the likely one, and the one from all rows. The likely one is the first one's
/// near relation.
pub(super) const WEIGHTS: [f32; 3] = [1.0, 0.5, 1.0];

/// How strange rows are.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// N K_cc less what a class of few rows is expected to be too far: `(n_classes)`.
    pub lengths: Vec<f32>,
    /// g, how far each class mean is believed: `(n_classes)`.
    pub shares: Vec<f32>,
    /// g² N K_cc / 2: `(n_classes)`.
    pub offsets: Vec<f32>,
    /// B / N, `(n_classes, n_classes)`.
    pub shared: Matrix<f32>,
    /// Tells how far a row is from all rows.
    pub whitening: Whitening,
    /// Middle and spread of the relative distance, the likely one and the one from all rows, over known rows.
    pub usual: [Usual; 3],
    /// How strange known rows are, ascending.
    pub known: Vec<f32>,
}

/// Median, and distance between the quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usual {
    /// The median.
    pub middle: f32,
    /// The distance between the quartiles.
    pub spread: f32,
}

/// The least that a spread is beside the distances themselves: below that, it is rounding. Chance alone spreads the
/// distances of a row in ten thousand independent nodes by more.
const LEAST_SPREAD: f64 = 1e-3;

impl Usual {
    /// Of distances that are computed from numbers of the size of `size`.
    fn of(values: impl Iterator<Item = f64>, size: f64) -> Self {
        let mut sorted: Vec<f64> = values.collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let (middle, spread) = (at(0.5), at(0.75) - at(0.25));
        let spread = spread.max(LEAST_SPREAD * (middle.abs() + size)) as f32;
        Self {
            middle: middle as f32,
            // Distances that are all nothing must not be divided by nothing.
            spread: if spread > f32::MIN_POSITIVE { spread } else { 1.0 },
        }
    }

    fn units(self, value: f32) -> f32 {
        (value - self.middle) / self.spread
    }
}

impl Unknown {
    /// Learns from left-out witnesses how strange known rows are; none if a solve breaks down.
    pub(crate) fn fit(seen: &Seen<'_>, left_out: &LeftOut, belief: Belief, apart: &Apart) -> Option<Self> {
        let (n_rows, counts, jury) = (seen.n_rows(), seen.counts, seen.jury);
        let excess: Vec<f64> = counts.iter().map(|n| belief.spread / n.max(1.0)).collect();
        let lengths = apart.lengths.iter().zip(&jury.witnesses);
        let apart_from_all =
            lengths.map(|(&length, witness)| left_out_distance(length, witness.unit(), n_rows));
        let distances = distances(jury, left_out, counts, belief, &excess)
            .into_iter()
            .zip(apart_from_all)
            .map(|([relative, likely], apart)| [relative, likely, apart]);
        let distances: Vec<[f64; 3]> = distances.collect();
        let size = left_out.apart.iter().sum::<f64>() / left_out.apart.len() as f64;
        let usual = [0, 1, 2].map(|k| Usual::of(distances.iter().map(|d| d[k]), size));
        let copies = jury
            .witnesses
            .iter()
            .map(|w| w.copies.round().clamp(1.0, 8.0) as usize);
        let mut known: Vec<f32> = distances
            .iter()
            .zip(copies)
            .flat_map(|(distances, copies)| std::iter::repeat_n(strange(usual, *distances), copies))
            .collect();
        known.sort_unstable_by(f32::total_cmp);
        let n_classes = counts.len();
        let length = |c: usize| n_rows * seen.inner[(c, c)];
        let shares: Vec<f64> = counts.iter().map(|&count| belief.of(count)).collect();
        let unknown = Self {
            lengths: (0..n_classes).map(|c| (length(c) - excess[c]) as f32).collect(),
            offsets: (0..n_classes)
                .map(|c| (0.5 * shares[c] * shares[c] * length(c)) as f32)
                .collect(),
            shares: shares.iter().map(|&share| share as f32).collect(),
            shared: Matrix::from_fn(n_classes, n_classes, |i, j| (seen.ridge[(i, j)] / n_rows) as f32),
            whitening: apart.whitening.clone(),
            usual,
            known,
        };
        unknown.is_sound().then_some(unknown)
    }

    /// The same strangeness from evidence in this unit.
    pub(crate) fn in_units_of(mut self, unit: f32) -> Self {
        self.lengths.iter_mut().for_each(|v| *v /= unit);
        self.offsets.iter_mut().for_each(|v| *v /= unit);
        self.shared.values_mut().iter_mut().for_each(|v| *v *= unit);
        for usual in &mut self.usual[..2] {
            usual.middle /= unit;
            usual.spread /= unit;
        }
        self
    }

    /// Number of floats.
    pub fn n_floats(&self) -> usize {
        3 * self.lengths.len() + self.shared.values().len() + self.whitening.n_floats() + 6 + self.known.len()
    }

    /// Whether all numbers are finite and there is something to compare with.
    pub(crate) fn is_sound(&self) -> bool {
        let by_class = self.lengths.iter().chain(&self.shares).chain(&self.offsets);
        let numbers = by_class.chain(self.shared.values());
        let numbers = numbers.chain(&self.known);
        let usual = self.usual.iter().flat_map(|u| [u.middle, u.spread]);
        let finite = numbers.copied().chain(usual).all(f32::is_finite);
        finite
            && self.whitening.is_finite()
            && !self.known.is_empty()
            && self.usual.iter().all(|u| u.spread > 0.0)
    }

    /// How strange each row is, from its node outputs, `(n_samples, n_nodes)` row by row, and its evidence.
    pub fn strangeness(&self, h: crate::data::Rows<'_>, evidence: &Matrix<f32>) -> Vec<f32> {
        let apart = self.whitening.distances(h);
        // Both parts of the relative distance are large where classes lie far apart, and nearly cancel.
        let evidence = evidence.to_f64();
        let shared = product(evidence.view(), self.shared.to_f64().view());
        let of_row = |i: usize| {
            let (mut closest, mut unlikely, mut explained) = (f64::INFINITY, f64::INFINITY, 0.0);
            for c in 0..self.lengths.len() {
                let u = evidence[(i, c)];
                closest = closest.min(f64::from(self.lengths[c]) - 2.0 * u);
                unlikely = unlikely.min(f64::from(self.offsets[c]) - f64::from(self.shares[c]) * u);
                explained += shared[(i, c)] * u;
            }
            // The length of the row itself is in both distances of the relative one, and cancels.
            strange(self.usual, [closest + explained, unlikely, apart[i]])
        };
        (0..h.len()).map(of_row).collect()
    }

    /// How strange known rows are on average.
    pub(crate) fn mean_strangeness(&self) -> f64 {
        self.known.iter().map(|&v| f64::from(v)).sum::<f64>() / self.known.len().max(1) as f64
    }

    /// How well known each row is: [`share`](Self::share) of its strangeness.
    pub fn shares(&self, h: crate::data::Rows<'_>, evidence: &Matrix<f32>) -> Vec<f32> {
        let strange = self.strangeness(h, evidence);
        strange.into_iter().map(|strange| self.share(strange)).collect()
    }

    /// Share of known rows that are at least this strange: near 0 for a row that looks like none of them.
    pub fn share(&self, strangeness: f32) -> f32 {
        let less = self.known.partition_point(|&known| known < strangeness);
        (1 + self.known.len() - less) as f32 / (1 + self.known.len()) as f32
    }
}

/// The sum of ln(1 + exp d) over the three distances d, each from its middle and in units of its spread over known
/// rows. A row that is closer than usual by one of them cannot make up for being far away by another.
fn strange(usual: [Usual; 3], distances: [f64; 3]) -> f32 {
    let units = usual
        .iter()
        .zip(distances)
        .map(|(usual, d)| usual.units(d as f32));
    let large = |unit: f32| unit.max(0.0) + (-unit.abs()).exp().ln_1p();
    units
        .zip(WEIGHTS)
        .map(|(unit, weight)| weight * large(unit))
        .sum()
}

/// The relative distance of each witness, left out, and the likely one.
fn distances(
    jury: &Jury<'_>,
    left_out: &LeftOut,
    counts: &[f64],
    belief: Belief,
    excess: &[f64],
) -> Vec<[f64; 2]> {
    let of_witness = |i: usize| {
        let witness = jury.witnesses[i];
        let (mut closest, mut unlikely) = (f64::INFINITY, f64::INFINITY);
        for (c, excess) in excess.iter().enumerate() {
            closest = closest.min(left_out.distance(i, c) - excess);
            unlikely = unlikely.min(-left_out.likely(i, c, witness, counts, belief));
        }
        [closest - left_out.apart[i], unlikely]
    };
    (0..jury.witnesses.len())
        .into_par_iter()
        .map(of_witness)
        .collect()
}
