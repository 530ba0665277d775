//! Hyper-parameters under the paper's names and symbols, checked once.
//!
//! A learner takes [`Checked`] parameters only, and the one way to get them is [`Check::check`]: a run with
//! parameters out of range does not compile into existence.

use serde::{Deserialize, Serialize};

use crate::activation::Activation;
use crate::error::Error;

/// Parameters that passed their check.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<P>(P);

impl<P> std::ops::Deref for Checked<P> {
    type Target = P;
    fn deref(&self) -> &P {
        &self.0
    }
}

/// Parameters that know their ranges.
pub trait Check: Sized {
    /// Names the first parameter out of range and what is allowed.
    fn problem(&self) -> Option<Error>;

    /// The parameters, fit for use.
    fn check(self) -> Result<Checked<Self>, Error> {
        match self.problem() {
            Some(error) => Err(error),
            None => Ok(Checked(self)),
        }
    }
}

/// Parameters of the paper's learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReactivationParams {
    /// *l*: nodes that join at a time. Paper: 10. At least 1.
    pub step_size: usize,
    /// *T_max*: batches drawn at random for every join. Paper: 50. At least 1.
    pub t_max: usize,
    /// *L_max(t)*: nodes at which a layer of a unit is finished. Paper: 200 on MNIST. At least 1.
    pub l_max: usize,
    /// *R(t)*: training accuracy at which a unit is finished. Paper: 0.99 on MNIST. In (0, 1]; 1 asks for every row.
    pub expected_accuracy: f64,
    /// *r(t)*: fraction of the squared residual that may remain after a join; relaxed towards 1 when no batch
    /// passes. Paper: 0.9. In (0, 1).
    pub r: f64,
    /// *λ*: weights and biases are uniform in [-λ, λ]; tried in this order until a batch passes. Each above 0.
    pub scopes: Vec<f32>,
    /// *g*: the activation function.
    pub activation: Activation,
    /// Regularisation of the output weights, relative to the mean diagonal of AᵀA. At least 0.
    pub ridge: f64,
    /// Fraction of a task's rows kept to watch the residual. Paper: 0.1. In [0, 1); 0 switches it off.
    pub validation: f64,
    /// Joins without a new lowest validation residual after which a unit is finished. At least 1.
    pub patience: usize,
    /// Former layers of a unit, each grown on the outputs of the one before. At least 1.
    pub layers: usize,
    /// Whether nodes of earlier units stand among the candidates.
    pub reuse: bool,
    /// What to do with a class that an earlier task brought.
    pub repeated_classes: RepeatedClasses,
    /// Seed of everything random.
    pub seed: u64,
}

/// What to do with a class that an earlier task brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RepeatedClasses {
    /// Refuse the task.
    #[default]
    Refuse,
    /// Grow another unit for it; at prediction the units compete.
    Accept,
}

impl Default for ReactivationParams {
    fn default() -> Self {
        Self {
            step_size: 10,
            t_max: 50,
            l_max: 200,
            expected_accuracy: 0.99,
            r: 0.9,
            scopes: vec![0.5],
            activation: Activation::Sigmoid,
            ridge: 1e-10,
            validation: 0.1,
            patience: 3,
            layers: 1,
            reuse: false,
            repeated_classes: RepeatedClasses::Refuse,
            seed: 0,
        }
    }
}

impl Check for ReactivationParams {
    fn problem(&self) -> Option<Error> {
        at_least_one("step_size", self.step_size)
            .or_else(|| at_least_one("t_max", self.t_max))
            .or_else(|| at_least_one("l_max", self.l_max))
            .or_else(|| at_least_one("patience", self.patience))
            .or_else(|| at_least_one("layers", self.layers))
            .or_else(|| {
                let inside = self.expected_accuracy > 0.0 && self.expected_accuracy <= 1.0;
                unless(
                    inside,
                    "expected_accuracy",
                    &self.expected_accuracy,
                    "above 0 and at most 1",
                )
            })
            .or_else(|| unless(self.r > 0.0 && self.r < 1.0, "r", &self.r, "above 0 and below 1"))
            .or_else(|| {
                let inside = self.ridge >= 0.0 && self.ridge.is_finite();
                unless(inside, "ridge", &self.ridge, "a finite number of at least 0")
            })
            .or_else(|| {
                let inside = (0.0..1.0).contains(&self.validation);
                unless(inside, "validation", &self.validation, "at least 0 and below 1")
            })
            .or_else(|| {
                let inside = !self.scopes.is_empty() && self.scopes.iter().all(|&s| s > 0.0 && s.is_finite());
                unless(
                    inside,
                    "scopes",
                    &format!("{:?}", self.scopes),
                    "one or more finite numbers above 0",
                )
            })
    }
}

fn at_least_one(name: &'static str, value: usize) -> Option<Error> {
    unless(value >= 1, name, &value, "at least 1")
}

fn unless(inside: bool, name: &'static str, value: &impl ToString, allowed: &'static str) -> Option<Error> {
    (!inside).then(|| Error::Parameter {
        name,
        value: value.to_string(),
        allowed,
    })
}
