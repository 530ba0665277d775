//! Can a network remember without old rows by what it says of new ones? Learning without forgetting.
//!
//! Li and Hoiem, "Learning without forgetting", ECCV 2016, with a single head: while a task is learned, the network before
//! it says what the scores of the old classes should be.

use autoactivator::Error;
use autoactivator::math::Random;

use super::loss;
use super::material::Material;
use super::network::{Gradient, Network, add};
use super::{Lesson, Rule, Trained, Training};

/// T: how much the answers of the old network are softened, as in the paper.
pub const TEMPERATURE: f32 = 2.0;

/// Learning without forgetting.
pub type Lwf = Trained<Distillation>;

/// The rule of [`Lwf`].
#[derive(Clone, Debug)]
pub struct Distillation {
    strength: f32,
    /// The network before the task, only while it is learned.
    before: Option<Network>,
}

impl Lwf {
    /// With this training; distillation counts `strength` times as much as the task.
    pub fn new(training: Training, strength: f32) -> Self {
        let rule = Distillation {
            strength,
            before: None,
        };
        Self::under(rule, training)
    }
}

impl Rule for Distillation {
    const NAME: &'static str = "lwf";

    fn begin(&mut self, network: &Network, lesson: &Lesson<'_>, known: usize) -> Result<Material, Error> {
        self.before = network.before(known);
        Ok(Material::of(lesson))
    }

    fn gradient(&mut self, network: &Network, batch: Material, _: &mut Random) -> Result<Gradient, Error> {
        let pass = network.pass(batch.x()?);
        let mut by_scores = loss::cross_entropy(&pass.scores, &batch.places);
        if let Some(before) = &self.before {
            let target = before.scores(batch.x()?);
            let old = loss::distillation(&pass.scores, &target, TEMPERATURE);
            add(&mut by_scores, self.strength, &old);
        }
        Ok(network.gradient(&pass, by_scores))
    }

    fn end(&mut self, _: &Network, _: &Lesson<'_>, _: usize) -> Result<(), Error> {
        self.before = None;
        Ok(())
    }
}
