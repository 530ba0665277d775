//! What clients are shown of a model: which images it takes, and where its rows come from.

use autoactivator::{Error, ImageShape, Learned, Model};
use autoactivator_data::Origin;
use autoactivator_data::origin::encoder_of;
use serde::Deserialize;
use serde_json::Value;

/// Where the model's rows come from, without the places of files: these are shown to the owner of the model file, but
/// never to clients.
pub(crate) fn shown_origin(model: &dyn Learned) -> Option<Value> {
    let origin = model.origin()?;
    match Origin::deserialize(origin) {
        Ok(known) => serde_json::to_value(known.without_places()).ok(),
        Err(_) => Some(origin.clone()),
    }
}

/// The file of a model for clients.
pub(crate) fn to_client(model: &Model) -> Result<Vec<u8>, Error> {
    let shown = shown_origin(&**model);
    if model.origin() == shown.as_ref() {
        return model.to_bytes();
    }
    let mut model = model.clone();
    model.set_origin(shown);
    model.to_bytes()
}

/// The shape of the images whose pixels are the model's rows; none if its rows are not pixels.
pub(crate) fn image_of(model: &dyn Learned) -> Option<ImageShape> {
    let origin = model
        .origin()
        .and_then(|origin| serde_json::from_value(origin.clone()).ok());
    let said = match origin {
        Some(Origin::Pixels(shape)) => Some(shape),
        Some(Origin::Backbones(_) | Origin::Text(_)) => None,
        None => model.image(),
    };
    let n_features = model.n_features();
    said.filter(|shape| n_features.is_none_or(|n| n == shape.n_values()))
}

/// Whether the model's rows come from sentences.
pub(crate) fn is_of_sentences(model: &dyn Learned) -> bool {
    model.origin().and_then(encoder_of).is_some()
}

/// The content type of an image file, by its first bytes.
pub(crate) fn image_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [b'R', b'I', b'F', b'F', ..] => "image/webp",
        _ => "image/jpeg",
    }
}
