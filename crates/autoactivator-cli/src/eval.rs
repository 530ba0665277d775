//! `autoactivator eval`: how often a model is right, class by class, with every row judged alone.
//!
//! Rows go into a tally; [`autoactivator_exam::report::evaluation`] shows it, as text and as a page.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::{Error, Model};
use autoactivator_data::Part;
use autoactivator_data::table::NO_CLASSES;
use autoactivator_exam::evaluation::Evaluation;
use autoactivator_exam::report::evaluation;
use autoactivator_exam::tally::{Seen, Tally};

use crate::args::EvalArgs;
use crate::exhibits;
use crate::output::Output;
use crate::rows::{Expected, RowSource};
use crate::terminal;

pub fn eval(args: &EvalArgs) -> Result<()> {
    let report = args
        .report
        .as_deref()
        .map(|path| report(path, args))
        .transpose()?;
    let model = Model::load(&args.model)?;
    if model.n_features().is_none() {
        bail!(Error::NothingLearned);
    }
    let rows = RowSource::open(&args.rows, Part::Test, &Expected::of(Some(&model), &args.model))?;
    rows.require_classes().with_context(|| args.rows.name())?;
    let evaluation = Evaluation {
        data: args.rows.name(),
        known: model.classes().to_vec(),
        tally: tally(&model, &rows).with_context(|| args.rows.name())?,
    };
    let text = if args.json {
        format!("{:#}\n", evaluation.as_json())
    } else {
        evaluation::text(&evaluation)
    };
    terminal::stdout().write_all(text.as_bytes())?;
    if let Some(report) = report {
        let mistakes = evaluation.tally.mistakes();
        let shown = exhibits::of(&rows, mistakes).with_context(|| args.rows.name())?;
        report.deliver(&evaluation::html(&evaluation, &shown))?;
    }
    Ok(())
}

/// Refuses a report that cannot be written or would destroy something, before anything is computed.
fn report(path: &Path, args: &EvalArgs) -> Result<Output> {
    let output = Output::checked(path, &["html", "htm"], &[&args.model, &args.rows.rows])?;
    if output.file().is_none() {
        bail!("--report needs a file: stdout has the figures");
    }
    Ok(output)
}

fn tally(model: &Model, rows: &RowSource<'_>) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut first = 0;
    for batch in rows.batches()? {
        let batch = batch?;
        let y = batch.y.as_ref().context(NO_CLASSES)?;
        let (places, probabilities) = model.predict_with_probability(batch.x.rows())?;
        for (at, (place, class)) in places.into_iter().zip(y).enumerate() {
            tally.add(&Seen {
                row: first + at,
                name: batch.names.as_ref().map(|names| names[at].as_str()),
                class,
                answer: &model.classes()[place as usize],
                probability: probabilities.as_ref().map(|p| p[at]),
            });
        }
        first += batch.len();
    }
    Ok(tally)
}
