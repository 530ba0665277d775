//! The worker answers every job, at small sizes, so that what `compare/` relies on keeps working.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Sends these jobs to the worker, one after another.
fn answers(jobs: &[Value]) -> Vec<Value> {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_autoactivator-bench"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = worker.stdin.take().unwrap();
    for job in jobs {
        writeln!(stdin, "{job}").unwrap();
    }
    drop(stdin);
    let output = worker.wait_with_output().unwrap();
    let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
    let answers: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), jobs.len());
    answers
}

fn digits() -> Value {
    json!({ "set": "digits", "rows_per_class": 40 })
}

fn generated() -> Value {
    json!({ "rows": 60, "features": 12, "classes": 3 })
}

fn gaussian(nodes: usize) -> Value {
    json!({ "pool": { "kind": "gaussian", "nodes": nodes, "activation": "relu", "preparation": "none" } })
}

#[test]
fn rows_are_shared_as_they_are_learned() {
    let folder = tempfile::tempdir().unwrap();
    let share = json!({ "job": "share", "data": digits(), "tasks": "10/5", "folder": folder.path() });
    let answer = &answers(&[share])[0];
    assert_eq!(answer["n_features"], 64);
    assert_eq!(answer["tasks"].as_array().unwrap().len(), 5);
    let bytes = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
    assert_eq!(bytes("train_x"), 400 * 64 * 4);
    assert_eq!(bytes("train_y"), 400 * 4);
    assert_eq!(bytes("test_x"), bytes("test_y") * 64);
}

#[test]
fn both_learners_learn_and_are_examined() {
    let learn = |learner: Value| {
        json!({
            "job": "learn", "data": digits(), "tasks": "10/5", "learner": learner,
            "protocols": ["instance", "task-batch=all"],
        })
    };
    let answers = answers(&[
        learn(json!({ "reactivation": { "l_max": 20 } })),
        learn(json!({ "consolidation": gaussian(50) })),
    ]);
    for answer in answers {
        assert!(answer["seconds"].as_f64().unwrap() > 0.0);
        assert_eq!(answer["task_seconds"].as_array().unwrap().len(), 5);
        assert!(
            answer["aca"]["task-batch=all"].as_f64().unwrap() > 60.0,
            "{answer}"
        );
        assert!(answer["aca"]["instance"].is_number());
        assert!(answer["size"]["nodes"].as_u64().unwrap() >= 50);
        assert_eq!(answer["growth"].as_array().unwrap().len(), 5);
    }
}

#[test]
fn a_memory_takes_rows_in_and_recruits() {
    let folder = tempfile::tempdir().unwrap();
    let answers = answers(&[
        json!({ "job": "observe", "data": generated(), "params": gaussian(20), "warm_rows": 10 }),
        json!({
            "job": "learn", "data": generated(), "tasks": "1", "learner": { "consolidation": gaussian(20) },
            "keep": "memory",
        }),
        json!({ "job": "recruit", "model": "memory", "max_nodes": 5, "share": folder.path() }),
    ]);
    assert_eq!(answers[0]["nodes"], 20);
    assert_eq!(answers[0]["rows"], 60);
    assert_eq!(answers[2]["nodes"].as_array().unwrap().len(), 5);
    let bytes = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
    assert_eq!(
        [bytes("gram"), bytes("moments"), bytes("counts")],
        [3200, 480, 24]
    );
}

#[test]
fn a_new_class_is_taught_time_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let new = json!({ "rows": 40, "features": 12, "classes": 2, "seed": 1 });
    let teach = |class: u32, from_nothing: bool| {
        json!({
            "job": "teach", "model": "small", "data": new, "class": class, "rows": 5, "from_nothing": from_nothing,
        })
    };
    let answers = answers(&[
        json!({
            "job": "learn", "data": generated(), "tasks": "1", "learner": { "consolidation": { "nodes": 80 } },
            "keep": "small",
        }),
        teach(0, false),
        teach(1, true),
        teach(1, false),
        json!({ "job": "sums", "model": "small", "data": new, "rows": 6, "folder": folder.path() }),
    ]);
    for answer in &answers[1..4] {
        assert!(answer["seconds"].as_f64().unwrap() > 0.0, "{answer}");
        assert_eq!(answer["taught"], 1.0, "{answer}");
        assert!(answer["unseen"].as_f64().unwrap() > 0.5, "{answer}");
    }
    assert_eq!(
        answers[4],
        json!({ "nodes": 92, "classes": 3, "rows": 6 }),
        "the taught classes are gone"
    );
    let bytes = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
    assert_eq!(bytes("gram"), 92 * 92 * 8);
    assert_eq!([bytes("moments"), bytes("outputs")], [92 * 3 * 8, 92 * 6 * 8]);
}

#[test]
fn a_kept_model_predicts_and_is_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let learner =
        json!({ "consolidation": { "pool": { "kind": "convolution", "filters": 4, "sides": [3] } } });
    let answers = answers(&[
        json!({ "job": "learn", "data": digits(), "tasks": "10/5", "learner": learner, "keep": "small" }),
        json!({ "job": "predict", "model": "small", "data": digits(), "part": "test", "rows": 7, "times": 3 }),
        json!({ "job": "onnx", "model": "small", "path": path }),
    ]);
    assert_eq!(answers[1]["predicted"].as_array().unwrap().len(), 7);
    assert!(answers[1]["seconds"].as_f64().unwrap() > 0.0);
    assert!(answers[1]["multiply_adds"].as_u64().unwrap() > 0);
    assert_eq!(
        answers[2]["bytes"].as_u64().unwrap(),
        std::fs::metadata(path).unwrap().len()
    );
}

#[test]
fn a_job_that_fails_says_why_and_the_next_one_runs() {
    let answers = answers(&[
        json!({ "job": "recruit", "model": "nobody", "max_nodes": 5 }),
        json!({ "job": "dance" }),
        json!({ "job": "observe", "data": { "rows": 3, "features": 2, "classes": 9 }, "params": {}, "warm_rows": 1 }),
        json!({ "job": "teach", "model": "nobody", "data": generated(), "class": 3, "rows": 5 }),
        json!({ "job": "observe", "data": generated(), "params": gaussian(20), "warm_rows": 10 }),
    ]);
    let error = |i: usize| answers[i]["error"].as_str().unwrap();
    assert!(
        error(0).contains("nobody") && error(0).contains("keep"),
        "{}",
        error(0)
    );
    assert!(error(1).contains("dance"), "{}", error(1));
    assert!(error(2).contains("at least 2 classes"), "{}", error(2));
    assert!(error(3).contains("class 3 has no rows"), "{}", error(3));
    assert!(answers[4]["seconds"].is_number());
}
