//! What does a shared covariance add to class means? Streaming linear discriminant analysis, from running sums alone.
//!
//! [`StreamingLda`] is the strongest of the simple learners on good features.

use autoactivator::math::{Matrix, add_gram_lower, mirror_lower, product, solve_positive_definite};
use autoactivator::{Error, Rows, Size};

use super::ClassSums;
use super::scored::{Baseline, Fit, Lesson, LinearScores};

/// Shrinkage of the covariance towards a multiple of the identity, relative to its mean diagonal.
const SHRINKAGE: f64 = 1e-2;

/// Streaming linear discriminant analysis.
pub type StreamingLda = Baseline<Covariance>;

/// Fits the scores of [`StreamingLda`].
#[derive(Clone, Debug, Default)]
pub struct Covariance {
    sums: ClassSums,
    /// Σ x xᵀ, lower triangle.
    gram: Option<Matrix<f64>>,
    scores: LinearScores,
}

impl Covariance {
    /// Σ x xᵀ, and the mean and number of rows of each class.
    pub(super) fn memory_floats(&self) -> usize {
        let (width, n_classes) = (self.scores.weights.n_rows(), self.sums.counts.len());
        width * (width + 1) / 2 + (width + 1) * n_classes
    }

    /// The linear scores.
    pub(super) fn linear(&self) -> &LinearScores {
        &self.scores
    }

    /// Σ x xᵀ with these rows added.
    fn add(&mut self, x: Rows<'_>) -> &Matrix<f64> {
        let width = x.n_features();
        let gram = self.gram.get_or_insert_with(|| Matrix::zeros(width, width));
        for rows in x.chunks(4096) {
            let rows = Matrix::from_fn(rows.len(), width, |i, j| f64::from(rows.row(i)[j]));
            add_gram_lower(gram, rows.view());
        }
        gram
    }
}

/// Within-class covariance: (Σ x xᵀ - Σ_c n_c m_c m_cᵀ) / n.
fn covariance(mut gram: Matrix<f64>, means: &Matrix<f64>, counts: &[f64]) -> Matrix<f64> {
    let n: f64 = counts.iter().sum();
    let weighted = Matrix::from_fn(means.n_rows(), means.n_cols(), |j, c| means[(j, c)] * counts[c]);
    let between = product(weighted.view(), means.t());
    mirror_lower(&mut gram);
    let pairs = gram.values_mut().iter_mut().zip(between.values());
    pairs.for_each(|(s, b)| *s = (*s - b) / n);
    gram
}

impl Fit for Covariance {
    const NAME: &'static str = "streaming-lda";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        self.sums.add(lesson);
        let gram = self.add(lesson.x).clone();
        let means = self.sums.means();
        let mut covariance = covariance(gram, &means, &self.sums.counts);
        let width = covariance.n_cols();
        let mean_diagonal = (0..width).map(|j| covariance[(j, j)]).sum::<f64>() / width as f64;
        // Rows that are all alike have no spread to scale by.
        let shrinkage = SHRINKAGE * if mean_diagonal > 0.0 { mean_diagonal } else { 1.0 };
        (0..width).for_each(|j| covariance[(j, j)] += shrinkage);
        let weights = solve_positive_definite(&covariance, &means).ok_or_else(|| Error::NotSolvable {
            place: "the shared covariance".to_owned(),
            ridge: SHRINKAGE,
        })?;
        let bias =
            |(w, m): (&[f64], &[f64])| (-0.5 * w.iter().zip(m).map(|(w, m)| w * m).sum::<f64>()) as f32;
        self.scores = LinearScores {
            biases: weights.cols().zip(means.cols()).map(bias).collect(),
            weights: weights.to_f32(),
        };
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        Ok(self.scores.of(x.into()))
    }

    fn size(&self) -> Size {
        self.scores.size(0, 0, self.memory_floats())
    }
}
