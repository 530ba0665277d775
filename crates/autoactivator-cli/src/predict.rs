//! `autoactivator predict`: the class of each row. If the rows have classes, stderr shows how many answers are right.

use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::model::{Detail, class_of};
use autoactivator::{Answer, Error, Model, Rows, counted};
use autoactivator_data::Batch;
use autoactivator_data::Part;

use crate::answers::{Answers, format_of};
use crate::args::{GroupSize, PredictArgs};
use crate::output::{Output, Replace, STANDARD};
use crate::rows::{Expected, RowSource};

pub fn predict(args: &PredictArgs) -> Result<()> {
    let format = format_of(args.output.as_deref(), args.format)?;
    let output = args.output.as_deref().unwrap_or(Path::new(STANDARD));
    let output = Output::new(output, &[&args.model, &args.rows.rows], Replace::Files)?;
    let model = Model::load(&args.model)?;
    if model.n_features().is_none() {
        bail!(Error::NothingLearned);
    }
    let detail = match args.top {
        Some(k) => Detail::Top(k),
        None if args.proba => Detail::All,
        None => Detail::Class,
    };
    let asked = detail != Detail::Class || args.reject > 0.0;
    let alone = args.group == GroupSize::Rows(1);
    if asked && !(alone && model.abilities().rejects) {
        bail!("--proba, --top and --reject need a consolidation model, and rows judged alone");
    }
    model.check_reject(args.reject)?;
    let rows = RowSource::open(&args.rows, Part::Test, &Expected::of(Some(&model), &args.model))?;
    let mut answers = Answers::create(&output, format, model.classes(), detail)?;
    let mut tally = Tally::default();
    for batch in grouped(&rows, args.group)? {
        let batch = batch.with_context(|| args.rows.name())?;
        let x = batch.x.rows();
        let found = if alone {
            model.answer(x, detail, args.reject)
        } else {
            predict_groups(&model, x, args.group).map(|found| found.into_iter().map(Answer::sure).collect())
        };
        let found = found.with_context(|| args.rows.name())?;
        answers.write(&found, &batch)?;
        tally.add(model.classes(), &found, batch.y.as_deref());
    }
    answers.finish()?;
    tally.report();
    Ok(())
}

/// Streams rows in batches, or collects them all if they are judged in groups.
fn grouped<'a>(
    rows: &'a RowSource<'_>,
    group: GroupSize,
) -> Result<Box<dyn Iterator<Item = Result<Batch>> + 'a>> {
    if group == GroupSize::Rows(1) {
        return rows.batches();
    }
    let whole = Batch::collect(rows.batches()?)?;
    Ok(Box::new(whole.into_iter().map(Ok)))
}

/// Counts how many answers are right.
#[derive(Default)]
struct Tally {
    rows: usize,
    right: usize,
    unknown: usize,
}

impl Tally {
    fn add(&mut self, classes: &[String], answers: &[Answer], y: Option<&[String]>) {
        for (answer, y) in answers.iter().zip(y.unwrap_or_default()) {
            let name = class_of(classes, answer);
            self.rows += 1;
            self.right += usize::from(name == Some(y));
            self.unknown += usize::from(name.is_none());
        }
    }

    /// Prints the counts to stderr, unless no row had a class.
    fn report(&self) {
        if self.rows == 0 {
            return;
        }
        let percent = 100.0 * self.right as f64 / self.rows as f64;
        let rejected = match self.unknown {
            0 => String::new(),
            n => format!(", {n} unknown"),
        };
        say!(
            "{} of {} right ({percent:.2} %){rejected}",
            self.right,
            counted(self.rows, "row")
        );
    }
}

fn predict_groups(model: &Model, x: Rows<'_>, group: GroupSize) -> Result<Vec<u32>, Error> {
    match group {
        GroupSize::All => model.predict_group(x),
        GroupSize::Rows(rows) => {
            let groups: Result<Vec<_>, _> = x.chunks(rows).map(|group| model.predict_group(group)).collect();
            Ok(groups?.concat())
        }
    }
}
