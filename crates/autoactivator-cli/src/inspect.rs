//! `autoactivator inspect`: what a model file holds.

use std::io::Write;

use anyhow::Result;
use autoactivator::Model;
use autoactivator::model::{describe, summary};
use autoactivator_data::origin::{name_of, runtimes_of};
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::terminal;

pub fn inspect(args: &InspectArgs) -> Result<()> {
    let model = Model::load(&args.model)?;
    let file_bytes = std::fs::metadata(&args.model)?.len();
    let text = if args.json {
        format!("{:#}\n", with_ledger(describe(&*model, file_bytes), &model))
    } else {
        summary(&*model, file_bytes) + &origin(&model) + &model.details()
    };
    terminal::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Adds the names of learned files. They are shown to the owner of the model file, but never to clients of a server.
fn with_ledger(mut description: Value, model: &Model) -> Value {
    description["ledger"] = json!(model.consolidation().ok().map(|learner| learner.ledger()));
    description
}

/// What computed the rows, if that is known.
fn origin(model: &Model) -> String {
    let Some(origin) = model.origin() else {
        return String::new();
    };
    let runtimes = runtimes_of(origin).map_or_else(String::new, |runtimes| format!(", run by {runtimes}"));
    format!("rows from {}{runtimes}\n", name_of(origin))
}
