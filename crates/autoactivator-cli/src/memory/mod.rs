//! `autoactivator merge`, `unlearn`, `drop-class` and `export`: what one additive memory makes possible.
//!
//! Each works on the memory in hand and writes the file at the end, whole: after an error it is as it was. `shards` has
//! `autoactivator memory`, which sums one memory in many places.

mod args;
mod shards;

use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::{Consolidation, Learner, Model, WriteLock, write_atomically};
use autoactivator_data::Part;

use crate::args::{DropClassArgs, ExportArgs, MergeArgs, UnlearnArgs};
use crate::rows::{Expected, RowSource};

pub use args::MemoryCommand;

pub fn memory(command: &MemoryCommand) -> Result<()> {
    match command {
        MemoryCommand::Begin(args) => shards::begin(args),
        MemoryCommand::Build(args) => shards::build(args),
        MemoryCommand::Merge(args) => shards::merge(args),
    }
}

pub fn merge(args: &MergeArgs) -> Result<()> {
    let _lock = WriteLock::take(&args.output)?;
    let base = args.base.as_deref().map(load).transpose()?;
    let mut models = args.models.iter();
    let Some(first) = models.next() else {
        bail!("give at least two model files");
    };
    let mut merged = load(first)?;
    for path in models {
        let both = || format!("{} and {}", first.display(), path.display());
        let mut other = load(path)?;
        if let Some(base) = &base {
            other
                .subtract(base)
                .with_context(|| format!("{} without its base", path.display()))?;
        }
        merged.merge(&other).with_context(both)?;
    }
    save(merged, &args.output)
}

pub fn unlearn(args: &UnlearnArgs) -> Result<()> {
    let _lock = WriteLock::take(&args.model)?;
    let mut learner = load(&args.model)?;
    let expected = Expected {
        n_features: learner.n_features(),
        origin: learner.origin(),
    };
    let rows = RowSource::open(&args.rows, Part::Train, &expected)?;
    let (x, y) = rows.collect(&args.classes)?;
    learner.unlearn(x.rows(), &y).with_context(|| args.rows.name())?;
    save(learner, &args.model)
}

pub fn drop_class(args: &DropClassArgs) -> Result<()> {
    let _lock = WriteLock::take(&args.model)?;
    let mut learner = load(&args.model)?;
    learner.drop_class(&args.class)?;
    save(learner, &args.model)
}

pub fn export(args: &ExportArgs) -> Result<()> {
    let deployed = match Model::load(&args.model)? {
        Model::Deployed(deployed) => deployed,
        Model::Consolidation(learner) => match learner.deployed() {
            Some(deployed) => deployed.clone(),
            None => bail!("{}: nothing has been learned yet", args.model.display()),
        },
        Model::Reactivation(_) => bail!(
            "{}: only consolidation has a deployed model",
            args.model.display()
        ),
    };
    if args.onnx {
        write_atomically(&args.output, &deployed.to_onnx())?;
    } else {
        deployed.save(&args.output, args.half)?;
    }
    let size = std::fs::metadata(&args.output)?.len();
    eprintln!(
        "{}: {} nodes, {} bytes",
        args.output.display(),
        deployed.size().nodes,
        size
    );
    Ok(())
}

fn load(path: &Path) -> Result<Consolidation> {
    match Model::load(path)? {
        Model::Consolidation(learner) => Ok(learner),
        other => bail!(
            "{}: holds a model of the kind {}; only consolidation has a memory that can be changed so",
            path.display(),
            other.learner().name()
        ),
    }
}

fn save(learner: Consolidation, path: &Path) -> Result<()> {
    let (rows, classes) = (learner.memory().n_rows(), learner.classes().len());
    Model::Consolidation(learner).save(path)?;
    eprintln!("{}: {rows} rows, {classes} classes", path.display());
    Ok(())
}
