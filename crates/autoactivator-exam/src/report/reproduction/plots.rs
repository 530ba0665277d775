//! What is drawn beside the tables: curves over tasks, accuracy against nodes, and pictures of representations.

use super::{INSTANCE, Reproduced, is_told_by_instance};
use crate::paper::PlotKind;
use crate::record::{Outcome, Record};
use crate::report::curves::{accuracy_plot, growth_plot, trade_off_plot};
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

/// Pictures side by side.
pub(super) fn pictures(pictures: &[Picture]) -> String {
    let points = |picture: &Picture| {
        let places = picture.places.iter().map(|&[x, y]| (f64::from(x), f64::from(y)));
        scatter(
            &picture.title,
            places.zip(picture.classes.iter().map(String::as_str)),
        )
    };
    pictures.iter().map(points).collect()
}
