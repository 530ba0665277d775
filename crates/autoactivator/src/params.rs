//! Hyper-parameters under the paper's names and symbols, checked once.
//!
//! A learner takes [`Checked`] parameters only, and the one way to get them is [`Check::check`]: a run with
//! parameters out of range does not compile into existence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::activation::Activation;
use crate::error::Error;
use crate::pool::PoolSpec;
use crate::rows::ImageShape;

/// Parameters that passed their check.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<P>(P);

impl<P> std::ops::Deref for Checked<P> {
    type Target = P;
    fn deref(&self) -> &P {
        &self.0
    }
}

impl<P> Checked<P> {
    /// Changes a parameter whose type has no values out of range.
    pub(crate) fn set(&mut self, change: impl FnOnce(&mut P)) {
        change(&mut self.0);
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
    /// *l*: nodes that join at a time. Paper: 10. From 1 to 10,000.
    pub step_size: usize,
    /// *T_max*: batches drawn at random for every join. Paper: 50. From 1 to 100,000.
    pub t_max: usize,
    /// *L_max(t)*: nodes at which a layer of a unit is finished. Paper: 200 on MNIST. From 1 to 100,000.
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
    /// Former layers of a unit, each grown on the outputs of the one before. From 1 to 16.
    pub layers: usize,
    /// Whether nodes of earlier units stand among the candidates.
    pub reuse: bool,
    /// Whether candidates are looked at on some rows first; the paper judges all of them on all rows.
    #[serde(skip_serializing_if = "is_true")]
    pub screening: bool,
    /// What to do with a class that an earlier task brought.
    pub repeated_classes: RepeatedClasses,
    /// Seed of everything random.
    pub seed: u64,
}

/// Screening is the rule: model files of before it could be switched off do not speak of it.
fn is_true(screening: &bool) -> bool {
    *screening
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
            screening: true,
            repeated_classes: RepeatedClasses::Refuse,
            seed: 0,
        }
    }
}

impl Check for ReactivationParams {
    fn problem(&self) -> Option<Error> {
        within("step_size", self.step_size, 10_000, "from 1 to 10,000")
            .or_else(|| within("t_max", self.t_max, 100_000, "from 1 to 100,000"))
            .or_else(|| within("l_max", self.l_max, 100_000, "from 1 to 100,000"))
            .or_else(|| within("patience", self.patience, usize::MAX, "at least 1"))
            .or_else(|| within("layers", self.layers, 16, "from 1 to 16"))
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

/// Parameters of consolidation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidationParams {
    /// What pool to make; none chooses convolution for images of 16 pixels and more, and otherwise the features
    /// themselves and random nodes on them.
    pub pool: Option<PoolSpec>,
    /// How the features of a row form an image, if they do.
    pub image: Option<ImageShape>,
    /// Nodes recruited from the pool at the most; when neither this nor `nodes_per_class` is given, the whole pool is
    /// read.
    pub max_nodes: Option<usize>,
    /// Nodes recruited for every class known: early tasks then leave room for later ones.
    pub nodes_per_class: Option<usize>,
    /// *r* of the supervisory mechanism. In (0, 1).
    pub r: f64,
    /// Part of the residual that a node must take away to be recruited. At least 0.
    pub expected_gain: f64,
    /// What the recruited nodes are read with.
    pub readout: ReadoutKind,
    /// Ridge constant relative to the mean diagonal of G; none chooses it by generalised cross-validation. At least 0.
    pub ridge: Option<f64>,
    /// Shrinkage of the shared covariance of linear discriminant analysis, relative to its mean diagonal. At least 0.
    pub shrinkage: f64,
    /// Precision of the products; sums are always in double precision.
    pub precision: Precision,
    /// What old evidence counts for when a new task arrives. In (0, 1]; 1 forgets nothing.
    pub fading: f64,
    /// What a row of a class counts for; 1 for classes that are not named. Each above 0.
    pub class_weights: BTreeMap<String, f64>,
    /// Seed of everything random.
    pub seed: u64,
}

/// What recruited nodes are read with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadoutKind {
    /// The paper's least squares, regularised.
    #[default]
    Ridge,
    /// Linear discriminant analysis.
    Lda,
    /// The class with the nearest mean.
    NearestMean,
}

/// Precision of products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single.
    #[default]
    F32,
    /// Double.
    F64,
}

impl Default for ConsolidationParams {
    fn default() -> Self {
        Self {
            pool: None,
            image: None,
            max_nodes: None,
            nodes_per_class: None,
            r: 0.9,
            expected_gain: 0.0,
            readout: ReadoutKind::Ridge,
            ridge: None,
            shrinkage: 1e-3,
            precision: Precision::F32,
            fading: 1.0,
            class_weights: BTreeMap::new(),
            seed: 0,
        }
    }
}

impl Check for ConsolidationParams {
    fn problem(&self) -> Option<Error> {
        let not_negative = |name, value: f64| {
            unless(
                value >= 0.0 && value.is_finite(),
                name,
                &value,
                "a finite number of at least 0",
            )
        };
        within("max_nodes", self.max_nodes.unwrap_or(1), usize::MAX, "at least 1")
            .or_else(|| {
                within(
                    "nodes_per_class",
                    self.nodes_per_class.unwrap_or(1),
                    usize::MAX,
                    "at least 1",
                )
            })
            .or_else(|| unless(self.r > 0.0 && self.r < 1.0, "r", &self.r, "above 0 and below 1"))
            .or_else(|| not_negative("expected_gain", self.expected_gain))
            .or_else(|| not_negative("ridge", self.ridge.unwrap_or(0.0)))
            .or_else(|| not_negative("shrinkage", self.shrinkage))
            .or_else(|| {
                let inside = self.fading > 0.0 && self.fading <= 1.0;
                unless(inside, "fading", &self.fading, "above 0 and at most 1")
            })
            .or_else(|| {
                let outside = self
                    .class_weights
                    .iter()
                    .find(|(_, w)| !(**w > 0.0 && w.is_finite()));
                let (name, weight) = outside?;
                unless(
                    false,
                    "class_weights",
                    &format!("{weight} for '{name}'"),
                    "finite numbers above 0",
                )
            })
    }
}

fn within(name: &'static str, value: usize, highest: usize, allowed: &'static str) -> Option<Error> {
    unless((1..=highest).contains(&value), name, &value, allowed)
}

fn unless(inside: bool, name: &'static str, value: &impl ToString, allowed: &'static str) -> Option<Error> {
    (!inside).then(|| Error::Parameter {
        name,
        value: value.to_string(),
        allowed,
    })
}
