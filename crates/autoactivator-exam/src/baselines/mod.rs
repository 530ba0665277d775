//! Baselines behind the same trait as the method: they make every table readable.
//!
//! [`NearestMean`] and [`StreamingLda`] are the simple learners anyone would try first; [`JointRidge`] is what
//! random nodes reach when nothing has to be forgotten; [`SequentialSgd`] is what happens when nothing is done
//! against forgetting.

mod joint_ridge;
mod nearest_mean;
mod sequential_sgd;
mod streaming_lda;

pub use joint_ridge::JointRidge;
pub use nearest_mean::NearestMean;
pub use sequential_sgd::SequentialSgd;
pub use streaming_lda::StreamingLda;

use autoactivator::math::{Matrix, View, product};
use autoactivator::{Error, Rows, check_rows};

/// Linear scores x·w_c + b_c, the form every baseline predicts with.
#[derive(Clone, Debug, Default)]
struct LinearScores {
    /// `(n_inputs, n_classes)`.
    weights: Option<Matrix<f32>>,
    biases: Vec<f32>,
}

impl LinearScores {
    /// The class with the highest score for each row, after `hidden` has turned rows into inputs.
    fn predict(
        &self,
        x: Rows<'_>,
        n_features: Option<usize>,
        hidden: impl Fn(View<'_, f32>) -> Option<Matrix<f32>>,
    ) -> Result<Vec<u32>, Error> {
        let all: Vec<u32> = (0..self.biases.len() as u32).collect();
        self.predict_among(x, n_features, &all, hidden)
    }

    /// The same, of these classes only.
    fn predict_among(
        &self,
        x: Rows<'_>,
        n_features: Option<usize>,
        among: &[u32],
        hidden: impl Fn(View<'_, f32>) -> Option<Matrix<f32>>,
    ) -> Result<Vec<u32>, Error> {
        let (Some(weights), Some(n_features)) = (&self.weights, n_features) else {
            return Err(Error::NothingLearned);
        };
        check_rows(x, n_features)?;
        let mut known = among
            .iter()
            .copied()
            .filter(|&c| (c as usize) < self.biases.len());
        let first = known.next().ok_or(Error::NothingLearned)?;
        let others: Vec<u32> = known.collect();
        let mut predicted = Vec::with_capacity(x.len());
        for rows in x.chunks(4096) {
            let inputs = hidden(rows.into());
            let scores = product(inputs.as_ref().map_or(rows.into(), Matrix::view), weights.view());
            predicted.extend((0..rows.len()).map(|i| {
                let score = |c: u32| scores[(i, c as usize)] + self.biases[c as usize];
                let better = |best, &c: &u32| if score(c) > score(best) { c } else { best };
                others.iter().fold(first, better)
            }));
        }
        Ok(predicted)
    }

    fn n_floats(&self) -> usize {
        self.weights.as_ref().map_or(0, |w| w.values().len()) + self.biases.len()
    }
}

/// Sums of rows and counts by class.
#[derive(Clone, Debug, Default)]
struct ClassSums {
    sums: Vec<Vec<f64>>,
    counts: Vec<f64>,
}

impl ClassSums {
    fn add(&mut self, x: Rows<'_>, places: &[u32], n_classes: usize) {
        self.sums.resize(n_classes, vec![0.0; x.n_features()]);
        self.counts.resize(n_classes, 0.0);
        for (row, &place) in x.iter().zip(places) {
            let sum = &mut self.sums[place as usize];
            sum.iter_mut().zip(row).for_each(|(s, &v)| *s += f64::from(v));
            self.counts[place as usize] += 1.0;
        }
    }

    /// Class means, `(n_features, n_classes)`.
    fn means(&self) -> Matrix<f64> {
        let n_features = self.sums.first().map_or(0, Vec::len);
        Matrix::from_fn(n_features, self.sums.len(), |j, c| {
            self.sums[c][j] / self.counts[c]
        })
    }
}
