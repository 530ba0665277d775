//! `autoactivator run` from outside: the record, the table, the report, and which words lead to them.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

mod common;

use common::{QUICK, Workplace, clusters, gzip, idx, said};
use serde_json::{Value, json};

const LEARNERS: [&str; 5] = [
    "reactivation",
    "nearest-mean",
    "streaming-lda",
    "joint-ridge",
    "sequential-sgd",
];

/// `run` with one seed, quick parameters and these words.
fn quick<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["run"], words, &["--seeds", "1"], &QUICK].concat()
}

/// The words that ask for all of [`LEARNERS`].
fn all_learners() -> Vec<&'static str> {
    LEARNERS
        .iter()
        .flat_map(|learner| ["--learner", learner])
        .collect()
}

/// The record of such a run, from stdout.
#[track_caller]
fn record(place: &Workplace, words: &[&str]) -> Value {
    let said = place.succeed(&[&quick(words)[..], &["--json", "-", "--no-report"]].concat());
    serde_json::from_str(&said.stdout).unwrap()
}

#[track_caller]
fn assert_keys(value: &Value, expected: &[&str]) {
    let found: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(found, expected);
}

/// Scripts rely on this form: whoever changes it changes the documentation and tells everybody.
#[test]
fn the_record_has_the_documented_form() {
    let place = Workplace::new();
    let protocols = ["--protocol", "task-batch=all", "--protocol", "instance"];
    let words = [
        &["digits", "--tasks", "5"],
        &protocols[..],
        &["--json", "out.json"],
    ]
    .concat();
    place.succeed(&quick(&[&words[..], &all_learners()].concat()));
    let record: Value = serde_json::from_slice(&place.read("out.json")).unwrap();

    assert_keys(
        &record,
        &["version", "dataset", "scenario", "parameters", "results"],
    );
    assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
    let dataset = json!({
        "name": "digits", "n_train": 1438, "n_test": 359, "n_features": 64, "n_classes": 10
    });
    assert_eq!(record["dataset"], dataset);
    assert_eq!(record["scenario"], "10/5");
    assert_keys(&record["parameters"], &LEARNERS);
    assert_eq!(record["parameters"]["reactivation"]["t_max"], 5);
    assert_eq!(record["parameters"]["reactivation"]["l_max"], 30);

    let results = record["results"].as_array().unwrap();
    let sat: Vec<(&str, &str)> = results
        .iter()
        .map(|result| {
            (
                result["learner"].as_str().unwrap(),
                result["protocol"].as_str().unwrap(),
            )
        })
        .collect();
    let expected: Vec<(&str, &str)> = LEARNERS
        .iter()
        .flat_map(|learner| [(*learner, "task-batch=all"), (*learner, "instance")])
        .collect();
    assert_eq!(sat, expected);
    for result in results {
        assert_result(result);
    }
}

