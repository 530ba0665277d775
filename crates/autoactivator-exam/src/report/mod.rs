//! How is an exam shown? A [`Record`] as a text table or as one self-contained HTML page.
//!
//! [`table`] is for the terminal, [`html`] for people who were not there. Both only read: every figure was computed
//! before, by [`metrics`](crate::metrics) and in a [`Tally`](crate::tally::Tally). A page is put together from parts: the
//! `headline`, the result in a sentence; `curves`, drawn by `plot`; `answers`, what became of the test rows, with the
//! [`exhibit`]s of mistakes; `cost`; and `heat` maps. `chart` is what drawings share, `page` what pages share.
//! [`evaluation`] shows one model, [`reproduction`] many exams, beside what the paper prints.
//!
//! ```
//! # use autoactivator_data::dataset;
//! # use autoactivator_exam::experiment::Experiment;
//! use autoactivator_exam::report;
//!
//! # let experiment = Experiment::parse("learners = ['nearest-mean']\nprotocols = ['instance']\nseeds = 1", &[])?;
//! # let digits = dataset::open("digits", None)?;
//! let record = experiment.exam(&digits)?.run(&mut ())?;
//! assert!(report::table(&record).starts_with("digits 10/5: 1438 training and 359 test rows"));
//! let shown = report::exhibit::of_pixels(&digits, report::mistakes_shown(&record));
//! assert!(report::html(&record, &shown).contains("<svg"));
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

mod answers;
mod chart;
mod cost;
mod curves;
pub mod evaluation;
pub mod exhibit;
mod headline;
mod heat;
mod html;
mod page;
mod panels;
mod plot;
pub mod reproduction;
mod scatter;
mod stream;
mod table;

pub use headline::of_exam as headline;
pub use html::{html, mistakes_shown};
pub use table::table;

use crate::admission::Absence;
use crate::metrics::mean;
use crate::record::{Outcome, Record};

/// About three digits: sizes and durations are not known any better.
fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 || v == 0.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// The learners without results, each with what happened to it.
fn absent(record: &Record) -> impl Iterator<Item = (&'static str, &Absence)> {
    let left_out = record.left_out.iter().map(|absence| ("left out", absence));
    let failed = record.failed.iter().map(|absence| ("failed", absence));
    left_out.chain(failed)
}

/// The outcome that a report is about: of the first learner, the one whose answers were kept.
fn subject(record: &Record) -> Option<&Outcome> {
    let first = record.results.first()?;
    let of_first = || {
        record
            .results
            .iter()
            .filter(|outcome| outcome.learner == first.learner)
    };
    of_first()
        .find(|outcome| outcome.answers.is_some())
        .or(Some(first))
}

/// Outcomes of one learner that are the same under several protocols.
struct Line<'a> {
    outcome: &'a Outcome,
    protocols: Vec<&'a str>,
}

/// One line a learner, unless its protocols make a difference.
fn lines(record: &Record) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for outcome in &record.results {
        let same = |line: &&mut Line<'_>| {
            let other = line.outcome;
            let figures = |o: &Outcome| (o.aca, o.aia, o.bwt, o.forgetting);
            other.learner == outcome.learner && figures(other) == figures(outcome)
        };
        match lines.iter_mut().find(same) {
            Some(line) => line.protocols.push(&outcome.protocol),
            None => lines.push(Line {
                outcome,
                protocols: vec![&outcome.protocol],
            }),
        }
    }
    lines
}

/// The number of training rows; where some were left out, also how many were learned, as a mean over the runs.
fn training_rows(record: &Record) -> String {
    let n_train = record.dataset.n_train;
    let runs = record.results.iter().flat_map(|outcome| &outcome.runs);
    let learned = mean(runs.map(|run| run.class_rows.iter().sum::<usize>() as f64)).round() as usize;
    if record.results.is_empty() || learned == n_train {
        return n_train.to_string();
    }
    format!("{learned} of {n_train}")
}

/// The number of runs, which is the same for all learners.
fn n_runs(record: &Record) -> usize {
    record.results.first().map_or(0, |outcome| outcome.runs.len())
}

/// One outcome of each learner, for what does not depend on the protocol.
fn first_of_each_learner(record: &Record) -> Vec<&Outcome> {
    let learners = distinct(record.results.iter().map(|outcome| outcome.learner.as_str()));
    let first = |learner| record.results.iter().find(|outcome| outcome.learner == learner);
    learners.into_iter().filter_map(first).collect()
}

/// Each name once, in the order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

/// A record like a real one, for the tests of all views.
#[cfg(test)]
pub(crate) mod example {
    use serde_json::json;

    use crate::metrics;
    use crate::record::{DatasetRecord, Outcome, Record, Run, Stat};

