//! `autoactivator merge`, `unlearn`, `drop-class`, `rename-class` and `export`: what an additive memory makes possible.
//!
//! Each changes a copy in memory and writes the whole file at the end, so an error leaves the file unchanged. `shards`
//! has `autoactivator memory`, which builds one memory in many places.

mod args;
mod shards;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use autoactivator::{Model, ModelFile, counted};
use autoactivator_data::Part;

use crate::args::{DropClassArgs, ExportArgs, MergeArgs, RenameClassArgs, UnlearnArgs};
use crate::output::{Output, Replace, check_ending, check_model_name, ending};
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
    check_model_name(&args.output)?;
    let inputs: Vec<&Path> = args
        .models
        .iter()
        .chain(&args.base)
        .map(PathBuf::as_path)
        .collect();
    Output::new(&args.output, &inputs, Replace::models(args.force))?;
    let file = ModelFile::lock(&args.output)?;
    let base = args.base.as_deref().map(Model::load).transpose()?;
    let mut models = args.models.iter();
    let Some(first) = models.next() else {
        bail!("give at least two model files");
    };
    let mut merged = load(first)?;
    let mut others = Vec::new();
    for path in models {
        let other = load(path)?;
        let both = || format!("{} and {}", first.display(), path.display());
        merged.check_merge(&*other).with_context(both)?;
        others.push(other);
    }
    let others: Vec<&Model> = others.iter().collect();
    let all = || {
        args.models
            .iter()
            .map(|path| path.display().to_string())
            .collect::<Vec<_>>()
            .join(" and ")
    };
    merged.merge(&others, base.as_ref()).with_context(all)?;
    save(&file, &merged)
}

pub fn unlearn(args: &UnlearnArgs) -> Result<()> {
    let file = ModelFile::lock(&args.model)?;
    let mut model = load(&args.model)?;
    let expected = Expected {
        weight: args.weight.as_deref(),
        exact: true,
        ..Expected::of(Some(&model), &args.model)
    };
    let rows = RowSource::open(&args.rows, Part::Train, &expected)?;
    let source = rows.source(&model)?;
    if let Some(source) = source.as_ref().filter(|_| !args.again) {
        model.check_there(source, &args.classes)?;
    }
    let (x, y) = rows.collect(&args.classes)?;
    model.unlearn(x.rows(), &y).with_context(|| args.rows.name())?;
    if let Some(source) = &source {
        model.enter_unlearned(source, &y);
    }
    save(&file, &model)
}

pub fn drop_class(args: &DropClassArgs) -> Result<()> {
    let file = ModelFile::lock(&args.model)?;
    let mut model = load(&args.model)?;
    model.drop_class(&args.class)?;
    save(&file, &model)
}

pub fn rename_class(args: &RenameClassArgs) -> Result<()> {
    let file = ModelFile::lock(&args.model)?;
    let mut model = file.read()?;
    model.rename_class(&args.from, &args.to)?;
    file.write(&model)?;
    say!("{}: '{}' is now '{}'", args.model.display(), args.from, args.to);
    Ok(())
}

pub fn export(args: &ExportArgs) -> Result<()> {
    let onnx = args.onnx || ending(&args.output).as_deref() == Some("onnx");
    if onnx && args.half {
        bail!("--half is for models of AutoActivator: an ONNX file is in single precision");
    }
    check_ending(&args.output, if onnx { &["onnx"] } else { &["aact"] })?;
    let output = Output::new(&args.output, &[&args.model], Replace::models(args.force))?;
    let model = Model::load(&args.model)?;
    let place = || args.model.display().to_string();
    let deployed = model.deployed().with_context(place)?;
    let size = match output.file() {
        Some(file) if !onnx => model.export(file, args.half)?,
        _ => {
            let bytes = if onnx {
                deployed.to_onnx()
            } else {
                deployed.to_bytes(args.half)?
            };
            output.write(&bytes)?;
            bytes.len() as u64
        }
    };
    say!(
        "{}: {}, {size} bytes",
        args.output.display(),
        counted(model.size().nodes, "node"),
    );
    Ok(())
}

/// Loads a model, and refuses one without a memory.
fn load(path: &Path) -> Result<Model> {
    let model = Model::load(path)?;
    model
        .consolidation()
        .with_context(|| path.display().to_string())?;
    Ok(model)
}

fn save(file: &ModelFile, model: &Model) -> Result<()> {
    let rows = model.consolidation()?.memory().n_rows();
    file.write(model)?;
    say!(
        "{}: {}, {}",
        file.path().display(),
        counted(rows, "row"),
        counted(model.classes().len(), "class")
    );
    Ok(())
}
