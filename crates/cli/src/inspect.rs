//! `autoactivator inspect`: what a model file holds.

use std::io::Write;

use anyhow::Result;
use autoactivator::{Learner, Model, Reactivation};
use serde_json::{Value, json};

use crate::args::InspectArgs;

pub fn inspect(args: &InspectArgs) -> Result<()> {
    let model = Model::load(&args.model)?;
    let file_bytes = std::fs::metadata(&args.model)?.len();
    let text = match &model {
        _ if args.json => format!("{:#}\n", as_json(&model, file_bytes)),
        Model::Reactivation(learner) => describe(learner, file_bytes),
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

fn as_json(model: &Model, file_bytes: u64) -> Value {
    let learner = model.learner();
    let size = learner.size();
    let Model::Reactivation(reactivation) = model;
    json!({
        "learner": learner.name(),
        "file_bytes": file_bytes,
        "n_features": reactivation.n_features(),
        "classes": learner.classes(),
        "nodes": size.nodes,
        "model_mb": size.model_mb(),
        "memory_mb": size.memory_mb(),
        "multiply_adds": size.multiply_adds,
        "parameters": reactivation.params(),
        "growth": learner.growth(),
    })
}

fn describe(learner: &Reactivation, file_bytes: u64) -> String {
    let size = learner.size();
    let mut text = format!(
        "{} · {} classes · {} units · {} nodes\nmodel {:.3} MB, file {:.3} MB, {} features, seed {}\n",
        learner.name(),
        learner.classes().len(),
        learner.units().len(),
        size.nodes,
        size.model_mb(),
        file_bytes as f64 / (1024.0 * 1024.0),
        learner.n_features().unwrap_or(0),
        learner.params().seed,
    );
    text += "\nunit  nodes  threshold  residual  accuracy  stopped by           classes\n";
    for (u, unit) in learner.units().iter().enumerate() {
        let last = unit.growth.layers.last();
        let join = last.and_then(|layer| layer.joins.iter().rfind(|join| join.nodes == layer.nodes));
        let stopped = last.map_or(Value::Null, |layer| json!(layer.stopped));
        text += &format!(
            "{:>4}  {:>5}  {:>9.4}  {:>8.4}  {:>8.4}  {:<19}  {}\n",
            u + 1,
            unit.n_nodes(),
            unit.threshold,
            join.map_or(f64::NAN, |join| join.residual),
            join.map_or(f64::NAN, |join| join.accuracy),
            stopped.as_str().unwrap_or_default(),
            unit.growth.classes.join(", "),
        );
    }
    text
}