    pub fn record() -> Record {
        Record {
            version: "0.1.0".into(),
            dataset: DatasetRecord {
                name: "digits".into(),
                n_train: 1438,
                n_test: 359,
                n_features: 64,
                n_classes: 4,
            },
            scenario: "4/2".into(),
            parameters: json!({"reactivation": {"batch": 10, "scopes": [0.5, 1.0]}, "nearest-mean": {}}),
            results: vec![
                outcome(
                    "reactivation",
                    "instance",
                    [[96.0, 40.0, 60.0], [98.0, 50.0, 70.0]],
                ),
                outcome(
                    "reactivation",
                    "task-batch=all",
                    [[96.0, 96.0, 98.0], [98.0, 98.0, 100.0]],
                ),
                outcome(
                    "nearest-mean",
                    "instance",
                    [[90.0, 80.0, 90.0], [90.0, 80.0, 90.0]],
                ),
            ],
            left_out: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// `accuracies` are the three entries of each run's matrix, row after row.
    fn outcome(learner: &str, protocol: &str, accuracies: [[f64; 3]; 2]) -> Outcome {
        let runs: Vec<Run> = (0..)
            .zip(accuracies)
            .map(|(seed, accuracy)| run(seed, accuracy))
            .collect();
        let stat = |metric: fn(&[Vec<f64>]) -> f64| {
            Stat::of(&runs.iter().map(|run| metric(&run.accuracy)).collect::<Vec<_>>())
        };
        Outcome {
            learner: learner.into(),
            protocol: protocol.into(),
            aca: stat(metrics::aca),
            balanced: stat(metrics::aca),
            before_learning: None,
            aia: stat(metrics::aia),
            bwt: stat(metrics::bwt),
            forgetting: stat(metrics::forgetting),
            nodes: 70.0,
            model_mb: 0.0213,
            memory_mb: 0.0,
            multiply_adds: 4480.0,
            learn_seconds: 1.234,
            predict_seconds: 0.05,
            answers: None,
            runs,
        }
    }

    fn run(seed: u64, [a, b, c]: [f64; 3]) -> Run {
        Run {
            seed,
            class_order: ["3", "0", "2", "1"].map(str::to_owned).to_vec(),
            task_sizes: vec![2, 2],
            accuracy: vec![vec![a], vec![b, c]],
            balanced: vec![a, f64::midpoint(b, c)],
            class_accuracy: vec![b, b, c, c],
            class_rows: vec![360, 360, 359, 359],
            stream: Vec::new(),
            nodes: vec![30, 70],
            model_mb: vec![0.01, 0.0213],
            learn_seconds: vec![0.5, 0.7],
            predict_seconds: 0.05,
            growth: vec![
                json!({"task": 1, "layers": [{"stopped": "expected-accuracy",
                       "joins": [{"nodes": 10, "residual": 0.5}, {"nodes": 30, "residual": 0.2}]}]}),
                json!({"layers": [{"joins": [{"residual": 0.6}, {"residual": null}, {"nodes": 40}]}]}),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        let shown = [0.0, 0.021_34, 1.234, 12.34, 1234.5].map(three_digits);
        assert_eq!(shown, ["0.00", "0.021", "1.23", "12.3", "1234"]);
    }

    #[test]
    fn a_learner_has_one_line_unless_protocols_differ() {
        let mut record = example::record();
        record.results.push(Outcome {
            protocol: "task-batch=all".into(),
            ..record.results[2].clone()
        });
        let lines: Vec<(&str, usize)> = lines(&record)
            .iter()
            .map(|line| (line.outcome.learner.as_str(), line.protocols.len()))
            .collect();
        assert_eq!(
            lines,
            [("reactivation", 1), ("reactivation", 1), ("nearest-mean", 2)]
        );
    }

    #[test]
    fn the_subject_is_the_first_learner_where_its_answers_were_kept() {
        let mut record = example::record();
        assert_eq!(subject(&record).unwrap().protocol, "instance");
        record.results[1].answers = Some(crate::tally::Tally::default());
        assert_eq!(subject(&record).unwrap().protocol, "task-batch=all");
    }

    #[test]
    fn rows_that_were_left_out_are_told() {
        let mut record = example::record();
        assert_eq!(training_rows(&record), "1438");
        for outcome in &mut record.results {
            outcome.runs[0].class_rows = vec![100, 50, 20, 10];
            outcome.runs[1].class_rows = vec![100, 50, 20, 12];
        }
        assert_eq!(training_rows(&record), "181 of 1438");
    }

    #[test]
    fn each_learner_is_taken_once() {
        let record = example::record();
        let learners: Vec<&str> = first_of_each_learner(&record)
            .iter()
            .map(|first| first.learner.as_str())
            .collect();
        assert_eq!(learners, ["reactivation", "nearest-mean"]);
    }
}
