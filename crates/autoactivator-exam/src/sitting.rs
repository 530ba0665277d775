//! What did one learner do with one seed? A [`Sitting`]: the smallest part of an exam that can be kept and taken up
//! again.
//!
//! [`run`](crate::run) makes them; several of one learner, one a seed, sum up to an [`Outcome`] of the record.
//!
//! ```
//! # use autoactivator_data::dataset;
//! # use autoactivator_exam::experiment::Experiment;
//! use autoactivator_exam::sitting::Sitting;
//!
//! # let experiment = Experiment::parse("learners = ['nearest-mean']\nprotocols = ['instance']\nseeds = 1", &[])?;
//! # let digits = dataset::open("digits", None)?;
//! let exam = experiment.exam(&digits)?;
//! let sitting = exam.sit(&exam.entrants[0], 0, &mut ())?;
//! let kept = serde_json::to_string(&sitting)?;
//! let again: Sitting = serde_json::from_str(&kept)?;
//! assert_eq!(exam.record(&[vec![again]]).results[0].runs.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use autoactivator::Size;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::metrics;
use crate::protocol::Protocol;
use crate::record::{Outcome, Run, Stat};
use crate::scenario::Task;
use crate::stream::Window;
use crate::tally::Tally;
use autoactivator_data::dataset::Dataset;

/// One learner, one seed, all protocols.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sitting {
    /// The seed of the class order and of the learner.
    pub seed: u64,
    /// Classes in the order of their arrival.
    pub class_order: Vec<String>,
    /// Number of classes of each task.
    pub task_sizes: Vec<usize>,
    /// Per protocol: the accuracy matrix.
    pub accuracy: Vec<Vec<Vec<f64>>>,
    /// Per protocol, after each task: balanced accuracy.
    pub balanced: Vec<Vec<f64>>,
    /// Per protocol, at the end: percent right of each class, in the order of arrival.
    pub by_class: Vec<Vec<f64>>,
    /// Training rows of each class, in the order of arrival.
    pub class_rows: Vec<usize>,
    /// What happened while a stream was learned; empty for tasks.
    pub stream: Vec<Window>,
    /// Per task: how large the learner was after it.
    pub sizes: Vec<Size>,
    /// Growth records of the learner.
    pub growth: Vec<Value>,
    /// Per task: seconds to learn it.
    pub learn_seconds: Vec<f64>,
    /// Per protocol: seconds of the last examination.
    pub predict_seconds: Vec<f64>,
    /// What became of the test rows after the last task, under `instance` or else the first protocol; none in a sitting
    /// of an earlier version.
    #[serde(default)]
    pub tally: Option<Tally>,
}

impl Sitting {
    /// A sitting that has not begun.
    pub(crate) fn new(dataset: &Dataset, tasks: &[Task], seed: u64, n_protocols: usize) -> Self {
        let names = dataset.train.y.names();
        let order = || tasks.iter().flat_map(|task| &task.classes);
        let mut counts = vec![0; names.len()];
        for &row in tasks.iter().flat_map(|task| &task.train) {
            counts[dataset.train.y.codes()[row] as usize] += 1;
        }
        Self {
            seed,
            class_order: order().map(|&code| names[code as usize].clone()).collect(),
            class_rows: order().map(|&code| counts[code as usize]).collect(),
            balanced: vec![Vec::new(); n_protocols],
            by_class: vec![Vec::new(); n_protocols],
            stream: Vec::new(),
            task_sizes: tasks.iter().map(|task| task.classes.len()).collect(),
            accuracy: vec![Vec::new(); n_protocols],
            sizes: Vec::new(),
            growth: Vec::new(),
            learn_seconds: Vec::new(),
            predict_seconds: vec![0.0; n_protocols],
            tally: None,
        }
    }

    /// The protocol whose answers are kept row by row: each row alone if that is asked, else the first.
    pub(crate) fn told_by(protocols: &[Protocol]) -> usize {
        let alone = protocols
            .iter()
            .position(|&protocol| protocol == Protocol::Instance);
        alone.unwrap_or(0)
    }

    fn run(&self, protocol: usize) -> Run {
        Run {
            seed: self.seed,
            class_order: self.class_order.clone(),
            task_sizes: self.task_sizes.clone(),
            accuracy: self.accuracy[protocol].clone(),
            balanced: self.balanced[protocol].clone(),
            class_accuracy: self.by_class[protocol].clone(),
            class_rows: self.class_rows.clone(),
            stream: self.stream.clone(),
            nodes: self.sizes.iter().map(|size| size.nodes).collect(),
            model_mb: self.sizes.iter().map(Size::model_mb).collect(),
            learn_seconds: self.learn_seconds.clone(),
            predict_seconds: self.predict_seconds[protocol],
            growth: self.growth.clone(),
        }
    }

    fn last_size(&self) -> Size {
        self.sizes.last().copied().unwrap_or_default()
    }
}

/// The outcome of one learner's sittings under their `p`-th protocol.
pub(crate) fn outcome(learner: &str, protocols: &[Protocol], p: usize, sittings: &[Sitting]) -> Outcome {
    let over = |value: &dyn Fn(&Sitting) -> f64| Stat::of(&sittings.iter().map(value).collect::<Vec<_>>());
    let stat = |metric: fn(&[Vec<f64>]) -> f64| over(&|s| metric(&s.accuracy[p]));
    let has_stream = sittings.iter().any(|s| !s.stream.is_empty());
    let mean = |value: &dyn Fn(&Sitting) -> f64| metrics::mean(sittings.iter().map(value));
    let tallies: Option<Vec<&Tally>> = sittings.iter().map(|s| s.tally.as_ref()).collect();
    Outcome {
        learner: learner.to_owned(),
        protocol: protocols[p].to_string(),
        aca: stat(metrics::aca),
        balanced: over(&|s| s.balanced[p].last().copied().unwrap_or_default()),
        before_learning: has_stream.then(|| over(&|s| Window::sum(&s.stream).percent())),
        aia: stat(metrics::aia),
        bwt: stat(metrics::bwt),
        forgetting: stat(metrics::forgetting),
        nodes: mean(&|s| s.last_size().nodes as f64),
        model_mb: mean(&|s| s.last_size().model_mb()),
        memory_mb: mean(&|s| s.last_size().memory_mb()),
        multiply_adds: mean(&|s| s.last_size().multiply_adds as f64),
        learn_seconds: mean(&|s| s.learn_seconds.iter().sum()),
        predict_seconds: mean(&|s| s.predict_seconds[p]),
        answers: tallies
            .filter(|_| p == Sitting::told_by(protocols))
            .map(Tally::sum),
        runs: sittings.iter().map(|s| s.run(p)).collect(),
    }
}
