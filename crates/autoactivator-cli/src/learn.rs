//! `autoactivator learn`: learns one task into a model file.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use autoactivator::{ConsolidationParams, Model, ModelFile, ReactivationParams, Receipt, Source};
use autoactivator_data::Part;
use serde_json::json;

use crate::args::{LearnArgs, ModelKind, NewModelArgs};
use crate::given::{self, laid_over};
use crate::output::check_model_name;
use crate::progress::TaskBar;
use crate::rows::{Expected, RowSource};

pub fn learn(args: &LearnArgs) -> Result<()> {
    let started = Instant::now();
    check_model_name(&args.model)?;
    let file = ModelFile::lock(&args.model)?;
    // A file that is not a model is refused before any rows are read.
    let found = if file.exists() {
        Some(reopen(&file, &args.model, &args.new)?)
    } else {
        None
    };
    let rows = RowSource::open(
        &args.rows,
        Part::Train,
        &Expected {
            weight: args.weight.as_deref(),
            ..Expected::of(found.as_ref(), &args.model)
        },
    )?;
    let mut model = match found {
        Some(model) => model,
        None => begin(&args.new, &rows)?,
    };
    rows.remember(&mut model);
    let source = rows.source(&model)?;
    if let Some(source) = source.as_ref().filter(|_| !args.again) {
        model.check_new(source, &args.classes)?;
    }
    let learned = take_in(&mut model, &rows, source.as_ref(), &args.classes);
    let mut receipt = learned.with_context(|| args.rows.name())?;
    receipt.file_bytes = Some(file.write(&model)?);
    receipt.seconds = started.elapsed().as_secs_f64();
    tell(&receipt, &rows, &args.model);
    Ok(())
}

/// Says what was learned.
pub fn tell(receipt: &Receipt, rows: &RowSource<'_>, model: &Path) {
    for warning in &receipt.warnings {
        warn!("warning: {warning}");
    }
    rows.tell_runtime();
    say!("{}: {receipt}", model.display());
}

/// Learns one task, and enters where it came from into the list of the model.
pub fn take_in(
    model: &mut Model,
    rows: &RowSource<'_>,
    source: Option<&Source>,
    classes: &[String],
) -> Result<Receipt> {
    let mut bar = TaskBar::new(rows.n_rows());
    let learned = learn_rows(model, rows, classes, &mut bar);
    bar.finish();
    let receipt = learned?;
    if let Some(source) = source {
        model.enter_learned(source, &receipt);
    }
    Ok(receipt)
}

/// A new model for these rows.
pub fn begin(new: &NewModelArgs, rows: &RowSource<'_>) -> Result<Model> {
    let base = ConsolidationParams {
        image: rows.image(),
        ..ConsolidationParams::default()
    };
    let mut model = make(new, &base)?;
    model.input_mut().features = rows.features();
    Ok(model)
}

/// Learns one task, batch by batch.
fn learn_rows(
    model: &mut Model,
    rows: &RowSource<'_>,
    classes: &[String],
    bar: &mut TaskBar,
) -> Result<Receipt> {
    let learned = model.learn_batches(|| rows.labelled(classes), bar);
    rows.check_seen(classes)?;
    let mut receipt = learned?;
    receipt.classes_from = rows.classes_from();
    receipt.weighed_by = rows.weighed_by();
    receipt.left_out += rows.left_out();
    Ok(receipt)
}

/// Creates a model of the requested kind. `usual` holds the parameters of consolidation where no option was given.
pub fn make(args: &NewModelArgs, usual: &ConsolidationParams) -> Result<Model> {
    let kind = args.learner.unwrap_or(ModelKind::Consolidation);
    let given = given::new_model(args, kind)?;
    let parameters = match kind {
        ModelKind::Reactivation => {
            let image = usual.image.filter(|_| given.contains_key("filters"));
            let usual = ReactivationParams {
                image,
                ..ReactivationParams::default()
            };
            json!(laid_over(&usual, &given)?)
        }
        ModelKind::Consolidation => json!(laid_over(usual, &given)?),
    };
    Ok(Model::new(kind.name(), &parameters)?)
}

/// Reads the model in the file. Options that would change what it was made with are refused; those of the readout, and
/// `--repeated-classes`, may change from task to task.
pub fn reopen(file: &ModelFile, path: &Path, new: &NewModelArgs) -> Result<Model> {
    let mut model = file.read()?;
    if let Some(asked) = new.learner.filter(|asked| asked.name() != model.name()) {
        bail!(
            "{}: this is a {} model and cannot become a {} one: leave out --learner, or begin a new model",
            path.display(),
            model.name(),
            asked.name()
        );
    }
    if let Some(kind) = ModelKind::of(model.name()) {
        let given = given::new_model(new, kind)?;
        let place = || path.display().to_string();
        model.set_parameters(&given).with_context(place)?;
    }
    Ok(model)
}
