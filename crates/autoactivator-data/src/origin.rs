//! Where features come from: what was learned from one origin means nothing for another.
//!
//! A model and a table keep an [`Origin`] as JSON; [`difference`] compares two of them, [`name_of`] puts one into words.

use std::fmt;

use autoactivator::ImageShape;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::backbone::Identity;

/// Where features come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// From these backbones, one after the other.
    Backbones(Vec<Identity>),
    /// From the pixels of images of this shape.
    Pixels(ImageShape),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backbones(identities) => {
                let names: Vec<String> = identities.iter().map(Identity::to_string).collect();
                write!(f, "{}", names.join(" + "))
            }
            Self::Pixels(shape) => write!(f, "pixels {shape}"),
        }
    }
}

/// Says how rows differ from those that a model was learned from, where both origins are known: rows of another backbone
/// mean something else, even when there are as many features.
pub fn difference(expected: Option<&Value>, found: Option<&Value>) -> Option<String> {
    let (expected, found) = (expected?, found?);
    let differ = !same(expected, found);
    differ.then(|| {
        format!(
            "the model was learned from {}, these rows come from {}: use the same one, or begin a new model",
            name_of(expected),
            name_of(found)
        )
    })
}

/// Whether two origins give the same features, whatever their files are called.
fn same(a: &Value, b: &Value) -> bool {
    let read = |origin: &Value| Origin::deserialize(origin).ok();
    match (read(a), read(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

/// An origin in words.
pub fn name_of(origin: &Value) -> String {
    match Origin::deserialize(origin) {
        Ok(origin) => origin.to_string(),
        Err(_) => origin.to_string(),
    }
}
