//! Readouts: linear scores for all classes known so far, from the memory alone.
//!
//! Ridge is the paper's least squares with its constant chosen by generalised cross-validation, which needs
//! G, Q and n but no rows; linear discriminant analysis and nearest mean use the same sums.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::memory::Memory;
use super::params::ReadoutKind;
use crate::data::Table;
use crate::math::{Cholesky, Matrix, Real, product};
use crate::math::{Random, Stream};
use crate::pool::Standard;

/// Ridge constants tried by cross-validation, relative to the mean eigenvalue: two per decade.
const RIDGE_GRID: std::ops::RangeInclusive<i32> = -16..=2;

/// Where cross-validation begins, and its first step in half-decades, when nothing is known yet.
const FIRST_GUESS: (i32, i32) = (-2, 4);

/// From this half-decade on, single precision can tell ridge constants apart: they are far above the rounding of G.
const SINGLE_PRECISION: i32 = -6;

/// A residual below this fraction of the targets' variance drowns in the rounding of single precision.
const SINGLE_RESIDUAL: f64 = 1e-3;

/// Number of random directions that show on which side of a ridge constant cross-validation is lower.
const PROBES: usize = 32;

/// Largest number of degrees of freedom per row: generalised cross-validation is unreliable when a readout
/// has hardly more rows than freedom to fit them.
const FREEDOM: f64 = 0.3;

/// How many times a ridge constant is raised tenfold before a solve is given up.
const RAISED: i32 = 16;

/// Scores x·w_c + b_c over the recruited nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Readout {
    /// Weights, `(n_nodes, n_classes)`.
    pub weights: Matrix<f32>,
    /// One bias per class.
    pub biases: Vec<f32>,
    /// The ridge constant or shrinkage in use, relative to the mean diagonal.
    pub ridge: f64,
}

/// Sums of the recruited nodes about their mean.
pub struct Centred {
    /// Σ (h - h̄)(h - h̄)ᵀ, `(n, n)`, lower triangle.
    gram: Matrix<f64>,
    /// Σ (h - h̄)(y - ȳ)ᵀ, `(n, n_classes)`.
    moments: Matrix<f64>,
    /// h̄.
    means: Vec<f64>,
    /// n by class.
    counts: Vec<f64>,
    /// What made the nodes comparable.
    standard: Standard,
    /// G + ρ, factored, once a ridge readout has been solved.
    factor: Option<Cholesky<f64>>,
}

impl Centred {
    /// Sums of the nodes at `nodes`, each scaled to deviation 1 over all rows learned, so that one ridge
    /// constant suits all of them no matter what the first task looked like.
    pub fn new(memory: &Memory, nodes: &[usize]) -> Self {
        let n_rows = memory.n_rows().max(f64::MIN_POSITIVE);
        let sum = |&j: &usize| -> f64 { memory.moments.cols().map(|moment| moment[j]).sum() };
        let sums: Vec<f64> = nodes.iter().map(sum).collect();
        let entry = |i: usize, j: usize| {
            let (a, b) = (nodes[i], nodes[j]);
            memory.gram[(a.max(b), a.min(b))] - sums[i] * sums[j] / n_rows
        };
        let n = nodes.len();
        let factors = to_equal_deviation((0..n).map(|j| (entry(j, j) / n_rows).max(0.0)).collect());
        let mut gram = Matrix::zeros(n, n);
        let columns = gram.values_mut().par_chunks_mut(n.max(1)).enumerate();
        columns.for_each(|(j, column)| {
            (j..n).for_each(|i| column[i] = entry(i, j) * (factors[i] * factors[j]));
        });
        let mut standard = memory.standard.select(nodes);
        let scales = standard.scale.iter_mut().zip(&factors);
        scales.for_each(|(scale, &factor)| *scale *= factor as f32);
        Self {
            gram,
            moments: Matrix::from_fn(n, memory.counts.len(), |i, c| {
                (memory.moments[(nodes[i], c)] - sums[i] * memory.counts[c] / n_rows) * factors[i]
            }),
            means: sums.iter().zip(&factors).map(|(s, f)| s / n_rows * f).collect(),
            counts: memory.counts.clone(),
            standard,
            factor: None,
        }
    }

