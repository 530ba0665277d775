//! `autoactivator inspect`: what a model file holds.

use std::io::Write;

use anyhow::Result;
use autoactivator::{Consolidation, Learner, Model, Reactivation};
use autoactivator_data::origin::name_of;
use autoactivator_server::describe::describe;
use serde_json::{Value, json};

use crate::args::InspectArgs;

pub fn inspect(args: &InspectArgs) -> Result<()> {
    let model = Model::load(&args.model)?;
    let file_bytes = std::fs::metadata(&args.model)?.len();
    let text = if args.json {
        format!("{:#}\n", with_ledger(describe(&model, file_bytes), &model))
    } else {
        let details = match &model {
            Model::Reactivation(learner) => units(learner),
            Model::Consolidation(learner) => tasks(learner),
            Model::Deployed(_) => String::new(),
        };
        summary(model.learner(), file_bytes) + &origin(&model) + &details
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// The names of learned files are for whoever has the model file, not for everybody that a server answers.
fn with_ledger(mut description: Value, model: &Model) -> Value {
    description["ledger"] = match model {
        Model::Consolidation(learner) => json!(learner.ledger()),
        _ => Value::Null,
    };
    description
}

fn summary(learner: &dyn Learner, file_bytes: u64) -> String {
    let size = learner.size();
    format!(
        "{}: {} classes, {} nodes, {} features\nmodel {:.3} MB, memory for further learning {:.3} MB, file {:.3} MB\n\
         classes: {}\n",
        learner.name(),
        learner.classes().len(),
        size.nodes,
        learner.n_features().unwrap_or(0),
        size.model_mb(),
        size.memory_mb(),
        file_bytes as f64 / (1024.0 * 1024.0),
        learner.classes().join(", "),
    )
}

/// What computes the rows, where that is known.
fn origin(model: &Model) -> String {
    model
        .origin()
        .map_or_else(String::new, |origin| format!("rows from {}\n", name_of(origin)))
}

fn units(learner: &Reactivation) -> String {
    let mut text = format!(
        "{} units, seed {}\n\n",
        learner.units().len(),
        learner.params().seed
    );
    text += "unit  nodes  threshold  residual  accuracy  stopped by           classes\n";
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

fn tasks(learner: &Consolidation) -> String {
    let mut text = format!("seed {}\n", learner.params().seed);
    if !learner.ledger().is_empty() {
        text += &format!("{} files in the ledger\n", learner.ledger().len());
    }
    text += "\n";
    text += "task  rows so far  classes  recruited  nodes     ridge  recruitment ended by\n";
    for task in learner.task_growth() {
        let ended = task
            .ended
            .map_or_else(|| json!("the whole pool is read"), |ended| json!(ended));
        text += &format!(
            "{:>4}  {:>11}  {:>7}  {:>9}  {:>5}  {:>8.1e}  {}\n",
            task.task,
            task.rows,
            task.classes,
            task.recruited,
            task.nodes,
            task.ridge,
            ended.as_str().unwrap_or_default(),
        );
    }
    text
}
