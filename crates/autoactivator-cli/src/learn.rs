//! `autoactivator learn`: learns one task into a model file.

use anyhow::{Context, Result};
use autoactivator::{ConsolidationParams, Model, ModelFile, counted};
use autoactivator_data::Part;
use serde_json::json;

use crate::args::{LearnArgs, ModelKind, NewModelArgs};
use crate::given::{self, laid_over};
use crate::progress::TaskBar;
use crate::rows::{Expected, RowSource};

pub fn learn(args: &LearnArgs) -> Result<()> {
    let file = ModelFile::lock(&args.model)?;
    // A file that is not a model is refused before any rows are read.
    let found = if file.exists() {
        Some(reopen(&file, args)?)
    } else {
        None
    };
    let rows = RowSource::open(
        &args.rows,
        Part::Train,
        &Expected::of(found.as_ref(), &args.model),
    )?;
    let mut model = match found {
        Some(model) => model,
        None => {
            let base = ConsolidationParams {
                image: rows.image(),
                ..ConsolidationParams::default()
            };
            make(&args.new, &base)?
        }
    };
    rows.remember(&mut model);
    let mut bar = TaskBar::new(rows.n_rows());
    let learned = learn_rows(&mut model, &rows, &args.classes, &mut bar);
    bar.finish();
    let n_rows = learned.with_context(|| args.rows.name())?;
    file.write(&model)?;
    let size = model.size();
    eprintln!(
        "{}: learned {}; {}, {}, model {:.3} MB, memory {:.3} MB",
        args.model.display(),
        counted(n_rows, "row"),
        counted(model.classes().len(), "class"),
        counted(size.nodes, "node"),
        size.model_mb(),
        size.memory_mb(),
    );
    Ok(())
}

/// Learns one task, batch by batch.
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

/// Creates a model of the requested kind. `usual` holds the parameters of consolidation where no option was given.
pub fn make(args: &NewModelArgs, usual: &ConsolidationParams) -> Result<Model> {
    let kind = args.learner.unwrap_or(ModelKind::Consolidation);
    let given = given::new_model(args, kind)?;
    let parameters = match kind {
        ModelKind::Reactivation => json!(given),
        ModelKind::Consolidation => json!(laid_over(usual, &given)?),
    };
    Ok(Model::new(kind.name(), &parameters)?)
}

/// Reads the model in the file. Its parameters are fixed: options that would change them are refused. The one exception
/// is `--repeated-classes`.
fn reopen(file: &ModelFile, args: &LearnArgs) -> Result<Model> {
    let mut model = file.read()?;
    if let Some(kind) = ModelKind::of(model.name()) {
        let given = given::new_model(&args.new, kind)?;
        let place = || args.model.display().to_string();
        model.set_parameters(&given).with_context(place)?;
    }
    Ok(model)
}
