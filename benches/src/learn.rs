//! Learns all tasks of a data set. As in an exam, only the calls of `learn` are timed.

use std::time::Instant;

use anyhow::Result;
use autoactivator::{Check, Consolidation, ConsolidationParams, Labels, Model, Reactivation, Table};
use autoactivator_data::dataset::Dataset;
use autoactivator_exam::metrics;
use autoactivator_exam::protocol::{self, Protocol};
use autoactivator_exam::scenario::{Scenario, Task};
use serde_json::{Map, Value, json};

use crate::job::{Arrival, Learn, LearnerSpec};
use crate::worker::Worker;

pub fn tasks(dataset: &Dataset, arrival: &Arrival) -> Result<Vec<Task>> {
    let scenario: Scenario = arrival.tasks.parse()?;
    Ok(scenario.tasks(dataset, arrival.seed)?)
}

pub fn run(worker: &mut Worker, job: &Learn) -> Result<Value> {
    let dataset = worker.dataset(&job.arrival.data)?;
    let tasks = tasks(&dataset, &job.arrival)?;
    if let Some(name) = &job.keep {
        // The model that had this name goes first: two large ones might not fit into memory.
        worker.forget(name);
    }
    let lessons: Vec<(Table, Labels)> = tasks.iter().map(|task| lesson(&dataset, task)).collect();
    let mut model = fresh(&job.learner, &dataset)?;
    let mut task_seconds = Vec::new();
    for (x, y) in &lessons {
        let start = Instant::now();
        model.learn(x.rows(), y, &mut ())?;
        task_seconds.push(start.elapsed().as_secs_f64());
    }
    let mut aca = Map::new();
    for name in &job.protocols {
        aca.insert(
            name.clone(),
            examine(&model, &dataset, &tasks, name, job.arrival.seed)?.into(),
        );
    }
    let (size, growth) = (model.size(), model.growth());
    if let Some(name) = &job.keep {
        worker.keep(name, model);
    }
    Ok(json!({
        "seconds": task_seconds.iter().sum::<f64>(),
        "task_seconds": task_seconds,
        "aca": aca,
        "size": size,
        "growth": growth,
    }))
}

fn lesson(dataset: &Dataset, task: &Task) -> (Table, Labels) {
    let x = dataset.train.x.rows().gather(&task.train);
    (x, dataset.train.y.gather(&task.train))
}

fn fresh(learner: &LearnerSpec, dataset: &Dataset) -> Result<Model> {
    Ok(match learner.clone() {
        LearnerSpec::Reactivation(params) => Model::from(Reactivation::new(params.check()?)),
        LearnerSpec::Consolidation(params) => Model::from(consolidation(params, dataset)?),
    })
}

/// A learner that knows whether the rows are images.
pub fn consolidation(params: ConsolidationParams, dataset: &Dataset) -> Result<Consolidation> {
    let image = params.image.or(dataset.image);
    Ok(Consolidation::new(
        ConsolidationParams { image, ..params }.check()?,
    ))
}

/// ACA after the last task, in percent.
fn examine(model: &Model, dataset: &Dataset, tasks: &[Task], protocol: &str, seed: u64) -> Result<f64> {
    let protocol: Protocol = protocol.parse()?;
    let accuracy = protocol::accuracy(&**model, dataset, tasks, protocol, seed)?;
    Ok(metrics::aca(&[accuracy]))
}
