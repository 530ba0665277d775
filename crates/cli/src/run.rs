//! `autoactivator run`: takes an exam, prints the table, writes record and report.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use cil::data;
use cil::record::Record;
use cil::report;

use crate::args::RunArgs;
use crate::experiment;
use crate::progress::ExamBar;

pub fn run(args: &RunArgs) -> Result<()> {
    let experiment = experiment::asked(args)?;
    experiment.check(args.seed)?;
    check_outputs(args)?;
    let dataset = data::open(&experiment.dataset, args.data.dir().as_deref())?;
    let exam = experiment.exam(&dataset, args.seed)?;
    let mut bar = ExamBar::new(exam.n_steps()?);
    let record = exam.run(&mut bar);
    bar.finish();
    deliver(args, &record?)
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
