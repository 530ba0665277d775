//! Which backbone computed features: those of another backbone, or of other settings, mean something else.
//!
//! [`Identity`] is the hash of the model file and its [`Settings`]. Models and caches are bound to it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::settings::Settings;

/// A backbone and its settings.
///
/// Equal identities mean equal features; what the file is called, where it is and which runtime runs it
/// does not matter.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// What the file is called, without its extension.
    pub name: String,
    /// SHA-256 of the ONNX file, in hexadecimal.
    pub sha256: String,
    /// How images are shown to it, and which output is read.
    pub settings: Settings,
    /// Where the file was when it was last used, as an absolute path; it does not tell one backbone from another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Name and version of the runtime that computed the last features; all runtimes compute the same within rounding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
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
