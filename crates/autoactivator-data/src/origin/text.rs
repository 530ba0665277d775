//! Which sentence encoder computed features, and how: those of another, or of other settings, mean something else.
//!
//! [`TextIdentity`] is to sentences what [`Identity`](super::Identity) is to images.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How sentences are shown to an encoder, and what is made of its output. Rows always have length 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextSettings {
    /// Name of the output that is read.
    pub output: String,
    /// How the tokens of a sentence become one row.
    pub pooling: Pooling,
    /// The most tokens of a sentence; what follows them is not read.
    pub max_tokens: usize,
}

/// How the tokens of a sentence become one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first one stands for all.
    First,
}

impl fmt::Display for Pooling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mean => "mean",
            Self::First => "first",
        })
    }
}

impl FromStr for Pooling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mean" => Ok(Self::Mean),
            "first" => Ok(Self::First),
            _ => Err(format!("pooling is '{text}', but must be mean or first")),
        }
    }
}

/// A sentence encoder and its settings.
///
/// Equal identities mean equal features; what the files are called, where they are, which runtime runs the model and
/// which column the sentences were in does not matter.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextIdentity {
    /// What the model is called.
    pub name: String,
    /// SHA-256 of the ONNX file, in hexadecimal.
    pub sha256: String,
    /// SHA-256 of its `tokenizer.json`, in hexadecimal.
    pub tokenizer: String,
    /// How sentences are shown to it, and what is made of its output.
    pub settings: TextSettings,
    /// Where the ONNX file was when it was last used, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Name and version of the runtime that computed the last features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The column of a table that the last sentences were in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
}

impl PartialEq for TextIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.sha256 == other.sha256 && self.tokenizer == other.tokenizer && self.settings == other.settings
    }
}

impl fmt::Display for TextIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.sha256.get(..8).unwrap_or(&self.sha256);
        let TextSettings {
            pooling, max_tokens, ..
        } = &self.settings;
        write!(
            f,
            "sentences through {} (sha256 {start}, {pooling}, {max_tokens} tokens)",
            self.name
        )
    }
}
