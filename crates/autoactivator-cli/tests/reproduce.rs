//! `autoactivator reproduce` from outside: which experiments are meant, what is written, and that a run that was cut off
//! goes on as if it had not been.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{Workplace, clusters};
use serde_json::Value;

/// Two learners, several seeds, on rows of its own; fast, but not at once.
const SMALL: &str = "\
title = \"Clusters\"
dataset = \"rows.csv\"
tasks = \"6/3\"
protocols = [\"task-told\", \"task-batch=all\", \"instance\"]
seeds = 12
[reactivation]
t_max = 20
l_max = 60
[[entrants]]
learner = \"reactivation\"
[[entrants]]
learner = \"reactivation\"
name = \"reactivation, one by one\"
reactivation = { step_size = 1 }
[paper]
place = \"Table 0\"
figures = [\"aca\", \"nodes\"]
claims = [\"batches-faster\"]
ours = { aca = \"99.5 ± 0.1\" }
";

fn small() -> Workplace {
    let place = Workplace::new();
    place.write("small.toml", SMALL);
    place.write(
        "rows.csv",
        clusters(&["ape", "bee", "cat", "dog", "elk", "fox"], 120),
    );
    place
}

/// Every record of a folder, without the times, by its path.
fn records(folder: &Path) -> BTreeMap<PathBuf, Value> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.join("records")];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            // A killed process leaves what it had not finished, under a hidden name.
            let unfinished = path.file_name().unwrap().to_str().unwrap().starts_with('.');
            if path.is_dir() {
                folders.push(path);
            } else if !unfinished {
                let mut record: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
                let result = record["result"].as_object_mut();
                if let Some(result) = result {
                    result.retain(|name, _| !name.ends_with("seconds"));
                }
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), record);
            }
        }
    }
    found
}

