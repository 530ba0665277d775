//! Which images a model takes, if any.

use autoactivator::{ImageShape, Learned};
use autoactivator_data::Origin;

/// The shape of the images whose pixels are the model's rows; none if its rows are not pixels.
pub(crate) fn image_of(model: &dyn Learned) -> Option<ImageShape> {
    let origin = model
        .origin()
        .and_then(|origin| serde_json::from_value(origin.clone()).ok());
    let said = match origin {
        Some(Origin::Pixels(shape)) => Some(shape),
        Some(Origin::Backbones(_)) => None,
        None => model.image(),
    };
    let n_features = model.n_features();
    said.filter(|shape| n_features.is_none_or(|n| n == shape.n_values()))
}
