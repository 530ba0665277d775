//! "Unknown": how strange a row is beside rows that were learned.
//!
//! Two distances tell. The relative one asks how much closer a row is to some class than to the mean of all
//! rows: it finds rows that lie between known classes. The other asks how far a row is from all rows, and finds
//! what looks like nothing seen before. Each is brought to the spread that it has over left-out witnesses, and the
//! two are added. How strange witnesses are says what that means: a row is as well known as the share of
//! witnesses that are stranger.

use super::readout::{Centred, Evidence, Jury, LeftOut, left_out_distance};
use crate::math::{Cholesky, Matrix, product};
use crate::pool::Standard;

/// Number of nodes, the first of the pool, that the distance from all rows is measured in: its cost is their square.
const NODES: usize = 1024;

/// How strange rows are.
#[derive(Clone, Debug, PartialEq)]
pub struct Unknown {
    /// N K_cc less what a class of few rows is expected to be too far: `(n_classes)`.
    pub lengths: Vec<f32>,
    /// B / N, `(n_classes, n_classes)`.
    pub shared: Matrix<f32>,
    /// Takes the outputs of the first nodes to deviations from their mean.
    pub standard: Standard,
    /// √N L⁻¹ of the first nodes, transposed: a deviation times this is as long as it is unusual.
    pub whitening: Matrix<f32>,
    /// Middle and spread of both distances over known rows.
    pub usual: [Usual; 2],
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

impl Usual {
    fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let spread = (at(0.75) - at(0.25)) as f32;
        Self {
            middle: at(0.5) as f32,
            // Distances that are all alike tell nothing, and must not be divided by nothing.
            spread: if spread > f32::MIN_POSITIVE { spread } else { 1.0 },
        }
    }

    fn units(self, value: f32) -> f32 {
        (value - self.middle) / self.spread
    }
}

impl Unknown {
    /// Learns from left-out witnesses how strange known rows are; none if a solve breaks down.
    pub(crate) fn fit(
        evidence: &Evidence<'_, f64>,
        jury: &Jury<'_>,
        left_out: &LeftOut,
        spread: f64,
        rho: f64,
    ) -> Option<Self> {
        let centred = evidence.around.centred;
        let n_rows = centred.n_rows();
        let excess: Vec<f64> = centred.counts.iter().map(|n| spread / n.max(1.0)).collect();
        let (factor, apart) = apart_from_all(centred, jury, rho)?;
        let relative: Vec<f64> = (0..jury.witnesses.len())
            .map(|i| {
                let closest = (0..excess.len()).map(|c| -2.0 * left_out.lda[(i, c)] - excess[c]);
                closest.fold(f64::INFINITY, f64::min) - left_out.apart[i]
            })
            .collect();
        let usual = [Usual::of(&relative), Usual::of(&apart)];
        let strange = relative.iter().zip(&apart);
        let strange = strange.map(|(&r, &a)| usual[0].units(r as f32) + usual[1].units(a as f32));
        let copies = jury
            .witnesses
            .iter()
            .map(|w| w.copies.round().clamp(1.0, 8.0) as usize);
        let mut known: Vec<f32> = strange
            .zip(copies)
            .flat_map(|(s, copies)| std::iter::repeat_n(s, copies))
            .collect();
        known.sort_unstable_by(f32::total_cmp);
        let n_classes = excess.len();
        let unknown = Self {
            lengths: (0..n_classes)
                .map(|c| (n_rows * evidence.inner[(c, c)] - excess[c]) as f32)
                .collect(),
            shared: Matrix::from_fn(n_classes, n_classes, |i, j| {
                (evidence.ridge[(i, j)] / n_rows) as f32
            }),
            standard: centred.first_nodes(factor.n_cols()),
            whitening: whitening(&factor, n_rows),
            usual,
            known,
        };
        unknown.is_sound().then_some(unknown)
    }

    /// The same strangeness from evidence in this unit.
    pub(crate) fn in_units_of(mut self, unit: f32) -> Self {
        self.lengths.iter_mut().for_each(|v| *v /= unit);
        self.shared.values_mut().iter_mut().for_each(|v| *v *= unit);
        self.usual[0].middle /= unit;
        self.usual[0].spread /= unit;
        self
    }

    /// Number of nodes that the distance from all rows is measured in.
    pub fn n_nodes(&self) -> usize {
        self.whitening.n_cols()
    }

    /// Number of floats: of the whitening, one triangle.
    pub fn n_floats(&self) -> usize {
        let n = self.n_nodes();
        self.lengths.len() + self.shared.values().len() + 2 * n + n * (n + 1) / 2 + 4 + self.known.len()
    }

    /// Whether all numbers are finite and there is something to compare with.
    pub(crate) fn is_sound(&self) -> bool {
        let numbers = self.lengths.iter().chain(self.shared.values());
        let numbers = numbers.chain(self.whitening.values()).chain(&self.known);
        let usual = self.usual.iter().flat_map(|u| [u.middle, u.spread]);
        let finite = numbers.copied().chain(usual).all(f32::is_finite);
        finite && !self.known.is_empty() && self.usual.iter().all(|u| u.spread > 0.0)
    }

    /// How strange each row is, from its node outputs, `(n_samples, n_nodes)` row by row, and its evidence.
    pub fn strangeness(&self, h: crate::data::Rows<'_>, evidence: &Matrix<f32>) -> Vec<f32> {
        let n = self.n_nodes();
        let Standard { shift, scale } = &self.standard;
        let deviations = Matrix::from_fn(h.len(), n, |i, j| (h.row(i)[j] - shift[j]) * scale[j]);
        let white = product(deviations.view(), self.whitening.view());
        // Both parts of the relative distance are large where classes lie far apart, and nearly cancel.
        let evidence = evidence.to_f64();
        let shared = product(evidence.view(), self.shared.to_f64().view());
        let strange = |i: usize| {
            let n_classes = self.lengths.len();
            let closest = (0..n_classes).map(|c| f64::from(self.lengths[c]) - 2.0 * evidence[(i, c)]);
            let closest = closest.fold(f64::INFINITY, f64::min);
            let explained: f64 = (0..n_classes).map(|c| shared[(i, c)] * evidence[(i, c)]).sum();
            let apart: f32 = (0..n).map(|j| white[(i, j)] * white[(i, j)]).sum();
            // The length of the row itself is in both distances of the relative one, and cancels.
            self.usual[0].units((closest + explained) as f32) + self.usual[1].units(apart)
        };
        (0..h.len()).map(strange).collect()
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

/// The factor of the first nodes' scatter, and how far each witness, left out, is from the mean of all rows.
fn apart_from_all(centred: &Centred, jury: &Jury<'_>, rho: f64) -> Option<(Matrix<f64>, Vec<f64>)> {
    let n = centred.n_nodes().min(NODES);
    let factor = Cholesky::new(centred.first_scatter(n, rho))?;
    let columns = Matrix::from_fn(n, jury.columns.n_cols(), |i, j| jury.columns[(i, j)]);
    let lengths = factor.lengths(columns);
    let apart = lengths
        .iter()
        .zip(&jury.witnesses)
        .map(|(&length, witness)| left_out_distance(length, witness.unit(), centred.n_rows()));
    Some((factor.inverse_factor(), apart.collect()))
}

/// √N L⁻¹, transposed, in single precision.
fn whitening(inverse: &Matrix<f64>, n_rows: f64) -> Matrix<f32> {
    let n = inverse.n_cols();
    let root = n_rows.sqrt();
    Matrix::from_fn(n, n, |i, j| (root * inverse[(j, i)]) as f32)
}
