//! How do learners that take rows as they are cope with features of any size? Features are made comparable first.
//!
//! [`PreparedLearner`] wraps a learner; what it knows about the features, it learned from the first task alone.
//!
//! ```
//! use autoactivator::pool::Preparation;
//! use autoactivator::{Labels, Learner, Rows};
//! use autoactivator_exam::baselines::NearestMean;
//! use autoactivator_exam::prepared::PreparedLearner;
//!
//! let mut learner = PreparedLearner::new(Preparation::Standardise, Box::new(NearestMean::default()));
//! // The first feature is large and says nothing, the second one tells the classes apart.
//! let x = [1000.0, 1.0, -1000.0, 1.0, 1000.0, -1.0, -1000.0, -1.0];
//! learner.learn(Rows::new(&x, 2)?, &Labels::from_names(["up", "up", "down", "down"]), &mut ())?;
//! assert_eq!(learner.predict(Rows::new(&[-900.0, 0.8], 2)?)?, [0]);
//! # Ok::<(), autoactivator::Error>(())
//! ```

use autoactivator::pool::{Preparation, Prepared};
use autoactivator::{Error, Labels, Learner, Observer, Rows, Size, Table, check_task};
use serde_json::Value;

/// A learner behind a preparation of its features.
pub struct PreparedLearner {
    preparation: Preparation,
    prepared: Option<Prepared>,
    learner: Box<dyn Learner>,
}

impl PreparedLearner {
    /// Wraps a learner that has seen nothing yet.
    pub fn new(preparation: Preparation, learner: Box<dyn Learner>) -> Self {
        Self {
            preparation,
            prepared: None,
            learner,
        }
    }

    /// The rows as the learner is shown them; none when they are shown as they are.
    fn table(&self, x: Rows<'_>) -> Option<Table> {
        // Rows of another width are refused by the learner, in its own words.
        let expected = self.learner.n_features() == Some(x.n_features());
        self.prepared.as_ref().filter(|_| expected)?.apply(x)
    }
}

impl Learner for PreparedLearner {
    fn name(&self) -> &'static str {
        self.learner.name()
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error> {
        check_task(x, y, self.learner.n_features(), 1)?;
        let prepared = match &self.prepared {
            Some(prepared) => prepared.clone(),
            None => Prepared::learn(self.preparation, x),
        };
        let table = prepared.apply(x);
        self.learner
            .learn(table.as_ref().map_or(x, Table::rows), y, observer)?;
        self.prepared = Some(prepared);
        Ok(())
    }

    fn classes(&self) -> &[String] {
        self.learner.classes()
    }

    fn n_features(&self) -> Option<usize> {
        self.learner.n_features()
    }

    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        self.learner
            .predict(self.table(x).as_ref().map_or(x, Table::rows))
    }

    fn predict_with_probability(&self, x: Rows<'_>) -> Result<(Vec<u32>, Option<Vec<f32>>), Error> {
        self.learner
            .predict_with_probability(self.table(x).as_ref().map_or(x, Table::rows))
    }

    fn predict_group(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        self.learner
            .predict_group(self.table(x).as_ref().map_or(x, Table::rows))
    }

    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        self.learner
            .predict_among(self.table(x).as_ref().map_or(x, Table::rows), among)
    }

    fn size(&self) -> Size {
        let mut size = self.learner.size();
        size.model_floats += self.prepared.as_ref().map_or(0, Prepared::n_floats);
        size
    }

    fn growth(&self) -> Vec<Value> {
        self.learner.growth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::NearestMean;

    #[test]
    fn features_of_any_scale_come_to_the_same() {
        // The second feature tells the classes apart, the first is a thousand times as large and tells nothing.
        let x = [1000.0, 1.0, -1000.0, 1.0, 1000.0, -1.0, -1000.0, -1.0];
        let y = Labels::from_names(["up", "up", "down", "down"]);
        let mut learner = PreparedLearner::new(Preparation::Standardise, Box::new(NearestMean::default()));
        learner.learn(Rows::new(&x, 2).unwrap(), &y, &mut ()).unwrap();
        let asked = Rows::new(&[700.0, 0.9, -900.0, -0.9], 2).unwrap();
        assert_eq!(learner.predict(asked).unwrap(), [0, 1]);
        assert_eq!(learner.predict_among(asked, &[1]).unwrap(), [1, 1]);
        let bare = NearestMean::default().size().model_floats;
        assert!(
            learner.size().model_floats >= bare + 4,
            "means and deviations count"
        );
    }

    #[test]
    fn rows_of_another_width_are_refused() {
        let mut learner = PreparedLearner::new(Preparation::Standardise, Box::new(NearestMean::default()));
        assert!(learner.predict(Rows::new(&[1.0], 1).unwrap()).is_err());
        let y = Labels::from_names(["a", "b"]);
        learner
            .learn(Rows::new(&[0.0, 1.0, 1.0, 0.0], 2).unwrap(), &y, &mut ())
            .unwrap();
        assert!(learner.predict(Rows::new(&[1.0, 2.0, 3.0], 3).unwrap()).is_err());
    }
}
