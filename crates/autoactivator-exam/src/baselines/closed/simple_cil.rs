//! How far do prototypes alone go? SimpleCIL: the class whose mean has the smallest angle to a row.
//!
//! Zhou et al., "Revisiting class-incremental learning with pre-trained models: generalizability and adaptivity are all you
//! need", IJCV 2024, Eq. 3: class means are the weights of a cosine classifier.

use autoactivator::math::Matrix;
use autoactivator::{Error, Rows, Size};

use super::super::ClassSums;
use super::super::scored::{Baseline, Fit, Lesson, LinearScores};
use super::to_unit;

/// Cosine prototypes.
pub type SimpleCil = Baseline<Prototypes>;

/// Fits the scores of [`SimpleCil`].
#[derive(Clone, Debug, Default)]
pub struct Prototypes {
    sums: ClassSums,
    scores: LinearScores,
}

impl Fit for Prototypes {
    const NAME: &'static str = "simple-cil";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        self.sums.add(lesson);
        // The length of a row changes no order of cosines, so only means are brought to length 1.
        let mut prototypes = self.sums.means().to_f32();
        (0..prototypes.n_cols()).for_each(|c| to_unit(prototypes.col_mut(c)));
        self.scores = LinearScores::plain(prototypes);
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        Ok(self.scores.of(x.into()))
    }

    fn size(&self) -> Size {
        // The length of each mean and its number of rows.
        self.scores.size(0, 0, 2 * self.sums.counts.len())
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::{Labels, Learner};

    use super::*;

    /// The mean (2, 0) of the first class is nearer to (1, 1.2) by distance, the mean (0, 10) by angle.
    #[test]
    fn angles_decide() -> Result<(), Error> {
        let mut learner = SimpleCil::default();
        let y = Labels::from_names(["right", "right", "up"]);
        learner.learn(Rows::new(&[3.0, 0.0, 1.0, 0.0, 0.0, 10.0], 2)?, &y, &mut ())?;
        assert_eq!(learner.predict(Rows::new(&[1.0, 1.2, 1.2, 1.0], 2)?)?, [1, 0]);
        Ok(())
    }
}
