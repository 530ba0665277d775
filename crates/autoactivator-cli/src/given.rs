//! The options that were given, and only those, as JSON under the names of the parameters.
//!
//! [`reactivation`], [`consolidation`] and [`rivals`] turn the arguments into such an object; [`laid_over`] overrides a set of
//! parameters with it.

use std::fmt::Debug;

use anyhow::{Result, bail};
use autoactivator::params::read;
use autoactivator::pool::PoolSpec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::args::{ConsolidationArgs, ModelKind, NewModelArgs, ReactivationArgs, RivalArgs, SharedArgs};

/// Parameters that were given, by name.
pub type Given = Map<String, Value>;

/// The options given for a model of this kind.
pub fn new_model(args: &NewModelArgs, kind: ModelKind) -> Result<Given> {
    let mut given = match kind {
        ModelKind::Reactivation => reactivation(&args.reactivation, &args.shared)?,
        ModelKind::Consolidation => consolidation(&args.consolidation, &args.shared)?,
    };
    put(&mut given, "seed", args.seed)?;
    Ok(given)
}

/// Parameters of the paper's learner.
pub fn reactivation(args: &ReactivationArgs, shared: &SharedArgs) -> Result<Given> {
    let mut given = Given::new();
    put(&mut given, "step_size", args.step_size)?;
    put(&mut given, "t_max", args.t_max)?;
    put(&mut given, "l_max", args.l_max)?;
    put(&mut given, "expected_accuracy", args.expected_accuracy)?;
    put(&mut given, "r", shared.r)?;
    put(&mut given, "scopes", args.scopes.as_ref())?;
    put(&mut given, "activation", args.activation)?;
    put(&mut given, "ridge", shared.ridge)?;
    put(&mut given, "validation", args.validation)?;
    put(&mut given, "patience", args.patience)?;
    put(&mut given, "layers", args.layers)?;
    put(&mut given, "reuse", args.reuse.then_some(true))?;
    put(&mut given, "screening", args.no_screening.then_some(false))?;
    put(&mut given, "gate", args.gate)?;
    put(&mut given, "gate_nodes", args.gate_nodes)?;
    put(&mut given, "filters", args.filters)?;
    put(&mut given, "image", shared.image)?;
    put(&mut given, "repeated_classes", args.repeated_classes)?;
    Ok(given)
}

/// Parameters of consolidation.
pub fn consolidation(args: &ConsolidationArgs, shared: &SharedArgs) -> Result<Given> {
    let mut weights = Given::new();
    for (class, weight) in &args.class_weight {
        put(&mut weights, class, Some(weight))?;
    }
    let mut given = Given::new();
    put(&mut given, "pool", pool(args))?;
    put(&mut given, "image", shared.image)?;
    put(&mut given, "max_nodes", args.max_nodes)?;
    put(&mut given, "nodes_per_class", args.nodes_per_class)?;
    put(&mut given, "r", shared.r)?;
    put(&mut given, "expected_gain", args.expected_gain)?;
    put(&mut given, "nodes", args.nodes)?;
    put(&mut given, "readout", args.readout)?;
    put(&mut given, "prior", args.prior)?;
    put(&mut given, "witnesses", args.witnesses)?;
    put(&mut given, "ridge", shared.ridge)?;
    put(&mut given, "shrinkage", args.shrinkage)?;
    put(&mut given, "precision", args.precision)?;
    put(&mut given, "fading", args.fading)?;
    put(&mut given, "private", args.private.then_some(true))?;
    put(
        &mut given,
        "class_weights",
        (!weights.is_empty()).then_some(weights),
    )?;
    Ok(given)
}

/// Parameters of rivals.
pub fn rivals(args: &RivalArgs) -> Result<Given> {
    let mut given = Given::new();
    put(&mut given, "hidden", args.hidden.as_ref())?;
    put(&mut given, "epochs", args.epochs)?;
    put(&mut given, "batch", args.batch)?;
    put(&mut given, "learning_rate", args.learning_rate)?;
    put(&mut given, "momentum", args.momentum)?;
    put(&mut given, "exemplars", args.exemplars)?;
    put(&mut given, "strength", args.strength)?;
    put(&mut given, "random_nodes", args.random_nodes)?;
    put(&mut given, "neighbours", args.neighbours)?;
    Ok(given)
}

fn pool(args: &ConsolidationArgs) -> Option<PoolSpec> {
    let mut pool = args.pool.clone()?;
    if let Some(nodes) = args.pool_nodes {
        pool = pool.with_nodes(nodes);
    }
    Some(match args.second_layer {
        Some(directions) => pool.under_second_layer(directions),
        None => pool,
    })
}

/// Adds a parameter that was given. JSON has no NaN and no infinity, so these are refused here.
fn put<T: Serialize + Debug>(given: &mut Given, name: &str, value: Option<T>) -> Result<()> {
    let Some(value) = value else {
        return Ok(());
    };
    let json = json!(value);
    if json.is_null()
        || json
            .as_array()
            .is_some_and(|values| values.iter().any(Value::is_null))
    {
        bail!("parameter `{name}` is {value:?}: must be finite");
    }
    given.insert(name.to_owned(), json);
    Ok(())
}

/// Overrides parameters with those that were given. Class weights are added to the existing ones.
pub fn laid_over<P: Serialize + DeserializeOwned + Default>(base: &P, given: &Given) -> Result<P> {
    let mut parameters = serde_json::to_value(base)?;
    for (name, value) in given {
        match (&mut parameters[name.as_str()], value) {
            (Value::Object(there), Value::Object(more)) if name == "class_weights" => {
                there.extend(more.clone());
            }
            (place, value) => *place = value.clone(),
        }
    }
    Ok(read(&parameters)?)
}
