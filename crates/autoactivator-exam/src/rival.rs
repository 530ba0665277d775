//! With what settings do rivals take part? [`RivalParams`], shared by all of them; each reads what it has a use for.
//!
//! `make` makes a rival of a [`LearnerKind`], and `used` is what the record says about it.
//!
//! ```
//! use autoactivator_exam::experiment::Experiment;
//!
//! let text = "learners = ['ewc', 'er']\n[rivals]\nepochs = 2\nexemplars = 500";
//! let contender = &Experiment::parse(text, &[])?.contenders[1];
//! assert_eq!((contender.rivals.epochs, contender.rivals.exemplars), (2, 500));
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use autoactivator::{Check, Checked, Error, ImageShape, Learner};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::baselines::closed::{Acil, FeCam, Klda, NearestNeighbours, RanPac, SimpleCil, UnitMean};
use crate::baselines::trained::{
    Bic, Der, Ewc, FineTuning, Gdumb, Icarl, Il2m, Joint, Lwf, Mas, Owm, Replay, Si, Training,
};
use crate::kind::LearnerKind;

/// Hidden layers of networks on images: those of the paper.
const ON_IMAGES: [usize; 2] = [400, 400];

/// Parameters of all rivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RivalParams {
    /// Widths of a network's hidden layers; 0 is a linear head. If none is given, 400 and 400 on images, as in the paper, and a
    /// linear head on other rows.
    pub hidden: Option<Vec<usize>>,
    /// Passes over the rows of a task (default 3).
    pub epochs: usize,
    /// Rows in each step (default 64).
    pub batch: usize,
    /// Largest step size of a task: it is reached after a tenth of the steps, and then falls to zero (default 0.1).
    pub learning_rate: f64,
    /// How much of a step the next one repeats (default 0.9).
    pub momentum: f64,
    /// Rows that rivals with replay may keep (default 2,000).
    pub exemplars: usize,
    /// How strongly a rival keeps what it knows: λ of EWC and MAS, c of SI, the weight of distillation for LwF, α of OWM and
    /// DER++. If none is given, [`LearnerKind::strength`].
    pub strength: Option<f64>,
    /// Nodes of RanPAC, ACIL and KLDA. If none is given, [`LearnerKind::random_nodes`].
    pub random_nodes: Option<usize>,
    /// k of the nearest neighbours (default 5).
    pub neighbours: usize,
}

impl Default for RivalParams {
    fn default() -> Self {
        Self {
            hidden: None,
            epochs: 3,
            batch: 64,
            learning_rate: 0.1,
            momentum: 0.9,
            exemplars: 2000,
            strength: None,
            random_nodes: None,
            neighbours: 5,
        }
    }
}

impl Check for RivalParams {
    fn problem(&self) -> Option<Error> {
        let hidden = self.hidden.as_deref().unwrap_or_default();
        let widest = hidden.iter().copied().max().unwrap_or(0);
        within("hidden", widest, 0..=100_000)
            .or_else(|| within("epochs", self.epochs, 1..=100_000))
            .or_else(|| within("batch", self.batch, 1..=1_000_000))
            .or_else(|| within("exemplars", self.exemplars, 1..=100_000_000))
            .or_else(|| within("random_nodes", self.random_nodes.unwrap_or(1), 1..=30_000))
            .or_else(|| within("neighbours", self.neighbours, 1..=1_000_000))
            .or_else(|| above_zero("learning_rate", self.learning_rate))
            .or_else(|| above_zero("strength", self.strength.unwrap_or(1.0)))
            .or_else(|| {
                let inside = (0.0..1.0).contains(&self.momentum);
                (!inside).then(|| problem("momentum", &self.momentum, "must be at least 0 and below 1"))
            })
    }
}

fn within(name: &str, value: usize, allowed: std::ops::RangeInclusive<usize>) -> Option<Error> {
    let said = format!("must be from {} to {}", allowed.start(), allowed.end());
    (!allowed.contains(&value)).then(|| problem(name, &value, &said))
}

fn above_zero(name: &str, value: f64) -> Option<Error> {
    let inside = value > 0.0 && value.is_finite();
    (!inside).then(|| problem(name, &value, "must be above 0"))
}

