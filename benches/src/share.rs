//! Writes rows for another program, so that it has the same rows and tasks without reading every file format itself.

use std::fs;

use anyhow::{Context, Result};
use autoactivator_data::dataset::Split;
use serde_json::{Value, json};

use crate::job::Share;
use crate::learn::tasks;
use crate::worker::Worker;

pub fn run(worker: &mut Worker, job: &Share) -> Result<Value> {
    let dataset = worker.dataset(&job.arrival.data)?;
    let tasks = tasks(&dataset, &job.arrival)?;
    write(job, "train", &dataset.train)?;
    write(job, "test", &dataset.test)?;
    Ok(json!({
        "n_features": dataset.train.x.rows().n_features(),
        "n_classes": dataset.n_classes(),
        "tasks": tasks.iter().map(|task| &task.classes).collect::<Vec<_>>(),
    }))
}

fn write(job: &Share, part: &str, split: &Split) -> Result<()> {
    let x: Vec<u8> = split
        .x
        .rows()
        .values()
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let y: Vec<u8> = split
        .y
        .codes()
        .iter()
        .flat_map(|code| code.to_le_bytes())
        .collect();
    for (name, bytes) in [("x", x), ("y", y)] {
        let path = job.folder.join(format!("{part}_{name}"));
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
