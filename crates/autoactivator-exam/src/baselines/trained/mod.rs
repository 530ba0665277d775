//! What do learners reach that are trained by gradient descent? Rivals from the literature on one network, one optimiser and
//! one growing head; each is a [`Rule`], a short file that states only what differs.
//!
//! [`Trained`] is the training that they share: mini-batches, momentum, a step size that rises and then falls to zero along each
//! task.
//! `network` is what is trained, `loss` what it is trained for, `material` on which rows, `exemplars` which rows are kept,
//! `anchor` how weights are held.

mod anchor;
mod bic;
mod der;
mod ewc;
mod exemplars;
mod fine_tuning;
mod gdumb;
mod icarl;
mod il2m;
mod joint;
mod loss;
mod lwf;
mod mas;
mod material;
mod network;
mod owm;
mod replay;
mod si;

pub use bic::Bic;
pub use der::Der;
pub use ewc::Ewc;
pub use fine_tuning::FineTuning;
pub use gdumb::Gdumb;
pub use icarl::Icarl;
pub use il2m::Il2m;
pub use joint::Joint;
pub use lwf::Lwf;
pub use mas::Mas;
pub use owm::Owm;
pub use replay::Replay;
pub use si::Si;

use autoactivator::math::{Matrix, Random, Stream};
use autoactivator::{Error, Rows, Size};

use super::scored::{Baseline, Fit, Lesson};
use material::Material;
use network::{Gradient, Network};

/// How every rival is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Widths of the hidden layers; none is a linear head.
    pub hidden: Vec<usize>,
    /// Passes over the rows of a task.
    pub epochs: usize,
    /// Rows in each step.
    pub batch: usize,
    /// The largest step size of each task.
    pub learning_rate: f32,
    /// How much of a step the next one repeats.
    pub momentum: f32,
    /// Seed of the first weights and of the order of rows.
    pub seed: u64,
}

/// The part of a task's steps along which the step size rises.
const WARM_UP: f32 = 0.1;

/// The share of the largest step size that is taken at this part of a task, from 0 to 1.
///
/// A task begins with a large loss, since the scores of its classes are new and those of old classes are high: steps that are
/// large at once can silence a whole layer.
fn share_of_rate(done: f32) -> f32 {
    (done / WARM_UP).min((1.0 - done) / (1.0 - WARM_UP))
}

/// What a rival does differently from training on one task after the other.
pub trait Rule: Clone {
    /// The name in tables and on the command line.
    const NAME: &'static str;

    /// Whether the network forgets everything before each task.
    const AFRESH: bool = false;

    /// How many times as many passes over the rows it takes.
    const PASSES: usize = 1;

    /// The rows that the network is trained on, seen before the first step. `network` already has outputs for the classes of
    /// the task; `known` is the number of classes before it.
    fn begin(&mut self, _network: &Network, lesson: &Lesson<'_>, _known: usize) -> Result<Material, Error> {
        Ok(Material::of(lesson))
    }

    /// The direction in which the loss of a batch rises.
    fn gradient(
        &mut self,
        network: &Network,
        batch: Material,
        _random: &mut Random,
    ) -> Result<Gradient, Error> {
        cross_entropy(network, &batch)
    }

    /// Called after each step of the loss.
    fn stepped(&mut self, _step: &Gradient) {}

    /// Moves weights back to where they must stay, after a step of the loss of this length.
    fn hold(&self, _network: &mut Network, _length: f32) {}

    /// Called after the last step of a task.
    fn end(&mut self, _network: &Network, _lesson: &Lesson<'_>, _known: usize) -> Result<(), Error> {
        Ok(())
    }

    /// The score of each class.
    fn scores(&self, network: &Network, x: Rows<'_>) -> Matrix<f32> {
        network.scores(x)
    }

    /// Floats needed to predict, beside the network.
    fn model_floats(&self) -> usize {
        0
    }

