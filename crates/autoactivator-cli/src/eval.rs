//! `autoactivator eval`: how often a model is right, class by class, with every row judged alone; and whether the rows are
//! like those that it learned.
//!
//! Rows go into a tally; [`autoactivator_exam::report::evaluation`] shows it, as text and as a page.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::model::Drift;
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
    let (tally, known) = judged(&model, &rows).with_context(|| args.rows.name())?;
    let mut drift = Drift::default();
    let warning = drift.see_unordered(known);
    let evaluation = Evaluation {
        data: args.rows.name(),
        known: model.classes().to_vec(),
        tally,
    };
    let text = if args.json {
        let mut json = evaluation.as_json();
        if drift.rows() > 0 {
            json["drift"] = drift.as_json();
        }
        format!("{json:#}\n")
    } else {
        evaluation::text(&evaluation) + &strangeness(&drift)
    };
    if let Some(warning) = warning {
        warn!("warning: {warning}");
    }
    terminal::stdout().write_all(text.as_bytes())?;
    if let Some(report) = report {
        let mistakes = evaluation.tally.mistakes();
        let shown = exhibits::of(&rows, mistakes).with_context(|| args.rows.name())?;
        report.deliver(&evaluation::html(&evaluation, &shown))?;
    }
    Ok(())
}

/// How strange the rows are, for people; nothing about a model that cannot tell.
fn strangeness(drift: &Drift) -> String {
    if drift.rows() == 0 {
        return String::new();
    }
    let share = |n: u64| 100.0 * n as f64 / drift.rows() as f64;
    let tenths = drift.tenths().map(|n| format!("{:.1}", share(n)));
    format!(
        "\nstranger than 95 % of known rows: {:.2} % of the rows; 5 % if they are like those that were learned\n\
         from the strangest tenth to the most usual one, 10 % each: {}\n",
        share(drift.strange()),
        tenths.join(", ")
    )
}

/// Refuses a report that cannot be written or would destroy something, before anything is computed.
fn report(path: &Path, args: &EvalArgs) -> Result<Output> {
    let output = Output::checked(path, &["html", "htm"], &[&args.model, &args.rows.rows])?;
    if output.file().is_none() {
        bail!("--report needs a file: stdout has the figures");
    }
    Ok(output)
}

/// What became of the rows, and how well known each is, if the model can tell.
fn judged(model: &Model, rows: &RowSource<'_>) -> Result<(Tally, Vec<f32>)> {
    let (mut tally, mut known) = (Tally::default(), Vec::new());
    let can_tell = model.check_rejects().is_ok();
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
        if can_tell && let Ok(shares) = model.known(batch.x.rows()) {
            known.extend(shares);
        }
        first += batch.len();
    }
    Ok((tally, known))
}
