//! `autoactivator learn`: one task into a model file.

use anyhow::{Context, Result, bail};
use autoactivator::{
    Check, Consolidation, ConsolidationParams, Model, Reactivation, ReactivationParams, WriteLock,
};
use autoactivator_data::Part;
use serde_json::{Value, json};

use crate::args::{LearnArgs, ModelKind, NewModelArgs};
use crate::progress::TaskBar;
use crate::rows::{Expected, RowSource};

pub fn learn(args: &LearnArgs) -> Result<()> {
    let _lock = WriteLock::take(&args.model)?;
    // A file that is no model is said before the rows are read.
    let found = if args.model.exists() {
        Some(reopen(args)?)
    } else {
        None
    };
    let rows = RowSource::open(&args.rows, Part::Train, &Expected::of(found.as_ref()))?;
    let mut model = match found {
        Some(model) => model,
        None => {
            let base = ConsolidationParams {
                image: rows.image(),
                ..ConsolidationParams::default()
            };
            let mut model = make(&args.new, base)?;
            model.set_origin(rows.origin());
            model
        }
    };
    let mut bar = TaskBar::new(rows.n_rows());
    let learned = learn_rows(&mut model, &rows, &args.classes, &mut bar);
    bar.finish();
    let n_rows = learned.with_context(|| args.rows.name())?;
    model.save(&args.model)?;
    let (learner, size) = (model.learner(), model.learner().size());
    eprintln!(
        "{}: learned {n_rows} rows; {} classes, {} nodes, model {:.3} MB, memory {:.3} MB",
        args.model.display(),
        learner.classes().len(),
        size.nodes,
        size.model_mb(),
        size.memory_mb(),
    );
    Ok(())
}

/// One task; consolidation takes it in batch by batch, others need all rows at once.
fn learn_rows(
    model: &mut Model,
    rows: &RowSource<'_>,
    classes: &[String],
    bar: &mut TaskBar,
) -> Result<usize> {
    if let Model::Consolidation(learner) = model {
        let learned = learner.learn_batches(|| rows.labelled(classes), bar);
        rows.check_seen(classes)?;
        return learned;
    }
    let (x, y) = rows.collect(classes)?;
    model.learner_mut().learn(x.rows(), &y, bar)?;
    Ok(y.len())
}

/// A new model, of these parameters where it is consolidation and nothing else was given.
pub fn make(args: &NewModelArgs, base: ConsolidationParams) -> Result<Model> {
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
            let base = ConsolidationParams { seed, ..base };
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
            let asked = args
                .new
                .reactivation
                .params(&args.new.shared, now.clone())
                .check()?;
            learner.set_repeated_classes(asked.repeated_classes);
            let asked = ReactivationParams {
                seed: args.new.seed.unwrap_or(now.seed),
                ..(*asked).clone()
            };
            refuse_changes(args, &json!(learner.params()), &json!(asked))?;
        }
        Model::Consolidation(learner) => {
            let now = learner.params().clone();
            let asked = args
                .new
                .consolidation
                .params(&args.new.shared, now.clone())
                .check()?;
            let asked = ConsolidationParams {
                seed: args.new.seed.unwrap_or(now.seed),
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
