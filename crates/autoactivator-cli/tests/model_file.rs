//! The model file from outside: learned one task at a time by separate processes, asked, looked into.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

mod common;

use std::fs;

use common::{N_FEATURES, NEW, QUICK, Workplace, clusters, said, without_classes};
use serde_json::Value;

const TASKS: [(&str, [&str; 2]); 3] = [
    ("task1.csv", ["a", "b"]),
    ("task2.csv", ["c", "d"]),
    ("task3.csv", ["e", "f"]),
];

/// A folder with three tasks of two classes each, 20 rows of each class.
fn workplace() -> Workplace {
    let place = Workplace::new();
    for (name, classes) in TASKS {
        place.write(name, clusters(&classes, 20));
    }
    place
}

/// The same, with the tasks learned into `model`.
fn learned() -> Workplace {
    let place = workplace();
    for (name, _) in TASKS {
        place.learn("model", name);
    }
    place
}

/// The classes of `row,class,true_class` lines, or of lines without the last.
#[track_caller]
fn classes(csv: &str) -> Vec<String> {
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    assert!(
        ["row,class", "row,class,true_class"].contains(&header),
        "{header}"
    );
    let class = |(row, line): (usize, &str)| {
        let answer = line.strip_prefix(&format!("{row},")).unwrap();
        answer.split(',').next().unwrap().to_owned()
    };
    lines.enumerate().map(class).collect()
}

/// The classes that a file of [`TASKS`] really has.
fn truth(classes: [&str; 2]) -> Vec<String> {
    (0..40).map(|row| classes[row % 2].to_owned()).collect()
}

#[test]
fn task_three_next_week_is_task_three_today() {
    let today = learned();

    let next_week = workplace();
    next_week.learn("model", "task1.csv");
    next_week.learn("model", "task2.csv");
    let aside = Workplace::new();
    aside.write("copy", next_week.read("model"));
    let task3 = next_week.path().join("task3.csv");
    // No parameter given: the file has them.
    aside.succeed(&["learn", "copy", task3.to_str().unwrap()]);

    assert_eq!(aside.read("copy"), today.read("model"));
    next_week.learn("model", "task3.csv");
    assert_eq!(next_week.read("model"), today.read("model"));
}

/// The same with real rows, and however many threads there are.
#[test]
fn the_number_of_threads_changes_no_byte() {
    let learn = |threads: &str| {
        let place = Workplace::new();
        for classes in ["0,1", "2,3,4", "5,6"] {
            let words = [
                &["learn", "model", "digits", "--classes", classes],
                &NEW[..],
                &QUICK,
            ]
            .concat();
            let said = said(place.command(&words).env("RAYON_NUM_THREADS", threads));
            assert_eq!(said.code, Some(0), "{}", said.stderr);
        }
        place.read("model")
    };
    assert_eq!(learn("1"), learn("2"));
}

#[test]
fn the_seed_decides_the_bytes() {
    let place = workplace();
    for (model, seed) in [("one", "1"), ("again", "1"), ("two", "2")] {
        let words = [&["learn", model, "task1.csv", "--seed", seed], &NEW[..], &QUICK].concat();
        place.succeed(&words);
    }
    assert_eq!(place.read("one"), place.read("again"));
    assert_ne!(place.read("one"), place.read("two"));
}

#[test]
fn learning_says_what_was_learned_on_stderr_and_leaves_one_file() {
    let place = workplace();
    let said = place.learn("model", "task1.csv");
    assert_eq!(said.stdout, "");
    assert!(
        said.stderr.contains("model: learned 40 rows of 4 features; class from column 5 (the last one); 2 new classes: a 20, b 20"),
        "{}",
        said.stderr
    );
    let mut names: Vec<String> = fs::read_dir(place.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["model", "task1.csv", "task2.csv", "task3.csv"]);
}

#[test]
fn all_rows_are_learned_or_only_some_classes() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b", "c", "d"], 10));
    place.succeed(
        &[
            &["learn", "some", "rows.csv", "--classes", "d,b"],
            &NEW[..],
            &QUICK,
        ]
        .concat(),
    );
    place.learn("all", "rows.csv");
    assert_eq!(inspected(&place, "some")["classes"].as_array().unwrap().len(), 2);
    assert_eq!(inspected(&place, "all")["classes"].as_array().unwrap().len(), 4);
}

#[test]
fn predictions_are_csv_on_stdout_and_the_score_is_on_stderr() {
    let place = learned();
    let before = place.files();
    for (name, classes_of_task) in TASKS {
        let said = place.succeed(&["predict", "model", name]);
        let predicted = classes(&said.stdout);
        assert_eq!(predicted.len(), 40);
        let right = predicted
            .iter()
            .zip(truth(classes_of_task))
            .filter(|(found, class)| *found == class)
            .count();
        let percent = 100.0 * right as f64 / 40.0;
        assert_eq!(
            said.stderr,
            format!("{right} of 40 rows right ({percent:.2} %)\n")
        );
    }
    assert_eq!(place.files(), before, "predict must change nothing");
}

