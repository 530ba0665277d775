//! How much of replay is just the exemplars? GDumb trains anew on them, and on nothing else.
//!
//! Prabhu, Torr and Dokania, "GDumb: a simple approach that questions our progress in continual learning", ECCV 2020: a greedy
//! sampler keeps equally many rows of each class, and a network is trained from nothing on them.

use autoactivator::Error;

use super::exemplars::Exemplars;
use super::material::Material;
use super::network::Network;
use super::{Lesson, Rule, Trained, Training};

/// GDumb.
pub type Gdumb = Trained<OnlyExemplars>;

/// The rule of [`Gdumb`].
#[derive(Clone, Debug)]
pub struct OnlyExemplars {
    exemplars: Exemplars,
}

impl Gdumb {
    /// With this training and so many exemplars.
    pub fn new(training: Training, budget: usize) -> Self {
        let exemplars = Exemplars::new(budget, training.seed);
        Self::under(OnlyExemplars { exemplars }, training)
    }
}

impl Rule for OnlyExemplars {
    const NAME: &'static str = "gdumb";
    const AFRESH: bool = true;
    /// Its rows are few: with as many passes as the others it would hardly begin to learn.
    const PASSES: usize = 10;

    fn begin(&mut self, _: &Network, lesson: &Lesson<'_>, _: usize) -> Result<Material, Error> {
        self.exemplars.admit(lesson, &self.exemplars.any_order(lesson));
        Ok(self.exemplars.material())
    }

    fn memory_floats(&self) -> usize {
        self.exemplars.n_floats()
    }
}
