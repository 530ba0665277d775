//! What clients and surroundings that mean no good may cost: the server goes on answering everybody else.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http;
use crate::serving::{SMALL, Serving};

#[test]
fn a_log_that_nobody_reads_stops_no_answer() {
    let place = Workplace::new();
    let words = [&["serve", "m.aact"], &SMALL[..], &["--listen", "127.0.0.1:0"]].concat();
    let mut process = place.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    let mut unread = BufReader::new(process.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on http://") {
        line.clear();
        unread.read_line(&mut line).unwrap();
    }
    let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap();
    let address = address.parse().unwrap();
    let dropped = || {
        let metrics = http::send(address, "GET", "/metrics", &[], b"").unwrap();
        let text = String::from_utf8(metrics.body).unwrap();
        let name = "autoactivator_log_lines_dropped_total ";
        let count = text.lines().find_map(|line| line.strip_prefix(name));
        count.unwrap().parse::<usize>().unwrap()
    };
    // The pipe takes some thousands of lines, and so do those that wait.
    let asked = (0..40_000).take_while(|n| {
        http::send(address, "GET", "/health", &[], b"").unwrap();
        n % 500 != 0 || dropped() == 0
    });
    let asked = asked.count();
    assert!(dropped() > 0, "no line was dropped after {asked} requests");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// A server that knows so many classes, two rows of two features of each.
fn with_classes(place: &Workplace, n: u16, words: &[&str]) -> Serving {
    let serving = Serving::start(place, &[&["m.aact", "--quiet"], &SMALL[..], words].concat());
    let names: Vec<String> = (0..2 * n).map(|i| format!("class {}", i / 2)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows = (0..2 * n).map(|i| [f64::from(i).sin(), f64::from(i).cos()]);
    serving.learn(&json!(rows.collect::<Vec<_>>()), &names);
    serving
}

/// A question about many rows.
fn question(rows: u16, options: &Value) -> Value {
    let rows = (0..rows).map(|i| [f64::from(i).cos(), f64::from(i) / 7.0]);
    let mut question = json!({ "rows": rows.collect::<Vec<_>>() });
    question
        .as_object_mut()
        .unwrap()
        .extend(options.as_object().unwrap().clone());
    question
}

#[test]
fn an_answer_that_would_be_too_large_is_refused_before_it_is_computed() {
    let place = Workplace::new();
    let serving = with_classes(&place, 100, &["--max-answer", "5"]);
    for options in [json!({ "proba": true }), json!({ "top": 100 })] {
        let refused = serving.post("/v1/predict", &question(10_000, &options));
        assert_eq!((refused.status, refused.kind()), (413, "TooLarge".to_owned()));
        let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(
            message.contains("more than the limit of 5 MB: send fewer rows"),
            "{message}"
        );
    }
    for options in [json!({}), json!({ "top": 3 })] {
        let reply = serving.post("/v1/predict", &question(10_000, &options));
        assert_eq!(reply.status, 200, "{options}");
        let answer = reply.json();
        let answers = answer["answers"].as_array().unwrap();
        assert!((0..10_000).all(|row| answers[row]["row"] == json!(row)));
    }
    let some = serving.post("/v1/predict", &question(100, &json!({ "proba": true })));
    assert_eq!(
        some.json()["answers"][99]["probabilities"]
            .as_object()
            .unwrap()
            .len(),
        100
    );
}
