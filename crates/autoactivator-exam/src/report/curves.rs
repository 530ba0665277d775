//! Which curves a report shows: accuracy and nodes over tasks, and how the units of each learner grew.
//!
//! [`figures`] turns a record into [`Plot`]s. Colour stands for the learner, dashes for the protocol.

use autoactivator::counted;
use serde_json::Value;

use super::heat::mean_matrix;
use super::plot::{Curve, Plot};
use super::{distinct, first_of_each_learner, lines, n_runs};
use crate::metrics::mean;
use crate::record::{Outcome, Record, Run};

/// What is known and what is forgotten, as HTML; a figure without any line is left out.
pub(super) fn figures(record: &Record) -> String {
    let plots = [accuracy_plot(record), first_task_plot(record)];
    let drawn = plots.into_iter().filter(has_lines);
    drawn.map(|plot| plot.figure()).collect()
}

/// How large learners grow, and how the units of each did.
pub(super) fn growth(record: &Record) -> String {
    let residuals = first_of_each_learner(record)
        .into_iter()
        .filter_map(residual_plot);
    let plots = [nodes_plot(record)].into_iter().chain(residuals);
    let drawn = plots.filter(|plot| !plot.curves.is_empty());
    drawn.map(|plot| plot.figure()).collect()
}

/// Whether there is more than a point to each curve.
fn has_lines(plot: &Plot) -> bool {
    plot.curves.iter().any(|curve| curve.points.len() > 1)
}

pub(super) fn accuracy_plot(record: &Record) -> Plot {
    of_learners(
        record,
        "Accuracy on all tasks learned so far, %",
        accuracy_of_seen,
    )
}

/// What is left of the first task: the picture of forgetting.
fn first_task_plot(record: &Record) -> Plot {
    let of_first = |outcome: &Outcome| {
        let matrix = mean_matrix(&outcome.runs);
        matrix.iter().filter_map(|row| row.first().copied()).collect()
    };
    of_learners(record, "Accuracy on the first task, %", of_first)
}

/// A curve for each learner, and for each of its protocols that makes a difference.
fn of_learners(record: &Record, title: &str, of: impl Fn(&Outcome) -> Vec<f64>) -> Plot {
    let learners = distinct(record.results.iter().map(|outcome| outcome.learner.as_str()));
    let protocols = distinct(record.results.iter().map(|outcome| outcome.protocol.as_str()));
    let lines = lines(record);
    let several = |learner: &str| {
        lines
            .iter()
            .filter(|line| line.outcome.learner == learner)
            .count()
            > 1
    };
    let curves = lines.iter().map(|line| Curve {
        label: match (&line.outcome.learner, line.protocols[0]) {
            (learner, protocol) if several(learner) => format!("{learner}, {protocol}"),
            (learner, _) => learner.clone(),
        },
        colour: place(&learners, &line.outcome.learner),
        dash: place(&protocols, line.protocols[0]),
        points: over_tasks(of(line.outcome)),
    });
    Plot {
        title: title.to_owned(),
        x_name: "tasks learned",
        y_max: Some(100.0),
        curves: curves.filter(Curve::is_drawn).collect(),
    }
}

fn accuracy_of_seen(outcome: &Outcome) -> Vec<f64> {
    mean_matrix(&outcome.runs)
        .iter()
        .map(|row| mean(row.iter().copied()))
        .collect()
}

fn nodes_plot(record: &Record) -> Plot {
    let curves = growth_of_learners(record, |run| {
        run.nodes.iter().map(|&nodes| nodes as f64).collect()
    });
    Plot {
        title: format!("Nodes, mean of {}", counted(n_runs(record), "run")),
        x_name: "tasks learned",
        y_max: None,
        // Learners without nodes would be a line along the axis.
        curves: curves
            .filter(|curve| curve.points.iter().any(|point| point.1 > 0.0))
            .collect(),
    }
}

/// Megabytes of each learner's model over tasks.
pub(super) fn growth_plot(record: &Record) -> Plot {
    Plot {
        title: format!("Model, MB, mean of {}", counted(n_runs(record), "run")),
        x_name: "tasks learned",
        y_max: None,
        curves: growth_of_learners(record, |run| run.model_mb.clone())
            .filter(Curve::is_drawn)
            .collect(),
    }
}

/// Accuracy after the last task against nodes, one point per learner, one line per protocol.
pub(super) fn trade_off_plot(record: &Record) -> Plot {
    let protocols = distinct(record.results.iter().map(|outcome| outcome.protocol.as_str()));
    let curve = |(colour, protocol): (usize, &&str)| {
        let outcomes = record
            .results
            .iter()
            .filter(|outcome| outcome.protocol == **protocol);
        let mut points: Vec<(f64, f64)> = outcomes
            .map(|outcome| (outcome.nodes, outcome.aca.mean))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve {
            label: (*protocol).to_owned(),
            colour,
            dash: 0,
            points,
        }
    };
    Plot {
        title: "Accuracy against nodes, ACA %".to_owned(),
        x_name: "nodes",
        y_max: Some(100.0),
        curves: protocols.iter().enumerate().map(curve).collect(),
    }
}