    /// Floats kept only to go on learning.
    fn memory_floats(&self) -> usize {
        0
    }
}

/// A network trained under a rule.
#[derive(Clone, Debug)]
pub struct Trainee<R> {
    training: Training,
    rule: R,
    network: Option<Network>,
}

/// A rival that is trained.
pub type Trained<R> = Baseline<Trainee<R>>;

impl<R: Rule> Trained<R> {
    /// One that has seen nothing yet.
    fn under(rule: R, training: Training) -> Self {
        Self::around(Trainee {
            training,
            rule,
            network: None,
        })
    }
}

/// The gradient of the cross-entropy, which every rule begins with.
fn cross_entropy(network: &Network, batch: &Material) -> Result<Gradient, Error> {
    let pass = network.pass(batch.x()?);
    let by_scores = loss::cross_entropy(&pass.scores, &batch.places);
    Ok(network.gradient(&pass, by_scores))
}

impl<R: Rule> Fit for Trainee<R> {
    const NAME: &'static str = R::NAME;

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        let seed = self.training.seed;
        let known = self.network.as_ref().map_or(0, Network::n_classes);
        let before = self.network.take().filter(|_| !R::AFRESH);
        let anew = || Network::new(lesson.x.n_features(), &self.training.hidden, seed);
        let mut network = before.unwrap_or_else(anew);
        network.grow(lesson.n_classes, seed);
        let material = self.rule.begin(&network, lesson, known)?;
        self.train(&mut network, &material, lesson)?;
        self.rule.end(&network, lesson, known)?;
        self.network = Some(network);
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        let network = self.network.as_ref().ok_or(Error::NothingLearned)?;
        Ok(self.rule.scores(network, x))
    }

    fn size(&self) -> Size {
        let network = self.network.as_ref();
        let floats = network.map_or(0, Network::n_floats) + self.rule.model_floats();
        Size {
            nodes: network.map_or(0, Network::n_nodes),
            model_floats: floats,
            memory_floats: self.rule.memory_floats(),
            multiply_adds: floats,
        }
    }
}

impl<R: Rule> Trainee<R> {
    fn train(
        &mut self,
        network: &mut Network,
        material: &Material,
        lesson: &Lesson<'_>,
    ) -> Result<(), Error> {
        let Training {
            epochs,
            batch,
            momentum,
            seed,
            ..
        } = self.training;
        let mut random = Random::new(seed, Stream::Validation { task: lesson.task });
        let mut order: Vec<usize> = (0..material.len()).collect();
        let epochs = epochs * R::PASSES;
        let n_steps = epochs * order.len().div_ceil(batch);
        let mut velocity = network.zeros();
        let mut steps = 0;
        for _ in 0..epochs {
            random.shuffle(&mut order);
            for rows in order.chunks(batch) {
                lesson.go_on()?;
                let gradient = self.rule.gradient(network, material.gather(rows), &mut random)?;
                let done = (steps as f32 + 0.5) / n_steps as f32;
                let rate = self.training.learning_rate * share_of_rate(done);
                for (v, g) in velocity.iter_mut().zip(&gradient) {
                    let pairs = v.values_mut().iter_mut().zip(g.values());
                    pairs.for_each(|(v, &g)| *v = momentum * *v - rate * g);
                }
                network.step(&velocity);
                self.rule.stepped(&velocity);
                // With momentum, a gradient moves weights so much in the end.
                self.rule.hold(network, rate / (1.0 - momentum));
                steps += 1;
            }
            self.check(network)?;
        }
        Ok(())
    }

    /// Steps that are too long lead to infinity.
    fn check(&self, network: &Network) -> Result<(), Error> {
        if network.is_finite() {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "learning_rate".to_owned(),
            value: self.training.learning_rate.to_string(),
            allowed: "the weights are no longer finite: lower it, or `strength`, or scale the features"
                .to_owned(),
        })
    }
}
