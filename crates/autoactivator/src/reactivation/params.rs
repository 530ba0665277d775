//! Parameters of the paper's learner, under the paper's names and symbols.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data::ImageShape;
use crate::error::Error;
use crate::params::{Check, unless, within};
use crate::pool::Activation;

/// Parameters of the paper's learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReactivationParams {
    /// *l*: number of nodes that join at a time. Paper: 10. From 1 to 10,000.
    pub step_size: usize,
    /// *T_max*: batches drawn at random for every join. Paper: 50. From 1 to 100,000.
    pub t_max: usize,
    /// *L_max(t)*: number of nodes at which a layer of a unit is finished. Paper: 200 on MNIST. From 1 to 100,000.
    pub l_max: usize,
    /// *R(t)*: training accuracy at which a unit is finished. Paper: 0.99 on MNIST. In (0, 1]; 1 asks for every row.
    pub expected_accuracy: f64,
    /// *r(t)*: fraction of the squared residual that may remain after a join; relaxed towards 1 when no batch
    /// passes. Paper: 0.9. In (0, 1).
    pub r: f64,
    /// *λ*: weights and biases are uniform in [-λ, λ]; the scopes are tried in order until a batch passes.
    /// Each above 0.
    pub scopes: Vec<f32>,
    /// *g*: the activation function.
    pub activation: Activation,
    /// Regularisation of the output weights, relative to the mean diagonal of AᵀA. At least 0.
    pub ridge: f64,
    /// Fraction of a task's rows kept to validate the residual. Paper: 0.1. In [0, 1); 0 switches validation off.
    pub validation: f64,
    /// Number of joins without a new lowest validation residual after which a unit is finished. At least 1.
    pub patience: usize,
    /// Number of former layers of a unit, each grown on the outputs of the one before. From 1 to 16.
    pub layers: usize,
    /// Whether nodes of earlier units are candidates, too.
    pub reuse: bool,
    /// Whether candidates are screened on some rows first; the paper judges all of them on all rows.
    #[serde(skip_serializing_if = "is_true")]
    pub screening: bool,
    /// How a class that an earlier task brought is treated.
    pub repeated_classes: RepeatedClasses,
    /// How a unit is woken.
    #[serde(skip_serializing_if = "is_default")]
    pub gate: GateKind,
    /// Number of nodes that all units look through with `gate = density`. From 1 to 10,000; times the number of
    /// features at most 33,554,432.
    #[serde(skip_serializing_if = "is_usual")]
    pub gate_nodes: usize,
    /// Number of random filters that all units read images through. From 0 to 1,024; 0 reads the features themselves.
    #[serde(skip_serializing_if = "is_zero")]
    pub filters: usize,
    /// How a row forms an image, for `filters`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageShape>,
    /// Seed of everything random.
    pub seed: u64,
}

/// Screening is the rule, and model files from before it could be switched off do not mention it.
fn is_true(screening: &bool) -> bool {
    *screening
}

/// Model files from before there was a choice do not mention the gate.
fn is_default(gate: &GateKind) -> bool {
    *gate == GateKind::default()
}

/// The number of nodes that units look through when none is given.
const GATE_NODES: usize = 200;

fn is_usual(nodes: &usize) -> bool {
    *nodes == GATE_NODES
}

fn is_zero(filters: &usize) -> bool {
    *filters == 0
}

/// How a unit is woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GateKind {
    /// By how near its certainty is to its threshold: the paper's, Eq. (threshold_dis).
    #[default]
    Threshold,
    /// By how likely the unit finds the rows: ours.
    Density,
}

/// How a class that an earlier task brought is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RepeatedClasses {
    /// Refuse the task.
    #[default]
    Refuse,
    /// Grow another unit for the class; at prediction the units compete.
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
            gate: GateKind::Threshold,
            gate_nodes: GATE_NODES,
            filters: 0,
            image: None,
            seed: 0,
        }
    }
}

impl ReactivationParams {
    /// All parameters as a JSON object, also those that a file leaves out as long as they have their defaults.
    pub fn described(&self) -> Value {
        let mut all = json!(self);
        all["screening"] = json!(self.screening);
        all["gate"] = json!(self.gate);
        all["gate_nodes"] = json!(self.gate_nodes);
        all["filters"] = json!(self.filters);
        all["image"] = json!(self.image);
        all
    }
}

impl Check for ReactivationParams {
    fn problem(&self) -> Option<Error> {
        within("step_size", self.step_size, 10_000, "from 1 to 10,000")
            .or_else(|| within("t_max", self.t_max, 100_000, "from 1 to 100,000"))
            .or_else(|| within("l_max", self.l_max, 100_000, "from 1 to 100,000"))
            .or_else(|| within("patience", self.patience, usize::MAX, "at least 1"))
            .or_else(|| within("gate_nodes", self.gate_nodes, 10_000, "from 1 to 10,000"))
            .or_else(|| {
                let few = self.filters <= 1024;
                unless(few, "filters", &self.filters, "from 0 to 1,024")
            })
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
                unless(inside, "ridge", &self.ridge, "finite and at least 0")
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
