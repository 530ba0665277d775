//! Predicts with a stored model, and exports it for other programs.

use std::fs;
use std::time::Instant;

use anyhow::{Context, Result};
use autoactivator::{Learner, Rows};
use autoactivator_data::Part;
use serde_json::{Value, json};

use crate::job::{Onnx, Predict};
use crate::worker::Worker;

pub fn run(worker: &mut Worker, job: &Predict) -> Result<Value> {
    let dataset = worker.dataset(&job.data)?;
    let split = match job.part {
        Part::Train => &dataset.train,
        Part::Test => &dataset.test,
    };
    let x = first_rows(split.x.rows(), job.rows)?;
    let deployed = worker.deployed(&job.model)?;
    // The first call is not timed: it finds cold caches and has to allocate memory.
    let predicted = deployed.predict(x)?;
    let mut seconds = Vec::with_capacity(job.times);
    for _ in 0..job.times {
        let start = Instant::now();
        std::hint::black_box(deployed.predict(std::hint::black_box(x))?);
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    Ok(json!({
        "seconds": seconds.get(seconds.len() / 2),
        "rows": x.len(),
        "multiply_adds": deployed.size().multiply_adds,
        "predicted": predicted,
    }))
}

pub fn first_rows(x: Rows<'_>, n: usize) -> Result<Rows<'_>> {
    let n = n.min(x.len());
    Ok(Rows::new(&x.values()[..n * x.n_features()], x.n_features())?)
}

pub fn export(worker: &Worker, job: &Onnx) -> Result<Value> {
    let bytes = worker.deployed(&job.model)?.to_onnx();
    fs::write(&job.path, &bytes).with_context(|| format!("cannot write {}", job.path.display()))?;
    Ok(json!({ "bytes": bytes.len() }))
}
