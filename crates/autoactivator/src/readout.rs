//! Readouts: linear scores for all classes known so far, from the memory alone.
//!
//! Ridge is the paper's least squares with its constant by generalised cross-validation, which needs eigenvalues of
//! G, Q and n but no rows; linear discriminant analysis and nearest mean come from the same sums.

use crate::linalg::{Cholesky, Eigen, Matrix, eigen, product, solve_positive_definite};
use crate::memory::Memory;
use crate::params::ReadoutKind;
use crate::pool::Standard;
use crate::rows::Table;

/// Ridge constants tried by cross-validation, relative to the mean eigenvalue: two per decade.
const RIDGE_GRID: std::ops::RangeInclusive<i32> = -16..=2;

/// What a degree of freedom counts for in cross-validation: a little more than one keeps it from choosing next to no
/// ridge where there are hardly more rows than nodes.
const INFLATION: f64 = 1.4;

/// How many times a ridge constant is raised tenfold before a solve is given up.
const RAISED: i32 = 16;

/// Scores x·w_c + b_c over the recruited nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Readout {
    /// `(n_nodes, n_classes)`.
    pub weights: Matrix<f32>,
    /// One per class.
    pub biases: Vec<f32>,
    /// The ridge constant or shrinkage in use, relative to the mean diagonal.
    pub ridge: f64,
}

/// Sums of the recruited nodes about their mean.
pub struct Centred {
    /// Σ (h - h̄)(h - h̄)ᵀ, `(n, n)`.
    gram: Matrix<f64>,
    /// Σ (h - h̄)(y - ȳ)ᵀ, `(n, n_classes)`.
    moments: Matrix<f64>,
    /// h̄.
    means: Vec<f64>,
    /// n by class.
    counts: Vec<f64>,
    /// What made the nodes comparable.
    standard: Standard,
    /// G + ρ, factored, once a ridge readout with a given constant has been solved.
    factor: Option<Cholesky>,
}

impl Centred {
    /// Of the nodes at `nodes`.
    pub fn new(memory: &Memory, nodes: &[usize]) -> Self {
        let n_rows = memory.n_rows().max(f64::MIN_POSITIVE);
        let sum = |j: usize| {
            (0..memory.counts.len())
                .map(|c| memory.moments[(j, c)])
                .sum::<f64>()
        };
        let sums: Vec<f64> = nodes.iter().map(|&j| sum(j)).collect();
        let entry = |i: usize, j: usize| memory.gram[(i.max(j), i.min(j))];
        let n = nodes.len();
        let gram = Matrix::from_fn(n, n, |i, j| {
            entry(nodes[i], nodes[j]) - sums[i] * sums[j] / n_rows
        });
        let moments = Matrix::from_fn(n, memory.counts.len(), |i, c| {
            memory.moments[(nodes[i], c)] - sums[i] * memory.counts[c] / n_rows
        });
        let centred = Self {
            gram,
            moments,
            means: sums.iter().map(|s| s / n_rows).collect(),
            counts: memory.counts.clone(),
            standard: memory.standard.select(nodes),
            factor: None,
        };
        centred.of_equal_deviation()
    }

    /// The same with every node scaled to deviation 1 over all rows learned, so that one ridge constant suits all nodes
    /// whatever the first task looked like.
    fn of_equal_deviation(mut self) -> Self {
        let (n, n_rows) = (self.gram.n_cols(), self.n_rows());
        let variances: Vec<f64> = (0..n).map(|j| (self.gram[(j, j)] / n_rows).max(0.0)).collect();
        // A node that hardly ever moved must not be blown up to say something.
        let floor = 1e-6 * variances.iter().sum::<f64>() / n.max(1) as f64;
        let factor = |variance: &f64| {
            if variance + floor > 0.0 {
                1.0 / (variance + floor).sqrt()
            } else {
                1.0
            }
        };
        let factors: Vec<f64> = variances.iter().map(factor).collect();
        for (j, &factor) in factors.iter().enumerate() {
            let column = self.gram.col_mut(j);
            column
                .iter_mut()
                .zip(&factors)
                .for_each(|(g, other)| *g *= factor * other);
            self.means[j] *= factor;
            self.standard.scale[j] *= factor as f32;
        }
        for c in 0..self.moments.n_cols() {
            self.moments
                .col_mut(c)
                .iter_mut()
                .zip(&factors)
                .for_each(|(m, factor)| *m *= factor);
        }
        self
    }

