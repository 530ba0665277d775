//! What a model reports about itself: as JSON for programs, and in two lines for people.

use serde_json::{Map, Value, json};

use super::Learned;
use crate::words::counted;

/// Everything a model reports about itself, as `inspect --json` prints it and as `/v1/model` begins;
/// `file_bytes` is the size of its file.
pub fn describe(model: &dyn Learned, file_bytes: u64) -> Value {
    let size = model.size();
    json!({
        "learner": model.name(),
        "file_bytes": file_bytes,
        "n_features": model.n_features(),
        "classes": model.classes(),
        "origin": model.origin(),
        "features": model.features(),
        "nodes": size.nodes,
        "model_mb": size.model_mb(),
        "memory_mb": size.memory_mb(),
        "multiply_adds": size.multiply_adds,
        "parameters": model.parameters(),
        "growth": model.growth(),
    })
}

/// Kind, classes and sizes of a model, as text for people.
pub fn summary(model: &dyn Learned, file_bytes: u64) -> String {
    let size = model.size();
    format!(
        "{}: {}, {}, {}\nmodel {:.3} MB, memory for further learning {:.3} MB, file {:.3} MB\n\
         classes: {}\n",
        model.name(),
        counted(model.classes().len(), "class"),
        counted(size.nodes, "node"),
        counted(model.n_features().unwrap_or(0), "feature"),
        size.model_mb(),
        size.memory_mb(),
        file_bytes as f64 / (1024.0 * 1024.0),
        model.classes().join(", "),
    )
}

/// Number of rows learned of each class, where the model knows.
pub fn rows_by_class(model: &dyn Learned) -> Map<String, Value> {
    let Ok(learner) = model.consolidation() else {
        return Map::new();
    };
    let memory = learner.memory();
    let counts = memory.classes().names().iter().zip(memory.counts());
    counts
        .map(|(class, count)| (class.clone(), whole(*count)))
        .collect()
}

/// A count as a whole number if it is one; fading and subtraction leave fractions.
fn whole(count: f64) -> Value {
    let rounded = count.round();
    if (count - rounded).abs() < 1e-6 {
        json!(rounded.max(0.0) as u64)
    } else {
        json!(count)
    }
}
