//! Which class mean is closest? Nearest class mean: sums and counts of each class, and nothing else.
//!
//! [`NearestMean`] is the simplest learner that forgets nothing.

use autoactivator::math::Matrix;
use autoactivator::{Error, Rows, Size};

use super::ClassSums;
use super::scored::{Baseline, Fit, Lesson, LinearScores};

/// Nearest class mean.
pub type NearestMean = Baseline<Means>;

/// Fits the scores of [`NearestMean`].
#[derive(Clone, Debug, Default)]
pub struct Means {
    sums: ClassSums,
    scores: LinearScores,
}

impl Fit for Means {
    const NAME: &'static str = "nearest-mean";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        self.sums.add(lesson);
        // argmin |x - m|² = argmax x·m - |m|²/2
        let means = self.sums.means();
        let half_square = |m: &[f64]| (-0.5 * m.iter().map(|v| v * v).sum::<f64>()) as f32;
        self.scores = LinearScores {
            biases: means.cols().map(half_square).collect(),
            weights: means.to_f32(),
        };
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        Ok(self.scores.of(x.into()))
    }

    fn size(&self) -> Size {
        // The counts; sums follow from means and counts.
        self.scores.size(0, 0, self.sums.counts.len())
    }
}
