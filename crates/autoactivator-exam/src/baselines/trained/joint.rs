//! What does the network reach when nothing has to be forgotten? Training anew on all rows of all tasks: the upper bound.

use autoactivator::Error;

use super::material::Material;
use super::network::Network;
use super::{Lesson, Rule, Trained, Training};

/// Trained anew on all rows seen so far.
pub type Joint = Trained<Everything>;

/// The rule of [`Joint`].
#[derive(Clone, Debug, Default)]
pub struct Everything {
    rows: Material,
}

impl Joint {
    /// With this training.
    pub fn new(training: Training) -> Self {
        Self::under(Everything::default(), training)
    }
}

impl Rule for Everything {
    const NAME: &'static str = "joint";
    const AFRESH: bool = true;

    fn begin(&mut self, _: &Network, lesson: &Lesson<'_>, _: usize) -> Result<Material, Error> {
        self.rows.append(&Material::of(lesson));
        Ok(self.rows.clone())
    }

    fn memory_floats(&self) -> usize {
        self.rows.n_floats()
    }
}