#[test]
fn one_task_of_separate_clusters_is_easy() {
    let place = workplace();
    place.learn("model", "task2.csv");
    for group in ["1", "5", "all"] {
        let said = place.succeed(&["predict", "model", "task2.csv", "--group", group]);
        assert_eq!(classes(&said.stdout), truth(["c", "d"]));
        assert_eq!(said.stderr, "40 of 40 rows right (100.00 %)\n");
    }
}

#[test]
fn rows_without_a_class_are_predicted_the_same() {
    let place = learned();
    let rows = clusters(&["c", "d"], 20);
    place.write("plain.csv", without_classes(&rows));
    let header = (0..N_FEATURES)
        .map(|i| format!("x{i}"))
        .collect::<Vec<_>>()
        .join(",");
    place.write("headed.csv", format!("{header}\n{}", without_classes(&rows)));
    place.write("labelled.csv", format!("{header},class\n{rows}"));
    place.write("packed.csv.gz", common::gzip(without_classes(&rows)));
    let expected = classes(&place.succeed(&["predict", "model", "task2.csv"]).stdout);
    assert_eq!(expected.len(), 40);
    for name in ["plain.csv", "headed.csv", "packed.csv.gz"] {
        let said = place.succeed(&["predict", "model", name]);
        assert_eq!(classes(&said.stdout), expected, "{name}");
        assert_eq!(said.stderr, "", "{name}");
    }
    let labelled = place.succeed(&["predict", "model", "labelled.csv"]).stdout;
    assert_eq!(classes(&labelled), expected);
}

#[test]
fn groups_of_any_size() {
    let place = learned();
    let predict = |group: &[&str]| {
        let words = [&["predict", "model", "task3.csv"], group].concat();
        classes(&place.succeed(&words).stdout)
    };
    assert_eq!(predict(&["--group", "1"]), predict(&[]));
    assert_eq!(predict(&["--group", "40"]), predict(&["--group", "all"]));
    assert_eq!(predict(&["--group", "1000"]), predict(&["--group", "all"]));
    // 40 rows are eight groups of 5, and six groups of 7 of which the last is smaller.
    for size in ["5", "7"] {
        let predicted = predict(&["--group", size]);
        assert_eq!(predicted.len(), 40);
        for group in predicted.chunks(size.parse().unwrap()) {
            let in_one_task = |(_, classes): &(&str, [&str; 2])| {
                group.iter().all(|class| classes.contains(&class.as_str()))
            };
            assert!(TASKS.iter().any(in_one_task), "{group:?} is of several tasks");
        }
    }
}

#[test]
fn class_names_that_csv_must_quote() {
    let place = Workplace::new();
    let rows = clusters(&["a", "b"], 10);
    let rows = rows
        .replace(",a\n", ",\"salt, pepper\"\n")
        .replace(",b\n", ",\"5\"\" disk\"\n");
    place.write("rows.csv", rows);
    place.learn("model", "rows.csv");
    let said = place.succeed(&["predict", "model", "rows.csv", "--group", "all"]);
    let lines: Vec<&str> = said.stdout.lines().take(3).collect();
    assert_eq!(
        lines,
        [
            "row,class,true_class",
            "0,\"salt, pepper\",\"salt, pepper\"",
            "1,\"5\"\" disk\",\"5\"\" disk\""
        ]
    );
}

#[test]
fn inspection_for_people() {
    let place = learned();
    let before = place.files();
    let said = place.succeed(&["inspect", "model"]);
    assert_eq!(said.stderr, "");
    for expected in [
        "reactivation",
        "6 classes",
        "3 units",
        "4 features",
        "seed 0",
        "a, b",
        "c, d",
        "e, f",
    ] {
        assert!(
            said.stdout.contains(expected),
            "{expected} is missing in\n{}",
            said.stdout
        );
    }
    assert_eq!(place.files(), before, "inspect must change nothing");
}

fn inspected(place: &Workplace, model: &str) -> Value {
    let said = place.succeed(&["inspect", model, "--json"]);
    assert_eq!(said.stderr, "");
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn inspection_for_programs() {
    let place = learned();
    let found = inspected(&place, "model");
    let keys: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "learner",
        "file_bytes",
        "n_features",
        "classes",
        "origin",
        "features",
        "nodes",
        "model_mb",
        "memory_mb",
        "multiply_adds",
        "parameters",
        "growth",
        "ledger",
    ];
    assert_eq!(keys, expected);
    assert_eq!(found["learner"], "reactivation");
    assert_eq!(found["file_bytes"], place.read("model").len());
    assert_eq!(found["n_features"], N_FEATURES);
    assert_eq!(
        found["classes"],
        serde_json::json!(["a", "b", "c", "d", "e", "f"])
    );
    assert_eq!(found["parameters"]["t_max"], 5);
    assert_eq!(found["parameters"]["l_max"], 30);
    assert_eq!(found["parameters"]["seed"], 0);
    let growth = found["growth"].as_array().unwrap();
    assert_eq!(growth.len(), 3);
    let nodes = growth
        .iter()
        .map(|unit| unit["layers"][0]["nodes"].as_u64().unwrap());
    assert_eq!(found["nodes"], nodes.sum::<u64>());
}
