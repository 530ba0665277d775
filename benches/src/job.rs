//! The jobs that a worker can do, as written in JSON.

use std::path::PathBuf;

use autoactivator::{ConsolidationParams, ReactivationParams};
use autoactivator_data::Part;
use serde::Deserialize;

use crate::data::DataSpec;

/// One job; `"job"` names its kind.
#[derive(Debug, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case")]
pub enum Job {
    /// Writes rows for another program to read, and returns their tasks.
    Share(Share),
    /// Learns all tasks, one after another, and tests the result.
    Learn(Learn),
    /// Adds rows to the memory of consolidation.
    Observe(Observe),
    /// Recruits nodes in Gram space.
    Recruit(Recruit),
    /// Teaches a stored model a new class, and asks for it.
    Teach(Teach),
    /// Writes the sums of a stored model for another program to solve.
    Sums(Sums),
    /// Predicts rows.
    Predict(Predict),
    /// Writes a stored model as an ONNX file.
    Onnx(Onnx),
    /// Turns a folder of images into features.
    Extract(Extract),
    /// Runs an ONNX model on `rten`.
    Network(Network),
}

/// How the classes of a data set arrive.
#[derive(Debug, Deserialize)]
pub struct Arrival {
    /// The rows.
    pub data: DataSpec,
    /// Tasks, written as on the command line: `10/5`.
    pub tasks: String,
    /// Determines the order of classes.
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
    /// The learner.
    pub learner: LearnerSpec,
    /// The protocols to test with after the last task.
    #[serde(default)]
    pub protocols: Vec<String>,
    /// Stores the model under this name for later jobs.
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

/// Adds all training rows to a memory. Its pool is made beforehand from the first `warm_rows` rows, which is not timed.
#[derive(Debug, Deserialize)]
pub struct Observe {
    /// The rows.
    pub data: DataSpec,
    /// The pool and the other parameters.
    pub params: ConsolidationParams,
    /// Number of rows that make the pool.
    pub warm_rows: usize,
}

/// Recruits from the memory of a stored model, starting with no nodes.
#[derive(Debug, Deserialize)]
pub struct Recruit {
    /// Name of the stored model.
    pub model: String,
    /// Nodes to recruit.
    pub max_nodes: usize,
    /// A folder for `gram` (the full matrix), `moments` (column by column) and `counts`, as raw little-endian `f64`.
    pub share: Option<PathBuf>,
}

/// Teaches the first `rows` training rows of one class under a new name, then asks for them; both are timed. After that, the
/// model is as before: the class is dropped again.
#[derive(Debug, Deserialize)]
pub struct Teach {
    /// Name of the stored model.
    pub model: String,
    /// The data set that the class comes from.
    pub data: DataSpec,
    /// Code of the class in the data set.
    pub class: u32,
    /// How many of its rows.
    pub rows: usize,
    /// Whether the readout is solved from the sums alone, instead of following from the last one.
    #[serde(default)]
    pub from_nothing: bool,
}

/// Writes `gram` (the full matrix), `moments` (column by column) and `counts` of a stored model, and the comparable node
/// `outputs` of the first training rows of a data set (row by row), as raw little-endian `f64`.
#[derive(Debug, Deserialize)]
pub struct Sums {
    /// Name of the stored model.
    pub model: String,
    /// The data set that the rows come from.
    pub data: DataSpec,
    /// How many of its rows.
    pub rows: usize,
    /// An existing folder.
    pub folder: PathBuf,
}

/// Predicts the first `rows` rows with a stored model, `times` times.
#[derive(Debug, Deserialize)]
pub struct Predict {
    /// Name of the stored model.
    pub model: String,
    /// The data set that the rows come from.
    pub data: DataSpec,
    /// Training or test rows.
    #[serde(with = "PartName")]
    pub part: Part,
    /// How many rows per call.
    pub rows: usize,
    /// How many calls.
    pub times: usize,
}

#[derive(Deserialize)]
#[serde(remote = "Part", rename_all = "lowercase")]
enum PartName {
    Train,
    Test,
}

/// Writes a stored model as an ONNX file.
#[derive(Debug, Deserialize)]
pub struct Onnx {
    /// Name of the stored model.
    pub model: String,
    /// The file.
    pub path: PathBuf,
}

/// Turns all images of a folder into features, on all cores, without a cache. Opening the backbone is not timed.
#[derive(Debug, Deserialize)]
pub struct Extract {
    /// The images.
    pub folder: PathBuf,
    /// Their height and width for the backbone.
    pub size: usize,
    /// The backbone.
    pub backbone: PathBuf,
    /// The runtime, written as on the command line; without one, images are only decoded and resized.
    pub runtime: Option<String>,
}

/// Runs an ONNX model `times` times in each thread, all at once, as the extraction of features does.
#[derive(Debug, Deserialize)]
pub struct Network {
    /// The model.
    pub model: PathBuf,
    /// Name of the output to compute.
    pub output: String,
    /// Shape of each input. With four sides it holds floats, else whole numbers.
    pub shape: Vec<usize>,
    /// Number of threads.
    pub threads: usize,
    /// Number of runs of each thread.
    pub times: usize,
}
