//! Does the paper come out again? Our figures beside the printed ones, as one page and as Markdown.
//!
//! [`Reproduction`] is what was done; [`html`] and [`markdown`] show the same `chapters`, made of `sheet`s, `verdict`s
//! and `plots`, and [`summary`](summary()) what they come to. Everything is read from records: nothing is computed here but differences.
//!
//! ```
//! use autoactivator_exam::experiment::choose;
//! use autoactivator_exam::report::reproduction::{Reproduced, Reproduction, Status, markdown};
//!
//! let published = &choose(&["imagenet-r".to_owned()])?[0];
//! let experiment = published.experiment(&[])?;
//! let not_run = Reproduced {
//!     name: published.name.clone(),
//!     title: experiment.title,
//!     dataset: experiment.dataset,
//!     paper: experiment.paper,
//!     quotes: Default::default(),
//!     methods: Vec::new(),
//!     status: Status::NotRun("the data is not here".to_owned()),
//! };
//! let tables = markdown(&Reproduction {
//!     version: "0.1.0".to_owned(),
//!     quick: false,
//!     experiments: vec![not_run],
//! });
//! assert!(tables.contains("CODA-Prompt, as printed in the paper"));
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

mod chapters;
mod markdown;
mod page;
mod plots;
mod sheet;
mod summary;
mod verdict;

use std::collections::BTreeMap;

pub use markdown::markdown;
pub use page::html;
pub use summary::summary;
pub use verdict::Verdict;

use crate::given::Order;
use crate::paper::{Paper, Quotes};
use crate::record::{DatasetRecord, Outcome, Record};
use crate::report::{n_runs, panels};
use crate::t_sne::Picture;

/// What was done about the paper.
pub struct Reproduction {
    /// Version of this project.
    pub version: String,
    /// Whether it was a quick look: one seed, fewer rows.
    pub quick: bool,
    /// The experiments, in the order of the paper.
    pub experiments: Vec<Reproduced>,
}

/// One experiment file and what came of it.
pub struct Reproduced {
    /// Its name on the command line.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The data set it asks for.
    pub dataset: String,
    /// What the paper prints.
    pub paper: Paper,
    /// What it prints about each learner, under its name here; for the others [`Paper::ours`] holds.
    pub quotes: BTreeMap<String, Quotes>,
    /// Learners of the method itself: those that the paper's own figures are compared with.
    pub methods: Vec<String>,
    /// What came of it.
    pub status: Status,
}

/// What came of an experiment.
pub enum Status {
    /// Learners were examined.
    Examined {
        /// The record.
        record: Box<Record>,
        /// Whether on the stand-in for its data.
        stand_in: bool,
    },
    /// Pictures were drawn.
    Drawn {
        /// What they show.
        drawing: Drawing,
        /// The data they show.
        data: DatasetRecord,
        /// How its classes were dealt.
        scenario: String,
        /// Whether on the stand-in for its data.
        stand_in: bool,
    },
    /// It was not run here: why, and how it can be.
    NotRun(String),
}

/// What pictures show.
pub enum Drawing {
    /// Rows as units see them.
    Representations(Vec<Picture>),
    /// What units are given, one panel for each class order.
    GivenThresholds(Vec<Order>),
}

impl Reproduced {
    /// The picture that a document shows, as an SVG file; what is drawn otherwise is on the page alone.
    pub fn picture(&self) -> Option<(String, String)> {
        match &self.status {
            Status::Drawn {
                drawing: Drawing::GivenThresholds(orders),
                ..
            } => Some((format!("{}.svg", self.name), panels::file(orders))),
            _ => None,
        }
    }

    /// The data in words, with its rows: a figure is worth nothing without them.
    fn data(&self) -> String {
        let (data, scenario, stand_in) = match &self.status {
            Status::Examined { record, stand_in } => (&record.dataset, &record.scenario, stand_in),
            Status::Drawn {
                data,
                scenario,
                stand_in,
                ..
            } => (data, scenario, stand_in),
            Status::NotRun(_) => return self.dataset.clone(),
        };
        let instead = if *stand_in {
            format!(", in place of {}", self.dataset)
        } else {
            String::new()
        };
        let (train, test) = (data.n_train, data.n_test);
        format!("{} {scenario}, {train} + {test} rows{instead}", data.name)
    }

