//! `autoactivator learn`: one task into a model file.

use anyhow::{Result, bail};
use autoactivator::{Check, Labels, Model, Reactivation, ReactivationParams, Table};
use cil::data::{self, Part};

use crate::args::LearnArgs;
use crate::progress::TaskBar;

pub fn learn(args: &LearnArgs) -> Result<()> {
    let mut model = open_or_make(args)?;
    let rows = data::read(&args.rows, args.data.data_dir.as_deref(), Part::Train)?;
    let (x, y) = select(rows.x, rows.y, &args.classes)?;
    let mut bar = TaskBar::new();
    let learned = model.learner_mut().learn(x.rows(), &y, &mut bar);
    bar.finish();
    learned?;
    model.save(&args.model)?;
    let (learner, size) = (model.learner(), model.learner().size());
    eprintln!(
        "{}: learned {} rows; {} classes, {} nodes, {:.3} MB",
        args.model.display(),
        x.rows().len(),
        learner.classes().len(),
        size.nodes,
        size.model_mb(),
    );
    Ok(())
}

/// The model in the file, or a new one.
fn open_or_make(args: &LearnArgs) -> Result<Model> {
    if args.model.exists() {
        return Ok(Model::load(&args.model)?);
    }
    let base = ReactivationParams {
        seed: args.seed,
        ..ReactivationParams::default()
    };
    let params = args.reactivation.params(&args.shared, base).check()?;
    Ok(Model::Reactivation(Reactivation::new(params)))
}

/// The rows of the given classes; all rows when none is given.
fn select(x: Table, y: Labels, classes: &[String]) -> Result<(Table, Labels)> {
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