    fn n_rows(&self) -> f64 {
        self.counts.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    fn mean_diagonal(&self) -> f64 {
        let n = self.gram.n_cols();
        let mean = (0..n).map(|j| self.gram[(j, j)]).sum::<f64>() / n.max(1) as f64;
        // Nodes that never vary leave nothing to scale by.
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// The readout of this kind; `None` when the solve breaks down. Without `ridge`, cross-validation chooses
    /// the constant, beginning at that of the previous readout, if there is one.
    pub fn readout(
        &mut self,
        kind: ReadoutKind,
        ridge: Option<f64>,
        shrinkage: f64,
        before: Option<&Readout>,
    ) -> Option<Readout> {
        let readout = match kind {
            ReadoutKind::Ridge => {
                let chosen = || self.ridge_by_cross_validation(before.map(|before| before.ridge));
                let ridge = ridge.unwrap_or_else(chosen);
                self.ridge(ridge)
            }
            ReadoutKind::Lda => self.lda(shrinkage),
            ReadoutKind::NearestMean => Some(self.nearest_mean()),
        }?;
        let readout = self.on_raw_outputs(readout);
        let finite = readout
            .weights
            .values()
            .iter()
            .chain(&readout.biases)
            .all(|v| v.is_finite());
        finite.then_some(readout)
    }

    /// Turns scores of comparable outputs (h - shift) · scale into scores of h itself.
    fn on_raw_outputs(&self, mut readout: Readout) -> Readout {
        let Standard { shift, scale } = &self.standard;
        for (c, bias) in readout.biases.iter_mut().enumerate() {
            let weights = readout.weights.col_mut(c);
            weights.iter_mut().zip(scale).for_each(|(w, s)| *w *= s);
            *bias -= weights
                .iter()
                .zip(shift)
                .map(|(w, s)| f64::from(*w) * f64::from(*s))
                .sum::<f64>() as f32;
        }
        readout
    }

    /// The ridge readout with this constant, raised tenfold until the sums, rounded as they are, can be solved.
    fn ridge(&mut self, relative: f64) -> Option<Readout> {
        let (relative, factor) = (0..RAISED).find_map(|k| {
            let relative = relative.max(f64::EPSILON) * 10f64.powi(k);
            Some((relative, Cholesky::new(self.regularised(relative))?))
        })?;
        let weights = factor.solve(&self.moments);
        self.factor = Some(factor);
        Some(self.with_constant(weights, relative))
    }

    /// G + ρ, with ρ relative to the mean diagonal, lower triangle.
    fn regularised<T: Real>(&self, relative: f64) -> Matrix<T> {
        let n = self.gram.n_cols();
        let rho = relative * self.mean_diagonal();
        let mut regularised = Matrix::zeros(n, n);
        let columns = regularised.values_mut().par_chunks_mut(n.max(1)).enumerate();
        columns.for_each(|(j, column)| {
            let pairs = column[j..].iter_mut().zip(&self.gram.col(j)[j..]);
            pairs.for_each(|(to, &from)| *to = T::nearest(from));
            column[j] = T::nearest(self.gram[(j, j)] + rho);
        });
        regularised
    }

    /// The constant of [`RIDGE_GRID`] at which cross-validation is lowest, found by a downhill search from
    /// the previous one; checking the neighbour on the lower side mostly settles it.
    fn ridge_by_cross_validation(&self, before: Option<f64>) -> f64 {
        let (first, last) = (*RIDGE_GRID.start(), *RIDGE_GRID.end());
        let near = |ridge: f64| ((2.0 * ridge.log10()).round() as i32).clamp(first, last);
        let (mut best, mut step) = before.map_or(FIRST_GUESS, |ridge| (near(ridge), 1));
        let mut known = BTreeMap::new();
        let mut at = |half_decade| {
            let entry = known.entry(half_decade);
            *entry.or_insert_with(|| self.cross_validation(half_decade))
        };
        while step > 0 {
            let here = at(best);
            let next = if here.rises { best - step } else { best + step };
            let lower = |there: CrossValidation| there.score < here.score || here.score.is_infinite();
            if RIDGE_GRID.contains(&next) && lower(at(next)) {
                best = next;
            } else {
                step /= 2;
            }
        }
        constant(best)
    }

    fn cross_validation(&self, half_decade: i32) -> CrossValidation {
        let single = (half_decade >= SINGLE_PRECISION)
            .then(|| self.cross_validation_in::<f32>(constant(half_decade)))
            .flatten();
        single
            .filter(|found| found.residual > SINGLE_RESIDUAL)
            .or_else(|| self.cross_validation_in::<f64>(constant(half_decade)))
            .unwrap_or(CrossValidation::IMPOSSIBLE)
    }

    /// Cross-validation in the given precision; `None` when that is not enough to solve for this constant.
    fn cross_validation_in<T: Real>(&self, relative: f64) -> Option<CrossValidation> {
        let (n, n_rows, rho) = (self.gram.n_cols(), self.n_rows(), relative * self.mean_diagonal());
        let factor = Cholesky::<T>::new(self.regularised(relative))?;
        // G (G + ρ)⁻¹ = 1 - ρ (G + ρ)⁻¹, and the constant of the readout.
        let trace = factor.trace_of_inverse();
        let used = 1.0 + n as f64 - rho * trace;
        if used > FREEDOM * n_rows {
            return Some(CrossValidation::IMPOSSIBLE);
        }
        let freedom = n_rows - used;
        let moments = Matrix::from_fn(n, self.moments.n_cols(), |i, c| T::nearest(self.moments[(i, c)]));
        let weights = factor.solve(&moments);
        let explained: f64 = (self.moments.values().iter().zip(weights.values()))
            .map(|(m, &w)| w.into() * (m + rho * w.into()))
            .sum();
        let total: f64 = self.counts.iter().map(|n| n - n * n / n_rows).sum();
        let residual = (total - explained).max(0.0);
        // Derivatives by ρ. That of the trace, -tr (G + ρ)⁻², is only estimated, since it just says where to look next.
        let slope_of_residual = 2.0 * rho * factor.lengths(weights).iter().sum::<f64>();
        let slope_of_freedom = trace - rho * trace_of_square(&factor, n);
        let score = residual / (freedom * freedom);
        score.is_finite().then_some(CrossValidation {
            score,
            residual: residual / total,
            rises: slope_of_residual * freedom > 2.0 * slope_of_freedom * residual,
        })
    }

    /// How much each row of `h` determines its own ridge score: 1/N + (h - h̄)ᵀ(G + ρ)⁻¹(h - h̄).
    pub fn leverages(&self, mut h: Table, ridge: f64) -> Option<Vec<f64>> {
        h.for_each_row(|row| self.standard.apply(row));
        let h = h.rows();
        let centred = Matrix::from_fn(h.n_features(), h.len(), |j, i| {
            f64::from(h.row(i)[j]) - self.means[j]
        });
        let lengths = match &self.factor {
            Some(factor) => factor.lengths(centred),
            None => Cholesky::new(self.regularised(ridge))?.lengths(centred),
        };
        Some(
            lengths
                .iter()
                .map(|length| 1.0 / self.n_rows() + length)
                .collect(),
        )
    }

    /// Target score of a row of this class: √(n̄/n_c), n̄ the mean of the n_c, which gives the targets of all
    /// classes the same length. With plain one-hot targets, that of a class of few rows is so short that it
    /// is hardly ever chosen. If all classes have the same number of rows, this is 1.
    pub fn target(&self, class: usize) -> f64 {
        let counts = || self.counts.iter().filter(|&&count| count > 0.0);
        let mean = counts().sum::<f64>() / counts().count().max(1) as f64;
        match self.counts[class] {
            count if count > 0.0 => (mean / count).sqrt(),
            _ => 1.0,
        }
    }

    /// The readout with scores ȳ_c + (h - h̄)·w_c, on the scale of the target.
    fn with_constant(&self, mut weights: Matrix<f64>, ridge: f64) -> Readout {
        let n_rows = self.n_rows();
        let mut biases = Vec::with_capacity(self.counts.len());
        for (class, count) in self.counts.iter().enumerate() {
            let (w, target) = (weights.col_mut(class), self.target(class));
            w.iter_mut().for_each(|w| *w *= target);
            let at_mean: f64 = w.iter().zip(&self.means).map(|(w, m)| w * m).sum();
            biases.push((count / n_rows * target - at_mean) as f32);
        }
        Readout {
            biases,
            weights: weights.to_f32(),
            ridge,
        }
    }

    /// m_c - h̄, `(n, n_classes)`; classes without rows stay at the mean.
    fn class_means(&self) -> Matrix<f64> {
        Matrix::from_fn(self.moments.n_rows(), self.counts.len(), |i, c| {
            if self.counts[c] > 0.0 {
                self.moments[(i, c)] / self.counts[c]
            } else {
                0.0
            }
        })
    }

    /// Linear discriminant analysis. Scores are log posteriors up to a constant: m_cᵀΣ⁻¹h - m_cᵀΣ⁻¹m_c / 2 + log n_c/N.
    ///
    /// The mean of a few rows is longer than that of many: m_cᵀΣ⁻¹m_c is expected to be too large by tr(Σ⁻¹S)
    /// / n_c, S the scatter before Σ = S + ρ. Unless that is subtracted, a class of three rows hardly ever
    /// wins. Like a ridge constant, the shrinkage is raised tenfold until the sums, rounded as they are, can be solved.
    fn lda(&self, shrinkage: f64) -> Option<Readout> {
        let n_rows = self.n_rows();
        let means = self.class_means();
        let scatter = self.scatter(&means);
        let n = scatter.n_cols();
        let mean_diagonal = (0..n).map(|j| scatter[(j, j)]).sum::<f64>() / n.max(1) as f64;
        let unit = if mean_diagonal > 0.0 { mean_diagonal } else { 1.0 };
        let (shrinkage, factor) = (0..RAISED).find_map(|k| {
            let shrinkage = shrinkage.max(f64::EPSILON) * 10f64.powi(k);
            let mut shrunk = scatter.clone();
            (0..n).for_each(|j| shrunk[(j, j)] += shrinkage * unit);
            Some((shrinkage, Cholesky::new(shrunk)?))
        })?;
        let excess = n as f64 - shrinkage * unit * factor.trace_of_inverse();
        let prior = |c: usize| match self.counts[c] {
            count if count > 0.0 => (count / n_rows).max(1e-12).ln() + 0.5 * excess / count.max(1.0),
            _ => 1e-12_f64.ln(),
        };
        Some(self.discriminant(&factor.solve(&means), &means, prior, shrinkage))
    }

    /// S, the mean square around class means, lower triangle.
    fn scatter(&self, means: &Matrix<f64>) -> Matrix<f64> {
        let n_rows = self.n_rows();
        let weighted = Matrix::from_fn(means.n_rows(), means.n_cols(), |i, c| {
            means[(i, c)] * self.counts[c]
        });
        let between = product(weighted.view(), means.t());
        let mut scatter = self.gram.clone();
        let values = scatter.values_mut().iter_mut().zip(between.values());
        values.for_each(|(s, b)| *s = (*s - b) / n_rows);
        scatter
    }

    fn nearest_mean(&self) -> Readout {
        let means = self.class_means();
        self.discriminant(&means, &means, |_| 0.0, 0.0)
    }

    fn discriminant(
        &self,
        w: &Matrix<f64>,
        m: &Matrix<f64>,
        prior: impl Fn(usize) -> f64,
        ridge: f64,
    ) -> Readout {
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let bias =
            |c: usize| (prior(c) - inner(w.col(c), &self.means) - 0.5 * inner(w.col(c), m.col(c))) as f32;
        Readout {
            biases: (0..w.n_cols()).map(bias).collect(),
            weights: w.to_f32(),
            ridge,
        }
    }
}

/// Σ_c |residual_c|² / (N - degrees of freedom)², and whether it rises with the ridge constant.
#[derive(Clone, Copy, Debug)]
struct CrossValidation {
    score: f64,
    /// Remaining fraction of the targets' variance.
    residual: f64,
    rises: bool,
}

impl CrossValidation {
    /// Too many degrees of freedom, or the solve fails: more ridge is the way out.
    const IMPOSSIBLE: Self = Self {
        score: f64::INFINITY,
        residual: 1.0,
        rises: false,
    };
}

/// The trace of A⁻², estimated as the mean of |A⁻¹u|² over random signs u.
fn trace_of_square<T: Real>(factor: &Cholesky<T>, n: usize) -> f64 {
    let mut random = Random::new(0, Stream::Probes);
    let signs = Matrix::from_fn(n, PROBES, |_, _| {
        T::nearest(f64::from(random.symmetric(1.0).signum()))
    });
    let solved = factor.solve(&signs);
    let square = |&v: &T| v.into() * v.into();
    solved.values().iter().map(square).sum::<f64>() / PROBES as f64
}

/// The ridge constant of a half-decade.
fn constant(half_decade: i32) -> f64 {
    10f64.powf(f64::from(half_decade) / 2.0)
}

/// The factors that bring nodes of these variances to deviation 1.
fn to_equal_deviation(variances: Vec<f64>) -> Vec<f64> {
    // A node that hardly ever varied must not be blown up into evidence.
    let floor = 1e-6 * variances.iter().sum::<f64>() / variances.len().max(1) as f64;
    let factor = |variance: f64| {
        if variance + floor > 0.0 {
            1.0 / (variance + floor).sqrt()
        } else {
            1.0
        }
    };
    variances.into_iter().map(factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidation::memory::Evidence;
    use crate::data::Rows;
    use crate::params::Precision;

    /// Nodes of which many nearly repeat others, and classes that some of them tell apart.
    fn centred(n_rows: usize, n_nodes: usize, n_classes: usize) -> Option<Centred> {
        let mut random = Random::new(3, Stream::Pool { layer: 0 });
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for i in 0..n_rows {
            let class = i % n_classes;
            let common: Vec<f32> = (0..8).map(|_| random.normal()).collect();
            for j in 0..n_nodes {
                let tells = if j % n_classes == class { 0.7 } else { 0.0 };
                values.push(common[j % 8] + tells + 0.1 * random.normal());
            }
            places.push(class as u32);
        }
        let standard = Standard {
            shift: vec![0.0; n_nodes],
            scale: vec![1.0; n_nodes],
        };
        let mut memory = Memory::new(n_nodes, standard);
        memory.classes = (0..n_classes).map(|c| c.to_string()).collect();
        memory.widen();
        let evidence = Evidence {
            h: Rows::new(&values, n_nodes).ok()?,
            places: &places,
            weights: None,
        };
        memory.add(&evidence, 1.0, Precision::F64);
        Some(Centred::new(&memory, &(0..n_nodes).collect::<Vec<usize>>()))
    }

    /// Computed with an explicit inverse: |y - h w|² and the trace of G (G + ρ)⁻¹, straight from the definition.
    fn slow_cross_validation(centred: &Centred, half_decade: i32) -> Option<f64> {
        let n = centred.gram.n_cols();
        let mut gram = centred.gram.clone();
        crate::math::mirror_lower(&mut gram);
        let identity = Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
        let inverse = Cholesky::new(centred.regularised(constant(half_decade)))?.solve(&identity);
        let weights = product(inverse.view(), centred.moments.view());
        let fitted = product(gram.view(), weights.view());
        let inner = |a: &Matrix<f64>, b: &Matrix<f64>| -> f64 {
            a.values().iter().zip(b.values()).map(|(a, b)| a * b).sum()
        };
        let total: f64 = centred.counts.iter().map(|n| n - n * n / centred.n_rows()).sum();
        let residual = total - 2.0 * inner(&centred.moments, &weights) + inner(&weights, &fitted);
        let used = 1.0 + inner(&gram, &inverse);
        Some(if used <= FREEDOM * centred.n_rows() {
            residual / (centred.n_rows() - used).powi(2)
        } else {
            f64::INFINITY
        })
    }

    #[test]
    fn cross_validation_is_what_its_definition_says() {
        for (n_rows, n_nodes, n_classes) in [(90, 70, 3), (400, 70, 2), (3000, 150, 10), (60, 70, 3)] {
            let centred = centred(n_rows, n_nodes, n_classes).unwrap();
            let truth = |k: i32| slow_cross_validation(&centred, k).unwrap();
            for half_decade in RIDGE_GRID {
                let (found, truth) = (centred.cross_validation(half_decade).score, truth(half_decade));
                let close = found == truth || (found - truth).abs() < 1e-3 * truth;
                assert!(
                    close,
                    "{n_rows} rows, half-decade {half_decade}: {found}, not {truth}"
                );
            }
            let best = RIDGE_GRID.min_by(|&a, &b| truth(a).total_cmp(&truth(b))).unwrap();
            for before in [None, Some(1e-8), Some(0.1), Some(10.0)] {
                let found = centred.ridge_by_cross_validation(before);
                assert_eq!(found, constant(best), "{n_rows} rows, from {before:?}");
            }
        }
    }
}