fn n_files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder.join("records/small"))
        .into_iter()
        .flatten();
    let whole = |name: &str| name.ends_with(".json") && !name.starts_with('.');
    entries
        .flatten()
        .filter(|entry| whole(&entry.file_name().to_string_lossy()))
        .count()
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_records() {
    let place = small();
    let whole = place.path().join("whole");
    place.succeed(&["reproduce", "small.toml", "--out", "whole"]);
    assert_eq!(n_files(&whole), 24);

    let cut = place.path().join("cut");
    let mut child = place
        .command(&["reproduce", "small.toml", "--out", "cut"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let patience = Instant::now();
    while n_files(&cut) < 3 && patience.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let done = n_files(&cut);
    assert!((3..24).contains(&done), "killed in the middle: {done}");
    assert!(!cut.join("reproduction.html").exists());

    place.succeed(&["reproduce", "small.toml", "--out", "cut"]);
    assert_eq!(records(&cut), records(&whole));
}

#[test]
fn what_is_kept_is_not_computed_again_unless_something_changed() {
    let place = small();
    let run = || place.succeed(&["reproduce", "small.toml", "--quick", "--out", "out"]);
    run();
    let path = place.path().join("out/records/small/reactivation-seed-0.json");
    let first = std::fs::read(&path).unwrap();
    run();
    assert_eq!(
        std::fs::read(&path).unwrap(),
        first,
        "the times are those of the first run"
    );
    place.write("small.toml", SMALL.replace("t_max = 20", "t_max = 19"));
    run();
    assert_ne!(std::fs::read(&path).unwrap(), first);
    place.write("out/records/small/reactivation-seed-0.json", b"{\"settings\":");
    run();
    let kept: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(kept["settings"]["parameters"]["t_max"], 19);
}

#[test]
fn ours_and_the_papers_stand_side_by_side() {
    let place = small();
    place.write(
        "doc.md",
        "before\n<!-- reproduce:begin -->\nyesterday\n<!-- reproduce:end -->\nafter\n",
    );
    let said = place.succeed(&["reproduce", "small.toml", "--quick", "--write-docs", "doc.md"]);
    let page = String::from_utf8(place.read("reproduction-quick/reproduction.html")).unwrap();
    let tables = String::from_utf8(place.read("reproduction-quick/reproduction.md")).unwrap();
    for expected in ["Table 0\n", "Clusters: ", "claims come out"] {
        assert!(
            said.stdout.contains(expected),
            "{expected} is missing in {}",
            said.stdout
        );
    }
    assert!(!said.stdout.contains('|'), "the terminal has no Markdown");
    let command = "autoactivator reproduce small --quick";
    for expected in [
        "99.5 ± 0.1",
        "task-batch=all",
        "rows 6/3, 576 + 144 rows",
        command,
        "l = 10 is faster",
    ] {
        assert!(page.contains(expected), "{expected} is missing on the page");
        assert!(tables.contains(expected), "{expected} is missing in the tables");
    }
    let document = String::from_utf8(place.read("doc.md")).unwrap();
    assert!(document.starts_with("before\n") && document.ends_with("<!-- reproduce:end -->\nafter\n"));
    assert!(document.contains(&tables) && !document.contains("yesterday"));
}

/// Every table, on the data that is part of the program.
#[test]
fn without_any_data_the_digits_stand_in_for_everything() {
    let place = Workplace::new();
    let said = place.succeed(&["reproduce", "--quick"]);
    for expected in [
        "`autoactivator data get mnist`",
        "`autoactivator features IMAGES --backbone efficientnet_lite0.onnx",
        "the built-in digits stand in for fashion-mnist",
        "imagenet-r/train/CLASS",
    ] {
        assert!(
            said.stderr.contains(expected),
            "{expected} is missing: {}",
            said.stderr
        );
    }
    let tables = String::from_utf8(place.read("reproduction-quick/reproduction.md")).unwrap();
    for expected in [
        "### The exams side by side",
        "### Table 1",
        "### Table 2",
        "### Table 3",
        "### Table 4",
        "### Figure 2",
        "### Table 5",
        "### Table 6",
        "### Appendix, uneven splits",
        "### Appendix, more parameters",
        "in place of cifar100-lite0",
        "| not run here |",
        "a larger T_max needs fewer nodes",
    ] {
        assert!(tables.contains(expected), "{expected} is missing");
    }
    for expected in [
        "Table 1\n",
        "claims come out",
        "not run here",
        "that the paper prints",
    ] {
        assert!(
            said.stdout.contains(expected),
            "{expected} is missing in {}",
            said.stdout
        );
    }
    let page = String::from_utf8(place.read("reproduction-quick/reproduction.html")).unwrap();
    assert!(page.contains("raw inputs") && page.contains("Accuracy against nodes"));
    assert!(place.exists("reproduction-quick/records/mnist-reactivation/reactivation-seed-0.json"));
}

#[test]
fn wrong_names_and_files_are_refused_before_anything_is_written() {
    let place = small();
    place.refuse(
        &["reproduce", "tabel-1"],
        &["'tabel-1'", "table-1", "mnist-candidates"],
    );
    place.refuse(&["reproduce", "nowhere.toml"], &["nowhere.toml"]);
    place.write("bad.toml", "titel = \"x\"");
    place.refuse(&["reproduce", "bad.toml"], &["bad.toml", "line 1", "titel"]);
    place.write("range.toml", "[reactivation]\nt_max = 0\n[paper]\nplace = \"x\"");
    place.refuse(&["reproduce", "range.toml"], &["range", "`t_max` is 0"]);
    place.write("figure.toml", "[paper]\nfigures = [\"speed\"]");
    place.refuse(&["reproduce", "figure.toml"], &["figure.toml", "speed"]);
    place.write("doc.md", "no marks");
    place.refuse(
        &["reproduce", "small.toml", "--write-docs", "doc.md"],
        &["reproduce:begin"],
    );
    let listed = place.succeed(&["reproduce", "table-6", "--list"]).stdout;
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.starts_with("mnist-ablation "), "{listed}");
}

/// The way of ImageNet-R and its like: images in folders, and a backbone, both in the data directory.
#[test]
fn images_through_a_backbone_are_examined_from_end_to_end() {
    let place = Workplace::new();
    let text = "\
title = \"Kitchen\"
dataset = \"kitchen\"
backbones = [\"backbones/tiny.onnx\"]
how_to_get = \"take photographs\"
tasks = \"2\"
protocols = [\"task-told\", \"instance\"]
seeds = 1
[reactivation]
validation = 0.0
t_max = 5
[[entrants]]
learner = \"reactivation\"
preparation = \"standardise\"
[[entrants]]
learner = \"consolidation\"
[paper]
place = \"Table 3\"
figures = [\"aca\"]
ours = { aca = \"65.45 ± 0.85\" }
";
    place.write("kitchen.toml", text);
    let words = ["reproduce", "kitchen.toml", "--data-dir", "data", "--out", "out"];
    let said = place.succeed(&words);
    assert!(said.stderr.contains("take photographs"), "{}", said.stderr);
    assert!(said.stdout.contains("not run here"), "{}", said.stdout);

    for class in ["cup", "fork", "mug", "plate"] {
        photos::write(&place, "data/kitchen/train", class, 8);
        photos::write(&place, "data/kitchen/test", class, 3);
    }
    let said = place.succeed(&words);
    assert!(said.stderr.contains("backbones/tiny.onnx"), "{}", said.stderr);
    place.write("data/backbones/tiny.onnx", photos::backbone(1));
    place.write("data/backbones/tiny.toml", photos::SETTINGS);
    let said = place.succeed(&words);
    assert!(!said.stdout.contains("not run here"), "{}", said.stdout);
    let tables = String::from_utf8(place.read("out/reproduction.md")).unwrap();
    assert!(tables.contains("kitchen 4/2, 32 + 12 rows"), "{tables}");
    assert!(tables.contains("| consolidation | `instance` |"), "{tables}");

    // The same exam by `run`, and one on a folder without parts.
    let run = ["run", "kitchen.toml", "--data-dir", "data", "--no-report"];
    assert!(place.succeed(&run).stdout.contains("8 features"));
    let folder = [
        "run",
        "data/kitchen/train",
        "--backbone",
        "data/backbones/tiny.onnx",
        "--no-report",
    ];
    let said = place.succeed(&[&folder[..], &["--learner", "consolidation", "--seeds", "1"]].concat());
    assert!(said.stdout.contains("train 4/2:"), "{}", said.stdout);
}
