//! Does it help to see a few old rows again? Experience replay: every batch is joined by as many exemplars.
//!
//! Chaudhry et al., "On tiny episodic memories in continual learning", 2019, with equally many exemplars of each class, chosen at
//! random.

use autoactivator::Error;
use autoactivator::math::Random;

use super::exemplars::Exemplars;
use super::material::Material;
use super::network::{Gradient, Network};
use super::{Lesson, Rule, Trained, Training, cross_entropy};

/// Experience replay.
pub type Replay = Trained<Rehearsal>;

/// The rule of [`Replay`].
#[derive(Clone, Debug)]
pub struct Rehearsal {
    exemplars: Exemplars,
}

impl Replay {
    /// With this training and so many exemplars.
    pub fn new(training: Training, budget: usize) -> Self {
        let exemplars = Exemplars::new(budget, training.seed);
        Self::under(Rehearsal { exemplars }, training)
    }
}

impl Rule for Rehearsal {
    const NAME: &'static str = "er";

    fn gradient(
        &mut self,
        network: &Network,
        batch: Material,
        random: &mut Random,
    ) -> Result<Gradient, Error> {
        let again = self.exemplars.draw(batch.len(), random);
        cross_entropy(network, &batch.with(&again))
    }

    fn end(&mut self, _: &Network, lesson: &Lesson<'_>, _: usize) -> Result<(), Error> {
        self.exemplars.admit(lesson, &self.exemplars.any_order(lesson));
        Ok(())
    }

    fn memory_floats(&self) -> usize {
        self.exemplars.n_floats()
    }
}
