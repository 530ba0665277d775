//! Which files have been learned: each is identified by the hash of its content, so that none is learned twice.
//!
//! A [`Ledger`] is part of a model and of every [`Partial`](crate::Partial): the sums and the list of what
//! was summed change together or not at all. File names are kept for people; only the content decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Learned files by the SHA-256 of their content, each with its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger(BTreeMap<String, String>);

impl Ledger {
    /// Number of files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the ledger has no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a file with this content was learned.
    pub fn contains(&self, sha256: &str) -> bool {
        self.0.contains_key(sha256)
    }

    /// Hash and name of every file, in order of the hashes.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(sha256, name)| (sha256.as_str(), name.as_str()))
    }

    /// Enters a file and returns whether it is new.
    pub fn enter(&mut self, sha256: &str, name: &str) -> bool {
        let new = !self.contains(sha256);
        if new {
            self.0.insert(sha256.to_owned(), name.to_owned());
        }
        new
    }

    /// Whether to add a sum over `files`: not if all of them are known. If some are known and some are new,
    /// the sum is refused, since it cannot be taken apart.
    pub(crate) fn admits(&self, files: &Ledger) -> Result<bool, Error> {
        if !files.is_empty() && files.0.keys().all(|sha256| self.contains(sha256)) {
            return Ok(false);
        }
        self.check_apart(files)?;
        Ok(true)
    }

    /// Refuses `files` if one of them is known.
    pub(crate) fn check_apart(&self, files: &Ledger) -> Result<(), Error> {
        match files.files().find(|(sha256, _)| self.contains(sha256)) {
            Some((_, file)) => Err(Error::AlreadyLearned {
                file: file.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Enters files.
    pub(crate) fn enter_all(&mut self, files: &Ledger) {
        for (sha256, name) in files.files() {
            self.enter(sha256, name);
        }
    }

    /// The files that are not in `other`.
    pub(crate) fn without(&self, other: &Ledger) -> Ledger {
        let mut rest = self.clone();
        rest.0.retain(|sha256, _| !other.contains(sha256));
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(hashes: &[&str]) -> Ledger {
        let mut ledger = Ledger::default();
        for hash in hashes {
            ledger.enter(hash, &format!("{hash}.parquet"));
        }
        ledger
    }

    #[test]
    fn all_new_is_taken_all_known_is_passed_over_and_a_mixture_is_refused() {
        let mut known = ledger(&["a", "b"]);
        assert!(known.admits(&ledger(&["c", "d"])).unwrap());
        known.enter_all(&ledger(&["c", "d"]));
        assert_eq!(known, ledger(&["a", "b", "c", "d"]));
        assert!(!known.admits(&ledger(&["d", "a"])).unwrap());
        let error = known.admits(&ledger(&["d", "e"])).unwrap_err().to_string();
        assert!(error.contains("d.parquet"), "{error}");
        assert!(
            known.admits(&Ledger::default()).unwrap(),
            "rows that came from no file"
        );
    }

    #[test]
    fn a_file_is_entered_once_under_its_first_name() {
        let mut known = ledger(&["a"]);
        assert!(!known.enter("a", "copy.parquet"));
        assert_eq!(known.files().next(), Some(("a", "a.parquet")));
    }
}
