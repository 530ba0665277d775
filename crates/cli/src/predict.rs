//! `autoactivator predict`: the class of each row as CSV on stdout; how many were right on stderr, when rows carry
//! their class.

use std::io::{BufWriter, Write};

use anyhow::{Context, Result, bail};
use autoactivator::{Answer, Deployed, Error, Labels, Learner, Model, Rows};
use cil::data::{self, Part};

use crate::args::{GroupSize, PredictArgs};

/// The answer for a row of none of the known classes.
const UNKNOWN: &str = "unknown";

pub fn predict(args: &PredictArgs) -> Result<()> {
    let model = Model::load(&args.model)?;
    let learner = model.learner();
    let n_features = learner.n_features().ok_or(Error::NothingLearned)?;
    let (x, y) = data::read_maybe_labelled(&args.rows, args.data.dir().as_deref(), Part::Test, n_features)?;
    let of_rows = || args.rows.clone();
    let asked = args.proba || args.reject > 0.0;
    let answers = match deployed(&model).filter(|_| asked && args.group == GroupSize::Rows(1)) {
        Some(deployed) => deployed.answers(x.rows(), args.reject).with_context(of_rows)?,
        None if asked => bail!("--proba and --reject need a consolidation model, and rows judged alone"),
        None => predict_groups(learner, x.rows(), args.group)
            .with_context(of_rows)?
            .into_iter()
            .map(sure)
            .collect(),
    };
    write_csv(learner.classes(), &answers, args.proba)?;
    if let Some(y) = y {
        report(learner.classes(), &answers, &y);
    }
    Ok(())
}

/// What a model of consolidation predicts with.
fn deployed(model: &Model) -> Option<&Deployed> {
    match model {
        Model::Consolidation(learner) => learner.deployed(),
        Model::Deployed(deployed) => Some(deployed),
        Model::Reactivation(_) => None,
    }
}

fn sure(class: u32) -> Answer {
    Answer {
        class: Some(class),
        probabilities: Vec::new(),
    }
}

fn write_csv(classes: &[String], answers: &[Answer], proba: bool) -> Result<()> {
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    write!(stdout, "row,class")?;
    for class in classes.iter().filter(|_| proba) {
        write!(stdout, ",{}", quoted(class))?;
    }
    writeln!(stdout)?;
    for (row, answer) in answers.iter().enumerate() {
        write!(
            stdout,
            "{row},{}",
            quoted(name(classes, answer).unwrap_or(UNKNOWN))
        )?;
        for probability in answer.probabilities.iter().filter(|_| proba) {
            write!(stdout, ",{probability}")?;
        }
        writeln!(stdout)?;
    }
    Ok(stdout.flush()?)
}

fn name<'a>(classes: &'a [String], answer: &Answer) -> Option<&'a str> {
    answer.class.map(|place| classes[place as usize].as_str())
}

/// How many were right, on stderr.
fn report(classes: &[String], answers: &[Answer], y: &Labels) {
    let names: Vec<Option<&str>> = answers.iter().map(|answer| name(classes, answer)).collect();
    let right = names
        .iter()
        .enumerate()
        .filter(|(row, name)| **name == Some(y.name(*row)))
        .count();
    let unknown = names.iter().filter(|name| name.is_none()).count();
    let percent = 100.0 * right as f64 / y.len().max(1) as f64;
    let rejected = if unknown > 0 {
        format!(", {unknown} unknown")
    } else {
        String::new()
    };
    eprintln!("{right} of {} rows right ({percent:.2} %){rejected}", y.len());
}

fn predict_groups(learner: &dyn Learner, x: Rows<'_>, group: GroupSize) -> Result<Vec<u32>, Error> {
    match group {
        GroupSize::Rows(1) => learner.predict(x),
        GroupSize::All => learner.predict_group(x),
        GroupSize::Rows(rows) => {
            let groups: Result<Vec<_>, _> =
                x.chunks(rows).map(|group| learner.predict_group(group)).collect();
            Ok(groups?.concat())
        }
    }
}

/// A CSV field, quoted when it has to be.
fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
