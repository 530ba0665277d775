//! What is each equation of the paper's waking for? Reactivation with a part of it taken out.
//!
//! [`Ablated`] grows the same units as [`Reactivation`] and only answers differently.
//!
//! ```
//! use autoactivator::{Check, Labels, Learner, Reactivation, ReactivationParams, Rows};
//! use autoactivator_exam::ablation::{Ablated, Waking};
//!
//! let params = ReactivationParams { validation: 0.0, ..ReactivationParams::default() };
//! let mut learner = Ablated::new(Reactivation::new(params.check()?), Waking::HighestOutput);
//! let y = Labels::from_names(["low", "low", "high", "high"]);
//! learner.learn(Rows::new(&[0.0, 0.2, 0.9, 1.0], 1)?, &y, &mut ())?;
//! assert_eq!(learner.predict(Rows::new(&[0.1, 0.95], 1)?)?, [0, 1]);
//! # Ok::<(), autoactivator::Error>(())
//! ```

use autoactivator::math::{Matrix, argmax};
use autoactivator::reactivation::{confidence, threshold};
use autoactivator::{Error, Labels, Learner, Observer, Reactivation, Rows, Size, check_rows};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a unit is chosen when not by the distance to its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Waking {
    /// Without Eq. (threshold_t) and Eq. (threshold_dis): for each row, the unit with the highest output.
    HighestOutput,
    /// With Eq. (threshold_t) alone: the unit that is surest of the group, however sure it was of its own rows.
    HighestConfidence,
}

/// Reactivation that wakes its units another way.
pub struct Ablated {
    learner: Reactivation,
    waking: Waking,
}

impl Ablated {
    /// Wraps a learner that has seen nothing yet.
    pub fn new(learner: Reactivation, waking: Waking) -> Self {
        Self { learner, waking }
    }

    fn outputs(&self, x: Rows<'_>) -> Vec<Matrix<f32>> {
        let units = self.learner.units();
        units.iter().map(|unit| unit.outputs(x.into(), units)).collect()
    }

    /// The unit with the greatest strength.
    fn awake(outputs: &[Matrix<f32>], strength: impl Fn(&Matrix<f32>) -> f64) -> usize {
        let strengths = outputs.iter().map(strength).enumerate();
        let strongest = strengths.max_by(|a, b| a.1.total_cmp(&b.1));
        strongest.map_or(0, |(unit, _)| unit)
    }

    /// What a unit answers for row `i`.
    fn answer(&self, outputs: &[Matrix<f32>], unit: usize, i: usize) -> u32 {
        self.learner.units()[unit].classes[argmax(&outputs[unit], i)]
    }
}

impl Learner for Ablated {
    fn name(&self) -> &'static str {
        self.learner.name()
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error> {
        self.learner.learn(x, y, observer)
    }

    fn classes(&self) -> &[String] {
        self.learner.classes()
    }

    fn n_features(&self) -> Option<usize> {
        self.learner.n_features()
    }

    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        check_rows(x, self.n_features().ok_or(Error::NothingLearned)?)?;
        let outputs = self.outputs(x);
        let strength = |outputs: &Matrix<f32>, i: usize| match self.waking {
            Waking::HighestOutput => f64::from(outputs[(i, argmax(outputs, i))]),
            Waking::HighestConfidence => confidence(outputs, i),
        };
        let awake = |i| Self::awake(&outputs, |outputs| strength(outputs, i));
        Ok((0..x.len()).map(|i| self.answer(&outputs, awake(i), i)).collect())
    }

    fn predict_group(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        if self.waking == Waking::HighestOutput {
            return self.predict(x);
        }
        check_rows(x, self.n_features().ok_or(Error::NothingLearned)?)?;
        let outputs = self.outputs(x);
        let awake = Self::awake(&outputs, threshold);
        Ok((0..x.len()).map(|i| self.answer(&outputs, awake, i)).collect())
    }

    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        self.learner.predict_among(x, among)
    }

    fn size(&self) -> Size {
        self.learner.size()
    }

    fn growth(&self) -> Vec<Value> {
        self.learner.growth()
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::{Check, ReactivationParams};

    use super::*;

    /// Two tasks of two classes on a line.
    fn learned(waking: Waking) -> Ablated {
        let params = ReactivationParams {
            validation: 0.0,
            ..ReactivationParams::default()
        };
        let mut learner = Ablated::new(Reactivation::new(params.check().unwrap()), waking);
        for (names, start) in [(["a", "b"], 0.0), (["c", "d"], 2.0)] {
            let x: Vec<f32> = (0..40)
                .map(|i| start + (i % 2) as f32 + 0.001 * i as f32)
                .collect();
            let y = Labels::from_names((0..40).map(|i| names[i % 2]));
            learner.learn(Rows::new(&x, 1).unwrap(), &y, &mut ()).unwrap();
        }
        learner
    }

    #[test]
    fn a_group_is_answered_by_one_unit_unless_rows_stand_alone() {
        let x = [0.0, 1.0, 2.0, 3.0];
        let x = Rows::new(&x, 1).unwrap();
        let units = |answers: Vec<u32>| answers.iter().map(|class| class / 2).collect::<Vec<_>>();
        let group = units(learned(Waking::HighestConfidence).predict_group(x).unwrap());
        assert!(group.iter().all(|unit| *unit == group[0]), "{group:?}");
        let alone = learned(Waking::HighestOutput);
        assert_eq!(alone.predict_group(x).unwrap(), alone.predict(x).unwrap());
    }

    #[test]
    fn the_task_may_be_told_and_rows_are_checked() {
        let learner = learned(Waking::HighestOutput);
        let x = Rows::new(&[0.0, 1.0], 1).unwrap();
        assert_eq!(learner.predict_among(x, &[0, 1]).unwrap(), [0, 1]);
        let wide = Rows::new(&[0.0, 1.0], 2).unwrap();
        assert!(learner.predict(wide).is_err() && learner.predict_group(wide).is_err());
    }
}
