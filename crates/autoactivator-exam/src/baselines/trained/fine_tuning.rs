//! What happens to a network when nothing is done against forgetting? Training on one task after the other: the lower bound.

use super::{Rule, Trained, Training};

/// Trained on one task after the other.
pub type FineTuning = Trained<Nothing>;

/// The rule of [`FineTuning`]: there is none.
#[derive(Clone, Debug)]
pub struct Nothing;

impl FineTuning {
    /// With this training.
    pub fn new(training: Training) -> Self {
        Self::under(Nothing, training)
    }
}

impl Rule for Nothing {
    const NAME: &'static str = "fine-tuning";
}
