//! Which files have been learned: each is identified by the hash of its content, so that none is learned twice.
//!
//! A [`Ledger`] is part of a model and of every [`Partial`](crate::Partial): the sums and the list of what
//! was summed change together or not at all. File names are kept for people; only the content decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Where rows come from: a file, by its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// Name of the file, for people.
    pub name: String,
}

/// Files that were learned or unlearned, by the SHA-256 of their content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger(BTreeMap<String, Entry>);

/// What happened to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
struct Entry {
    name: String,
    /// The task that learned it, from 1, if that is known.
    task: Option<usize>,
    /// The classes whose rows were learned; empty if that is not known, which counts as all.
    classes: Vec<String>,
    /// Whether its rows were unlearned, and not learned again since.
    unlearned: bool,
    /// How many more times than once its rows count.
    more: usize,
}

/// An entry in a file: often no more than a name.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Name(String),
    More {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<usize>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        classes: Vec<String>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unlearned: bool,
        #[serde(default, skip_serializing_if = "is_zero")]
        more: usize,
    },
}

impl From<Stored> for Entry {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Name(name) => Self::of(&name),
            Stored::More {
                name,
                task,
                classes,
                unlearned,
                more,
            } => Self {
                name,
                task,
                classes,
                unlearned,
                more,
            },
        }
    }
}

