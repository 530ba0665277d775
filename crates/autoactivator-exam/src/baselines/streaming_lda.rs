//! Streaming linear discriminant analysis: class means and one shared covariance, both running sums.

use autoactivator::math::{Matrix, add_gram_lower, mirror_lower, product, solve_positive_definite};
use autoactivator::{ClassList, Error, Labels, Learner, Observer, Rows, Size, check_task};

use super::{ClassSums, LinearScores};

/// Shrinkage of the covariance towards a multiple of the identity, relative to its mean diagonal.
const SHRINKAGE: f64 = 1e-2;

/// Streaming linear discriminant analysis.
#[derive(Clone, Debug, Default)]
pub struct StreamingLda {
    classes: ClassList,
    n_features: Option<usize>,
    sums: ClassSums,
    /// Σ x xᵀ, lower triangle.
    gram: Option<Matrix<f64>>,
    scores: LinearScores,
}

impl StreamingLda {
    /// Within-class covariance: (Σ x xᵀ - Σ_c n_c m_c m_cᵀ) / n.
    fn covariance(&self, gram: &Matrix<f64>, means: &Matrix<f64>) -> Matrix<f64> {
        let n: f64 = self.sums.counts.iter().sum();
        let weighted = Matrix::from_fn(means.n_rows(), means.n_cols(), |j, c| {
            means[(j, c)] * self.sums.counts[c]
        });
        let between = product(weighted.view(), means.t());
        let mut covariance = gram.clone();
        mirror_lower(&mut covariance);
        let pairs = covariance.values_mut().iter_mut().zip(between.values());
        pairs.for_each(|(s, b)| *s = (*s - b) / n);
        covariance
    }

    fn refit(&mut self) -> Result<(), Error> {
        let Some(gram) = &self.gram else {
            return Ok(());
        };
        let means = self.sums.means();
        let mut covariance = self.covariance(gram, &means);
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
            weights: Some(weights.to_f32()),
        };
        Ok(())
    }
}

impl Learner for StreamingLda {
    fn name(&self) -> &'static str {
        "streaming-lda"
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, _: &mut dyn Observer) -> Result<(), Error> {
        check_task(x, y, self.n_features, 1)?;
        let mut next = self.clone();
        let places = next.classes.admit(y);
        next.sums.add(x, &places, next.classes.len());
        let width = x.n_features();
        let gram = next.gram.get_or_insert_with(|| Matrix::zeros(width, width));
        for rows in x.chunks(4096) {
            let rows = Matrix::from_fn(rows.len(), width, |i, j| f64::from(rows.row(i)[j]));
            add_gram_lower(gram, rows.view());
        }
        next.n_features = Some(width);
        next.refit()?;
        *self = next;
        Ok(())
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn n_features(&self) -> Option<usize> {
        self.n_features
    }

    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        self.scores.predict(x, self.n_features, |_| None)
    }

    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        self.scores.predict_among(x, self.n_features, among, |_| None)
    }

    fn size(&self) -> Size {
        let width = self.n_features.unwrap_or(0);
        let floats = self.scores.n_floats();
        Size {
            nodes: 0,
            model_floats: floats,
            memory_floats: width * (width + 1) / 2 + (width + 1) * self.classes.len(),
            multiply_adds: floats,
        }
    }
}
