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
use autoactivator_exam::report::exhibit::Exhibits;

use crate::args::RunArgs;
use crate::dataset::{self, Found, TestRows};
use crate::given::{self, laid_over};
use crate::image_args::ImageArgs;
use crate::output::{Output, is_standard};
use crate::progress::ExamBar;
use crate::stdin::Spool;
use crate::terminal;

pub fn run(args: &RunArgs) -> Result<()> {
    let mut experiment = asked(args)?;
    experiment.check_is_exam().with_context(|| args.dataset.clone())?;
    experiment.check()?;
    let spool = is_standard(Path::new(&experiment.dataset))
        .then(Spool::read)
        .transpose()?;
    if let Some(spool) = &spool {
        experiment.dataset = spool.path().display().to_string();
    }
    let images = images(args, &experiment)?;
    let found = Found::find(
        &experiment.dataset,
        images,
        args.texts.clone(),
        &args.columns,
        &args.data,
    )?;
    let outputs = outputs(args, &found)?;
    let (dataset, test_rows) = admitted(&mut experiment, &found)?;
    let exam = experiment.exam(&dataset)?;
    let mut bar = ExamBar::of_tasks(exam.n_steps()?);
    let record = exam.run(&mut bar);
    bar.finish();
    let mut record = record?;
    let exhibits = test_rows.exhibits(&dataset, &mut record)?;
    deliver(&outputs, &record, &exhibits)?;
    refuse_failed(&record)
}

/// The requested experiment: a file or the defaults, overridden by the options.
fn asked(args: &RunArgs) -> Result<Experiment> {
    let mut experiment = Experiment::named(&args.dataset, &[])?;
    experiment.change(&Changes {
        tasks: args.tasks.clone(),
        online: args.online,
        stream: args.stream,
        order: args.order,
        imbalance: args.imbalance,
        shots: args.shots,
        learners: args.learners.clone(),
        protocols: args.protocols.clone(),
        seeds: args.seeds,
        seed: args.seed,
        ..Changes::default()
    })?;
    let reactivation = given::reactivation(&args.reactivation, &args.shared)?;
    let consolidation = given::consolidation(&args.consolidation, &args.shared)?;
    let rivals = given::rivals(&args.rivals)?;
    for contender in &mut experiment.contenders {
        contender.reactivation = laid_over(&contender.reactivation, &reactivation)?;
        contender.consolidation = laid_over(&contender.consolidation, &consolidation)?;
        contender.rivals = laid_over(&contender.rivals, &rivals)?;
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
fn admitted<'a>(experiment: &mut Experiment, found: &'a Found) -> Result<(Dataset, TestRows<'a>)> {
    let open = found.open()?;
    experiment.admit(&open.outline()?)?;
    for absence in &experiment.left_out {
        say!("note: {} left out: {}", absence.learner, absence.reason);
    }
    open.read_for_report()
}

/// Where the record and the report go.
struct Outputs {
    json: Option<Output>,
    report: Option<Output>,
}

/// Refuses outputs that cannot be written or would destroy something, before the exam and not after it.
fn outputs(args: &RunArgs, found: &Found) -> Result<Outputs> {
    let given = [Path::new(&args.dataset), found.path()];
    let checked = |path: &Path, endings: &[&str]| Output::checked(path, endings, &given);
    let json = args.json.as_deref().map(|path| checked(path, &["json"]));
    let report = Some(args.report.as_path()).filter(|_| !args.no_report);
    let report = report.map(|path| checked(path, &["html", "htm"]));
    let outputs = Outputs {
        json: json.transpose()?,
        report: report.transpose()?,
    };
    if let (Some(json), Some(report)) = (&outputs.json, &outputs.report)
        && json.is_same(report)
    {
        bail!("--json and --report name the same file: choose two");
    }
    Ok(outputs)
}

fn deliver(outputs: &Outputs, record: &Record, exhibits: &Exhibits) -> Result<()> {
    let json = outputs.json.as_ref();
    if json.is_none_or(|json| json.file().is_some()) {
        write!(
            terminal::stdout(),
            "{}\n{}\n",
            report::table(record),
            report::headline(record)
        )?;
    }
    if let Some(json) = json {
        json.write(format!("{}\n", serde_json::to_string_pretty(record)?).as_bytes())?;
    }
    if let Some(report) = &outputs.report {
        report.deliver(&report::html(record, exhibits))?;
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
