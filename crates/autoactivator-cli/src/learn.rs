//! `autoactivator learn`: one task into a model file.

use anyhow::{Context, Result};
use autoactivator::{ConsolidationParams, Model, ModelFile};
use autoactivator_data::Part;
use serde_json::json;

use crate::args::{LearnArgs, ModelKind, NewModelArgs};
use crate::given::{self, laid_over};
use crate::progress::TaskBar;
use crate::rows::{Expected, RowSource};

pub fn learn(args: &LearnArgs) -> Result<()> {
    let file = ModelFile::lock(&args.model)?;
    // A file that is no model is refused before the rows are read.
    let found = if file.exists() {
        Some(reopen(&file, args)?)
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
            let mut model = make(&args.new, &base)?;
            model.set_origin(rows.origin());
            model
        }
    };
    let mut bar = TaskBar::new(rows.n_rows());
    let learned = learn_rows(&mut model, &rows, &args.classes, &mut bar);
    bar.finish();
    let n_rows = learned.with_context(|| args.rows.name())?;
    file.write(&model)?;
    let size = model.size();
    eprintln!(
        "{}: learned {n_rows} rows; {} classes, {} nodes, model {:.3} MB, memory {:.3} MB",
        args.model.display(),
        model.classes().len(),
        size.nodes,
        size.model_mb(),
        size.memory_mb(),
    );
    Ok(())
}

/// One task, batch by batch.
fn learn_rows(
    model: &mut Model,
    rows: &RowSource<'_>,
    classes: &[String],
    bar: &mut TaskBar,
) -> Result<usize> {
    let learned = model.learn_batches(|| rows.labelled(classes), bar);
    rows.check_seen(classes)?;
    learned
}

/// A new model of the kind that was asked for; `usual` are parameters of consolidation where nothing else was given.
pub fn make(args: &NewModelArgs, usual: &ConsolidationParams) -> Result<Model> {
    let kind = args.learner.unwrap_or(ModelKind::Consolidation);
    let given = given::new_model(args, kind);
    let parameters = match kind {
        ModelKind::Reactivation => json!(given),
        ModelKind::Consolidation => json!(laid_over(usual, &given)?),
    };
    Ok(Model::new(kind.name(), &parameters)?)
}

/// The model in the file. Its parameters are part of it: options that would change them are refused, but for what to
/// do with classes that come again.
fn reopen(file: &ModelFile, args: &LearnArgs) -> Result<Model> {
    let mut model = file.read()?;
    if let Some(kind) = ModelKind::of(model.name()) {
        let given = given::new_model(&args.new, kind);
        let place = || args.model.display().to_string();
        model.set_parameters(&given).with_context(place)?;
    }
    Ok(model)
}
