//! Readouts from sums alone, for memories that keep no witnesses.
//!
//! Ridge is the paper's least squares with its constant chosen by generalised cross-validation, which needs
//! G, Q and n but no rows; linear discriminant analysis and nearest mean use the same sums.

use std::collections::BTreeMap;

use super::Readout;
use super::centred::Centred;
use super::evidence::Around;
use crate::consolidation::params::ReadoutKind;
use crate::math::{Cholesky, Lower, Matrix, Real};
use crate::math::{Random, Stream};

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

impl Centred {
    /// The readout of this kind, from sums alone; `None` when the solve breaks down. Without `ridge`,
    /// cross-validation chooses the constant, beginning at that of the previous readout, if there is one.
    pub fn readout(
        &self,
        kind: ReadoutKind,
        ridge: Option<f64>,
        shrinkage: f64,
        before: Option<f64>,
    ) -> Option<Readout> {
        match kind {
            ReadoutKind::Blend | ReadoutKind::Ridge => {
                self.ridge(ridge.unwrap_or_else(|| self.ridge_by_cross_validation(before)))
            }
            ReadoutKind::Lda => self.lda(shrinkage),
            ReadoutKind::NearestMean => self.nearest_mean(),
        }
    }

    /// The ridge readout with this constant, raised tenfold until the sums, rounded as they are, can be solved.
    fn ridge(&self, relative: f64) -> Option<Readout> {
        let (relative, factor) = (0..RAISED).find_map(|k| {
            let relative = relative.max(f64::EPSILON) * 10f64.powi(k);
            Some((relative, Cholesky::<f64>::of(self.regularised(relative))?))
        })?;
        self.with_constant(factor.solve(&self.moments), relative)
    }

    /// G + ρ, with ρ relative to the mean diagonal.
    fn regularised<T: Real>(&self, relative: f64) -> Lower<T> {
        self.with_ridge(relative * self.mean_diagonal())
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
        let (n, n_rows, rho) = (
            self.n_coordinates(),
            self.n_rows(),
            relative * self.mean_diagonal(),
        );
        let factor = Cholesky::<T>::of(self.regularised(relative))?;
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

    /// The readout with scores ȳ_c + (h - h̄)·w_c, on the scale of the target.
    fn with_constant(&self, mut weights: Matrix<f64>, ridge: f64) -> Option<Readout> {
        let n_rows = self.n_rows();
        let mut biases = Vec::with_capacity(self.counts.len());
        for (class, count) in self.counts.iter().enumerate() {
            let (w, target) = (weights.col_mut(class), self.target(class));
            w.iter_mut().for_each(|w| *w *= target);
            let at_mean: f64 = w.iter().zip(&self.means).map(|(w, m)| w * m).sum();
            biases.push(count / n_rows * target - at_mean);
        }
        self.on_raw_outputs(&weights, &biases, ridge)
    }

    /// Linear discriminant analysis. Scores are log posteriors up to a constant: m_cᵀΣ⁻¹h - m_cᵀΣ⁻¹m_c / 2 + log n_c/N.
    ///
    /// The mean of a few rows is longer than that of many: m_cᵀΣ⁻¹m_c is expected to be too large by tr(Σ⁻¹S)
    /// / n_c, S the scatter before Σ = S + ρ. Unless that is subtracted, a class of three rows hardly ever
    /// wins. Like a ridge constant, the shrinkage is raised tenfold until the sums, rounded as they are, can be solved.
    fn lda(&self, shrinkage: f64) -> Option<Readout> {
        let n_rows = self.n_rows();
        // N Σ is what is factored: the sums, as they are, and N times the ridge.
        let around = Around::new(self);
        let unit = n_rows * self.mean_over_nodes(|j| around.diagonal(j) / n_rows);
        let (shrinkage, factor) = (0..RAISED).find_map(|k| {
            let shrinkage = shrinkage.max(f64::EPSILON) * 10f64.powi(k);
            let shrunk = around.with_ridge::<f64>(shrinkage * unit);
            Some((shrinkage, Cholesky::of(shrunk)?))
        })?;
        let excess = self.n_coordinates() as f64 - shrinkage * unit * factor.trace_of_inverse();
        let prior = |c: usize| match self.counts[c] {
            count if count > 0.0 => (count / n_rows).max(1e-12).ln() + 0.5 * excess / count.max(1.0),
            _ => 1e-12_f64.ln(),
        };
        let mut weights = factor.solve(&around.means);
        weights.values_mut().iter_mut().for_each(|w| *w *= n_rows);
        self.discriminant(&weights, &around.means, prior, shrinkage)
    }

    fn nearest_mean(&self) -> Option<Readout> {
        let means = self.class_means();
        self.discriminant(&means, &means, |_| 0.0, 0.0)
    }

    fn discriminant(
        &self,
        w: &Matrix<f64>,
        m: &Matrix<f64>,
        prior: impl Fn(usize) -> f64,
        ridge: f64,
    ) -> Option<Readout> {
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let bias = |c: usize| prior(c) - inner(w.col(c), &self.means) - 0.5 * inner(w.col(c), m.col(c));
        let biases: Vec<f64> = (0..w.n_cols()).map(bias).collect();
        self.on_raw_outputs(w, &biases, ridge)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidation::memory::{Evidence, Memory};
    use crate::data::Rows;
    use crate::math::product;
    use crate::params::Precision;
    use crate::pool::Standard;

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
        let n = centred.n_coordinates();
        let [gram, _] = centred.both();
        let identity = Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
        let inverse = Cholesky::<f64>::of(centred.regularised(constant(half_decade)))?.solve(&identity);
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
