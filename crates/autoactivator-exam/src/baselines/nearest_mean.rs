//! Which class mean is closest? Nearest class mean: sums and counts of each class, and nothing else.
//!
//! [`NearestMean`] is the simplest learner that forgets nothing.

use autoactivator::Error;

use super::ClassSums;
use super::linear::{Fit, Lesson, LinearBaseline, LinearScores};

/// Nearest class mean.
pub type NearestMean = LinearBaseline<Means>;

/// Fits the scores of [`NearestMean`].
#[derive(Clone, Debug, Default)]
pub struct Means {
    sums: ClassSums,
}

impl Fit for Means {
    const NAME: &'static str = "nearest-mean";

    fn fit(&mut self, lesson: &Lesson<'_>, scores: &mut LinearScores) -> Result<(), Error> {
        self.sums.add(lesson);
        // argmin |x - m|² = argmax x·m - |m|²/2
        let means = self.sums.means();
        let half_square = |m: &[f64]| (-0.5 * m.iter().map(|v| v * v).sum::<f64>()) as f32;
        *scores = LinearScores {
            biases: means.cols().map(half_square).collect(),
            weights: Some(means.to_f32()),
        };
        Ok(())
    }

    fn memory_floats(&self, _: usize, n_classes: usize) -> usize {
        n_classes // The counts; sums follow from means and counts.
    }
}
