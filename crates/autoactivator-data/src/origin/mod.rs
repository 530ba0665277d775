//! What computed rows: features of one origin mean nothing to a model that was learned from another.
//!
//! A model and a table keep an [`Origin`] as JSON, so that both can be read by a build without images or backbones.
//! [`difference`] compares two of them, [`name_of`] puts one into words, and [`runtimes_of`] says what ran its backbones.
//!
//! ```
//! use autoactivator::ImageShape;
//! use autoactivator_data::origin::{self, Origin};
//!
//! let pixels = |side| {
//!     let shape = ImageShape { height: side, width: side, channels: 1 };
//!     serde_json::to_value(Origin::Pixels(shape))
//! };
//! let (model, rows) = (pixels(8)?, pixels(28)?);
//! assert_eq!(origin::difference(Some(&model), Some(&model)), None);
//! let reason = origin::difference(Some(&model), Some(&rows)).unwrap_or_default();
//! assert!(reason.starts_with("the model was learned from pixels 8x8x1, these rows come from pixels 28x28x1"));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod identity;
mod resize;
mod settings;
mod text;

use std::fmt;

use autoactivator::ImageShape;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use identity::Identity;
pub use resize::{Filter, Resize};
pub use settings::{Channels, Layout, Outputs, Settings, Tokens};
pub use text::{Pooling, TextIdentity, TextSettings};

/// Where features come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// From these backbones, one after the other.
    Backbones(Vec<Identity>),
    /// From the pixels of images of this shape.
    Pixels(ImageShape),
    /// From sentences, through this encoder.
    Text(TextIdentity),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backbones(identities) => {
                let names: Vec<String> = identities.iter().map(Identity::to_string).collect();
                write!(f, "{}", names.join(" + "))
            }
            Self::Pixels(shape) => write!(f, "pixels {shape}"),
            Self::Text(identity) => write!(f, "{identity}"),
        }
    }
}

impl Origin {
    /// The same origin without the places of files and the runtime, which are the business of nobody but the owner of a
    /// model.
    #[must_use]
    pub fn without_places(mut self) -> Self {
        match &mut self {
            Self::Backbones(identities) => {
                for identity in identities {
                    identity.place = None;
                    identity.runtime = None;
                }
            }
            Self::Text(identity) => {
                identity.place = None;
                identity.runtime = None;
            }
            Self::Pixels(_) => {}
        }
        self
    }
}

/// Tells how the origin `found` differs from the one that a model `expected`, with the remedy.
///
/// None when both agree, or when one of them is not known. Rows of another backbone mean something else, even when
/// they have as many features.
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

/// The runtimes that its features were last computed by; none if that is not known, or if there is no backbone.
pub fn runtimes_of(origin: &Value) -> Option<String> {
    let runtimes: Vec<Option<String>> = match Origin::deserialize(origin).ok()? {
        Origin::Backbones(identities) => identities.into_iter().map(|identity| identity.runtime).collect(),
        Origin::Text(identity) => vec![identity.runtime],
        Origin::Pixels(_) => Vec::new(),
    };
    let mut runtimes: Vec<String> = runtimes.into_iter().flatten().collect();
    runtimes.dedup();
    (!runtimes.is_empty()).then(|| runtimes.join(" and "))
}

/// The sentence encoder that rows come from; none if they come from anything else.
pub fn encoder_of(origin: &Value) -> Option<TextIdentity> {
    match Origin::deserialize(origin) {
        Ok(Origin::Text(identity)) => Some(identity),
        _ => None,
    }
}

/// An origin in words; JSON that is not an [`Origin`] is returned as it is.
pub fn name_of(origin: &Value) -> String {
    match Origin::deserialize(origin) {
        Ok(origin) => origin.to_string(),
        Err(_) => origin.to_string(),
    }
}
