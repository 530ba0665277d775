//! Hyper-parameters that know their ranges, checked once.
//!
//! A learner takes only [`Checked`] parameters, and [`Check::check`] is the one way to get them, so no run
//! can start with a parameter out of range. [`read`] takes parameters from JSON, as found in files, Python
//! calls and requests.
//!
//! ```
//! use autoactivator::{Check, ConsolidationParams, params};
//! use serde_json::json;
//!
//! let params: ConsolidationParams = params::read(&json!({ "seed": 7 }))?;
//! assert_eq!(params.check()?.seed, 7);
//! assert!(ConsolidationParams { r: 2.0, ..ConsolidationParams::default() }.check().is_err());
//! # Ok::<(), autoactivator::Error>(())
//! ```

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;

/// Parameters that have passed their check.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<P>(P);

impl<P> std::ops::Deref for Checked<P> {
    type Target = P;
    fn deref(&self) -> &P {
        &self.0
    }
}

impl<P> Checked<P> {
    /// Changes a parameter every value of which is in range.
    pub(crate) fn set(&mut self, change: impl FnOnce(&mut P)) {
        change(&mut self.0);
    }
}

/// Parameters that know their ranges.
pub trait Check: Sized {
    /// Returns an error for the first parameter out of range, with what is allowed; none when all are in range.
    fn problem(&self) -> Option<Error>;

    /// Checks the parameters, or refuses the first one out of range.
    fn check(self) -> Result<Checked<Self>, Error> {
        match self.problem() {
            Some(error) => Err(error),
            None => Ok(Checked(self)),
        }
    }
}

/// Reads parameters from a JSON object; those it does not name keep their defaults. A parameter that cannot
/// be read is refused by name.
pub fn read<P: DeserializeOwned + Default>(parameters: &Value) -> Result<P, Error> {
    let unreadable = |name: &str, value: &Value, reason: serde_json::Error| Error::Parameter {
        name: name.to_owned(),
        value: value.to_string(),
        allowed: reason.to_string(),
    };
    let Value::Object(named) = parameters else {
        return match parameters {
            Value::Null => Ok(P::default()),
            other => P::deserialize(other).map_err(|reason| unreadable("parameters", other, reason)),
        };
    };
    // One by one first: an error about all of them together would not say which one it means.
    for (name, value) in named {
        let alone = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        P::deserialize(&alone).map_err(|reason| unreadable(name, value, reason))?;
    }
    P::deserialize(parameters).map_err(|reason| unreadable("parameters", parameters, reason))
}

/// Precision in which products are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision.
    #[default]
    F32,
    /// Double precision.
    F64,
}

pub(crate) fn within(
    name: &'static str,
    value: usize,
    highest: usize,
    allowed: &'static str,
) -> Option<Error> {
    unless((1..=highest).contains(&value), name, &value, allowed)
}

pub(crate) fn unless(
    inside: bool,
    name: &'static str,
    value: &impl ToString,
    allowed: &'static str,
) -> Option<Error> {
    (!inside).then(|| Error::Parameter {
        name: name.to_owned(),
        value: value.to_string(),
        allowed: format!("must be {allowed}"),
    })
}
