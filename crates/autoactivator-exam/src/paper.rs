//! What does the paper print? Its figures, each marked as quoted and in its printed form, beside what we measure.
//!
//! [`Paper`] is a section of an experiment file; [`reproduction`](crate::report::reproduction) sets its figures beside
//! ours.
//!
//! ```
//! use autoactivator_exam::paper::Measured;
//! use autoactivator_exam::record::Stat;
//!
//! let ours = Measured::Stat(Stat { mean: 98.5, std: 0.3 }, 2);
//! assert_eq!(ours.shown(5), "98.50 ± 0.30");
//! assert_eq!(ours.difference("97.32 ± 0.03").as_deref(), Some("+1.18"));
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::record::{Outcome, Record, Stat};

/// Where in the paper an experiment belongs, and which figures are printed there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Paper {
    /// The table, figure or section; what is not in the paper belongs to `Beyond the paper`.
    pub place: String,
    /// Which figures stand in the table.
    pub figures: Vec<Figure>,
    /// What it prints for its own learner.
    pub ours: Quotes,
    /// The same, where another experiment on the same data shows it as a row of its own.
    pub compare: Quotes,
    /// What it prints for others.
    pub quoted: Vec<Quoted>,
    /// What a reader must know to compare.
    pub note: String,
    /// What the paper says about the order of these figures, to be answered yes or no.
    pub claims: Vec<Claim>,
    /// What is drawn.
    pub plots: Vec<PlotKind>,
    /// Megabytes of the frozen backbone, which the scale ratio is relative to.
    pub backbone_mb: Option<f64>,
}

/// Figures of the paper as they are printed.
pub type Quotes = BTreeMap<Figure, String>;

/// A row of the paper about a learner that is not examined here.
#[derive(Clone, Debug, Deserialize)]
pub struct Quoted {
    /// The learner.
    pub learner: String,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Quotes,
}

/// A figure of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Figure {
    /// Average classification accuracy, percent.
    Aca,
    /// Balanced accuracy, percent: the mean over classes.
    Balanced,
    /// Right of a stream's rows before they were learned, percent, those of classes that were known.
    BeforeLearning,
    /// Average incremental accuracy, percent.
    Aia,
    /// Backward transfer, a fraction.
    Bwt,
    /// Forgetting, a fraction.
    Forgetting,
    /// Nodes of all units after the last task.
    Nodes,
    /// Size of the model, MB.
    ModelMb,
    /// What is kept for further learning, MB.
    MemoryMb,
    /// Backbone and model after the last task, relative to the backbone, percent.
    ScaleRatio,
    /// Seconds to learn all tasks.
    Seconds,
    /// Multiply-adds to predict one row, the backbone not counted.
    MultiplyAdds,
    /// Nodes of each unit, first run.
    UnitSizes,
    /// Parameters for each class, millions.
    ParametersPerClass,
}

/// Something the paper says about the order of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Claim {
    /// A larger T_max needs fewer nodes.
    MoreCandidatesFewerNodes,
    /// One node at a time needs fewer nodes than several.
    OneByOneFewerNodes,
    /// Several nodes at a time are faster than one.
    BatchesFaster,
}

/// A plot over the tasks or over the learners of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PlotKind {
    /// Accuracy on all tasks seen, after each task.
    Accuracy,
    /// Size of the model after each task.
    Growth,
    /// Accuracy against nodes, one point per learner.
    Nodes,
}

impl Figure {
    /// The heading of its column.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Aca => "ACA %",
            Self::Balanced => "balanced %",
            Self::BeforeLearning => "before learning %",
            Self::Aia => "AIA %",
            Self::Bwt => "BWT",
            Self::Forgetting => "forgetting",
            Self::Nodes => "nodes",
            Self::ModelMb => "model MB",
            Self::MemoryMb => "memory MB",
            Self::ScaleRatio => "scale ratio %",
            Self::Seconds => "learn s",
            Self::MultiplyAdds => "mult-adds a row",
            Self::UnitSizes => "nodes of each unit, first run",
            Self::ParametersPerClass => "parameters a class, M",
        }
    }

    /// Whether a higher figure is the better one; none where neither is.
    pub fn higher_is_better(self) -> Option<bool> {
        match self {
            Self::Aca | Self::Aia | Self::Bwt => Some(true),
            Self::UnitSizes => None,
            _ => Some(false),
        }
    }

    /// The figure of an outcome; the last two need the whole record, and the ratio the size of the backbone.
    pub fn of(self, outcome: &Outcome, record: &Record, backbone_mb: Option<f64>) -> Option<Measured> {
        let stat = |stat: Stat, decimals| Some(Measured::Stat(stat, decimals));
        let number = |value: f64, decimals| Some(Measured::Number(value, decimals));
        match self {
            Self::Aca => stat(outcome.aca, 2),
            Self::Balanced => stat(outcome.balanced, 2),
            Self::BeforeLearning => stat(outcome.before_learning?, 2),
            Self::Aia => stat(outcome.aia, 2),
            Self::Bwt => stat(outcome.bwt, 3),
            Self::Forgetting => stat(outcome.forgetting, 3),
            Self::Nodes => number(outcome.nodes, 0),
            Self::ModelMb => number(outcome.model_mb, 2),
            Self::MemoryMb => number(outcome.memory_mb, 2),
            Self::ScaleRatio => {
                let backbone = backbone_mb?;
                number(100.0 * (backbone + outcome.model_mb) / backbone, 2)
            }
            Self::Seconds => number(outcome.learn_seconds, 2),
            Self::MultiplyAdds => number(outcome.multiply_adds, 0),
            Self::UnitSizes => Some(Measured::Text(unit_sizes(outcome))),
            Self::ParametersPerClass => {
                let floats = outcome.model_mb * 1024.0 * 1024.0 / 4.0;
                number(floats / record.dataset.n_classes.max(1) as f64 / 1e6, 4)
            }
        }
    }
}

