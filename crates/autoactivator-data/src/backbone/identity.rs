//! Which backbone it is: features of another one, or of other settings, mean something else.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::settings::Settings;

/// Rises whenever the same image and settings come to give another tensor, so that no cached feature is taken for
/// what it no longer is.
const PREPROCESSING: u32 = 1;

/// A backbone and its settings.
///
/// Equal identities mean equal features; what the file is called does not matter.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// What the file is called, without its ending.
    pub name: String,
    /// SHA-256 of the ONNX file, in hexadecimal.
    pub sha256: String,
    /// How images are shown to it, and which output is read.
    pub settings: Settings,
}

impl Identity {
    /// Names the cache of its features.
    pub(crate) fn digest(&self) -> [u8; 32] {
        Sha256::digest(format!("{PREPROCESSING} {} {:?}", self.sha256, self.settings)).into()
    }
}

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        self.sha256 == other.sha256 && self.settings == other.settings
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.sha256.get(..8).unwrap_or(&self.sha256);
        let Settings { output, size, .. } = &self.settings;
        write!(f, "{} (sha256 {start}, {output}, {size} px)", self.name)
    }
}