impl From<Entry> for Stored {
    fn from(entry: Entry) -> Self {
        if entry == Entry::of(&entry.name) {
            return Self::Name(entry.name);
        }
        Self::More {
            name: entry.name,
            task: entry.task,
            classes: entry.classes,
            unlearned: entry.unlearned,
            more: entry.more,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Entry {
    fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Whether rows of one of these classes were among those of the entry; none given means any class.
    fn overlaps(&self, classes: &[String]) -> bool {
        let any = self.classes.is_empty() || classes.is_empty();
        any || classes.iter().any(|class| self.classes.contains(class))
    }
}

impl Ledger {
    /// Number of files learned.
    pub fn len(&self) -> usize {
        self.files().count()
    }

    /// Whether nothing was ever entered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a file with this content was learned.
    pub fn contains(&self, sha256: &str) -> bool {
        self.0.get(sha256).is_some_and(|entry| !entry.unlearned)
    }

    /// Hash and name of every file learned, in order of the hashes.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let learned = self.0.iter().filter(|(_, entry)| !entry.unlearned);
        learned.map(|(sha256, entry)| (sha256.as_str(), entry.name.as_str()))
    }

    /// Enters a file and returns whether it is new.
    pub fn enter(&mut self, sha256: &str, name: &str) -> bool {
        let new = !self.contains(sha256);
        if new {
            self.0.insert(sha256.to_owned(), Entry::of(name));
        }
        new
    }

    /// Refuses to learn rows of these classes from a source if they have been learned from it; no classes
    /// means all.
    pub fn check_new(&self, source: &Source, classes: &[String]) -> Result<(), Error> {
        let entry = self.0.get(&source.sha256).filter(|entry| !entry.unlearned);
        match entry.filter(|entry| entry.overlaps(classes)) {
            Some(entry) => Err(Error::LearnedBefore {
                file: source.name.clone(),
                before: said_before(&entry.name, entry.task),
            }),
            None => Ok(()),
        }
    }

    /// Refuses to unlearn rows of these classes from a source if that has been done; no classes means all.
    pub fn check_there(&self, source: &Source, classes: &[String]) -> Result<(), Error> {
        let entry = self.0.get(&source.sha256).filter(|entry| entry.unlearned);
        match entry.filter(|entry| entry.overlaps(classes)) {
            Some(entry) => Err(Error::UnlearnedBefore {
                file: source.name.clone(),
                before: said_before(&entry.name, None),
            }),
            None => Ok(()),
        }
    }

    /// Enters that a task learned rows of these classes from a source.
    pub(crate) fn learned(&mut self, source: &Source, classes: &[String], task: usize) {
        let entry = self.0.entry(source.sha256.clone());
        let entry = entry.and_modify(|entry| {
            if entry.unlearned {
                *entry = Entry::default();
            } else if entry.overlaps(classes) {
                entry.more += 1;
            }
        });
        let entry = entry.or_default();
        source.name.clone_into(&mut entry.name);
        entry.task = Some(task);
        let new = classes.iter().filter(|class| !entry.classes.contains(class));
        let new: Vec<String> = new.cloned().collect();
        entry.classes.extend(new);
        entry.classes.sort();
    }

    /// Enters that rows of these classes were unlearned from a source.
    pub(crate) fn unlearned(&mut self, source: &Source, classes: &[String]) {
        let entry = self.0.entry(source.sha256.clone()).or_default();
        if entry.more > 0 {
            entry.more -= 1;
            return; // Its rows still count.
        }
        entry.classes.retain(|class| !classes.contains(class));
        if !entry.unlearned && !entry.classes.is_empty() {
            return; // Rows of other classes are still learned.
        }
        *entry = Entry {
            name: source.name.clone(),
            unlearned: true,
            classes: classes.to_vec(),
            ..Entry::default()
        };
    }

    /// Takes note that a class is no longer known.
    pub(crate) fn drop_class(&mut self, class: &str) {
        self.0.retain(|_, entry| {
            let listed = entry.classes.iter().any(|name| name == class);
            entry.classes.retain(|name| name != class);
            !(listed && entry.classes.is_empty())
        });
    }

    /// Takes note that a class has another name.
    pub(crate) fn rename_class(&mut self, from: &str, to: &str) {
        let names = self.0.values_mut().flat_map(|entry| &mut entry.classes);
        names
            .filter(|name| *name == from)
            .for_each(|name| to.clone_into(name));
    }

    /// Whether to add a sum over `files`: not if all of them are known. If some are known and some are new,
    /// the sum is refused, since it cannot be taken apart.
    pub(crate) fn admits(&self, files: &Ledger) -> Result<bool, Error> {
        if files.files().next().is_some() && files.files().all(|(sha256, _)| self.contains(sha256)) {
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

    /// Enters files. The task that learned them elsewhere means nothing here.
    pub(crate) fn enter_all(&mut self, files: &Ledger) {
        for (sha256, entry) in files.0.iter().filter(|(_, entry)| !entry.unlearned) {
            if !self.contains(sha256) {
                let entry = Entry {
                    task: None,
                    ..entry.clone()
                };
                self.0.insert(sha256.clone(), entry);
            }
        }
    }

    /// The files that are not in `other`.
    pub(crate) fn without(&self, other: &Ledger) -> Ledger {
        let mut rest = self.clone();
        rest.0.retain(|sha256, _| !other.contains(sha256));
        rest
    }
}

fn said_before(name: &str, task: Option<usize>) -> String {
    match task {
        Some(task) => format!("in task {task}, as {name}"),
        None => format!("as {name}"),
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

    fn source(sha256: &str) -> Source {
        Source {
            sha256: sha256.to_owned(),
            name: format!("{sha256}.csv"),
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
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

    #[test]
    fn a_file_is_learned_once_class_by_class_or_whole() {
        let mut ledger = Ledger::default();
        let (a, all) = (source("a"), &[]);
        ledger.learned(&a, &names(&["ape", "bee"]), 1);
        let error = ledger.check_new(&a, all).unwrap_err().to_string();
        assert!(error.contains("in task 1, as a.csv"), "{error}");
        assert!(ledger.check_new(&a, &names(&["bee", "cat"])).is_err());
        ledger.check_new(&a, &names(&["cat"])).unwrap();
        ledger.check_new(&source("b"), all).unwrap();
        ledger.learned(&a, &names(&["cat"]), 2);
        assert!(ledger.check_new(&a, &names(&["cat"])).is_err());
        ledger.drop_class("cat");
        ledger.check_new(&a, &names(&["cat"])).unwrap();
        ledger.rename_class("bee", "wasp");
        assert!(ledger.check_new(&a, &names(&["wasp"])).is_err());
    }

    #[test]
    fn a_file_is_unlearned_once_and_can_then_be_learned_again() {
        let mut ledger = Ledger::default();
        let (a, all) = (source("a"), &[]);
        ledger.learned(&a, &names(&["ape", "bee"]), 1);
        ledger.check_there(&a, all).unwrap();
        ledger.unlearned(&a, &names(&["ape"]));
        assert!(ledger.check_new(&a, all).is_err(), "bees are still there");
        ledger.unlearned(&a, &names(&["bee"]));
        assert!(ledger.check_there(&a, all).is_err());
        assert!(!ledger.contains("a"));
        ledger.check_new(&a, all).unwrap();
        ledger.learned(&a, &names(&["ape"]), 3);
        ledger.check_there(&a, all).unwrap();
        ledger.learned(&a, &names(&["ape"]), 4);
        ledger.unlearned(&a, &names(&["ape"]));
        assert!(ledger.contains("a"), "it was learned twice");
        ledger.unlearned(&a, &names(&["ape"]));
        assert!(!ledger.contains("a"));
    }

    #[test]
    fn a_mere_name_is_stored_as_one() {
        let mut known = ledger(&["a"]);
        assert_eq!(serde_json::to_string(&known).unwrap(), r#"{"a":"a.parquet"}"#);
        known.learned(&source("b"), &names(&["ape"]), 2);
        let text = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), known);
    }
}
