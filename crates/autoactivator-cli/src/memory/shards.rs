//! `autoactivator memory begin`, `build` and `merge`: one memory summed in many places, by any scheduler.
//!
//! `begin` makes the pool, each `build` sums its files over it, and `merge` adds the sums and solves the readout once.
//! Only `begin` and `merge` write the model file, whole and at the end.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use autoactivator::{Check, Consolidation, ConsolidationParams, Learner, ModelFile, Partial, Share, counted};
use autoactivator_data::{FeatureTable, Shard, shard};

use super::args::{BeginArgs, BuildArgs, MergeArgs};
use super::{load, save};
use crate::given::{self, laid_over};
use crate::output::{Output, Replace, check_model_name};
use crate::progress::TaskBar;
use crate::stdin::spooled;

pub fn begin(args: &BeginArgs) -> Result<()> {
    check_model_name(&args.model)?;
    let file = ModelFile::lock(&args.model)?;
    if file.exists() {
        bail!(
            "{}: already exists, and its pool cannot be changed: choose another name",
            args.model.display()
        );
    }
    let columns = args.columns.columns();
    let (sample, _spool) = spooled(&args.sample)?;
    let first = sample.first().map(|path| FeatureTable::open(path, &columns));
    let base = ConsolidationParams {
        seed: args.seed,
        image: first.transpose()?.and_then(|table| table.shape().image),
        ..ConsolidationParams::default()
    };
    let given = given::consolidation(&args.consolidation, &args.shared)?;
    let params = laid_over(&base, &given)?.check()?;
    let mut learner = Consolidation::new(params);
    let mut bar = TaskBar::new(None);
    let begun = shard::begin(&mut learner, &sample, &columns, &mut bar);
    bar.finish();
    begun?;
    let (n_nodes, n_features) = (learner.memory().n_nodes(), learner.n_features().unwrap_or(0));
    file.write(&learner.into())?;
    say!(
        "{}: a pool of {} on {}; nothing learned yet",
        args.model.display(),
        counted(n_nodes, "node"),
        counted(n_features, "feature")
    );
    Ok(())
}

pub fn build(args: &BuildArgs) -> Result<()> {
    let inputs = given(&args.model, &args.parts);
    let output = Output::new(&args.output, &inputs, Replace::models(args.force))?;
    let mut share = Share::of(load(&args.model)?.consolidation()?)?;
    let columns = args.columns.columns();
    let mut bar = TaskBar::new(None);
    let mut known = Vec::new();
    let (files, _spool) = spooled(&args.parts)?;
    for (path, file) in args.parts.iter().zip(&files) {
        let name = path.display().to_string();
        let added = Shard::find(file).and_then(|shard| shard.add_to(&mut share, &name, &columns, &mut bar));
        match added {
            Ok(true) => {}
            Ok(false) => known.push(name),
            Err(error) => {
                bar.finish();
                return Err(error.into());
            }
        }
    }
    bar.finish();
    for name in known {
        say!("skipped {name}: its content has already been learned");
    }
    let partial = share.into_partial()?;
    let bytes = partial.to_bytes(args.single)?;
    output.write(&bytes)?;
    say!(
        "{}: {} from {}, {}, {} bytes",
        args.output.display(),
        counted(partial.sums().n_rows(), "row"),
        counted(partial.files().len(), "file"),
        counted(partial.sums().classes().len(), "class"),
        bytes.len(),
    );
    Ok(())
}

pub fn merge(args: &MergeArgs) -> Result<()> {
    let file = ModelFile::lock(&args.model)?;
    let mut model = load(&args.model)?;
    let learner = model.consolidation_mut()?;
    let Some(sum) = add_up(learner, args)? else {
        say!("{}: nothing to add; the file is unchanged", args.model.display());
        return Ok(());
    };
    learner.absorb(&sum)?;
    say!(
        "added {} from {}",
        counted(sum.sums().n_rows(), "row"),
        counted(sum.files().len(), "file")
    );
    save(&file, &model)
}

/// The files that a command reads.
fn given<'a>(model: &'a Path, parts: &'a [PathBuf]) -> Vec<&'a Path> {
    std::iter::once(model)
        .chain(parts.iter().map(PathBuf::as_path))
        .collect()
}

/// The sum of all partial memories that hold something new.
fn add_up(learner: &Consolidation, args: &MergeArgs) -> Result<Option<Partial>> {
    let mut sum: Option<Partial> = None;
    let (files, _spool) = spooled(&args.partials)?;
    for (path, file) in args.partials.iter().zip(&files) {
        let name = || path.display().to_string();
        let partial = Partial::load(file)?;
        let mut new = learner.accepts(&partial).with_context(name)?;
        if new {
            match &mut sum {
                Some(sum) => new = sum.merge(&partial).with_context(name)?,
                None => sum = Some(partial),
            }
        }
        if !new {
            say!("skipped {}: it holds nothing new", path.display());
        }
    }
    Ok(sum)
}