fn problem(name: &str, value: &impl ToString, allowed: &str) -> Error {
    Error::Parameter {
        name: name.to_owned(),
        value: value.to_string(),
        allowed: allowed.to_owned(),
    }
}

impl RivalParams {
    /// Widths of the hidden layers on rows that are images, or not.
    fn hidden(&self, image: Option<ImageShape>) -> Vec<usize> {
        let by_rows = || match image {
            Some(_) => ON_IMAGES.to_vec(),
            None => Vec::new(),
        };
        let widths = self.hidden.clone().unwrap_or_else(by_rows);
        widths.into_iter().filter(|&width| width > 0).collect()
    }

    fn strength(&self, kind: LearnerKind) -> f64 {
        self.strength.or(kind.strength()).unwrap_or(1.0)
    }

    fn random_nodes(&self, kind: LearnerKind) -> usize {
        self.random_nodes.or(kind.random_nodes()).unwrap_or(1)
    }
}

/// The parameters that a kind of rival reads, for the record.
pub(crate) fn used(kind: LearnerKind, params: &RivalParams, image: Option<ImageShape>) -> Value {
    let mut used = json!({});
    if kind.is_trained() {
        used = json!({
            "hidden": params.hidden(image),
            "epochs": params.epochs,
            "batch": params.batch,
            "learning_rate": params.learning_rate,
            "momentum": params.momentum,
        });
    }
    if kind.keeps_exemplars() {
        used["exemplars"] = json!(params.exemplars);
    }
    if kind.strength().is_some() {
        used["strength"] = json!(params.strength(kind));
    }
    if kind.random_nodes().is_some() {
        used["random_nodes"] = json!(params.random_nodes(kind));
    }
    if kind == LearnerKind::NearestNeighbours {
        used["neighbours"] = json!(params.neighbours);
    }
    used
}

/// Makes a rival that has seen nothing yet; none if the kind is no rival.
pub(crate) fn make(
    kind: LearnerKind,
    params: &Checked<RivalParams>,
    image: Option<ImageShape>,
    seed: u64,
) -> Option<Box<dyn Learner>> {
    let training = Training {
        hidden: params.hidden(image),
        epochs: params.epochs,
        batch: params.batch,
        learning_rate: params.learning_rate as f32,
        momentum: params.momentum as f32,
        seed,
    };
    let strength = params.strength(kind);
    let (budget, nodes) = (params.exemplars, params.random_nodes(kind));
    Some(match kind {
        LearnerKind::UnitMean => Box::new(UnitMean::default()),
        LearnerKind::SimpleCil => Box::new(SimpleCil::default()),
        LearnerKind::NearestNeighbours => Box::new(NearestNeighbours::new(params.neighbours)),
        LearnerKind::FeCam => Box::new(FeCam::default()),
        LearnerKind::Klda => Box::new(Klda::new(nodes, seed)),
        LearnerKind::Acil => Box::new(Acil::new(nodes, seed)),
        LearnerKind::RanPac => Box::new(RanPac::new(nodes, seed)),
        LearnerKind::FineTuning => Box::new(FineTuning::new(training)),
        LearnerKind::Joint => Box::new(Joint::new(training)),
        LearnerKind::Ewc => Box::new(Ewc::new(training, strength as f32)),
        LearnerKind::Si => Box::new(Si::new(training, strength as f32)),
        LearnerKind::Mas => Box::new(Mas::new(training, strength as f32)),
        LearnerKind::Lwf => Box::new(Lwf::new(training, strength as f32)),
        LearnerKind::Owm => Box::new(Owm::new(training, strength)),
        LearnerKind::Replay => Box::new(Replay::new(training, budget)),
        LearnerKind::Der => Box::new(Der::new(training, strength as f32, budget)),
        LearnerKind::Gdumb => Box::new(Gdumb::new(training, budget)),
        LearnerKind::Icarl => Box::new(Icarl::new(training, budget)),
        LearnerKind::Bic => Box::new(Bic::new(training, budget)),
        LearnerKind::Il2m => Box::new(Il2m::new(training, budget)),
        _ => return None,
    })
}
