//! A stream as text and as a figure: how often rows were right before they were learned, and how many were first sights.
//!
//! [`lines`] goes below the table, [`plots`] among the figures of the page. A record without a stream has neither.

use autoactivator::counted;

use super::first_of_each_learner;
use super::plot::{Curve, Plot};
use crate::metrics::mean;
use crate::record::{Outcome, Record, Run};
use crate::stream::Window;

/// One line for each learner; empty where no stream was learned.
pub(super) fn lines(record: &Record) -> String {
    let streamed = first_of_each_learner(record);
    let lines: String = streamed.into_iter().filter_map(line).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\nRight before they were learned, of the rows of classes that were known:\n{lines}")
}

fn line(outcome: &Outcome) -> Option<String> {
    let before = outcome.before_learning?;
    let sums: Vec<Window> = outcome.runs.iter().map(|run| Window::sum(&run.stream)).collect();
    let of = |count: fn(&Window) -> usize| mean(sums.iter().map(|sum| count(sum) as f64)).round() as usize;
    Some(format!(
        "{}: {:.2} ± {:.2} % of {}, and {} apart\n",
        outcome.learner,
        before.mean,
        before.std,
        counted(of(|sum| sum.known), "row"),
        counted(of(|sum| sum.first_sights), "first sight")
    ))
}

/// The curve of each learner, and how many first sights the rows of each part were.
pub(super) fn plots(record: &Record) -> Vec<Plot> {
    let learners: Vec<&Outcome> = first_of_each_learner(record);
    let streamed = |of: fn(&Window) -> f64| -> Vec<Curve> {
        let curves = learners.iter().enumerate().map(|(colour, outcome)| Curve {
            label: outcome.learner.clone(),
            colour,
            dash: 0,
            points: points(&outcome.runs, of),
        });
        curves.filter(|curve| !curve.points.is_empty()).collect()
    };
    let mut first_sights = streamed(|window| {
        100.0 * window.first_sights as f64 / (window.known + window.first_sights).max(1) as f64
    });
    // The same for every learner: they see the same rows.
    first_sights.truncate(1);
    let plots = [
        Plot {
            title: "Rows of known classes right before they were learned, %".to_owned(),
            x_name: "rows seen",
            y_max: Some(100.0),
            curves: streamed(|window| window.percent()),
        },
        Plot {
            title: "First sights of a class, % of rows".to_owned(),
            x_name: "rows seen",
            y_max: None,
            curves: first_sights
                .into_iter()
                .map(|curve| Curve {
                    label: "every learner".to_owned(),
                    ..curve
                })
                .collect(),
        },
    ];
    plots.into_iter().filter(|plot| !plot.curves.is_empty()).collect()
}

/// A point for each part of the stream, at its last row: the mean over the runs.
fn points(runs: &[Run], of: fn(&Window) -> f64) -> Vec<(f64, f64)> {
    let n_windows = runs.iter().map(|run| run.stream.len()).min().unwrap_or(0);
    let mut seen = 0.0;
    let point = |nth: usize| {
        seen += mean(runs.iter().map(|run| {
            let window = run.stream[nth];
            (window.known + window.first_sights) as f64
        }));
        (seen, mean(runs.iter().map(|run| of(&run.stream[nth]))))
    };
    (0..n_windows).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Stat;
    use crate::report::example;

    fn record() -> Record {
        let window = |known, right, first_sights| {
            serde_json::from_value(
                serde_json::json!({"known": known, "right": right, "first_sights": first_sights}),
            )
            .unwrap()
        };
        let mut record = example::record();
        for outcome in &mut record.results {
            outcome.before_learning = Some(Stat {
                mean: 60.0,
                std: 14.14,
            });
            outcome.runs[0].stream = vec![window(6, 3, 4), window(14, 7, 1)];
            outcome.runs[1].stream = vec![window(8, 4, 2), window(12, 10, 3)];
        }
        record
    }

    #[test]
    fn lines_by_hand() {
        let expected = "reactivation: 60.00 ± 14.14 % of 20 rows, and 5 first sights apart\n";
        assert!(lines(&record()).contains(expected), "{}", lines(&record()));
        assert_eq!(
            lines(&record()).matches("first sights").count(),
            2,
            "once a learner"
        );
        assert_eq!(lines(&example::record()), "");
    }

    #[test]
    fn curves_by_hand() {
        let plots = plots(&record());
        assert_eq!(plots[0].curves.len(), 2);
        let right = (50.0 + 100.0 * 10.0 / 12.0) / 2.0;
        assert_eq!(plots[0].curves[0].points, [(10.0, 50.0), (25.0, right)]);
        let first = f64::midpoint(100.0 / 15.0, 300.0 / 15.0);
        assert_eq!(plots[1].curves.len(), 1);
        assert_eq!(plots[1].curves[0].points, [(10.0, 30.0), (25.0, first)]);
        assert!(super::plots(&example::record()).is_empty());
    }
}