#[track_caller]
fn assert_result(result: &Value) {
    let expected = [
        "learner",
        "protocol",
        "aca",
        "balanced",
        "aia",
        "bwt",
        "forgetting",
        "nodes",
        "model_mb",
        "memory_mb",
        "multiply_adds",
        "learn_seconds",
        "predict_seconds",
        "answers",
        "runs",
    ];
    // One protocol of each learner has its answers: each row alone, if that is asked.
    let kept = result["protocol"] == "instance";
    let expected: Vec<&str> = expected
        .into_iter()
        .filter(|key| kept || *key != "answers")
        .collect();
    assert_keys(result, &expected);
    if kept {
        assert_answers(result);
    }
    for metric in ["aca", "balanced", "aia", "bwt", "forgetting"] {
        assert_keys(&result[metric], &["mean", "std"]);
        assert_eq!(result[metric]["std"], 0.0, "one run has no deviation");
    }
    for accuracy in ["aca", "aia"] {
        assert!((0.0..=100.0).contains(&number(&result[accuracy]["mean"])));
    }
    for fraction in ["bwt", "forgetting"] {
        assert!((-1.0..=1.0).contains(&number(&result[fraction]["mean"])));
    }
    for size in [
        "nodes",
        "model_mb",
        "memory_mb",
        "multiply_adds",
        "learn_seconds",
        "predict_seconds",
    ] {
        assert!(number(&result[size]) >= 0.0, "{size}");
    }
    let runs = result["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    assert_run(&runs[0], result["learner"] == "reactivation");
    let last = runs[0]["accuracy"][4].as_array().unwrap();
    let aca = last.iter().map(number).sum::<f64>() / 5.0;
    assert!((aca - number(&result["aca"]["mean"])).abs() < 1e-9);
}

#[track_caller]
fn assert_answers(result: &Value) {
    let answers = &result["answers"];
    let classes = answers["classes"].as_array().unwrap();
    assert_eq!((answers["rows"].as_u64(), classes.len()), (Some(359), 10));
    let of_class = |class: &Value| {
        let all: u64 = class["answers"]
            .as_object()
            .unwrap()
            .values()
            .map(|n| n.as_u64().unwrap())
            .sum();
        assert_eq!(class["rows"].as_u64(), Some(all), "every row has an answer");
        class["right"].as_u64().unwrap()
    };
    assert_eq!(
        answers["right"].as_u64(),
        Some(classes.iter().map(of_class).sum())
    );
    let sure = result["learner"] == "consolidation";
    assert_eq!(
        answers.get("calibration").is_some(),
        sure,
        "{}",
        result["learner"]
    );
}

#[track_caller]
fn assert_run(run: &Value, grows: bool) {
    let expected = [
        "seed",
        "class_order",
        "task_sizes",
        "accuracy",
        "balanced",
        "class_accuracy",
        "class_rows",
        "nodes",
        "model_mb",
        "learn_seconds",
        "predict_seconds",
        "growth",
    ];
    assert_keys(run, &expected);
    assert_eq!(run["seed"], 0);
    let mut order: Vec<&str> = run["class_order"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c.as_str().unwrap())
        .collect();
    order.sort_unstable();
    assert_eq!(order, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    assert_eq!(run["task_sizes"], json!([2, 2, 2, 2, 2]));
    let matrix = run["accuracy"].as_array().unwrap();
    let lengths: Vec<usize> = matrix.iter().map(|row| row.as_array().unwrap().len()).collect();
    assert_eq!(lengths, [1, 2, 3, 4, 5], "lower triangular");
    let mut entries = matrix.iter().flat_map(|row| row.as_array().unwrap());
    assert!(entries.all(|percent| (0.0..=100.0).contains(&number(percent))));
    for per_task in ["balanced", "nodes", "model_mb", "learn_seconds"] {
        assert_eq!(run[per_task].as_array().unwrap().len(), 5, "{per_task}");
    }
    for per_class in ["class_accuracy", "class_rows"] {
        assert_eq!(run[per_class].as_array().unwrap().len(), 10, "{per_class}");
    }
    let growth = run["growth"].as_array().unwrap();
    assert_eq!(growth.len(), if grows { 5 } else { 0 });
    growth.iter().for_each(assert_growth);
}

/// Each unit keeps its growth record: residual and accuracy after every join, scope and r, why it stopped.
#[track_caller]
fn assert_growth(unit: &Value) {
    let expected = [
        "task",
        "classes",
        "training_rows",
        "validation_rows",
        "threshold",
        "layers",
    ];
    assert_keys(unit, &expected);
    assert_eq!(unit["classes"].as_array().unwrap().len(), 2);
    let layers = unit["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 1);
    assert_keys(&layers[0], &["nodes", "stopped", "joins"]);
    let why = [
        "node-limit",
        "expected-accuracy",
        "validation-residual",
        "fitted",
        "no-candidate",
    ];
    assert!(why.contains(&layers[0]["stopped"].as_str().unwrap()));
    let joins = layers[0]["joins"].as_array().unwrap();
    assert!(!joins.is_empty());
    let expected = [
        "nodes",
        "residual",
        "accuracy",
        "validation_residual",
        "scope",
        "r",
        "passed",
    ];
    joins.iter().for_each(|join| assert_keys(join, &expected));
    let residuals: Vec<f64> = joins.iter().map(|join| number(&join["residual"])).collect();
    assert!(
        residuals.is_sorted_by(|before, after| after <= before),
        "{residuals:?}"
    );
}

#[track_caller]
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn the_table_has_one_line_for_each_learner_unless_protocols_differ() {
    let place = Workplace::new();
    let said = place.succeed(&quick(&[&["digits"], &all_learners()[..]].concat()));
    let lines: Vec<&str> = said.stdout.lines().collect();
    let (lines, verdict) = lines.split_at(lines.len() - 2);
    assert!(
        verdict[0].is_empty() && verdict[1].starts_with("reactivation: "),
        "{verdict:?}"
    );
    assert!(
        lines[0].starts_with("digits 10/5: 1438 training and 359 test rows"),
        "{}",
        lines[0]
    );
    assert_eq!(lines[1], "");
    for heading in [
        "learner",
        "protocol",
        "ACA",
        "AIA",
        "BWT",
        "forgetting",
        "nodes",
        "MB",
        " s",
    ] {
        assert!(lines[2].contains(heading), "{heading} is missing in {}", lines[2]);
    }
    let rest: Vec<Vec<&str>> = lines[3..]
        .iter()
        .map(|line| line.split_whitespace().take(2).collect())
        .collect();
    let expected: Vec<Vec<&str>> = LEARNERS
        .iter()
        .flat_map(|learner| match *learner {
            "reactivation" => vec![vec![*learner, "instance"], vec![*learner, "task-batch=all"]],
            _ => vec![vec![*learner, "instance,"]],
        })
        .collect();
    assert_eq!(rest, expected);
    assert!(lines[3..].iter().all(|line| line.contains(" ± ")));
    assert_eq!(said.stderr, "report: report.html\n");
}

#[test]
fn digits_need_not_be_said() {
    let place = Workplace::new();
    let record = record(&place, &["--learner", "nearest-mean"]);
    assert_eq!(record["dataset"]["name"], "digits");
    assert_eq!(record["scenario"], "10/5");
}

#[test]
fn the_report_is_one_self_contained_page() {
    let place = Workplace::new();
    place.succeed(&quick(&[
        "digits",
        "--learner",
        "reactivation",
        "--learner",
        "nearest-mean",
    ]));
    let page = String::from_utf8(place.read("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for expected in [
        "reactivation",
        "nearest-mean",
        "task-batch=all",
        "instance",
        "t_max",
        env!("CARGO_PKG_VERSION"),
    ] {
        assert!(page.contains(expected), "{expected} is missing");
    }
    // The name of a namespace is an address that nobody fetches.
    let page = page.replace("http://www.w3.org/", "").replace(" src=\"data:", "");
    for outside in [
        "http://", "https://", "<script", "<link", "<iframe", " src=", "url(", "@import",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(place.files().len(), 1, "only the report is written");
}

#[test]
fn the_report_goes_where_it_is_told_or_nowhere() {
    let place = Workplace::new();
    let said = place.succeed(&quick(&["--learner", "nearest-mean", "--no-report"]));
    assert_eq!(said.stderr, "");
    assert!(place.files().is_empty());
    place.succeed(&quick(&["--learner", "nearest-mean", "--report", "page.html"]));
    assert_eq!(place.files().len(), 1);
    assert!(place.exists("page.html"));
}

#[test]
fn json_on_stdout_is_all_there_is_on_stdout() {
    let place = Workplace::new();
    let said = place.succeed(&quick(&["--learner", "nearest-mean", "--json", "-"]));
    assert!(
        serde_json::from_str::<Value>(&said.stdout).is_ok(),
        "{}",
        said.stdout
    );
    assert!(place.exists("report.html"));
    assert!(!place.exists("-"));
}

#[test]
fn the_json_file_and_json_on_stdout_are_the_same() {
    let place = Workplace::new();
    let said = place.succeed(&quick(&[
        "--learner",
        "nearest-mean",
        "--json",
        "out.json",
        "--no-report",
    ]));
    assert!(
        said.stdout.contains("nearest-mean"),
        "the table is on stdout as ever"
    );
    let mut written = serde_json::from_slice(&place.read("out.json")).unwrap();
    drop_times(&mut written);
    let mut printed = record(&place, &["--learner", "nearest-mean"]);
    drop_times(&mut printed);
    assert_eq!(written, printed);
}

/// Removes what the clock says, which no seed decides.
fn drop_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_seconds"));
            fields.values_mut().for_each(drop_times);
        }
        Value::Array(entries) => entries.iter_mut().for_each(drop_times),
        _ => {}
    }
}

#[test]
fn the_same_seed_gives_the_same_record() {
    let place = Workplace::new();
    let take = |seed: &str, threads: &str| {
        let words = ["digits", "--seed", seed, "--json", "-", "--no-report"];
        let words = quick(&[&words[..], &all_learners()].concat());
        let said = said(place.command(&words).env("RAYON_NUM_THREADS", threads));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let mut record: Value = serde_json::from_str(&said.stdout).unwrap();
        drop_times(&mut record);
        record
    };
    let first = take("3", "2");
    assert_eq!(take("3", "2"), first);
    assert_eq!(take("3", "1"), first, "however many threads there are");
    assert_ne!(take("4", "2"), first);
}

#[test]
fn each_seed_is_a_run_of_its_own() {
    let place = Workplace::new();
    let words = [
        "run",
        "--learner",
        "nearest-mean",
        "--seeds",
        "3",
        "--seed",
        "7",
        "--json",
        "-",
        "--no-report",
    ];
    let record: Value = serde_json::from_str(&place.succeed(&words).stdout).unwrap();
    let runs = record["results"][0]["runs"].as_array().unwrap();
    let seeds: Vec<u64> = runs.iter().map(|run| run["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds, [7, 8, 9]);
    assert_ne!(runs[0]["class_order"], runs[1]["class_order"]);
    let acas: Vec<f64> = runs
        .iter()
        .map(|run| {
            run["accuracy"][4]
                .as_array()
                .unwrap()
                .iter()
                .map(number)
                .sum::<f64>()
                / 5.0
        })
        .collect();
    let mean = acas.iter().sum::<f64>() / 3.0;
    let deviation = (acas.iter().map(|aca| (aca - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    assert!((number(&record["results"][0]["aca"]["mean"]) - mean).abs() < 1e-9);
    assert!((number(&record["results"][0]["aca"]["std"]) - deviation).abs() < 1e-9);
}

#[test]
fn every_learner_by_default() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b", "c", "d"], 10));
    let record = record(&place, &["rows.csv"]);
    for learner in LEARNERS {
        assert!(record["parameters"][learner].is_object(), "{learner} is missing");
        let results = record["results"].as_array().unwrap();
        let sat = results.iter().filter(|result| result["learner"] == learner);
        assert_eq!(sat.count(), 2, "{learner}: instance and task-batch=all");
    }
}

#[test]
fn rivals_are_named_in_one_list_and_set_like_other_learners() {
    let place = Workplace::new();
    let words = [
        "--learner",
        "ewc,er",
        "--learner",
        "ranpac",
        "--epochs",
        "1",
        "--hidden",
        "16",
        "--exemplars",
        "50",
        "--strength",
        "3",
        "--random-nodes",
        "40",
    ];
    let record = record(&place, &words);
    let ewc = json!({"batch": 64, "epochs": 1, "hidden": [16], "learning_rate": 0.1, "momentum": 0.9, "strength": 3.0});
    let mut er = ewc.clone();
    er.as_object_mut().unwrap().remove("strength");
    er["exemplars"] = json!(50);
    let expected = json!({"ewc": ewc, "er": er, "ranpac": {"random_nodes": 40}});
    assert_eq!(record["parameters"], expected);
    let kept = |result: &&Value| result["learner"] == "er";
    let result = record["results"].as_array().unwrap().iter().find(kept).unwrap();
    let mb = result["memory_mb"].as_f64().unwrap();
    assert!(
        (mb - 50.0 * 64.0 * 4.0 / (1024.0 * 1024.0)).abs() < 1e-9,
        "the budget is in the record: {mb}"
    );
}

#[test]
fn bad_parameters_of_rivals_are_refused_with_a_remedy() {
    let place = Workplace::new();
    for (words, expected) in [
        (["--epochs", "0"], "`epochs` is 0: must be from 1"),
        (
            ["--momentum", "1"],
            "`momentum` is 1: must be at least 0 and below 1",
        ),
        (
            ["--learning-rate", "-1"],
            "`learning_rate` is -1: must be above 0",
        ),
        (["--exemplars", "0"], "`exemplars` is 0: must be from 1"),
        (["--learner", "ewc,svm"], "invalid value 'svm'"),
    ] {
        place.refuse(&[&["run", "--learner", "ewc"], &words[..]].concat(), &[expected]);
    }
}

#[test]
fn five_seeds_by_default() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b", "c", "d"], 10));
    let words = [
        "run",
        "rows.csv",
        "--learner",
        "nearest-mean",
        "--json",
        "-",
        "--no-report",
    ];
    let record: Value = serde_json::from_str(&place.succeed(&words).stdout).unwrap();
    assert_eq!(record["results"][0]["runs"].as_array().unwrap().len(), 5);
}

/// What is written for tasks, the name it gets, and how many classes come with each task.
#[test]
fn every_form_of_tasks() {
    let place = Workplace::new();
    let forms: [(&str, &str, &[usize]); 9] = [
        ("5", "10/5", &[2, 2, 2, 2, 2]),
        ("10/5", "10/5", &[2, 2, 2, 2, 2]),
        ("3", "10/3", &[4, 3, 3]),
        ("4,3,2,1", "4,3,2,1", &[4, 3, 2, 1]),
        ("1,2,...", "1,2,...", &[1, 2, 3, 4]),
        ("B5/5", "B5/5", &[5, 1, 1, 1, 1, 1]),
        ("B6/2", "B6/2", &[6, 2, 2]),
        ("single", "10/10", &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
        ("1", "10/1", &[10]),
    ];
    for (written, name, sizes) in forms {
        let record = record(
            &place,
            &["digits", "--tasks", written, "--learner", "nearest-mean"],
        );
        assert_eq!(record["scenario"], name, "{written}");
        let run = &record["results"][0]["runs"][0];
        assert_eq!(run["task_sizes"], json!(sizes), "{written}");
        assert_eq!(
            run["accuracy"].as_array().unwrap().len(),
            sizes.len(),
            "{written}"
        );
    }
}

#[test]
fn every_protocol() {
    let place = Workplace::new();
    let protocols = [
        "instance",
        "task-batch=10",
        "task-batch=all",
        "class-batch=10",
        "class-batch=all",
        "mixed-batch=10",
        "mixed-batch=all",
    ];
    let mut words = vec!["digits", "--learner", "reactivation"];
    words.extend(protocols.iter().flat_map(|protocol| ["--protocol", protocol]));
    let record = record(&place, &words);
    let sat: Vec<&str> = record["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["protocol"].as_str().unwrap())
        .collect();
    assert_eq!(sat, protocols);
}

/// Words beside parameters of the paper's learner are noted in the record, under their names.
#[test]
fn every_parameter_reaches_the_record() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b", "c", "d"], 20));
    let words = [
        "run",
        "rows.csv",
        "--learner",
        "reactivation",
        "--seeds",
        "1",
        "--json",
        "-",
        "--no-report",
        "--seed",
        "4",
        "--step-size",
        "2",
        "--t-max",
        "3",
        "--l-max",
        "8",
        "--expected-accuracy",
        "97%",
        "--r",
        "0.8",
        "--scopes",
        "0.25,2",
        "--activation",
        "tanh",
        "--ridge",
        "1e-6",
        "--validation",
        "0.25",
        "--patience",
        "2",
        "--layers",
        "2",
        "--reuse",
        "--repeated-classes",
        "accept",
    ];
    let record: Value = serde_json::from_str(&place.succeed(&words).stdout).unwrap();
    let expected = json!({
        "step_size": 2, "t_max": 3, "l_max": 8, "expected_accuracy": 0.97, "r": 0.8, "scopes": [0.25, 2.0],
        "activation": "tanh", "ridge": 1e-6, "validation": 0.25, "patience": 2, "layers": 2, "reuse": true,
        "repeated_classes": "accept", "seed": 4,
    });
    let found = &record["parameters"]["reactivation"];
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&found[name], value, "{name}");
    }
    assert_eq!(
        found.as_object().unwrap().len(),
        expected.as_object().unwrap().len(),
        "a parameter is not examined"
    );
}

#[test]
fn a_csv_file_of_ones_own() {
    let place = Workplace::new();
    let rows = clusters(&["a", "b", "c", "d"], 25);
    place.write("plain.csv", &rows);
    place.write("headed.csv", format!("w,x,y,z,class\n{rows}"));
    place.write("packed.csv.gz", gzip(&rows));
    for (file, name) in [
        ("plain.csv", "plain"),
        ("headed.csv", "headed"),
        ("packed.csv.gz", "packed"),
    ] {
        let record = record(&place, &[file, "--learner", "reactivation"]);
        let dataset = json!({"name": name, "n_train": 80, "n_test": 20, "n_features": 4, "n_classes": 4});
        assert_eq!(record["dataset"], dataset);
        assert_eq!(record["scenario"], "4/2", "two classes a task");
    }
}

#[test]
fn a_csv_folder_of_ones_own() {
    let place = Workplace::new();
    place.write("things/train.csv", clusters(&["a", "b", "c", "d"], 20));
    place.write("things/test.csv.gz", gzip(clusters(&["d", "c", "b", "a"], 5)));
    let record = record(&place, &["things", "--learner", "reactivation"]);
    let dataset = json!({"name": "things", "n_train": 80, "n_test": 20, "n_features": 4, "n_classes": 4});
    assert_eq!(record["dataset"], dataset);
}

/// Data sets known by name are folders of the data directory, which the environment or an option names.
#[test]
fn the_data_directory() {
    let place = Workplace::new();
    let pixels = |n: u8| {
        (0..n)
            .flat_map(|i| [i % 4 * 60, 255 - i % 4 * 60])
            .collect::<Vec<u8>>()
    };
    let labels = |n: u8| (0..n).map(|i| i % 4).collect::<Vec<u8>>();
    for (prefix, n) in [("train", 40), ("t10k", 8)] {
        let images = idx(&[0x0803, n.into(), 1, 2], &pixels(n));
        let labels = idx(&[0x0801, n.into()], &labels(n));
        place.write(&format!("data/mnist/{prefix}-images-idx3-ubyte.gz"), gzip(images));
        place.write(&format!("data/mnist/{prefix}-labels-idx1-ubyte"), labels);
    }
    let by_option = record(
        &place,
        &["mnist", "--data-dir", "data", "--learner", "reactivation"],
    );
    let dataset = json!({"name": "mnist", "n_train": 40, "n_test": 8, "n_features": 2, "n_classes": 4});
    assert_eq!(by_option["dataset"], dataset);
    let words = quick(&["mnist", "--learner", "reactivation", "--no-report"]);
    let said = said(place.command(&words).env("AUTOACTIVATOR_DATA", "data"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

/// `AUTOACTIVATOR_DATA=` is how a shell says "not set".
#[test]
fn an_empty_data_directory_is_none() {
    let place = Workplace::new();
    let words = quick(&["digits", "--learner", "nearest-mean", "--no-report"]);
    let said = said(place.command(&words).env("AUTOACTIVATOR_DATA", ""));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

/// `autoactivator run | head -1` must not complain.
#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let place = Workplace::new();
    let words = quick(&[
        "digits",
        "--learner",
        "nearest-mean",
        "--no-report",
        "--json",
        "-",
    ]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = place.command(&words).stdout(writer).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

/// A stream of rows repeats classes: a learner that refuses to learn a class twice is left out with a word.
#[test]
fn a_learner_that_cannot_take_part_is_left_out() {
    let place = Workplace::new();
    place.write("three.csv", clusters(&["a", "b", "c"], 20));
    let said = place.succeed(&[
        "run",
        "three.csv",
        "--online",
        "--seeds",
        "1",
        "--json",
        "three.json",
        "--no-report",
    ]);
    assert!(said.stderr.contains("reactivation left out"), "{}", said.stderr);
    let record: Value = serde_json::from_slice(&place.read("three.json")).unwrap();
    assert_eq!(record["left_out"][0]["learner"], "reactivation");
    place.refuse(
        &[
            "run",
            "three.csv",
            "--online",
            "--learner",
            "reactivation",
            "--no-report",
        ],
        &["reactivation", "repeated_classes"],
    );
}

#[test]
fn a_stream_is_predicted_before_it_is_learned() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b", "c", "d"], 20));
    let words = [
        "run",
        "rows.csv",
        "--tasks",
        "2",
        "--seeds",
        "1",
        "--learner",
        "streaming-lda",
    ];
    let stream = [
        "--stream",
        "4",
        "--json",
        "stream.json",
        "--report",
        "stream.html",
    ];
    let said = place.succeed(&[&words[..], &stream].concat());
    assert!(said.stdout.contains("4/2 stream of 4"), "{}", said.stdout);
    assert!(
        said.stdout.contains("Right before they were learned"),
        "{}",
        said.stdout
    );
    let record: Value = serde_json::from_slice(&place.read("stream.json")).unwrap();
    let windows = record["results"][0]["runs"][0]["stream"].as_array().unwrap();
    let sum = |key: &str| {
        windows
            .iter()
            .map(|window| window[key].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(sum("known") + sum("first_sights"), 64, "every training row once");
    assert!(sum("right") <= sum("known") && sum("first_sights") >= 4);
    let page = String::from_utf8(place.read("stream.html")).unwrap();
    assert!(page.contains("While it learned"));
    let both = [&words[..], &["--stream", "4", "--online"]].concat();
    let said = place.run(&both);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("--online"), "{}", said.stderr);
}

#[test]
fn classes_may_be_uneven() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b", "c", "d"], 20));
    let words = [
        "run",
        "rows.csv",
        "--seeds",
        "1",
        "--learner",
        "nearest-mean",
        "--no-report",
    ];
    let record = |more: &[&str]| -> Value {
        let said = place.succeed(&[&words[..], &["--json", "-"], more].concat());
        serde_json::from_str(&said.stdout).unwrap()
    };
    let rows = |record: &Value| record["results"][0]["runs"][0]["class_rows"].clone();
    // 16 rows of each class are there; 16, 16 / 2, 16 / 4 and 16 / 8 have equal ratios.
    let tail = record(&["--imbalance", "8"]);
    assert_eq!(rows(&tail), serde_json::json!([16, 8, 4, 2]));
    assert_eq!(tail["scenario"], "4/2, imbalance 8");
    let few = record(&["--tasks", "B2/2", "--shots", "3"]);
    assert_eq!(rows(&few), serde_json::json!([16, 16, 3, 3]));
    let natural = record(&["--order", "natural"]);
    let order = &natural["results"][0]["runs"][0]["class_order"];
    assert_eq!(*order, serde_json::json!(["a", "b", "c", "d"]));
    for (more, expected) in [
        (&["--imbalance", "0.5"][..], "at least 1"),
        (&["--imbalance", "17"], "at most 16"),
        (&["--tasks", "1", "--shots", "3"], "only one task"),
    ] {
        place.refuse(&[&words[..], more].concat(), &[expected]);
    }
}
