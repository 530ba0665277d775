//! What any learned model can be asked and told; what a kind cannot do is refused here, once.

use std::fmt;

use serde_json::Value;

use super::explain::Explanation;
use super::task::Task;
use crate::consolidation::{Consolidation, Deployed};
use crate::data::{ImageShape, Labels, Rows};
use crate::error::Error;
use crate::format::Container;
use crate::learner::{Answer, Input, Learner, Origin};
use crate::math::Matrix;
use crate::reactivation::Reactivation;

/// What a kind of model can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Abilities {
    /// Whether the model can learn more.
    pub learns: bool,
    /// Whether the model can unlearn rows, drop classes and merge.
    pub unlearns: bool,
    /// Whether the model can answer "unknown", once it has learned enough to tell: see [`Learned::check_rejects`].
    pub rejects: bool,
}

impl Abilities {
    /// The abilities to learn, unlearn and reject.
    pub const fn new(learns: bool, unlearns: bool, rejects: bool) -> Self {
        Self {
            learns,
            unlearns,
            rejects,
        }
    }
}

/// A learner that can be kept in a file and served.
///
/// Besides [`Learner`], a kind must implement how it is packed and how it answers. Everything else has a
/// default that refuses the operation.
pub trait Learned: Learner + fmt::Debug + Send + Sync {
    /// Packs the model into tensors and JSON, under the name of its kind.
    fn pack(&self) -> Container;

    /// A copy of the model.
    fn boxed(&self) -> Box<dyn Learned>;

    /// What the model can do.
    fn abilities(&self) -> Abilities;

    /// Scores of every class, `(n_samples, n_classes)`, each row judged alone.
    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error>;

    /// Probability of every class, `(n_samples, n_classes)`, each row judged alone.
    fn probabilities(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error>;

    /// Class and probabilities of each row, judged alone. A model that rejects answers "unknown" for a row that is
    /// stranger than all but the `reject` fraction of known rows.
    fn answers(&self, x: Rows<'_>, reject: f64) -> Result<Vec<Answer>, Error>;

    /// Refuses a model that cannot answer "unknown", or not yet.
    fn check_rejects(&self) -> Result<(), Error> {
        if self.abilities().rejects {
            return Ok(());
        }
        Err(self.cannot("answer \"unknown\""))
    }

    /// How well known each row is: the share of known rows that are at least as strange. Near 0, a row looks like
    /// nothing that was learned.
    fn known(&self, _: Rows<'_>) -> Result<Vec<f32>, Error> {
        Err(self.cannot("say how well it knows a row"))
    }

    /// Why one row is answered as it is.
    fn explain(&self, row: &[f32], reject: f64) -> Result<Explanation, Error>;

    /// Renames a class.
    fn rename_class(&mut self, from: &str, to: &str) -> Result<(), Error>;

    /// What the rows are that the model takes.
    fn input(&self) -> &Input;

    /// Says what the rows are that the model takes.
    fn input_mut(&mut self) -> &mut Input;

    /// What computed the rows that the model takes, if that is recorded.
    fn origin(&self) -> Option<&Origin> {
        self.input().origin.as_ref()
    }

    /// Names of the features, in the order of a row; none if they have no names.
    fn features(&self) -> Option<&[String]> {
        self.input().features.as_deref()
    }

    /// The places of the classes when they are sorted, as in [`Input::sorted`].
    fn sorted(&self) -> Vec<usize> {
        self.input().sorted(self.classes())
    }

    /// Records the kind of labels that the classes are named after.
    fn set_labels(&mut self, kind: Option<String>) {
        self.input_mut().labels = kind;
    }

    /// Records what computes the rows that the model takes.
    fn set_origin(&mut self, origin: Option<Origin>) {
        self.input_mut().origin = origin;
    }

    /// The parameters as a JSON object; null for a kind without any.
    fn parameters(&self) -> Value {
        Value::Null
    }

    /// Requests a parameter value: accepted if the model has it already or the parameter may change; refused otherwise.
    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), Error> {
        refuse_change(&self.parameters(), name, value)
    }

    /// How the features of a row form an image, if a parameter says so.
    fn image(&self) -> Option<ImageShape> {
        None
    }

    /// What is unusual about the nodes that were chosen for the user, if anything.
    fn about_pool(&self) -> Option<String> {
        None
    }

    /// How the model grew, task by task, as far as it knows.
    fn tasks(&self) -> Vec<Task> {
        Vec::new()
    }

    /// How the model grew, as text for people.
    fn details(&self) -> String {
        String::new()
    }

    /// Whether a new model with the same parameters that learns this first task would begin as this one did.
    fn began_with(&self, _x: Rows<'_>, _y: &Labels) -> Result<bool, Error> {
        Ok(false)
    }

    /// The learner with the additive memory; refused for other kinds.
    fn consolidation(&self) -> Result<&Consolidation, Error> {
        Err(self.cannot("be changed like this"))
    }

    /// The learner with the additive memory, to be changed; refused for other kinds.
    fn consolidation_mut(&mut self) -> Result<&mut Consolidation, Error> {
        Err(self.cannot("be changed like this"))
    }

    /// The learner with units; refused for other kinds.
    fn reactivation(&self) -> Result<&Reactivation, Error> {
        Err(Error::FixedUnits {
            reason: format!("a {} model has no units", self.name()),
        })
    }

    /// Makes ready to learn a few rows at once; a model that has just been loaded may not be.
    fn warm_up(&self) {}

    /// Only what predicts, without the memory.
    fn deployed(&self) -> Result<&Deployed, Error> {
        Err(self.cannot("be deployed"))
    }

    /// Unlearns rows that were learned.
    fn unlearn(&mut self, _x: Rows<'_>, _y: &Labels) -> Result<(), Error> {
        Err(self.cannot("unlearn"))
    }

    /// Forgets a class.
    fn drop_class(&mut self, _name: &str) -> Result<(), Error> {
        Err(self.cannot("drop a class"))
    }

    /// Refuses a model that cannot be merged with this one.
    fn check_merge(&self, _other: &dyn Learned) -> Result<(), Error> {
        Err(self.cannot("be merged"))
    }

    /// Merges in what others have learned, with one solve; what all of them had learned from `base` counts once.
    fn merge(&mut self, _others: &[&dyn Learned], _base: Option<&dyn Learned>) -> Result<(), Error> {
        Err(self.cannot("be merged"))
    }

    /// The error for something that this kind cannot do.
    fn cannot(&self, what: &str) -> Error {
        Error::OnlyConsolidation {
            learner: self.name().to_owned(),
            what: what.to_owned(),
        }
    }
}

/// Refuses to change a parameter that has a different value.
pub(super) fn refuse_change(now: &Value, name: &str, asked: &Value) -> Result<(), Error> {
    let value = &now[name];
    if is_laid_over(value, asked) {
        return Ok(());
    }
    Err(Error::FixedParameter {
        name: name.to_owned(),
        value: value.to_string(),
    })
}

/// Whether a value stays the same when another one is laid over it.
fn is_laid_over(value: &Value, over: &Value) -> bool {
    match (value, over) {
        (Value::Object(value), Value::Object(over)) => over
            .iter()
            .all(|(key, over)| value.get(key).is_some_and(|value| is_laid_over(value, over))),
        _ => value == over,
    }
}
