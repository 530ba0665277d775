//! One memory summed in many places, from a terminal: begin, build, merge - in any grouping, started again, refused -
//! and every refusal leaves every file as it was.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;

use common::{Workplace, clusters, without_classes};
use serde_json::Value;

/// Three files with two classes each, and a model with a pool that has learned nothing.
fn begun() -> Workplace {
    let place = Workplace::new();
    place.write("first.csv", clusters(&["a", "b"], 30));
    place.write("second.csv", clusters(&["c", "a"], 30));
    place.write("third.csv", clusters(&["d", "b"], 30));
    let said = place.succeed(&["memory", "begin", "model", "first.csv", "second.csv", "third.csv"]);
    assert!(
        said.stderr.contains("model: a pool of 2052 nodes on 4 features"),
        "{}",
        said.stderr
    );
    place
}

fn build(place: &Workplace, parts: &[&str], output: &str) -> String {
    let words = [&["memory", "build", "model"], parts, &["-o", output]].concat();
    place.succeed(&words).stderr
}

fn inspected(place: &Workplace, model: &str) -> Value {
    let said = place.succeed(&["inspect", model, "--json"]);
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn shards_give_what_one_process_gives() {
    let place = begun();
    place.write("whole", place.read("model"));
    let said = build(&place, &["first.csv", "second.csv", "third.csv"], "all.partial");
    assert!(
        said.contains("all.partial: 180 rows from 3 files, 4 classes"),
        "{said}"
    );
    place.succeed(&["memory", "merge", "whole", "all.partial"]);
    for (part, output) in [("third.csv", "3"), ("first.csv", "1"), ("second.csv", "2")] {
        build(&place, &[part], output);
    }
    let said = place.succeed(&["memory", "merge", "model", "3", "1", "2"]);
    assert!(
        said.stderr.contains("added 180 rows from 3 files"),
        "{}",
        said.stderr
    );
    assert_eq!(
        inspected(&place, "model")["classes"],
        inspected(&place, "whole")["classes"]
    );
    assert_eq!(
        inspected(&place, "model")["ledger"],
        inspected(&place, "whole")["ledger"]
    );
    for rows in ["first.csv", "second.csv", "third.csv"] {
        let (one, many) = (
            place.succeed(&["predict", "whole", rows]),
            place.succeed(&["predict", "model", rows]),
        );
        assert_eq!(one.stdout, many.stdout);
    }
    let said = place.succeed(&["predict", "model", "first.csv", "--reject", "5%"]);
    let unknown = said
        .stdout
        .lines()
        .filter(|line| line.ends_with("unknown"))
        .count();
    assert!(
        unknown < 15,
        "partial memories carry witnesses, so few known rows are unknown: {unknown}"
    );
    assert!(
        place
            .succeed(&["inspect", "model"])
            .stdout
            .contains("3 files in the ledger")
    );
}

#[test]
fn what_was_learned_is_passed_over() {
    let place = begun();
    build(&place, &["first.csv"], "1");
    let said = place.succeed(&["memory", "merge", "model", "1", "1"]);
    assert!(
        said.stderr.contains("skipped 1: it holds nothing new"),
        "{}",
        said.stderr
    );
    let once = place.read("model");
    let said = place.succeed(&["memory", "merge", "model", "1"]);
    assert!(said.stderr.contains("nothing to add"), "{}", said.stderr);
    assert_eq!(place.read("model"), once);
    place.write("copy.csv", place.read("first.csv"));
    let said = build(&place, &["copy.csv", "second.csv", "second.csv"], "2");
    assert!(said.contains("skipped copy.csv"), "{said}");
    assert!(said.contains("2: 60 rows from 1 file,"), "{said}");
    place.succeed(&["memory", "merge", "model", "2"]);
    assert_eq!(inspected(&place, "model")["growth"][1]["rows"], 120.0);
    let nothing = build(&place, &["first.csv"], "nothing");
    assert!(nothing.contains("nothing: 0 rows from 0 files"), "{nothing}");
    let said = place.succeed(&["memory", "merge", "model", "nothing"]);
    assert!(said.stderr.contains("nothing to add"), "{}", said.stderr);
}

#[test]
fn sums_in_single_precision_are_half_as_large() {
    let place = begun();
    build(&place, &["first.csv"], "double");
    place.succeed(&[
        "memory",
        "build",
        "model",
        "first.csv",
        "-o",
        "single",
        "--single",
    ]);
    let (single, double) = (place.read("single").len(), place.read("double").len());
    assert!(
        single < double / 2 + 8192,
        "only the witnesses stay as they are: {single} {double}"
    );
    place.succeed(&["memory", "merge", "model", "single"]);
    let said = place.succeed(&["predict", "model", "first.csv"]);
    assert!(said.stderr.contains("60 of 60 rows right"), "{}", said.stderr);
}

#[test]
fn what_cannot_be_summed_is_refused() {
    let place = begun();
    build(&place, &["first.csv"], "1");
    build(&place, &["first.csv", "second.csv"], "1+2");
    place.refuse(
        &["memory", "begin", "model", "first.csv"],
        &["model: already exists"],
    );
    place.refuse(
        &["memory", "build", "model", "first.csv", "-o", "model"],
        &["cannot write model", "the input model"],
    );
    place.refuse(
        &["memory", "build", "model", "none.csv", "-o", "x"],
        &["none.csv: "],
    );
    place.write("narrow.csv", "1,2,a\n3,4,b\n");
    place.refuse(
        &["memory", "build", "model", "first.csv", "narrow.csv", "-o", "x"],
        &["narrow.csv: rows have 2 features"],
    );
    place.write("unnamed.csv", without_classes(&clusters(&["a"], 10)));
    place.refuse(
        &["memory", "build", "model", "unnamed.csv", "-o", "x"],
        &["unnamed.csv: the rows carry no classes"],
    );
    place.refuse(
        &[
            "memory",
            "build",
            "model",
            "first.csv",
            "--label",
            "kind",
            "-o",
            "x",
        ],
        &["first.csv: there is no label column 'kind'"],
    );
    place.write("damaged.parquet", "PAR1 and then nothing of the kind PAR1");
    place.refuse(
        &["memory", "build", "model", "damaged.parquet", "-o", "x"],
        &["damaged.parquet: not a usable Parquet file"],
    );
    place.refuse(
        &["memory", "merge", "model", "model"],
        &["model: ", "not a partial memory"],
    );
    place.refuse(&["predict", "1", "first.csv"], &["1: ", "partial memory"]);
    place.refuse(
        &["memory", "merge", "model", "1", "1+2"],
        &["1+2: first.csv has already been learned"],
    );
    place.succeed(&["memory", "begin", "other", "first.csv", "--seed", "1"]);
    place.refuse(
        &["memory", "merge", "other", "1"],
        &["1: the memories have different pools", "different seeds"],
    );
    place.succeed(&["memory", "merge", "model", "1"]);
    place.refuse(
        &["memory", "merge", "model", "1+2"],
        &["1+2: first.csv has already been learned"],
    );
    place.refuse(&["predict", "other", "first.csv"], &["nothing has been learned"]);
}
