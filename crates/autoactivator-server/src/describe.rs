//! What a model is, as JSON: what `inspect --json` prints and `/v1/model` begins with.

use autoactivator::{ImageShape, Model};
use autoactivator_data::Origin;
use serde_json::{Map, Value, json};

/// Everything that a model says about itself; its file has so many bytes.
pub fn describe(model: &Model, file_bytes: u64) -> Value {
    let learner = model.learner();
    let size = learner.size();
    let parameters = match model {
        Model::Reactivation(learner) => json!(learner.params()),
        Model::Consolidation(learner) => json!(learner.params()),
        Model::Deployed(_) => Value::Null,
    };
    json!({
        "learner": learner.name(),
        "file_bytes": file_bytes,
        "n_features": learner.n_features(),
        "classes": learner.classes(),
        "origin": model.origin(),
        "nodes": size.nodes,
        "model_mb": size.model_mb(),
        "memory_mb": size.memory_mb(),
        "multiply_adds": size.multiply_adds,
        "parameters": parameters,
        "growth": learner.growth(),
    })
}

/// Rows learned of each class, where the model knows.
pub(crate) fn rows_by_class(model: &Model) -> Map<String, Value> {
    let Model::Consolidation(learner) = model else {
        return Map::new();
    };
    let memory = learner.memory();
    let counts = memory.classes().names().iter().zip(memory.counts());
    counts
        .map(|(class, count)| (class.clone(), whole(*count)))
        .collect()
}

/// Fading and subtraction leave fractions; where they do not, rows are counted in whole numbers.
fn whole(count: f64) -> Value {
    let rounded = count.round();
    if (count - rounded).abs() < 1e-6 {
        json!(rounded.max(0.0) as u64)
    } else {
        json!(count)
    }
}

/// The shape of the images whose pixels are the rows of a model, if they are.
pub(crate) fn image_of(model: &Model) -> Option<ImageShape> {
    let origin = model
        .origin()
        .and_then(|origin| serde_json::from_value(origin.clone()).ok());
    let said = match (origin, model) {
        (Some(Origin::Pixels(shape)), _) => Some(shape),
        (Some(Origin::Backbones(_)), _) => None,
        (None, Model::Consolidation(learner)) => learner.params().image,
        (None, _) => None,
    };
    let n_features = model.learner().n_features();
    said.filter(|shape| n_features.is_none_or(|n| n == shape.n_values()))
}