    fn n_rows(&self) -> f64 {
        self.counts.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    fn mean_diagonal(&self) -> f64 {
        let n = self.gram.n_cols();
        let mean = (0..n).map(|j| self.gram[(j, j)]).sum::<f64>() / n.max(1) as f64;
        // Nodes that never moved leave nothing to scale by.
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// The readout of this kind; `None` when the solve breaks down. `ridge` none means cross-validation.
    pub fn readout(&mut self, kind: ReadoutKind, ridge: Option<f64>, shrinkage: f64) -> Option<Readout> {
        let readout = match kind {
            ReadoutKind::Ridge => match ridge {
                Some(ridge) => self.ridge(ridge),
                None => self.ridge_by_cross_validation(),
            },
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

    /// Scores of comparable outputs (h - shift) · scale as scores of h itself.
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

    /// With this constant, or the first tenfold of it for which the sums, rounded as they are, can be solved.
    fn ridge(&mut self, relative: f64) -> Option<Readout> {
        let (relative, factor) = (0..RAISED).find_map(|k| {
            let relative = relative.max(f64::EPSILON) * 10f64.powi(k);
            Some((relative, Cholesky::new(&self.regularised(relative))?))
        })?;
        let weights = factor.solve(&self.moments);
        self.factor = Some(factor);
        Some(self.with_constant(&weights, relative))
    }

    /// G + ρ, with ρ relative to the mean diagonal.
    fn regularised(&self, relative: f64) -> Matrix<f64> {
        let mut gram = self.gram.clone();
        let rho = relative * self.mean_diagonal();
        (0..gram.n_cols()).for_each(|j| gram[(j, j)] += rho);
        gram
    }

    fn ridge_by_cross_validation(&self) -> Option<Readout> {
        let Eigen { values, vectors } = eigen(&self.gram)?;
        let projected = product(vectors.t(), self.moments.view());
        // What rounding left below zero is zero.
        let values: Vec<f64> = values.iter().map(|v| v.max(0.0)).collect();
        let grid = RIDGE_GRID.map(|half_decade| 10f64.powf(f64::from(half_decade) / 2.0));
        let score =
            |relative: &f64| self.cross_validation(&values, &projected, relative * self.mean_diagonal());
        let best = grid.min_by(|a, b| score(a).total_cmp(&score(b)))?;
        let rho = best * self.mean_diagonal();
        let shrunk = Matrix::from_fn(projected.n_rows(), projected.n_cols(), |i, c| {
            projected[(i, c)] / (values[i] + rho)
        });
        Some(self.with_constant(&product(vectors.view(), shrunk.view()), best))
    }

    /// Σ_c |residual_c|² / (N - 1.4 · degrees of freedom)².
    fn cross_validation(&self, values: &[f64], projected: &Matrix<f64>, rho: f64) -> f64 {
        let n_rows = self.n_rows();
        let total: f64 = self.counts.iter().map(|n| n - n * n / n_rows).sum();
        let explained: f64 = projected
            .cols()
            .flat_map(|z| z.iter().zip(values))
            .map(|(z, value)| z * z * (value + 2.0 * rho) / (value + rho).powi(2))
            .sum();
        let used = 1.0 + values.iter().map(|value| value / (value + rho)).sum::<f64>();
        let freedom = n_rows - INFLATION * used;
        if freedom <= 0.0 {
            return f64::INFINITY;
        }
        (total - explained).max(0.0) / (freedom * freedom)
    }

    /// How much each row of `h` decides its own ridge score: 1/N + (h - h̄)ᵀ(G + ρ)⁻¹(h - h̄).
    pub fn leverages(&self, mut h: Table, ridge: f64) -> Option<Vec<f64>> {
        h.for_each_row(|row| self.standard.apply(row));
        let h = h.rows();
        let centred = Matrix::from_fn(h.n_features(), h.len(), |j, i| {
            f64::from(h.row(i)[j]) - self.means[j]
        });
        let solved = match &self.factor {
            Some(factor) => factor.solve(&centred),
            None => solve_positive_definite(&self.regularised(ridge), &centred)?,
        };
        let inner = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        Some(
            centred
                .cols()
                .zip(solved.cols())
                .map(|pair| 1.0 / self.n_rows() + inner(pair))
                .collect(),
        )
    }

    /// Scores are ȳ_c + (h - h̄)·w_c.
    fn with_constant(&self, weights: &Matrix<f64>, ridge: f64) -> Readout {
        let n_rows = self.n_rows();
        let biases = weights.cols().zip(&self.counts).map(|(w, count)| {
            (count / n_rows - w.iter().zip(&self.means).map(|(w, m)| w * m).sum::<f64>()) as f32
        });
        Readout {
            biases: biases.collect(),
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

    /// Scores are log posteriors but for a constant: m_cᵀΣ⁻¹h - m_cᵀΣ⁻¹m_c / 2 + log n_c/N.
    fn lda(&self, shrinkage: f64) -> Option<Readout> {
        let n_rows = self.n_rows();
        let means = self.class_means();
        let weighted = Matrix::from_fn(means.n_rows(), means.n_cols(), |i, c| {
            means[(i, c)] * self.counts[c]
        });
        let between = product(weighted.view(), means.t());
        let mut scatter = self.gram.clone();
        scatter
            .values_mut()
            .iter_mut()
            .zip(between.values())
            .for_each(|(s, b)| *s = (*s - b) / n_rows);
        let n = scatter.n_cols();
        let mean_diagonal = (0..n).map(|j| scatter[(j, j)]).sum::<f64>() / n.max(1) as f64;
        let rho = shrinkage * if mean_diagonal > 0.0 { mean_diagonal } else { 1.0 };
        (0..n).for_each(|j| scatter[(j, j)] += rho);
        let weights = solve_positive_definite(&scatter, &means)?;
        Some(self.discriminant(
            &weights,
            &means,
            |c| (self.counts[c] / n_rows).max(1e-12).ln(),
            shrinkage,
        ))
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
