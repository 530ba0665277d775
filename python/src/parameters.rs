//! Parameters from Python: JSON with the keys of experiment files.

use std::fmt;

use autoactivator::ImageShape;
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::raise;

/// A parameter that cannot be read.
#[derive(Debug)]
struct Parameter {
    name: String,
    value: Value,
    reason: serde_json::Error,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, reason } = self;
        write!(f, "parameter `{name}` is {value}: {reason}")
    }
}

/// Reads an object with a value for each parameter. An error names the parameter that cannot be read.
pub fn read<P: DeserializeOwned>(py: Python<'_>, text: &str) -> PyResult<P> {
    let unreadable = |name: &str, value: &Value, reason| {
        let (name, value) = (name.to_owned(), value.clone());
        raise(py, &Parameter { name, value, reason })
    };
    let whole = |reason| unreadable("parameters", &json!(text), reason);
    let mut all: Value = serde_json::from_str(text).map_err(whole)?;
    spell_out_image(py, &mut all)?;
    for (name, value) in all.as_object().into_iter().flatten() {
        let alone = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
        serde_json::from_value::<P>(alone).map_err(|reason| unreadable(name, value, reason))?;
    }
    serde_json::from_value(all).map_err(whole)
}

/// Turns an image shape such as `28x28`, as on the command line, into its parts, also inside an experiment.
fn spell_out_image(py: Python<'_>, parameters: &mut Value) -> PyResult<()> {
    for learner in ["consolidation", "reactivation"] {
        if let Some(nested) = parameters.get_mut(learner) {
            spell_out_image(py, nested)?;
        }
    }
    if let Some(image) = parameters.get_mut("image")
        && let Some(text) = image.as_str()
    {
        *image = json!(text.parse::<ImageShape>().map_err(|e| raise(py, &e))?);
    }
    Ok(())
}