    /// The same, and how many runs its figures are the mean of.
    fn data_and_runs(&self) -> String {
        let runs = match self.record().map(n_runs) {
            Some(1) => ", one run".to_owned(),
            Some(runs) => format!(", {runs} runs"),
            None => String::new(),
        };
        self.data() + &runs
    }

    /// The words that print its figures.
    fn command(&self, quick: bool) -> String {
        let quick = if quick { " --quick" } else { "" };
        format!("autoactivator reproduce {}{quick}", self.name)
    }

    fn record(&self) -> Option<&Record> {
        match &self.status {
            Status::Examined { record, .. } => Some(record),
            _ => None,
        }
    }
}

/// Whether the exam of an outcome made no difference to its learner, so that the one row by row tells all: groups are
/// no help to learners that judge each row alone.
fn is_told_by_instance(outcome: &Outcome, record: &Record) -> bool {
    let same = |o: &Outcome| o.learner == outcome.learner && o.aca == outcome.aca && o.aia == outcome.aia;
    outcome.protocol != INSTANCE && record.results.iter().any(|o| o.protocol == INSTANCE && same(o))
}

/// Exams that the tables treat in a way of their own.
const INSTANCE: &str = "instance";
const TASK_TOLD: &str = "task-told";

#[cfg(test)]
mod example {
    use super::*;
    use crate::paper::{Claim, Figure, PlotKind, Quoted};
    use crate::report::example;

    pub fn reproduction() -> Reproduction {
        let paper = Paper {
            place: "Table 1".into(),
            figures: vec![Figure::Aca, Figure::Nodes],
            ours: Quotes::from([(Figure::Aca, "97.32 ± 0.03".into())]),
            compare: Quotes::new(),
            quoted: vec![Quoted {
                learner: "<MAS>".into(),
                figures: Quotes::from([(Figure::Aca, "44.61".into())]),
            }],
            note: "The <backbone> differs.".into(),
            claims: vec![Claim::BatchesFaster],
            plots: vec![PlotKind::Accuracy, PlotKind::Growth, PlotKind::Nodes],
            backbone_mb: None,
        };
        let mut record = example::record();
        record.results[0].protocol = "task-told".into();
        Reproduction {
            version: "0.1.0".into(),
            quick: true,
            experiments: vec![
                Reproduced {
                    name: "digits-first".into(),
                    title: "The first".into(),
                    dataset: "mnist".into(),
                    paper: paper.clone(),
                    quotes: BTreeMap::new(),
                    methods: vec!["reactivation".into()],
                    status: Status::Examined {
                        record: Box::new(record),
                        stand_in: true,
                    },
                },
                Reproduced {
                    name: "pictures".into(),
                    title: "Seen by eye".into(),
                    dataset: "digits".into(),
                    paper: Paper {
                        place: "Figure 2".into(),
                        ..Paper::default()
                    },
                    quotes: BTreeMap::new(),
                    methods: Vec::new(),
                    status: Status::Drawn {
                        drawing: Drawing::Representations(vec![Picture {
                            title: "raw & inputs".into(),
                            places: vec![[0.0, 1.0], [2.0, -1.0]],
                            classes: vec!["a".into(), "<b>".into()],
                        }]),
                        data: example::record().dataset,
                        scenario: "10/5".into(),
                        stand_in: false,
                    },
                },
                Reproduced {
                    name: "imagenet".into(),
                    title: "A large one".into(),
                    dataset: "imagenet-r".into(),
                    paper: Paper {
                        place: "Table 3".into(),
                        ..paper
                    },
                    quotes: BTreeMap::new(),
                    methods: Vec::new(),
                    status: Status::NotRun("imagenet-r is not here".into()),
                },
            ],
        }
    }
}
