//! What consolidation does with its memory: it adds rows and recruits nodes.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use autoactivator::consolidation::{self, Limits};
use autoactivator::math::mirror_lower;
use autoactivator::{Labels, Memory};
use serde_json::{Value, json};

use crate::job::{Observe, Recruit, Sums};
use crate::learn::consolidation;
use crate::predict::first_rows;
use crate::worker::Worker;

pub fn observe(worker: &mut Worker, job: &Observe) -> Result<Value> {
    let dataset = worker.dataset(&job.data)?;
    let (x, y) = (dataset.train.x.rows(), &dataset.train.y);
    let mut learner = consolidation(job.params.clone(), &dataset)?;
    let first: Vec<usize> = (0..job.warm_rows.min(x.len())).collect();
    learner.observe(x.gather(&first).rows(), &y.gather(&first))?;
    let start = Instant::now();
    learner.observe(x, y)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({ "seconds": seconds, "rows": x.len(), "nodes": learner.memory().n_nodes() }))
}

pub fn recruit(worker: &Worker, job: &Recruit) -> Result<Value> {
    let learner = worker.consolidation(&job.model)?;
    if let Some(folder) = &job.share {
        share(learner.memory(), folder)?;
    }
    let limits = Limits {
        max_nodes: job.max_nodes,
        r: learner.params().r,
        expected_gain: 0.0,
    };
    let start = Instant::now();
    let (nodes, ended) = consolidation::recruit(learner.memory(), &[], limits);
    let seconds = start.elapsed().as_secs_f64();
    Ok(json!({ "seconds": seconds, "nodes": nodes, "ended": ended }))
}

pub fn sums(worker: &mut Worker, job: &Sums) -> Result<Value> {
    let dataset = worker.dataset(&job.data)?;
    let x = first_rows(dataset.train.x.rows(), job.rows)?;
    let learner = worker.consolidation(&job.model)?;
    share(learner.memory(), &job.folder)?;
    // The sum over a class of one row is that row's node outputs.
    let mut apart = learner.clone();
    let names = (0..x.len()).map(|i| format!("row {i}"));
    apart.observe(x, &Labels::from_names(names))?;
    let before = learner.memory().moments().values().len();
    write(
        &job.folder,
        "outputs",
        &apart.memory().moments().values()[before..],
    )?;
    Ok(json!({
        "nodes": learner.memory().n_nodes(),
        "classes": learner.memory().counts().len(),
        "rows": x.len(),
    }))
}

fn share(memory: &Memory, folder: &Path) -> Result<()> {
    let mut gram = memory.gram().to_square();
    mirror_lower(&mut gram);
    write(folder, "gram", gram.values())?;
    write(folder, "moments", memory.moments().values())?;
    write(folder, "counts", memory.counts())
}

fn write(folder: &Path, name: &str, values: &[f64]) -> Result<()> {
    let path = folder.join(name);
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
