//! `autoactivator run`: takes an exam, prints the table, writes record and report.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::{Check, Consolidation, ConsolidationParams, Reactivation, ReactivationParams};
use cil::baselines::{JointRidge, NearestMean, SequentialSgd, StreamingLda};
use cil::data;
use cil::protocol::{GroupSize, Protocol};
use cil::record::Record;
use cil::report;
use cil::run::{Entrant, Exam, Make};
use cil::scenario::Scenario;
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::args::{LearnerKind, RunArgs};
use crate::experiment::Experiment;
use crate::progress::ExamBar;

pub fn run(args: &RunArgs) -> Result<()> {
    let mut experiment = Experiment::new(args)?;
    // A parameter out of range is said before any data is read.
    experiment.reactivation.clone().check()?;
    experiment.consolidation.clone().check()?;
    experiment.reactivation.seed = args.seed;
    experiment.consolidation.seed = args.seed;
    let seeds = seeds(args.seed, experiment.seeds)?;
    check_outputs(args)?;
    let scenario = experiment.scenario(args)?;
    let protocols = experiment.protocols(args)?;
    let dataset = data::open(&experiment.dataset, args.data.dir().as_deref())?;
    experiment.consolidation.image = experiment.consolidation.image.or(dataset.image);
    let exam = Exam {
        scenario: scenario.map_or_else(|| default_scenario(dataset.n_classes()), Ok)?,
        online: experiment.online,
        entrants: learners(&experiment)
            .into_iter()
            .map(|kind| entrant(kind, &experiment))
            .collect(),
        protocols: if protocols.is_empty() {
            default_protocols()
        } else {
            protocols
        },
        seeds,
        dataset: &dataset,
    };
    let mut bar = ExamBar::new(exam.n_steps()?);
    let record = exam.run(&mut bar);
    bar.finish();
    deliver(args, &record?)
}

fn seeds(first: u64, n: u64) -> Result<Vec<u64>> {
    match first.checked_add(n - 1) {
        Some(last) => Ok((first..=last).collect()),
        None => bail!("parameter `seed` is {first}: {n} runs need as many seeds from there on"),
    }
}

/// Files that cannot be written are said before the exam, not after it.
fn check_outputs(args: &RunArgs) -> Result<()> {
    let json = args.json.iter().filter(|path| *path != Path::new("-"));
    let report = Some(&args.report).filter(|_| !args.no_report);
    for path in json.chain(report) {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            bail!("cannot write {}: its directory does not exist", path.display());
        }
        if path.is_dir() {
            bail!("cannot write {}: it is a directory", path.display());
        }
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

fn default_scenario(n_classes: usize) -> Result<Scenario, cil::Error> {
    let tasks = if n_classes >= 20 {
        10
    } else {
        (n_classes / 2).clamp(1, 5)
    };
    tasks.to_string().parse()
}

fn default_protocols() -> Vec<Protocol> {
    vec![Protocol::Instance, Protocol::TaskBatch(GroupSize::All)]
}

fn learners(experiment: &Experiment) -> Vec<LearnerKind> {
    if experiment.learners.is_empty() {
        return LearnerKind::value_variants().to_vec();
    }
    // One that is named twice is examined once.
    let named = experiment.learners.iter().enumerate();
    named
        .filter(|(i, kind)| !experiment.learners[..*i].contains(kind))
        .map(|(_, kind)| *kind)
        .collect()
}

/// A learner of this kind, ready for the exam.
fn entrant(kind: LearnerKind, experiment: &Experiment) -> Entrant<'_> {
    let (reactivation, consolidation) = (&experiment.reactivation, &experiment.consolidation);
    let name = kind
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned());
    let scope = reactivation.scopes[0];
    let (parameters, make): (Value, Make<'_>) = match kind {
        LearnerKind::Reactivation => (
            json!(reactivation),
            Box::new(|seed| {
                let params = ReactivationParams {
                    seed,
                    ..reactivation.clone()
                };
                Ok(Box::new(Reactivation::new(params.check()?)))
            }),
        ),
        LearnerKind::Consolidation => (
            json!(consolidation),
            Box::new(|seed| {
                let params = ConsolidationParams {
                    seed,
                    ..consolidation.clone()
                };
                Ok(Box::new(Consolidation::new(params.check()?)))
            }),
        ),
        LearnerKind::NearestMean => (json!({}), Box::new(|_| Ok(Box::new(NearestMean::default())))),
        LearnerKind::StreamingLda => (json!({}), Box::new(|_| Ok(Box::new(StreamingLda::default())))),
        LearnerKind::JointRidge => (
            json!({ "scope": scope }),
            Box::new(move |seed| Ok(Box::new(JointRidge::new(seed, scope)))),
        ),
        LearnerKind::SequentialSgd => (json!({}), Box::new(|seed| Ok(Box::new(SequentialSgd::new(seed))))),
    };
    Entrant {
        name,
        parameters,
        make,
    }
}
