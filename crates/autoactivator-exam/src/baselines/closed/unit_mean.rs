//! Does a nearest mean gain from rows of one length? Nearest class mean of rows that are divided by their length.
//!
//! Length says little about the class of a row from most backbones, and much about its distance.

use autoactivator::math::Matrix;
use autoactivator::{Error, Rows, Size};

use super::super::nearest_mean::Means;
use super::super::scored::{Baseline, Fit, Lesson};
use super::unit_rows;

/// Nearest class mean of rows of length 1.
pub type UnitMean = Baseline<UnitMeans>;

/// Fits the scores of [`UnitMean`].
#[derive(Clone, Debug, Default)]
pub struct UnitMeans {
    means: Means,
}

impl Fit for UnitMeans {
    const NAME: &'static str = "unit-mean";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        let rows = unit_rows(lesson.x)?;
        self.means.fit(&lesson.with(rows.rows()))
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        self.means.scores(unit_rows(x)?.rows())
    }

    fn size(&self) -> Size {
        self.means.size()
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::{Labels, Learner};

    use super::*;

    /// The directions of (1, 0) and (0, 1) have means (1, 0) and (0, 1), however long the rows are.
    #[test]
    fn length_does_not_count() -> Result<(), Error> {
        let mut learner = UnitMean::default();
        let y = Labels::from_names(["right", "right", "up"]);
        learner.learn(Rows::new(&[100.0, 0.0, 1.0, 0.0, 0.0, 1.0], 2)?, &y, &mut ())?;
        assert_eq!(
            learner.predict(Rows::new(&[9.0, 8.0, 0.2, 0.3, 0.0, 0.0], 2)?)?,
            [0, 1, 0]
        );
        Ok(())
    }
}
