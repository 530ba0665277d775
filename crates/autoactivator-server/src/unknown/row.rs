//! A row that was answered "unknown", and what shows a person what it is.

use std::borrow::Cow;
use std::path::Path;

use autoactivator_data::thumbnail_of;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Characters of a sentence that are kept: enough to tell what it is about.
const MOST_CHARACTERS: usize = 500;

/// What tells rows apart: the same values have the same id, whenever they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(u64);

impl Id {
    pub(super) fn of(features: &[f32]) -> Self {
        let digest = Sha256::digest(bytes_of(features));
        let first = digest.iter().take(8);
        Self(first.fold(0, |id, &byte| id << 8 | u64::from(byte)))
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(&text, 16).ok().filter(|_| digits);
        number
            .map(Self)
            .ok_or_else(|| D::Error::custom("expected the id of a row: 16 hexadecimal digits"))
    }
}

/// A row that was answered "unknown".
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) id: Id,
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    pub(crate) features: Vec<f32>,
    /// The share of known rows that might be called unknown when it was.
    pub(crate) reject: f64,
    #[serde(default)]
    shown: Shown,
}

/// What shows a person what a row is.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Shown {
    /// Its own numbers.
    #[default]
    Row,
    /// The sentence, or its beginning.
    Text(String),
    /// A small picture, as a `data:` address.
    Picture(String),
}

impl Kept {
    /// Whether its values are those that it was kept with.
    pub(super) fn is_whole(&self) -> bool {
        self.id == Id::of(&self.features)
    }

    /// Shows it.
    pub(super) fn as_json(&self) -> Value {
        match &self.shown {
            Shown::Row => json!({ "id": self.id, "row": self.features }),
            Shown::Text(text) => json!({ "id": self.id, "text": text }),
            Shown::Picture(address) => json!({ "id": self.id, "picture": address }),
        }
    }
}

/// A row on its way to where it is kept.
pub(super) struct Offered {
    pub(super) features: Vec<f32>,
    pub(super) reject: f64,
    pub(super) look: Look,
}

/// What the rows of a question were computed from.
pub(crate) enum Looks<'a> {
    /// Nothing else, or pixels that can be seen in the rows.
    Rows,
    Texts(Vec<String>),
    /// Image files.
    Images(Vec<Cow<'a, [u8]>>),
}

impl Looks<'_> {
    /// What the row at a place was computed from.
    pub(super) fn of(&self, place: usize) -> Look {
        match self {
            Self::Rows => Look::Row,
            Self::Texts(texts) => Look::Text(texts[place].clone()),
            Self::Images(images) => Look::Image(images[place].to_vec()),
        }
    }
}

/// What a row was computed from.
pub(super) enum Look {
    /// Nothing else, or pixels that can be seen in the row.
    Row,
    Text(String),
    /// An image file.
    Image(Vec<u8>),
}

impl Offered {
    /// Bytes that it takes.
    pub(super) fn size(&self) -> usize {
        let look = match &self.look {
            Look::Row => 0,
            Look::Text(text) => text.len(),
            Look::Image(bytes) => bytes.len(),
        };
        size_of_val(self.features.as_slice()) + look
    }

    /// The row as it is kept. An image may take so many bytes while it is made small.
    pub(super) fn kept(self, id: Id, most_bytes: u64) -> Kept {
        let shown = match self.look {
            Look::Row => Shown::Row,
            Look::Text(text) => Shown::Text(beginning(text)),
            Look::Image(bytes) => match thumbnail_of(Path::new("image"), &bytes, most_bytes) {
                Ok(address) => Shown::Picture(address),
                // It was read for its answer, so this is not expected; the row is worth keeping anyway.
                Err(_) => Shown::Row,
            },
        };
        Kept {
            id,
            features: self.features,
            reject: self.reject,
            shown,
        }
    }
}

fn beginning(text: String) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn bytes_of(features: &[f32]) -> Vec<u8> {
    features.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn to_base64<S: Serializer>(features: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes_of(features)))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    let bytes = STANDARD.decode(text.as_bytes()).map_err(D::Error::custom)?;
    let (values, []) = bytes.as_chunks() else {
        return Err(D::Error::custom("not a whole number of values"));
    };
    Ok(values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let features = vec![0.1, -0.0, f32::MIN_POSITIVE, 1e30];
        let offered = |look| Offered {
            features: features.clone(),
            reject: 0.05,
            look,
        };
        let id = Id::of(&features);
        for look in [
            Look::Row,
            Look::Text("ü".repeat(600)),
            Look::Image(b"no image".to_vec()),
        ] {
            let kept = offered(look).kept(id, 1 << 20);
            let read: Kept = serde_json::from_str(&json!(kept).to_string()).unwrap();
            assert!(read.is_whole() && read.as_json() == kept.as_json());
            assert_eq!(bytes_of(&read.features), bytes_of(&features));
        }
        let text = offered(Look::Text("ü".repeat(600))).kept(id, 0).as_json()["text"].clone();
        assert_eq!(text.as_str().unwrap().chars().count(), MOST_CHARACTERS + 1);
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let read = |text: &str| serde_json::from_value::<Id>(json!(text));
        assert!(read("00000000000000ff").is_ok_and(|id| id == Id(255)));
        for wrong in [
            "",
            "ff",
            "+0000000000000ff",
            "000000000000000g",
            "00000000000000fff",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
