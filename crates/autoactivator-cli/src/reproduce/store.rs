//! Stores results: one JSON file for each experiment, learner and seed, so that a stopped run can be resumed.
//!
//! A file counts only if it was computed from the settings that are asked for now. It is written whole or not at all.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use autoactivator::write_atomically;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The records of a reproduction on disk.
pub struct Store {
    folder: PathBuf,
}

/// Where a record is kept, and what it must have been computed from.
pub struct Key {
    path: PathBuf,
    settings: Value,
}

impl Store {
    /// Records below a folder, which is created when the first one is written.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.join("records"),
        }
    }

    /// The place of a record.
    pub fn key(&self, experiment: &str, learner: &str, seed: u64, settings: Value) -> Key {
        let file = format!("{}-seed-{seed}.json", file_name(learner));
        Key {
            path: self.folder.join(file_name(experiment)).join(file),
            settings,
        }
    }
}

impl Key {
    /// The stored result, if it was computed from the same settings; none for a damaged file, which is computed again.
    pub fn load<T: DeserializeOwned>(&self) -> Option<T> {
        let bytes = std::fs::read(&self.path).ok()?;
        let mut kept: Value = serde_json::from_slice(&bytes).ok()?;
        if kept["settings"] != self.settings {
            return None;
        }
        serde_json::from_value(kept["result"].take()).ok()
    }

    /// Stores a result.
    pub fn save(&self, result: &impl Serialize) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let kept = json!({ "settings": self.settings, "result": result });
        Ok(write_atomically(&self.path, &serde_json::to_vec(&kept)?)?)
    }
}

/// Turns a name into one that every file system accepts.
fn file_name(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let words: String = name.chars().map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_only_for_its_own_settings() {
        let folder = std::env::temp_dir().join(format!("autoactivator-store-{}", std::process::id()));
        let store = Store::new(&folder);
        let key = |t_max| store.key("table 4", "l = 1, T_max = 10", 3, json!({ "t_max": t_max }));
        assert_eq!(key(10).load::<Vec<f64>>(), None);
        key(10).save(&vec![0.1, 1.0 / 3.0]).unwrap();
        assert_eq!(key(10).load(), Some(vec![0.1, 1.0 / 3.0]));
        assert_eq!(key(50).load::<Vec<f64>>(), None);
        std::fs::write(&key(10).path, b"{\"settings\": ").unwrap();
        assert_eq!(key(10).load::<Vec<f64>>(), None);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_are_fit_for_files() {
        assert_eq!(file_name("l = 1, T_max = 10"), "l-1-t-max-10");
        assert_eq!(file_name("../../etc"), "etc");
    }
}
