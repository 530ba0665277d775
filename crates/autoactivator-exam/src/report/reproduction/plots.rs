//! What is drawn beside the tables: curves over tasks, accuracy against nodes, pictures of representations, and given
//! thresholds.

use super::{Drawing, INSTANCE, Reproduced, is_told_by_instance};
use crate::paper::PlotKind;
use crate::record::{Outcome, Record};
use crate::report::curves::{accuracy_plot, growth_plot, trade_off_plot};
use crate::report::panels;
use crate::report::scatter::scatter;
use crate::t_sne::Picture;

/// The plots that the experiments of one table ask for, as HTML.
pub(super) fn of_records(experiments: &[&Reproduced]) -> String {
    let records = || experiments.iter().filter_map(|e| e.record());
    let Some(first) = records().next() else {
        return String::new();
    };
    let merged = Record {
        results: records().flat_map(drawn).collect(),
        ..first.clone()
    };
    let asked = |kind: PlotKind| experiments.iter().any(|e| e.paper.plots.contains(&kind));
    let plots = [
        asked(PlotKind::Accuracy).then(|| accuracy_plot(&merged)),
        asked(PlotKind::Growth).then(|| growth_plot(&merged)),
        asked(PlotKind::Nodes).then(|| trade_off_plot(&merged)),
    ];
    let drawn = plots.into_iter().flatten().filter(|plot| !plot.curves.is_empty());
    drawn.map(|plot| plot.figure()).collect()
}

/// The outcomes of the two exams that are drawn, without those that would be the same line twice.
fn drawn(record: &Record) -> Vec<Outcome> {
    let shown = |o: &&Outcome| [INSTANCE, "task-batch=all"].contains(&o.protocol.as_str());
    let outcomes = record.results.iter().filter(shown);
    outcomes
        .filter(|o| !is_told_by_instance(o, record))
        .cloned()
        .collect()
}

/// What was drawn instead of an exam.
pub(super) fn drawing(title: &str, drawing: &Drawing) -> String {
    match drawing {
        Drawing::Representations(pictures) => pictures.iter().map(points).collect(),
        Drawing::GivenThresholds(orders) => panels::figure(title, orders),
    }
}

fn points(picture: &Picture) -> String {
    let places = picture.places.iter().map(|&[x, y]| (f64::from(x), f64::from(y)));
    scatter(
        &picture.title,
        places.zip(picture.classes.iter().map(String::as_str)),
    )
}

/// How many tasks wake a wrong unit, or might, in words.
pub(super) fn lost(drawing: &Drawing) -> Option<String> {
    let Drawing::GivenThresholds(orders) = drawing else {
        return None;
    };
    let all: usize = orders.iter().map(|order| order.tasks.len()).sum();
    let lost: usize = orders.iter().map(|order| order.lost().count()).sum();
    let doubtful: usize = orders.iter().map(|order| order.doubtful().count()).sum();
    let losing = orders
        .iter()
        .filter(|order| order.lost().next().is_some())
        .count();
    Some(format!(
        "{lost} of {all} tasks wake a wrong unit with all of their test rows, in {losing} of {} class orders. For {doubtful} of \
         {all} tasks, a wrong unit is given its own threshold to within the deviation of small groups of that task.",
        orders.len()
    ))
}
