//! Nearest class mean: a row belongs to the class whose mean is closest.

use autoactivator::{ClassList, Error, Labels, Learner, Observer, Rows, Size, check_task};

use super::{ClassSums, LinearScores};

/// Nearest class mean.
#[derive(Clone, Debug, Default)]
pub struct NearestMean {
    classes: ClassList,
    n_features: Option<usize>,
    sums: ClassSums,
    scores: LinearScores,
}

impl Learner for NearestMean {
    fn name(&self) -> &'static str {
        "nearest-mean"
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, _: &mut dyn Observer) -> Result<(), Error> {
        check_task(x, y, self.n_features, 1)?;
        let places = self.classes.admit(y);
        self.sums.add(x, &places, self.classes.len());
        self.n_features = Some(x.n_features());
        // argmin |x - m|² = argmax x·m - |m|²/2
        let means = self.sums.means();
        let half_square = |m: &[f64]| (-0.5 * m.iter().map(|v| v * v).sum::<f64>()) as f32;
        self.scores = LinearScores {
            biases: means.cols().map(half_square).collect(),
            weights: Some(means.to_f32()),
        };
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
        let floats = self.scores.n_floats();
        Size {
            nodes: 0,
            model_floats: floats,
            memory_floats: self.classes.len(), // the counts; sums follow from means and counts
            multiply_adds: floats,
        }
    }
}