/// A curve for each learner: the mean over its runs of what each has for every task.
fn growth_of_learners(record: &Record, of: fn(&Run) -> Vec<f64>) -> impl Iterator<Item = Curve> {
    let learners = first_of_each_learner(record).into_iter().enumerate();
    learners.map(move |(colour, outcome)| {
        let runs: Vec<Vec<f64>> = outcome.runs.iter().map(of).collect();
        Curve {
            label: outcome.learner.clone(),
            colour,
            dash: 0,
            points: over_tasks(mean_over_runs(&runs)),
        }
    })
}

fn mean_over_runs(runs: &[Vec<f64>]) -> Vec<f64> {
    let n_tasks = runs.iter().map(Vec::len).max().unwrap_or(0);
    let after = |task: usize| mean(runs.iter().filter_map(|run| run.get(task)).copied());
    (0..n_tasks).map(after).collect()
}

/// How the units of a learner's first run grew, if its growth records tell.
fn residual_plot(outcome: &Outcome) -> Option<Plot> {
    let run = outcome.runs.first()?;
    let units = run
        .growth
        .iter()
        .enumerate()
        .map(|(index, unit)| unit_curve(index, unit));
    let curves: Vec<Curve> = units.filter(Curve::is_drawn).collect();
    (!curves.is_empty()).then(|| Plot {
        title: format!(
            "{}: training residual of each unit, seed {}",
            outcome.learner, run.seed
        ),
        x_name: "nodes of the unit",
        y_max: None,
        curves,
    })
}

fn unit_curve(index: usize, unit: &Value) -> Curve {
    // Of a unit with several layers, the last one is what the readout sees.
    let layer = unit["layers"]
        .as_array()
        .and_then(|layers| layers.last())
        .unwrap_or(&Value::Null);
    let joins = layer["joins"].as_array().map_or(&[][..], Vec::as_slice);
    let point = |(nth, join): (usize, &Value)| {
        let nodes = join["nodes"].as_f64().unwrap_or(nth as f64);
        Some((nodes, join["residual"].as_f64()?))
    };
    let task = unit["task"].as_u64().unwrap_or(index as u64 + 1);
    let stopped = layer["stopped"].as_str().map_or(String::new(), |why| {
        format!(" (ended: {})", why.replace('-', " "))
    });
    Curve {
        label: format!("task {task}{stopped}"),
        colour: index,
        dash: 0,
        points: (1..).zip(joins).filter_map(point).collect(),
    }
}

impl Curve {
    fn is_drawn(&self) -> bool {
        !self.points.is_empty()
    }
}

fn over_tasks(values: Vec<f64>) -> Vec<(f64, f64)> {
    (1..)
        .map(f64::from)
        .zip(values)
        .filter(|point| point.1.is_finite())
        .collect()
}

fn place(names: &[&str], name: &str) -> usize {
    names.iter().position(|&other| other == name).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::example;

    #[test]
    fn accuracy_curves_by_hand() {
        let plot = accuracy_plot(&example::record());
        let styles: Vec<_> = plot
            .curves
            .iter()
            .map(|curve| (curve.colour, curve.dash))
            .collect();
        assert_eq!(styles, [(0, 0), (0, 1), (1, 0)]);
        assert_eq!(plot.curves[0].points, [(1.0, 97.0), (2.0, 55.0)]);
        assert_eq!(plot.curves[1].label, "reactivation, task-batch=all");
        assert_eq!(plot.curves[2].label, "nearest-mean");
        let first = first_task_plot(&example::record());
        assert_eq!(first.curves[0].points, [(1.0, 97.0), (2.0, 45.0)]);
    }

    #[test]
    fn nodes_are_drawn_once_per_learner() {
        let plot = nodes_plot(&example::record());
        assert_eq!(plot.curves.len(), 2);
        assert_eq!(plot.curves[0].points, [(1.0, 30.0), (2.0, 70.0)]);
    }

    #[test]
    fn growth_records_may_lack_anything() {
        let plot = residual_plot(&example::record().results[0]).unwrap();
        assert_eq!(plot.curves[0].label, "task 1 (ended: expected accuracy)");
        assert_eq!(plot.curves[0].points, [(10.0, 0.5), (30.0, 0.2)]);
        assert_eq!(plot.curves[1].label, "task 2");
        assert_eq!(plot.curves[1].points, [(1.0, 0.6)]);
        for unit in [
            json!(null),
            json!([]),
            json!({"layers": 3}),
            json!({"layers": [{"joins": 3}]}),
            json!({"layers": [{"joins": [1, "a"]}], "task": "x"}),
        ] {
            assert!(!unit_curve(0, &unit).is_drawn());
        }
    }

    #[test]
    fn learners_that_do_not_grow_have_no_residual() {
        let mut record = example::record();
        record.results[0].runs[0].growth.clear();
        assert!(residual_plot(&record.results[0]).is_none());
    }
}
