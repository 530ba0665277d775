//! The Rust programs in `examples/` run as they are, and print what their first lines promise.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::path::Path;
use std::process::Command;

const SAYS: [(&str, &str); 5] = [
    ("first_model", "virginica\n"),
    ("unknown", "around 50: 20 of 20 rows are unknown"),
    ("two_sites", "the same file as learned in one place: true"),
    (
        "take_back",
        r#"taken back: ["low", "high"], the same answers: true"#,
    ),
    ("deploy", "the same answers: true"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

#[test]
fn programs_run_and_say_what_they_promise() {
    let place = tempfile::tempdir().unwrap();
    for (name, said) in SAYS {
        let output = Command::new(env!("CARGO"))
            .args([
                "run",
                "--quiet",
                "--release",
                "--locked",
                "--package",
                "autoactivator",
                "--example",
                name,
            ])
            .arg("--manifest-path")
            .arg(root().join("Cargo.toml"))
            .current_dir(place.path())
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && printed.contains(said),
            "{name}: {printed}{error}"
        );
    }
}

#[test]
fn every_program_is_listed_and_the_first_is_short() {
    let programs = std::fs::read_dir(root().join("examples")).unwrap();
    let names = programs.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found: Vec<String> = names
        .filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned()))
        .collect();
    let mut listed = SAYS.map(|(name, _)| name.to_owned());
    found.sort();
    listed.sort();
    assert_eq!(found, listed);
    let first = std::fs::read_to_string(root().join("examples/first_model.rs")).unwrap();
    let lines = first.lines().skip_while(|line| !line.starts_with("fn main"));
    assert!(lines.count() <= 15);
}
