//! The words of the command line, and how they become parameters.

use std::path::PathBuf;

use autoactivator::{Activation, ReactivationParams, RepeatedClasses};
use cil::protocol::Protocol;
use cil::scenario::Scenario;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Learns new classes in seconds on a CPU, without old data and without forgetting.
#[derive(Debug, Parser)]
#[command(name = "autoactivator", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Take an exam: learn a data set task by task and report what is remembered
    Run(RunArgs),
    /// Learn one task into a model file, which is made when it does not exist
    Learn(LearnArgs),
    /// Predict the class of each row with a model file
    Predict(PredictArgs),
    /// Show what a model file holds
    Inspect(InspectArgs),
}

#[derive(Debug, Args)]
pub struct RunArgs {
    /// digits (built in), mnist, fashion-mnist, cifar100-lite0, or a folder or .csv file of your own
    #[arg(default_value = "digits")]
    pub dataset: String,

    /// How classes become tasks: 5, 10/5, 10,20,30,40, B50/10 or single [default: 5, or 10 from 20 classes on]
    #[arg(long, visible_alias = "split")]
    pub tasks: Option<Scenario>,

    /// Learner to examine; may be given several times [default: all]
    #[arg(long = "learner", value_enum)]
    pub learners: Vec<LearnerKind>,

    /// How test rows are shown: instance, task-batch=B, class-batch=B, mixed-batch=B, with B a number or all; may be
    /// given several times [default: instance and task-batch=all]
    #[arg(long = "protocol")]
    pub protocols: Vec<Protocol>,

    /// Number of runs, each with its own class order and random nodes
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,

    /// Seed of the first run
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Write the record as JSON to this file, or to stdout instead of the table with -
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the report to this file
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub report: PathBuf,

    /// Write no report
    #[arg(long)]
    pub no_report: bool,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub reactivation: ReactivationArgs,
}

#[derive(Debug, Args)]
pub struct LearnArgs {
    /// The model file
    pub model: PathBuf,

    /// The rows of the task: a .csv file with the class in the last column, or a data set by name or folder
    pub rows: String,

    /// Learn these classes only, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "CLASS,...")]
    pub classes: Vec<String>,

    /// Seed of a new model
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub reactivation: ReactivationArgs,
}

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// The model file
    pub model: PathBuf,

    /// The rows: a .csv file with or without the class in the last column, or a data set by name or folder
    pub rows: String,

    /// Rows that are known to belong together, as many at a time, or all; each row alone by default
    #[arg(long, default_value = "1", value_name = "ROWS|all", value_parser = group_size)]
    pub group: GroupSize,

    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The model file
    pub model: PathBuf,

    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct DataArgs {
    /// Folder that holds the data sets known by name
    #[arg(long, env = "AUTOACTIVATOR_DATA", value_name = "DIR", hide_env_values = true)]
    pub data_dir: Option<PathBuf>,
}

/// Learners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LearnerKind {
    /// The paper's: one neural unit per task
    Reactivation,
    /// Nearest class mean
    NearestMean,
    /// Streaming linear discriminant analysis
    StreamingLda,
    /// Random nodes fitted to all rows at once: upper bound of its kind
    JointRidge,
    /// Softmax regression by gradient descent, task after task: lower bound
    SequentialSgd,
}

/// How many rows are judged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSize {
    Rows(usize),
    All,
}

fn group_size(text: &str) -> Result<GroupSize, String> {
    match text.parse::<usize>() {
        _ if text == "all" => Ok(GroupSize::All),
        Ok(rows) if rows > 0 => Ok(GroupSize::Rows(rows)),
        _ => Err("a number of rows above 0, or all".to_owned()),
    }
}

/// Parameters of the paper's learner; what is not given keeps its default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of reactivation")]
pub struct ReactivationArgs {
    /// l: nodes that join at a time [default: 10]
    #[arg(long, value_name = "l")]
    pub step_size: Option<usize>,

    /// T_max: batches drawn at random for every join [default: 50]
    #[arg(long, value_name = "T_max")]
    pub t_max: Option<usize>,

    /// L_max: nodes at which a unit is finished [default: 200]
    #[arg(long, value_name = "L_max")]
    pub l_max: Option<usize>,

    /// R: training accuracy at which a unit is finished, 0.99 or 99% [default: 99%]
    #[arg(long, value_name = "R", value_parser = fraction)]
    pub expected_accuracy: Option<f64>,

    /// r: fraction of the squared residual that may remain after a join [default: 0.9]
    #[arg(long, value_name = "r")]
    pub r: Option<f64>,

    /// λ: scopes of the random weights, tried in this order
    #[arg(long, value_delimiter = ',', value_name = "λ,...")]
    pub scopes: Option<Vec<f32>>,

    /// g: activation function [default: sigmoid]
    #[arg(long, value_enum)]
    pub activation: Option<ActivationKind>,

    /// Regularisation of the output weights, relative to the mean diagonal of AᵀA
    #[arg(long)]
    pub ridge: Option<f64>,

    /// Fraction of a task's rows kept to watch the residual; 0 switches it off [default: 0.1]
    #[arg(long, value_parser = fraction)]
    pub validation: Option<f64>,

    /// Joins without a new lowest validation residual after which a unit is finished
    #[arg(long)]
    pub patience: Option<usize>,

    /// Former layers of a unit [default: 1]
    #[arg(long)]
    pub layers: Option<usize>,

    /// Let nodes of earlier units stand among the candidates
    #[arg(long)]
    pub reuse: bool,

    /// What to do with a class that an earlier task brought [default: refuse]
    #[arg(long, value_enum)]
    pub repeated_classes: Option<RepeatedClassesKind>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ActivationKind {
    Sigmoid,
    Tanh,
    Relu,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RepeatedClassesKind {
    Refuse,
    Accept,
}

impl ReactivationArgs {
    /// The parameters, with `seed` and defaults for what was not given.
    pub fn params(&self, seed: u64) -> ReactivationParams {
        let d = ReactivationParams::default();
        ReactivationParams {
            step_size: self.step_size.unwrap_or(d.step_size),
            t_max: self.t_max.unwrap_or(d.t_max),
            l_max: self.l_max.unwrap_or(d.l_max),
            expected_accuracy: self.expected_accuracy.unwrap_or(d.expected_accuracy),
            r: self.r.unwrap_or(d.r),
            scopes: self.scopes.clone().unwrap_or(d.scopes),
            activation: self.activation.map_or(d.activation, |g| match g {
                ActivationKind::Sigmoid => Activation::Sigmoid,
                ActivationKind::Tanh => Activation::Tanh,
                ActivationKind::Relu => Activation::Relu,
            }),
            ridge: self.ridge.unwrap_or(d.ridge),
            validation: self.validation.unwrap_or(d.validation),
            patience: self.patience.unwrap_or(d.patience),
            layers: self.layers.unwrap_or(d.layers),
            reuse: self.reuse,
            repeated_classes: self
                .repeated_classes
                .map_or(d.repeated_classes, |choice| match choice {
                    RepeatedClassesKind::Refuse => RepeatedClasses::Refuse,
                    RepeatedClassesKind::Accept => RepeatedClasses::Accept,
                }),
            seed,
        }
    }
}

/// A fraction, also written as a percentage.
fn fraction(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(percent) => (percent, 0.01),
        None => (text, 1.0),
    };
    number
        .trim()
        .parse::<f64>()
        .map(|value| value * scale)
        .map_err(|e| e.to_string())
}
