//! Teaches a model a new class: from "rows are there" to "answers know the class".

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use autoactivator::{Consolidation, Labels, Learner, Table};
use autoactivator_data::dataset::Split;
use serde_json::{Value, json};

use crate::job::Teach;
use crate::worker::Worker;

/// What the class is called that is taught.
const NEW: &str = "new";

pub fn run(worker: &mut Worker, job: &Teach) -> Result<Value> {
    let dataset = worker.dataset(&job.data)?;
    let x = of_class(&dataset.train, job.class, job.rows)?;
    let unseen = of_class(&dataset.test, job.class, usize::MAX)?;
    let learner = worker.consolidation_mut(&job.model)?;
    let (seconds, shares) = if job.from_nothing {
        // A copy, made beforehand: it need not be brought back.
        let mut copy = learner.clone();
        let seconds = timed(&mut copy, &x, solve_from_nothing)?;
        (seconds, shares(&copy, &x, &unseen)?)
    } else {
        // Not a copy: only one of them could follow from the last readout.
        let seconds = timed(learner, &x, learn)?;
        let shares = shares(learner, &x, &unseen)?;
        learner.drop_class(NEW)?;
        (seconds, shares)
    };
    Ok(json!({ "seconds": seconds, "taught": shares.0, "unseen": shares.1 }))
}

/// The first rows of a class.
fn of_class(split: &Split, class: u32, most: usize) -> Result<Table> {
    let codes = split.y.codes().iter().enumerate();
    let rows = codes.filter(|(_, code)| **code == class).map(|(row, _)| row);
    let rows: Vec<usize> = rows.take(most).collect();
    ensure!(!rows.is_empty(), "class {class} has no rows");
    Ok(split.x.rows().gather(&rows))
}

fn timed(
    learner: &mut Consolidation,
    x: &Table,
    teach: impl Fn(&mut Consolidation, &Table, &Labels) -> Result<(), autoactivator::Error>,
) -> Result<f64> {
    let y = Labels::from_names(x.rows().iter().map(|_| NEW));
    let start = Instant::now();
    teach(learner, x, &y)?;
    std::hint::black_box(learner.predict(x.rows())?);
    Ok(start.elapsed().as_secs_f64())
}

fn learn(learner: &mut Consolidation, x: &Table, y: &Labels) -> Result<(), autoactivator::Error> {
    learner.learn(x.rows(), y, &mut ())
}

fn solve_from_nothing(
    learner: &mut Consolidation,
    x: &Table,
    y: &Labels,
) -> Result<(), autoactivator::Error> {
    learner.observe(x.rows(), y)?;
    learner.solve_from_nothing(None)
}

/// Shares of the taught rows, and of other rows of the class, that are answered with it.
fn shares(learner: &Consolidation, taught: &Table, unseen: &Table) -> Result<(f64, f64)> {
    let place = learner.classes().iter().position(|name| name == NEW);
    let place = place.context("the new class is not known")?;
    let share = |x: &Table| -> Result<f64> {
        let answers = learner.predict(x.rows())?;
        let right = answers.iter().filter(|&&answer| answer as usize == place);
        Ok(right.count() as f64 / answers.len() as f64)
    };
    Ok((share(taught)?, share(unseen)?))
}
