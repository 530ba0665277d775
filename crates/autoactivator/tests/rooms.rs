//! Data flows one way, and so do the folders: a file may use folders before its own, never one after it.
//! Enforces the order that ARCHITECTURE.md draws.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders, each with those it may use besides itself and the shared files.
const ROOMS: [(&str, &[&str]); 9] = [
    ("data", &[]),
    ("math", &["data"]),
    ("format", &["math"]),
    ("onnx", &["math"]),
    ("pool", &["data", "math", "format", "onnx"]),
    ("reactivation", &["data", "math", "format", "pool"]),
    (
        "consolidation",
        &["data", "math", "format", "onnx", "pool", "reactivation"],
    ),
    (
        "model",
        &["data", "math", "format", "reactivation", "consolidation"],
    ),
    ("discovery", &["data", "math", "pool", "consolidation", "model"]),
];

/// Files that every folder may use.
const SHARED: [&str; 4] = ["error", "learner", "params", "words"];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .collect()
}

/// What the code of a file, excluding comments, names after `crate::`.
fn used(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1)).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn no_room_uses_one_that_comes_after_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders: Vec<String> = fs::read_dir(&src)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    folders.sort();
    let mut known: Vec<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    known.sort_unstable();
    assert_eq!(folders, known, "every folder is a room with a place in the order");
    for (room, before) in ROOMS {
        for path in sources(&src.join(room)) {
            for name in used(&fs::read_to_string(&path).unwrap()) {
                let allowed = name == room || before.contains(&name) || SHARED.contains(&name);
                assert!(allowed, "{} uses {name}", path.display());
            }
        }
    }
}
