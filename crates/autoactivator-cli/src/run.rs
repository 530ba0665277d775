//! How does a learner do on a data set? `autoactivator run` runs an exam, prints a table, and writes record and report.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator_exam::experiment::{Changes, Experiment};
use autoactivator_exam::record::Record;
use autoactivator_exam::report;

use crate::args::RunArgs;
use crate::dataset;
use crate::given::{self, laid_over};
use crate::image_args::ImageArgs;
use crate::progress::ExamBar;

pub fn run(args: &RunArgs) -> Result<()> {
    let experiment = asked(args)?;
    experiment.check_is_exam().with_context(|| args.dataset.clone())?;
    experiment.check()?;
    check_outputs(args)?;
    let dataset = dataset::open(&experiment.dataset, &images(args, &experiment)?, &args.data)?;
    let exam = experiment.exam(&dataset)?;
    let mut bar = ExamBar::of_tasks(exam.n_steps()?);
    let record = exam.run(&mut bar);
    bar.finish();
    deliver(args, &record?)
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

/// Refuses outputs that cannot be written, before the exam and not after it.
fn check_outputs(args: &RunArgs) -> Result<()> {
    let json = args.json.iter().filter(|path| *path != Path::new("-"));
    let report = Some(&args.report).filter(|_| !args.no_report);
    json.chain(report).try_for_each(|path| check_output(path))
}

/// Refuses a file that cannot be written.
pub fn check_output(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        bail!("cannot write {}: its directory does not exist", path.display());
    }
    if path.is_dir() {
        bail!("cannot write {}: it is a directory", path.display());
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

fn write(path: &Path, text: String) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
