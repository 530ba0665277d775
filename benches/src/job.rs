//! What a worker can be asked, as it stands in JSON.

use std::path::PathBuf;

use autoactivator::{ConsolidationParams, ReactivationParams};
use autoactivator_data::Part;
use serde::Deserialize;

use crate::data::DataSpec;

/// One job; `"job"` names its kind.
#[derive(Debug, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
pub enum Job {
    /// Writes rows and tasks for another program to read.
    Share(Share),
    /// Learns all tasks, one after the other, and takes an exam.
    Learn(Learn),
    /// Adds rows to the memory of consolidation.
    Observe(Observe),
    /// Recruits nodes in Gram space.
    Recruit(Recruit),
    /// Predicts rows.
    Predict(Predict),
    /// Writes a kept model as an ONNX file.
    Onnx(Onnx),
}

/// How the classes of a data set arrive.
#[derive(Debug, Deserialize)]
pub struct Arrival {
    /// The rows.
    pub data: DataSpec,
    /// Tasks, as on the command line: `10/5`.
    pub tasks: String,
    /// Decides the order of classes.
    #[serde(default)]
    pub seed: u64,
}

/// Writes `{train,test}_{x,y}` into a folder, raw and little-endian: rows as `f32`, class codes as `u32`.
#[derive(Debug, Deserialize)]
pub struct Share {
    /// The rows and their tasks.
    #[serde(flatten)]
    pub arrival: Arrival,
    /// An existing folder.
    pub folder: PathBuf,
}

/// Learns all tasks; only the learning is timed.
#[derive(Debug, Deserialize)]
pub struct Learn {
    /// The rows and their tasks.
    #[serde(flatten)]
    pub arrival: Arrival,
    /// Who learns.
    pub learner: LearnerSpec,
    /// The exams after the last task.
    #[serde(default)]
    pub protocols: Vec<String>,
    /// Keeps the model under this name for later jobs.
    pub keep: Option<String>,
}

/// A learner and its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnerSpec {
    /// The paper's learner.
    Reactivation(ReactivationParams),
    /// One memory for all tasks.
    Consolidation(ConsolidationParams),
}

/// Adds all training rows to a memory whose pool has been made, untimed, from the first `warm_rows` of them.
#[derive(Debug, Deserialize)]
pub struct Observe {
    /// The rows.
    pub data: DataSpec,
    /// The pool and the rest.
    pub params: ConsolidationParams,
    /// Rows that make the pool.
    pub warm_rows: usize,
}

/// Recruits from the memory of a kept model, from nothing.
#[derive(Debug, Deserialize)]
pub struct Recruit {
    /// Name of the kept model.
    pub model: String,
    /// Nodes to recruit.
    pub max_nodes: usize,
    /// A folder for `gram` (all of it), `moments` (column after column) and `counts`, raw little-endian `f64`.
    pub share: Option<PathBuf>,
}

/// Predicts the first `rows` rows with a kept model, `times` times.
#[derive(Debug, Deserialize)]
pub struct Predict {
    /// Name of the kept model.
    pub model: String,
    /// Where the rows are from.
    pub data: DataSpec,
    /// Which rows.
    #[serde(with = "PartName")]
    pub part: Part,
    /// How many at a time.
    pub rows: usize,
    /// How often.
    pub times: usize,
}

#[derive(Deserialize)]
#[serde(remote = "Part", rename_all = "lowercase")]
enum PartName {
    Train,
    Test,
}

/// Writes a kept model as an ONNX file.
#[derive(Debug, Deserialize)]
pub struct Onnx {
    /// Name of the kept model.
    pub model: String,
    /// The file.
    pub path: PathBuf,
}
