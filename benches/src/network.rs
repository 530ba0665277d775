//! Runs an ONNX model of images or text on `rten`, set up as for backbones: several runs at once, one thread each.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView};
use serde_json::{Value as Json, json};

use crate::job::Network;

pub fn run(job: &Network) -> Result<Json> {
    let bytes = std::fs::read(&job.model).with_context(|| job.model.display().to_string())?;
    let model = ModelOptions::with_all_ops().prepack_weights(true).load(bytes)?;
    let output = model.node_id(&job.output)?;
    // The first runs are not timed: they find cold caches and have to allocate memory.
    at_once(&model, output, job, 1)?;
    let start = Instant::now();
    at_once(&model, output, job, job.times)?;
    Ok(json!({ "seconds": start.elapsed().as_secs_f64() }))
}

fn at_once(model: &Model, output: NodeId, job: &Network, times: usize) -> Result<()> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..job.threads)
            .map(|_| scope.spawn(|| one_thread(model, output, &job.shape, times)))
            .collect();
        for thread in threads {
            thread.join().map_err(|_| anyhow::anyhow!("a run failed"))??;
        }
        Ok(())
    })
}

fn one_thread(model: &Model, output: NodeId, shape: &[usize], times: usize) -> Result<()> {
    let pool = Arc::new(ThreadPool::with_num_threads(1));
    for _ in 0..times {
        let ids = model.input_ids().iter();
        let inputs: Result<Vec<(NodeId, ValueOrView<'_>)>> =
            ids.map(|&id| Ok((id, input(shape)?.into()))).collect();
        let options = RunOptions::default().with_thread_pool(Some(pool.clone()));
        model.run(inputs?, &[output], Some(options))?;
    }
    Ok(())
}

/// Pixels between -1 and 1; or ones, which are a mask that hides nothing as well as a word.
fn input(shape: &[usize]) -> Result<Value> {
    let n = shape.iter().product();
    if shape.len() == 4 {
        let pixels = (0..n).map(|i: usize| (i * 7919 % 1000) as f32 / 500.0 - 1.0);
        return Ok(Value::from_shape(shape, pixels.collect::<Vec<f32>>())?);
    }
    Ok(Value::from_shape(shape, vec![1_i32; n])?)
}
