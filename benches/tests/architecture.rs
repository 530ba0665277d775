//! Who may import whom: method ← data ← exam ← faces, and no face imports a face. This enforces ARCHITECTURE.md.

#![allow(clippy::unwrap_used, clippy::panic)] // A test may fail loudly.

use std::fs;
use std::path::{Path, PathBuf};

/// Each crate, and which of our crates it may name.
const CRATES: [(&str, &[&str]); 6] = [
    ("crates/autoactivator", &[]),
    ("crates/autoactivator-data", &["autoactivator"]),
    (
        "crates/autoactivator-exam",
        &["autoactivator", "autoactivator_data"],
    ),
    (
        "crates/autoactivator-server",
        &["autoactivator", "autoactivator_data"],
    ),
    (
        "crates/autoactivator-cli",
        &["autoactivator", "autoactivator_data", "autoactivator_exam"],
    ),
    (
        "python",
        &["autoactivator", "autoactivator_data", "autoactivator_exam"],
    ),
];

/// All our crates.
const OURS: [&str; 6] = [
    "autoactivator",
    "autoactivator_data",
    "autoactivator_exam",
    "autoactivator_server",
    "autoactivator_cli",
    "autoactivator_python",
];

/// The only files of a face that may name another face, and which one: `serve` starts the server, and the Python package
/// brings the program along.
const EXCEPTIONS: [(&str, &str); 2] = [
    ("crates/autoactivator-cli/src/serve.rs", "autoactivator_server"),
    ("python/src/program.rs", "autoactivator_cli"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect()
}

/// Our crates that the code of a file names at the start of a path.
fn named(text: &str) -> Vec<&'static str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let words: Vec<String> = code
        .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && !"_:".contains(c)))
        .filter_map(|word| word.split_once("::").map(|(first, _)| first.to_owned()))
        .collect();
    let ours = OURS.into_iter();
    ours.filter(|name| words.iter().any(|word| word == name))
        .collect()
}

#[test]
fn crates_are_imported_in_one_direction() {
    for (folder, allowed) in CRATES {
        let own = folder.rsplit('/').next().unwrap().replace('-', "_");
        for path in sources(&root().join(folder).join("src")) {
            let exceptions = EXCEPTIONS.iter().filter(|(file, _)| path.ends_with(file));
            let excepted: Vec<&str> = exceptions.map(|(_, name)| *name).collect();
            for name in named(&fs::read_to_string(&path).unwrap()) {
                let fine = allowed.contains(&name) || name == own || excepted.contains(&name);
                assert!(fine, "{} names {name}", path.display());
            }
        }
    }
}

#[test]
fn no_face_looks_for_the_kind_of_a_model() {
    let faces = [
        "crates/autoactivator-server",
        "crates/autoactivator-cli",
        "python",
    ];
    for face in faces {
        for path in sources(&root().join(face).join("src")) {
            let text = fs::read_to_string(&path).unwrap();
            for kind in ["Reactivation", "Consolidation", "Deployed"] {
                for form in [format!("Model::{kind}"), format!("downcast_ref::<{kind}")] {
                    assert!(!text.contains(&form), "{} has {form}", path.display());
                }
            }
        }
    }
}
