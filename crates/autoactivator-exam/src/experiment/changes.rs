//! What may a caller want otherwise than an experiment says? [`Changes`], which the command line and Python fill in.
//!
//! They hold for every learner of the experiment, even where an entrant says something else.

use std::marker::PhantomData;
use std::num::NonZeroUsize;

use autoactivator::{ConsolidationParams, ReactivationParams};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::contender::Contender;
use crate::kind::LearnerKind;
use crate::protocol::Protocol;
use crate::rival::RivalParams;
use crate::scenario::Scenario;
use crate::supply::Order;

/// Changes of an experiment, in the words of experiment files; what is not given stays as it is.
///
/// ```
/// use autoactivator_exam::experiment::{Changes, Experiment};
///
/// let mut experiment = Experiment::parse("seeds = 3\nlearners = ['reactivation']", &[])?;
/// let changes: Changes = serde_json::from_str(r#"{"tasks": "10/5", "reactivation": {"t_max": 7}}"#)?;
/// experiment.change(&changes)?;
/// assert_eq!((experiment.seeds, experiment.contenders[0].reactivation.t_max), (3, 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Changes {
    /// How classes become tasks.
    pub tasks: Option<Scenario>,
    /// One pass over all rows in random order; an experiment that is online stays so.
    pub online: bool,
    /// A stream without tasks, this many rows at a time.
    pub stream: Option<NonZeroUsize>,
    /// The order of classes.
    pub order: Option<Order>,
    /// How many times as many rows the first class has as the last one.
    pub imbalance: Option<f64>,
    /// Rows of each class after the first task.
    pub shots: Option<NonZeroUsize>,
    /// Only learners of these kinds; one that the experiment does not name gets the parameters of the file.
    pub learners: Vec<LearnerKind>,
    /// How rows are shown.
    pub protocols: Vec<Protocol>,
    /// Number of runs.
    pub seeds: Option<u64>,
    /// Seed of the first run.
    pub seed: u64,
    /// Parameters of reactivation.
    pub reactivation: Given<ReactivationParams>,
    /// Parameters of consolidation.
    pub consolidation: Given<ConsolidationParams>,
    /// Parameters of rivals.
    pub rivals: Given<RivalParams>,
}

impl Changes {
    /// Applies the parameters and the seed to a learner.
    pub(super) fn apply(&self, contender: &mut Contender) -> Result<(), serde_json::Error> {
        self.reactivation.apply(&mut contender.reactivation)?;
        self.consolidation.apply(&mut contender.consolidation)?;
        self.rivals.apply(&mut contender.rivals)?;
        contender.reactivation.seed = self.seed;
        contender.consolidation.seed = self.seed;
        Ok(())
    }
}

/// Some parameters of a learner, by name; those that are not given stay as they are.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>", bound = "P: DeserializeOwned")]
pub struct Given<P> {
    values: Map<String, Value>,
    of: PhantomData<P>,
}

impl<P> Default for Given<P> {
    fn default() -> Self {
        Self {
            values: Map::new(),
            of: PhantomData,
        }
    }
}

/// A parameter that does not exist or cannot be read is refused here.
impl<P: DeserializeOwned> TryFrom<Map<String, Value>> for Given<P> {
    type Error = serde_json::Error;

    fn try_from(values: Map<String, Value>) -> Result<Self, serde_json::Error> {
        P::deserialize(Value::Object(values.clone()))?;
        Ok(Self {
            values,
            of: PhantomData,
        })
    }
}

impl<P: Serialize + DeserializeOwned> Given<P> {
    fn apply(&self, params: &mut P) -> Result<(), serde_json::Error> {
        if self.values.is_empty() {
            return Ok(());
        }
        let mut all = serde_json::to_value(&*params)?;
        for (name, value) in &self.values {
            all[name] = value.clone();
        }
        *params = serde_json::from_value(all)?;
        Ok(())
    }
}
