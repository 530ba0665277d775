//! `autoactivator watch`: learns what arrives in class folders, and predicts what arrives in an inbox, until it is stopped.
//!
//! [`Arrivals`] finds files that are complete, a [`Batch`] takes them, [`Watch`] learns or predicts it, and the batch settles:
//!
//! | in the folder | what it holds |
//! |---|---|
//! | `CLASS/`, and tables | files to learn |
//! | `inbox/` | files to predict |
//! | `learned/N/` | files that were learned |
//! | `answered/N/` | files that were predicted, and `answers.csv` |
//! | `failed/N/` | files that could not be read, and `why.txt` |
//!
//! The model file is locked all the time, so that nobody else changes it.

mod args;
mod arrivals;
mod batch;

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use autoactivator::model::{Detail, Drift};
use autoactivator::{Error, Model, ModelFile, Source, counted};
use autoactivator_data::Part;

pub use args::WatchArgs;
use arrivals::{Arrivals, Purpose};
use batch::Batch;

use crate::answers::Answers;
use crate::args::AnswerFormat;
use crate::interrupt;
use crate::learn::{begin, reopen, take_in, tell};
use crate::message;
use crate::output::{Output, Replace, check_model_name};
use crate::rows::{Expected, RowSource};

const INBOX: &str = "inbox";
const ANSWERED: &str = "answered";
const LEARNED: &str = "learned";
const FAILED: &str = "failed";

/// The longest time without a look at whether to stop.
const NAP: Duration = Duration::from_millis(50);

/// A folder, and the model that learns from it.
struct Watch<'a> {
    args: &'a WatchArgs,
    file: ModelFile,
    /// None until the first rows have been learned.
    model: Option<Model>,
    drift: Drift,
}

/// Why a batch could not be done.
enum Trouble {
    /// Its rows: the next batch may be better.
    Rows(anyhow::Error),
    /// Something else, such as a full disk: nothing can go on.
    Ours(anyhow::Error),
}

/// Trouble is with the rows, unless it is said to be ours.
impl<E: Into<anyhow::Error>> From<E> for Trouble {
    fn from(error: E) -> Self {
        Self::Rows(error.into())
    }
}

fn ours(error: Error) -> Trouble {
    Trouble::Ours(error.into())
}

pub fn watch(args: &WatchArgs) -> Result<()> {
    check_model_name(&args.model)?;
    if !args.folder.is_dir() {
        bail!(
            "{}: there is no such folder: make it first",
            args.folder.display()
        );
    }
    let file = ModelFile::lock(&args.model)?;
    let model = if file.exists() {
        let model = reopen(&file, &args.model, &args.new)?;
        check_list(&model)?;
        Some(model)
    } else {
        None
    };
    let mut watch = Watch {
        args,
        file,
        model,
        drift: Drift::default(),
    };
    if !args.once {
        say!("watching {}: Ctrl-C ends it", args.folder.display());
    }
    let (mut arrived, mut waiting) = (false, false);
    for batch in Batch::left_in(&args.folder) {
        watch.finish(batch)?;
        arrived = true;
    }
    let mut arrivals = Arrivals::default();
    arrivals.look(&args.folder)?;
    while nap(args.every) {
        for ready in arrivals.look(&args.folder)? {
            // What came before there is anything to answer with stays where it is.
            if ready.purpose == Purpose::Answer && watch.model.is_none() {
                waiting = true;
                continue;
            }
            if let Some(batch) = Batch::take(&args.folder, &ready)? {
                arrived = true;
                watch.finish(batch)?;
            }
        }
        if args.once {
            let folder = args.folder.display();
            if waiting && watch.model.is_none() {
                say!("{folder}/{INBOX}: waits until something has been learned");
            } else if !arrived {
                say!("{folder}: nothing has arrived yet");
            }
            return Ok(());
        }
    }
    Ok(())
}

/// Waits until the next look; false if the process was told to stop.
fn nap(long: Duration) -> bool {
    let end = Instant::now() + long;
    while !interrupt::requested() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        sleep(left.min(NAP));
    }
    false
}