/// How many nodes each task brought, in the first run.
fn unit_sizes(outcome: &Outcome) -> String {
    let nodes = outcome.runs.first().map_or(&[][..], |run| &run.nodes);
    let before = std::iter::once(&0).chain(nodes);
    let sizes = nodes
        .iter()
        .zip(before)
        .map(|(after, before)| after.saturating_sub(*before).to_string());
    sizes.collect::<Vec<_>>().join(" / ")
}

/// A figure of ours.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Measured {
    /// Mean and deviation over the runs, and how many decimals are shown.
    Stat(Stat, usize),
    /// A mean, and how many decimals are shown.
    Number(f64, usize),
    /// Several numbers.
    Text(String),
}

impl Measured {
    /// As it is shown; with the deviation when there is more than one run.
    pub fn shown(&self, runs: usize) -> String {
        match self {
            Self::Stat(stat, decimals) if runs > 1 => {
                format!("{:.decimals$} ± {:.decimals$}", stat.mean, stat.std)
            }
            Self::Stat(Stat { mean, .. }, decimals) => format!("{mean:.decimals$}"),
            Self::Number(value, decimals) => format!("{value:.decimals$}"),
            Self::Text(text) => text.clone(),
        }
    }

    /// How far it is above what is printed, where that is a number.
    pub fn difference(&self, printed: &str) -> Option<String> {
        let (ours, decimals) = match self {
            Self::Stat(stat, decimals) => (stat.mean, *decimals),
            Self::Number(value, decimals) => (*value, *decimals),
            Self::Text(_) => return None,
        };
        let difference = ours - number(printed)?;
        let rounded = format!("{difference:+.decimals$}");
        // No minus sign before a zero.
        let nothing = rounded.trim_start_matches(['+', '-', '0', '.']).is_empty();
        Some(if nothing {
            rounded.replace('-', "+")
        } else {
            rounded
        })
    }
}

/// The number that is printed: `97.32` of `97.32 ± 0.03`; none of `>200`.
fn number(printed: &str) -> Option<f64> {
    let mean = printed.split('±').next().unwrap_or(printed);
    mean.trim().trim_start_matches('~').replace('−', "-").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_figures_are_read_where_they_are_numbers() {
        assert_eq!(number("97.32 ± 0.03"), Some(97.32));
        assert_eq!(number("~19.91"), Some(19.91));
        assert_eq!(number("−0.09 ± 0.08"), Some(-0.09));
        assert_eq!(number(">200"), None);
        assert_eq!(number("200 / 50"), None);
    }

    #[test]
    fn differences_have_a_sign_and_as_many_decimals_as_the_figure() {
        let aca = Measured::Stat(Stat { mean: 98.5, std: 0.3 }, 2);
        assert_eq!(aca.difference("97.32 ± 0.03").unwrap(), "+1.18");
        assert_eq!(aca.shown(5), "98.50 ± 0.30");
        assert_eq!(aca.shown(1), "98.50");
        let nodes = Measured::Number(640.2, 0);
        assert_eq!(nodes.difference("670").unwrap(), "-30");
        assert_eq!(nodes.difference("640.4").unwrap(), "+0");
        assert_eq!(nodes.difference("many"), None);
        assert_eq!(Measured::Text("1 / 2".into()).difference("3"), None);
    }

    #[test]
    fn figures_of_an_outcome_by_hand() {
        let record = crate::report::example::record();
        let outcome = &record.results[0];
        let shown = |figure: Figure, backbone| figure.of(outcome, &record, backbone).map(|f| f.shown(2));
        assert_eq!(shown(Figure::UnitSizes, None).unwrap(), "30 / 40");
        assert_eq!(shown(Figure::ScaleRatio, Some(0.1)).unwrap(), "121.30");
        assert_eq!(shown(Figure::ScaleRatio, None), None);
        assert_eq!(shown(Figure::ParametersPerClass, None).unwrap(), "0.0014");
        assert_eq!(shown(Figure::Aca, None).unwrap(), "55.00 ± 7.07");
    }
}
