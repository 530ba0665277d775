//! How does a learner do on a data set? `autoactivator run` runs an exam, prints a table, and writes record and report.
//!
//! Everything that can be checked is checked before features are computed and before any learner starts.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator_data::dataset::Dataset;
use autoactivator_exam::experiment::{Changes, Experiment};
use autoactivator_exam::record::Record;
use autoactivator_exam::report;

use crate::args::RunArgs;
use crate::dataset::{self, Found};
use crate::given::{self, laid_over};
use crate::image_args::ImageArgs;
use crate::outputs;
use crate::progress::ExamBar;

pub fn run(args: &RunArgs) -> Result<()> {
    let mut experiment = asked(args)?;
    experiment.check_is_exam().with_context(|| args.dataset.clone())?;
    experiment.check()?;
    let images = images(args, &experiment)?;
    let found = Found::find(&experiment.dataset, images, &args.columns, &args.data)?;
    check_outputs(args, &found)?;
    let dataset = admitted(&mut experiment, &found)?;
    let exam = experiment.exam(&dataset)?;
    let mut bar = ExamBar::of_tasks(exam.n_steps()?);
    let record = exam.run(&mut bar);
    bar.finish();
    let record = record?;
    deliver(args, &record)?;
    refuse_failed(&record)
}

/// The requested experiment: a file or the defaults, overridden by the options.
fn asked(args: &RunArgs) -> Result<Experiment> {
    let mut experiment = Experiment::named(&args.dataset, &[])?;
    experiment.change(&Changes {
        tasks: args.tasks.clone(),
        online: args.online,
        learners: args.learners.clone(),
        protocols: args.protocols.clone(),
        seeds: args.seeds,
        seed: args.seed,
        ..Changes::default()
    })?;
    let reactivation = given::reactivation(&args.reactivation, &args.shared)?;
    let consolidation = given::consolidation(&args.consolidation, &args.shared)?;
    for contender in &mut experiment.contenders {
        contender.reactivation = laid_over(&contender.reactivation, &reactivation)?;
        contender.consolidation = laid_over(&contender.consolidation, &consolidation)?;
    }
    Ok(experiment)
}

/// The options about images, with the backbones of the experiment if none was given.
fn images(args: &RunArgs, experiment: &Experiment) -> Result<ImageArgs> {
    let mut images = args.images.clone();
    if images.backbones.is_empty() {
        images.backbones = dataset::backbones(experiment, &args.data)?;
    }
    Ok(images)
}

/// Reads the data, once it is known that the exam can be taken. Learners that cannot take part are named.
fn admitted(experiment: &mut Experiment, found: &Found) -> Result<Dataset> {
    let open = found.open()?;
    experiment.admit(&open.outline()?)?;
    for absence in &experiment.left_out {
        eprintln!("note: {} left out: {}", absence.learner, absence.reason);
    }
    open.read()
}

/// Refuses outputs that cannot be written or would destroy something, before the exam and not after it.
fn check_outputs(args: &RunArgs, found: &Found) -> Result<()> {
    let json = args.json.as_deref().filter(|path| *path != Path::new("-"));
    let report = Some(args.report.as_path()).filter(|_| !args.no_report);
    let given = [Path::new(&args.dataset), found.path()];
    for path in json.into_iter().chain(report) {
        outputs::check(path, &given)?;
    }
    if let (Some(json), Some(report)) = (json, report)
        && outputs::same(json, report)
    {
        bail!("{}: --json and --report name the same file", json.display());
    }
    Ok(())
}

fn deliver(args: &RunArgs, record: &Record) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match &args.json {
        Some(path) if path == Path::new("-") => {
            writeln!(stdout, "{}", serde_json::to_string_pretty(record)?)?;
        }
        json => {
            write!(stdout, "{}", report::table(record))?;
            if let Some(path) = json {
                write(path, serde_json::to_string_pretty(record)?)?;
            }
        }
    }
    if !args.no_report {
        write(&args.report, report::html(record))?;
        eprintln!("report: {}", args.report.display());
    }
    Ok(())
}

/// A learner that failed is an error, once the results of the others are out.
fn refuse_failed(record: &Record) -> Result<()> {
    if record.failed.is_empty() {
        return Ok(());
    }
    let failed = record.failed.iter();
    let failed: Vec<String> = failed
        .map(|f| format!("{} failed: {}", f.learner, f.reason))
        .collect();
    bail!("{}", failed.join("; "))
}

fn write(path: &Path, text: String) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
