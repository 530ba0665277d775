//! `autoactivator learn`: one task into a model file.

use anyhow::{Result, bail};
use autoactivator::{
    Check, Consolidation, ConsolidationParams, ImageShape, Labels, Model, Reactivation, ReactivationParams,
    Table,
};
use cil::data::{self, Part};

use crate::args::{LearnArgs, ModelKind};
use crate::progress::TaskBar;

pub fn learn(args: &LearnArgs) -> Result<()> {
    let rows = data::read(&args.rows, args.data.data_dir.as_deref(), Part::Train)?;
    let mut model = open_or_make(args, rows.image)?;
    let (x, y) = select(rows.x, rows.y, &args.classes)?;
    let mut bar = TaskBar::new();
    let learned = model.learner_mut().learn(x.rows(), &y, &mut bar);
    bar.finish();
    learned?;
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

/// The model in the file, or a new one.
fn open_or_make(args: &LearnArgs, image: Option<ImageShape>) -> Result<Model> {
    if args.model.exists() {
        return Ok(Model::load(&args.model)?);
    }
    match args.learner {
        ModelKind::Reactivation => {
            let base = ReactivationParams {
                seed: args.seed,
                ..ReactivationParams::default()
            };
            let params = args.reactivation.params(&args.shared, base).check()?;
            Ok(Model::Reactivation(Reactivation::new(params)))
        }
        ModelKind::Consolidation => {
            let base = ConsolidationParams {
                seed: args.seed,
                image,
                ..ConsolidationParams::default()
            };
            let params = args.consolidation.params(&args.shared, base).check()?;
            Ok(Model::Consolidation(Consolidation::new(params)))
        }
    }
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