/// Refuses a model that cannot tell what it has learned already.
fn check_list(model: &Model) -> Result<()> {
    if model.keeps_sources() {
        return Ok(());
    }
    bail!(
        "watch needs a model that lists what it has learned, so that nothing is learned twice: a consolidation model that \
         is not private"
    )
}

impl Watch<'_> {
    /// Does what a batch is there for, and puts it where it belongs. Only a batch that cannot be read fails; whatever else
    /// goes wrong ends the program, and the batch is done the next time.
    fn finish(&mut self, batch: Batch) -> Result<()> {
        let done = match batch.purpose {
            Purpose::Learn => self.learn(&batch),
            Purpose::Answer => self.answer(&batch),
        };
        match done {
            Ok(()) => batch.settle(),
            Err(Trouble::Ours(error)) => Err(error),
            Err(Trouble::Rows(error)) if interrupt::requested() => Err(error),
            Err(Trouble::Rows(error)) => {
                let why = message(&error);
                let place = batch.fail(&why)?;
                say!("warning: {place}: {why}");
                Ok(())
            }
        }
    }

    /// Learns a batch on a copy of the model, which takes its place once it is on the disk.
    fn learn(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let started = Instant::now();
        let args = self.args.rows(batch.rows()?);
        let expected = Expected::of(self.model.as_ref(), &self.args.model);
        let rows = RowSource::open(&args, Part::Train, &expected)?;
        let mut model = match &self.model {
            Some(model) => model.clone(),
            None => begin(&self.args.new, &rows)?,
        };
        check_list(&model).map_err(Trouble::Ours)?;
        rows.remember(&mut model);
        let source = rows.source(&model)?.map(|source| Source {
            name: batch.name(),
            ..source
        });
        if let Some(Err(known)) = source.as_ref().map(|source| model.check_new(source, &[])) {
            // Written by a process that was killed before the batch had its name, or the same files once more.
            say!("note: {known}: not learned again");
            return Ok(());
        }
        let mut receipt = take_in(&mut model, &rows, source.as_ref(), &[])?;
        receipt.file_bytes = Some(self.file.write(&model).map_err(ours)?);
        receipt.seconds = started.elapsed().as_secs_f64();
        tell(&receipt, &rows, &self.args.model);
        self.model = Some(model);
        Ok(())
    }

    /// Predicts a batch into a file of answers.
    fn answer(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let Some(model) = &self.model else {
            return Err(ours(Error::NothingLearned));
        };
        model.check_reject(self.args.reject).map_err(ours)?;
        let args = self.args.rows(batch.rows()?);
        let rows = RowSource::open(&args, Part::Test, &Expected::of(Some(model), &self.args.model))?;
        let path = batch.answers(match self.args.format {
            AnswerFormat::Csv => "csv",
            AnswerFormat::Jsonl => "jsonl",
            AnswerFormat::Parquet => "parquet",
        });
        let output = Output::new(&path, &[], Replace::Files).map_err(Trouble::Ours)?;
        let answers = Answers::create(&output, self.args.format, model.classes(), Detail::Class);
        let mut answers = answers.map_err(Trouble::Ours)?;
        let can_tell = model.check_rejects().is_ok();
        let (mut n_rows, mut warnings) = (0, Vec::new());
        for found in rows.batches()? {
            let found = found?;
            let x = found.x.rows();
            let judged = model.answer(x, Detail::Class, self.args.reject)?;
            let written = answers.write(&judged, &found);
            written.map_err(Trouble::Ours)?;
            n_rows += judged.len();
            if can_tell && let Ok(known) = model.known(x) {
                warnings.extend(self.drift.see(&known));
            }
        }
        answers.finish().map_err(Trouble::Ours)?;
        say!("{}: {}", batch.name(), counted(n_rows, "answer"));
        for warning in warnings {
            warn!("warning: {warning}");
        }
        Ok(())
    }
}
