//! Turns images into features, as every command that takes images does.

use std::time::Instant;

use anyhow::{Context, Result};
use autoactivator::ImageShape;
use autoactivator_data::{Backbone, BackboneSpec, ExtractOptions, Extractor, ImageFolder, Pixels};
use serde_json::{Value, json};

use crate::job::Extract;

pub fn run(job: &Extract) -> Result<Value> {
    let folder = ImageFolder::open(&job.folder)?;
    let extractor = extractor(job)?;
    let start = Instant::now();
    let mut n_images = 0;
    for batch in extractor.rows(&folder, ExtractOptions::default()) {
        n_images += batch?.len();
    }
    Ok(json!({ "seconds": start.elapsed().as_secs_f64(), "images": n_images }))
}

fn extractor(job: &Extract) -> Result<Extractor> {
    let Some(runtime) = &job.runtime else {
        return Ok(Extractor::Pixels(Pixels::new(ImageShape {
            height: job.size,
            width: job.size,
            channels: 3,
        })?));
    };
    let spec = BackboneSpec {
        size: Some(job.size),
        output: Some(vec!["features".to_owned()].into()),
        ..BackboneSpec::default()
    };
    let runtime = runtime.parse().map_err(anyhow::Error::msg).context("runtime")?;
    Ok(Extractor::Backbones(vec![Backbone::open(
        &job.backbone,
        spec,
        runtime,
    )?]))
}
