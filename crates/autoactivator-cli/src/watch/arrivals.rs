//! Which files have arrived completely? Those whose size and time were the same at two looks.
//!
//! [`Arrivals::look`] gives them by [`Purpose`], with all of a kind together. Hidden files are passed over: that is how
//! programs name what they have not finished.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use autoactivator_data::is_image;

use super::{ANSWERED, FAILED, INBOX, LEARNED};

/// Folders nested deeper than this are not looked into.
const DEEPEST: usize = 24;

/// What a file is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To be learned.
    Learn,
    /// To be predicted.
    Answer,
}

/// What a file holds, by its name. Only files of a kind are learned or predicted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Image,
    Text,
    Table,
}

/// The size and the time of a file.
type State = (u64, Option<SystemTime>);

/// The files at the last look.
#[derive(Default)]
pub struct Arrivals {
    before: BTreeMap<PathBuf, State>,
}

/// Files to be taken together, by their paths below the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    pub purpose: Purpose,
    pub files: Vec<PathBuf>,
}

impl Arrivals {
    /// Looks at a folder, and gives what has not changed since the last look.
    pub fn look(&mut self, folder: &Path) -> Result<Vec<Ready>> {
        let mut found = BTreeMap::new();
        walk(folder, Path::new(""), 0, &mut found)?;
        let mut ready: BTreeMap<(Purpose, Kind), Vec<PathBuf>> = BTreeMap::new();
        for (path, state) in &found {
            if self.before.get(path) == Some(state)
                && let Some(use_of) = use_of(path)
            {
                ready.entry(use_of).or_default().push(path.clone());
            }
        }
        self.before = found;
        Ok(ready.into_iter().flat_map(apart).collect())
    }
}

/// Each table is taken by itself, other files of a kind together.
fn apart(((purpose, kind), files): ((Purpose, Kind), Vec<PathBuf>)) -> Vec<Ready> {
    let ready = |files| Ready { purpose, files };
    match kind {
        Kind::Table => files.into_iter().map(|file| ready(vec![file])).collect(),
        Kind::Image | Kind::Text => vec![ready(files)],
    }
}

/// What a file is there for, and its kind; none for what is not taken: files that are no rows, and images and texts
/// without a class.
fn use_of(path: &Path) -> Option<(Purpose, Kind)> {
    let kind = kind_of(path)?;
    let in_folder = path.parent().is_some_and(|parent| parent != Path::new(""));
    let purpose = if path.starts_with(INBOX) {
        Purpose::Answer
    } else {
        Purpose::Learn
    };
    // A table has its classes inside, whatever has no inside has a folder for its class.
    let taken = purpose == Purpose::Answer || in_folder != (kind == Kind::Table);
    taken.then_some((purpose, kind))
}

fn kind_of(path: &Path) -> Option<Kind> {
    const TABLES: [&str; 13] = [
        "csv",
        "tsv",
        "parquet",
        "arrow",
        "feather",
        "ipc",
        "npy",
        "npz",
        "safetensors",
        "jsonl",
        "ndjson",
        "gz",
        "idx",
    ];
    if is_image(path) {
        return Some(Kind::Image);
    }
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    match ending.as_str() {
        "txt" => Some(Kind::Text),
        ending if TABLES.contains(&ending) => Some(Kind::Table),
        _ => None,
    }
}

/// Adds every file below `below` and its state.
fn walk(folder: &Path, below: &Path, depth: usize, found: &mut BTreeMap<PathBuf, State>) -> Result<()> {
    let here = folder.join(below);
    let place = || here.display().to_string();
    for entry in fs::read_dir(&here).with_context(place)? {
        let entry = entry.with_context(place)?;
        let name = entry.file_name();
        let path = below.join(&name);
        if name.as_encoded_bytes().starts_with(b".") || (depth == 0 && is_ours(&path)) {
            continue;
        }
        // A file that has just gone is nothing to complain about.
        let Ok(state) = fs::metadata(folder.join(&path)) else {
            continue;
        };
        if state.is_file() {
            found.insert(path, (state.len(), state.modified().ok()));
        } else if state.is_dir() && depth < DEEPEST {
            walk(folder, &path, depth + 1, found)?;
        }
    }
    Ok(())
}

/// Whether a folder is one that `watch` fills.
fn is_ours(path: &Path) -> bool {
    [ANSWERED, LEARNED, FAILED]
        .iter()
        .any(|ours| path == Path::new(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, content: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn looked(arrivals: &mut Arrivals, folder: &Path) -> Vec<(Purpose, Vec<String>)> {
        let name = |path: &PathBuf| path.to_string_lossy().replace('\\', "/");
        let ready = arrivals.look(folder).unwrap().into_iter();
        ready
            .map(|ready| (ready.purpose, ready.files.iter().map(name).collect()))
            .collect()
    }

    #[test]
    fn a_file_is_ready_when_it_was_the_same_twice() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let mut arrivals = Arrivals::default();
        write(at, "cat/1.png", "half");
        write(at, "dog/1.png", "whole");
        assert!(looked(&mut arrivals, at).is_empty(), "seen once");
        write(at, "cat/1.png", "half and half");
        assert_eq!(
            looked(&mut arrivals, at),
            [(Purpose::Learn, vec!["dog/1.png".to_owned()])]
        );
        fs::remove_file(at.join("dog/1.png")).unwrap();
        assert_eq!(
            looked(&mut arrivals, at),
            [(Purpose::Learn, vec!["cat/1.png".to_owned()])]
        );
    }

    #[test]
    fn files_are_taken_by_purpose_and_kind_and_tables_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        for name in [
            "cat/a.jpg",
            "dog/deep/b.PNG",
            "cat/c.txt",
            "one.csv",
            "two.npy",
            "loose.png",
            "cat/no.csv",
            "readme.md",
            "inbox/x.jpg",
            "inbox/y.csv",
            ".hidden.csv",
            "cat/.part.png",
            "answered/1/answers.csv",
            "learned/1/cat/old.png",
            "failed/2/why.txt",
            "answered/3/z.png",
            "cat/learned/d.png",
        ] {
            write(at, name, "some");
        }
        let mut arrivals = Arrivals::default();
        looked(&mut arrivals, at);
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        let expected = [
            (
                Purpose::Learn,
                names(&["cat/a.jpg", "cat/learned/d.png", "dog/deep/b.PNG"]),
            ),
            (Purpose::Learn, names(&["cat/c.txt"])),
            (Purpose::Learn, names(&["one.csv"])),
            (Purpose::Learn, names(&["two.npy"])),
            (Purpose::Answer, names(&["inbox/x.jpg"])),
            (Purpose::Answer, names(&["inbox/y.csv"])),
        ];
        assert_eq!(looked(&mut arrivals, at), expected);
    }
}
