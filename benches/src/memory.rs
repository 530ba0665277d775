//! What consolidation does with its memory: it adds rows and recruits nodes.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use autoactivator::Memory;
use autoactivator::consolidation::{self, Limits};
use autoactivator::math::mirror_lower;
use serde_json::{Value, json};

use crate::job::{Observe, Recruit};
use crate::learn::consolidation;
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

fn share(memory: &Memory, folder: &Path) -> Result<()> {
    let mut gram = memory.gram().to_square();
    mirror_lower(&mut gram);
    let parts = [
        ("gram", gram.values()),
        ("moments", memory.moments().values()),
        ("counts", memory.counts()),
    ];
    for (name, values) in parts {
        let path = folder.join(name);
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
