//! `autoactivator learn`: one task into a model file.

use anyhow::{Context, Result, bail};
use autoactivator::{
    Check, Consolidation, ConsolidationParams, ImageShape, Labels, Model, Reactivation, ReactivationParams,
    Table,
};
use cil::data::{self, Part};
use serde_json::{Value, json};

use crate::args::{LearnArgs, ModelKind};
use crate::progress::TaskBar;

pub fn learn(args: &LearnArgs) -> Result<()> {
    // A file that is no model is said before the rows are read.
    let found = if args.model.exists() {
        Some(reopen(args)?)
    } else {
        None
    };
    let rows = data::read(&args.rows, args.data.dir().as_deref(), Part::Train)?;
    let mut model = found.map_or_else(|| make(args, rows.image), Ok)?;
    let (x, y) = select(rows.x, rows.y, &args.classes)?;
    let mut bar = TaskBar::new();
    let learned = model.learner_mut().learn(x.rows(), &y, &mut bar);
    bar.finish();
    learned.with_context(|| args.rows.clone())?;
    model.save(&args.model)?;
    let (learner, size) = (model.learner(), model.learner().size());
    eprintln!(
        "{}: learned {} rows; {} classes, {} nodes, model {:.3} MB, memory {:.3} MB",
        args.model.display(),
        x.rows().len(),
        learner.classes().len(),
        size.nodes,
        size.model_mb(),
        size.memory_mb(),
    );
    Ok(())
}

/// A new model.
fn make(args: &LearnArgs, image: Option<ImageShape>) -> Result<Model> {
    let seed = args.seed.unwrap_or(0);
    match args.learner.unwrap_or(ModelKind::Consolidation) {
        ModelKind::Reactivation => {
            let base = ReactivationParams {
                seed,
                ..ReactivationParams::default()
            };
            let params = args.reactivation.params(&args.shared, base).check()?;
            Ok(Model::Reactivation(Reactivation::new(params)))
        }
        ModelKind::Consolidation => {
            let base = ConsolidationParams {
                seed,
                image,
                ..ConsolidationParams::default()
            };
            let params = args.consolidation.params(&args.shared, base).check()?;
            Ok(Model::Consolidation(Consolidation::new(params)))
        }
    }
}

/// The model in the file. Its parameters are part of it: options that would change them are refused, but for what to
/// do with classes that come again.
fn reopen(args: &LearnArgs) -> Result<Model> {
    let mut model = Model::load(&args.model)?;
    match &mut model {
        Model::Reactivation(learner) => {
            let now = learner.params().clone();
            let asked = args.reactivation.params(&args.shared, now.clone()).check()?;
            learner.set_repeated_classes(asked.repeated_classes);
            let asked = ReactivationParams {
                seed: args.seed.unwrap_or(now.seed),
                ..(*asked).clone()
            };
            refuse_changes(args, &json!(learner.params()), &json!(asked))?;
        }
        Model::Consolidation(learner) => {
            let now = learner.params().clone();
            let asked = args.consolidation.params(&args.shared, now.clone()).check()?;
            let asked = ConsolidationParams {
                seed: args.seed.unwrap_or(now.seed),
                ..(*asked).clone()
            };
            refuse_changes(args, &json!(now), &json!(asked))?;
        }
        Model::Deployed(_) => {}
    }
    Ok(model)
}

fn refuse_changes(args: &LearnArgs, now: &Value, asked: &Value) -> Result<()> {
    let (Some(now), Some(asked)) = (now.as_object(), asked.as_object()) else {
        return Ok(());
    };
    let changed = now.iter().find(|(name, value)| asked.get(*name) != Some(value));
    if let Some((name, value)) = changed {
        bail!(
            "{}: parameter `{name}` is {value} in this model and cannot be changed: leave the option out, or begin a \
             new model",
            args.model.display()
        );
    }
    Ok(())
}

/// The rows of the given classes; all rows when none is given.
pub fn select(x: Table, y: Labels, classes: &[String]) -> Result<(Table, Labels)> {
    if classes.is_empty() {
        return Ok((x, y));
    }
    for class in classes {
        if !y.names().contains(class) {
            bail!(
                "class '{class}' is not in the data; it has {}",
                y.names().join(", ")
            );
        }
    }
    let rows: Vec<usize> = (0..y.len())
        .filter(|&i| classes.iter().any(|class| class == y.name(i)))
        .collect();
    Ok((x.rows().gather(&rows), y.gather(&rows)))
}
