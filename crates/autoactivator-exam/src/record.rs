//! What does an exam leave behind? One [`Record`], the same in JSON, in the table and in the report.
//!
//! [`run`](crate::run) makes it, [`report`](crate::report) shows it.
//!
//! ```
//! # use autoactivator_data::dataset;
//! # use autoactivator_exam::experiment::Experiment;
//! # let experiment = Experiment::parse("learners = ['nearest-mean']\nprotocols = ['instance']\nseeds = 2", &[])?;
//! # let digits = dataset::open("digits", None)?;
//! let record = experiment.exam(&digits)?.run(&mut ())?;
//! let outcome = &record.results[0];
//! assert_eq!((outcome.learner.as_str(), outcome.runs.len()), ("nearest-mean", 2));
//! let json = serde_json::to_value(&record)?;
//! assert_eq!(json["scenario"], "10/5");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use serde::Serialize;
use serde_json::Value;

use crate::admission::Absence;
use crate::stream::Window;
use crate::tally::Tally;

/// Everything about one exam: enough to read its figures and to repeat it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Record {
    /// Version of this project.
    pub version: String,
    /// The data.
    pub dataset: DatasetRecord,
    /// How classes and their rows arrived: `10/5`, `B50/10, 5 shots`, `10/5 stream of 20`.
    pub scenario: String,
    /// Parameters of each learner, under its name.
    pub parameters: Value,
    /// One entry per learner and protocol.
    pub results: Vec<Outcome>,
    /// Learners that could not take part, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Absence>,
    /// Learners that failed on the way, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Absence>,
}

impl Record {
    /// Gives the rows of mistakes their names, one for each test row.
    pub fn name_rows(&mut self, names: &[String]) {
        let tallies = self
            .results
            .iter_mut()
            .filter_map(|outcome| outcome.answers.as_mut());
        tallies.for_each(|tally| tally.name_rows(names));
    }
}

/// The data of an exam.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DatasetRecord {
    /// Its name.
    pub name: String,
    /// Training rows.
    pub n_train: usize,
    /// Test rows.
    pub n_test: usize,
    /// Features of a row.
    pub n_features: usize,
    /// Classes.
    pub n_classes: usize,
}

/// What one learner did under one protocol, over all seeds.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The learner.
    pub learner: String,
    /// The protocol, as on the command line.
    pub protocol: String,
    /// Average classification accuracy after the last task, percent.
    pub aca: Stat,
    /// Balanced accuracy after the last task: the mean over classes, percent.
    pub balanced: Stat,
    /// Percent right of a stream's rows before they were learned, those of classes that were known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_learning: Option<Stat>,
    /// Average incremental accuracy, percent.
    pub aia: Stat,
    /// Backward transfer, a fraction.
    pub bwt: Stat,
    /// [`forgetting`](crate::metrics::forgetting), a fraction.
    pub forgetting: Stat,
    /// Nodes after the last task, mean over the runs.
    pub nodes: f64,
    /// Model size in MB, mean over the runs.
    pub model_mb: f64,
    /// Size in MB of what is kept for further learning, mean over the runs.
    pub memory_mb: f64,
    /// Multiply-adds to predict one row, mean over the runs.
    pub multiply_adds: f64,
    /// Seconds to learn all tasks, mean over the runs.
    pub learn_seconds: f64,
    /// Seconds to predict all test rows after the last task, mean over the runs.
    pub predict_seconds: f64,
    /// What became of the test rows after the last task, summed over the runs: class by class, with the mistakes that
    /// were made with the most confidence. One protocol of each learner has it: `instance`, or else the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<Tally>,
    /// The runs, one per seed.
    pub runs: Vec<Run>,
}

/// One run: one seed, one order of classes.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Run {
    /// The seed of the class order and of the learner.
    pub seed: u64,
    /// Classes in the order of their arrival.
    pub class_order: Vec<String>,
    /// Number of classes of each task.
    pub task_sizes: Vec<usize>,
    /// `accuracy[i][t]`: percent of task `t`'s test rows right after learning task `i`; row `i` has `i + 1` entries. A
    /// stream and an online run have one row, that of the end.
    pub accuracy: Vec<Vec<f64>>,
    /// Balanced accuracy on the classes seen, after learning each task.
    pub balanced: Vec<f64>,
    /// Percent of each class's test rows right after the last task, in the order of arrival.
    pub class_accuracy: Vec<f64>,
    /// Training rows of each class, in the order of arrival.
    pub class_rows: Vec<usize>,
    /// What happened while a stream was learned, part by part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stream: Vec<Window>,
    /// Nodes after each task.
    pub nodes: Vec<usize>,
    /// Model size in MB after each task.
    pub model_mb: Vec<f64>,
    /// Seconds to learn each task.
    pub learn_seconds: Vec<f64>,
    /// Seconds to predict all test rows after the last task.
    pub predict_seconds: f64,
    /// Growth records of the learner, one per task; empty for learners that do not grow.
    pub growth: Vec<Value>,
}

/// Mean and sample standard deviation over the runs (0 for a single run).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stat {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation.
    pub std: f64,
}
