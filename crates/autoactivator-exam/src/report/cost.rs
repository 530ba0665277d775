//! What accuracy costs: a point for each learner, seconds or megabytes across.

use super::chart::{Area, Axis, LINE, apart, clipped, colour, short, width};
use super::page::escape;
use super::{distinct, subject};
use crate::record::{Outcome, Record};

const WIDTH: f64 = 430.0;
const HEIGHT: f64 = 270.0;

/// Columns of a name beside its point.
const NAME: usize = 22;

/// Accuracy against time and against size; nothing for a single learner, which has nothing to be compared with.
pub(super) fn figures(record: &Record) -> String {
    let Some(subject) = subject(record) else {
        return String::new();
    };
    let outcomes: Vec<&Outcome> = record
        .results
        .iter()
        .filter(|o| o.protocol == subject.protocol)
        .collect();
    if outcomes.len() < 2 {
        return String::new();
    }
    let learners = distinct(record.results.iter().map(|outcome| outcome.learner.as_str()));
    let point = |outcome: &Outcome, cost: f64| Point {
        name: outcome.learner.clone(),
        colour: learners
            .iter()
            .position(|&learner| learner == outcome.learner)
            .unwrap_or(0),
        cost,
        accuracy: outcome.aca.mean,
    };
    let of = |cost: fn(&Outcome) -> f64| outcomes.iter().map(|o| point(o, cost(o))).collect::<Vec<Point>>();
    let seconds = of(|o| o.learn_seconds);
    let megabytes = of(|o| o.model_mb + o.memory_mb);
    [
        figure("Accuracy against seconds to learn all tasks", "seconds", &seconds),
        figure("Accuracy against model and memory", "megabytes", &megabytes),
    ]
    .concat()
}

struct Point {
    name: String,
    colour: usize,
    cost: f64,
    accuracy: f64,
}

fn figure(title: &str, x_name: &str, points: &[Point]) -> String {
    let costs = || points.iter().map(|point| point.cost).filter(|cost| *cost > 0.0);
    let (least, most) = (costs().fold(f64::MAX, f64::min), costs().fold(0.0, f64::max));
    if most <= 0.0 {
        return String::new();
    }
    let area = Area {
        left: 42.0,
        right: WIDTH,
        top: 12.0,
        bottom: HEIGHT - 46.0,
    };
    let lowest = points.iter().map(|point| point.accuracy).fold(100.0, f64::min);
    let across = Axis::logarithmic(least / 1.6, most * 1.6);
    let up = Axis::linear(((lowest - 2.0) / 10.0).floor().max(0.0) * 10.0, 100.0, 5);
    let places: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (area.x(&across, point.cost), area.y(&up, point.accuracy)))
        .collect();
    let heights: Vec<f64> = places.iter().map(|place| place.1).collect();
    let labels = apart(&heights, LINE, area.top, area.bottom - 4.0);
    let drawn = points.iter().zip(&places).zip(labels).enumerate().rev();
    let drawn: String = drawn
        .map(|(nth, ((point, &(x, y)), label))| point.drawn((x, y), label, nth == 0, area.right))
        .collect();
    let title = escape(title);
    format!(
        "<figure class=\"card\"><figcaption><b>{title}</b></figcaption><svg viewBox=\"0 0 {:.0} {HEIGHT}\" role=\"img\" \
         aria-label=\"{title}\">{}{drawn}</svg></figure>\n",
        WIDTH + 12.0,
        area.axes(&across, &up, x_name)
    )
}

impl Point {
    /// The point with its name, which lies to the right of it where there is room.
    fn drawn(&self, (x, y): (f64, f64), label: f64, first: bool, right: f64) -> String {
        let (name, colour) = (clipped(&self.name, NAME), colour(self.colour));
        let fits = x + 14.0 + width(&name) <= right;
        let (at, side, end) = if fits {
            (x + 14.0, "", 10.0)
        } else {
            (x - 14.0, " end", -10.0)
        };
        let bold = if first { " first" } else { "" };
        let radius = if first { 7.0 } else { 4.5 };
        format!(
            "<g><title>{}: {:.1} % for {}</title><path class=\"leader\" d=\"M{x:.1} {y:.1}L{:.1} {label:.1}\" \
             stroke=\"{colour}\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>\
             <text class=\"name{side}{bold}\" x=\"{at:.1}\" y=\"{:.1}\">{}</text></g>",
            escape(&self.name),
            self.accuracy,
            short(self.cost),
            x + end,
            label + 4.0,
            escape(&name)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn each_learner_is_a_point_where_its_cost_and_accuracy_meet() {
        let mut record = example::record();
        assert!(figures(&record).contains("nearest-mean: 85.0 % for 1.2"));
        record.results.truncate(2);
        assert_eq!(
            figures(&record),
            "",
            "one learner has nothing to be compared with"
        );
    }

    #[test]
    fn learners_that_cost_nothing_are_not_drawn_against_it() {
        let mut record = example::record();
        for outcome in &mut record.results {
            outcome.learn_seconds = 0.0;
        }
        assert!(!figures(&record).contains("seconds"));
    }
}
