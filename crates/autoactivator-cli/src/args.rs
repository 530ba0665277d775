//! Which words does the command line know, and how do they become parameters?
//!
//! One struct for each command; [`defaults`] says what holds where nothing is given.

use std::path::PathBuf;

use autoactivator::pool::PoolSpec;
use autoactivator::{Activation, ImageShape, Precision, ReadoutKind, RepeatedClasses};
use autoactivator_data::Columns;
use autoactivator_exam::contender::LearnerKind;
use autoactivator_exam::protocol::Protocol;
use autoactivator_exam::scenario::Scenario;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::de::DeserializeOwned;

#[cfg(feature = "fetch")]
use crate::data::DataCommand;
use crate::defaults;
use crate::image_args::ImageArgs;
use crate::memory::MemoryCommand;
use crate::reproduce::ReproduceArgs;
use crate::serve::ServeArgs;

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
    /// Repeat the tables and figures of the paper, beside what it prints
    Reproduce(ReproduceArgs),
    /// Learn one task into a model file, which is made when it does not exist
    Learn(LearnArgs),
    /// Predict the class of each row with a model file
    Predict(PredictArgs),
    /// Examine a model file on rows that carry their class
    Eval(EvalArgs),
    /// Compute the features of images once, or write a table in another format
    Features(FeaturesArgs),
    /// Show what a model file holds
    Inspect(InspectArgs),
    /// Sum one memory in many places: pool, partial memories, and their sum
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Add the memories of several model files over one pool
    Merge(MergeArgs),
    /// Take rows back that a model file has learned
    Unlearn(UnlearnArgs),
    /// Forget a class
    DropClass(DropClassArgs),
    /// Give a class another name
    RenameClass(RenameClassArgs),
    /// Write the deployed model alone: recruited nodes and readout, without the memory
    Export(ExportArgs),
    /// Teach it live: learn and predict over HTTP, with a page to draw on
    Serve(ServeArgs),
    /// Fetch data sets known by name, or show which are here
    #[cfg(feature = "fetch")]
    #[command(subcommand)]
    Data(DataCommand),
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, mut_args = defaults::run)]
pub struct RunArgs {
    /// digits (built in), mnist, fashion-mnist, cifar100, cifar100-lite0, a folder or table of your own, a folder of
    /// images, or an experiment file (.toml), whose settings hold unless an option says otherwise
    #[arg(default_value = "digits")]
    pub dataset: String,

    /// How classes become tasks: 5, 10/5, 10,20,30,40, B50/10 or single
    #[arg(long, visible_alias = "split")]
    pub tasks: Option<Scenario>,

    /// One pass over all rows in random order instead of one task after the other
    #[arg(long)]
    pub online: bool,

    /// Learner to examine; may be given several times [default: all]
    #[arg(long = "learner", value_parser = learners())]
    pub learners: Vec<LearnerKind>,

    /// How test rows are shown: instance, task-batch=B, class-batch=B, mixed-batch=B, with B a number or all, or
    /// task-told; may be given several times
    #[arg(long = "protocol")]
    pub protocols: Vec<Protocol>,

    /// Number of runs, each with its own class order and random nodes
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: Option<u64>,

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
    pub images: ImageArgs,

    #[command(flatten)]
    pub shared: SharedArgs,

    #[command(flatten)]
    pub reactivation: ReactivationArgs,

    #[command(flatten)]
    pub consolidation: ConsolidationArgs,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct LearnArgs {
    /// The model file
    pub model: PathBuf,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Learn these classes only, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "CLASS,...")]
    pub classes: Vec<String>,

    #[command(flatten)]
    pub new: NewModelArgs,
}

/// What a new model is to be.
#[derive(Debug, Args)]
pub struct NewModelArgs {
    /// Kind of a new model [default: consolidation]
    #[arg(long, value_enum)]
    pub learner: Option<ModelKind>,

    /// Seed of a new model [default: 0]
    #[arg(long)]
    pub seed: Option<u64>,

    #[command(flatten)]
    pub shared: SharedArgs,

    #[command(flatten)]
    pub reactivation: ReactivationArgs,

    #[command(flatten)]
    pub consolidation: ConsolidationArgs,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct PredictArgs {
    /// The model file
    pub model: PathBuf,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Rows that are known to belong together, as many at a time, or all; each row alone by default
    #[arg(long, default_value = "1", value_name = "ROWS|all", value_parser = group_size)]
    pub group: GroupSize,

    /// Add the probability of every class (consolidation)
    #[arg(long)]
    pub proba: bool,

    /// Answer "unknown" where the model is less sure than for this part of the rows it knows (consolidation)
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = rate)]
    pub reject: f64,

    /// Add the K most probable classes and their probabilities (consolidation)
    #[arg(long, value_name = "K", conflicts_with = "proba")]
    pub top: Option<usize>,

    /// How answers are written [default: by the name of the output, or csv]
    #[arg(long, value_enum)]
    pub format: Option<AnswerFormat>,

    /// Write the answers to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How answers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// Comma-separated values, one line a row
    Csv,
    /// One JSON object a line
    Jsonl,
    /// A Parquet table, into a file
    Parquet,
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The model file
    pub model: PathBuf,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct FeaturesArgs {
    #[command(flatten)]
    pub rows: RowsArgs,

    /// The table to write: .parquet, .arrow or .csv
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Which rows of a data set that has both
    #[arg(long, value_enum, default_value = "train")]
    pub part: PartName,
}

/// Parts of a data set by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartName {
    /// Rows to learn from
    Train,
    /// Rows to be examined on
    Test,
}

/// Which columns of a table are read.
#[derive(Clone, Debug, Default, Args)]
pub struct ColumnArgs {
    /// Column that holds the class [default: one called class or label; in csv files else the last]
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    label: Option<String>,

    /// Columns that hold the features, separated by commas [default: the one list of numbers, or all columns]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COLUMN,...",
        help_heading = "Tables"
    )]
    columns: Vec<String>,
}

impl ColumnArgs {
    /// The columns.
    pub fn columns(&self) -> Columns {
        Columns {
            features: self.columns.clone(),
            label: self.label.clone(),
            width: None,
        }
    }
}

/// Where rows come from, and how they are read.
#[derive(Debug, Args)]
pub struct RowsArgs {
    /// The rows: a feature table (.parquet, .arrow, .npy, .npz, .safetensors, .csv, idx), a folder of images with a
    /// folder per class, or a data set by name or folder
    pub rows: PathBuf,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub images: ImageArgs,

    /// Learn from four fifths of a folder without train and test, and be examined on the rest, drawn by this seed
    #[arg(long, value_name = "SEED", help_heading = "Images")]
    pub split: Option<u64>,

    #[command(flatten)]
    pub data: DataArgs,
}

impl RowsArgs {
    /// Images of a folder; where that has no parts of its own, always the same rows are kept for the exam.
    pub fn of_images(folder: PathBuf, images: ImageArgs, data: DataArgs) -> Self {
        Self {
            rows: folder,
            columns: ColumnArgs::default(),
            images,
            split: Some(0),
            data,
        }
    }

    /// The rows as they are called in messages.
    pub fn name(&self) -> String {
        self.rows.display().to_string()
    }
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The model file to write
    pub output: PathBuf,

    /// The model files to add
    #[arg(required = true, num_args = 2..)]
    pub models: Vec<PathBuf>,

    /// The model file that all of them began from, so that what it had learned counts once
    #[arg(long, value_name = "MODEL")]
    pub base: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct UnlearnArgs {
    /// The model file
    pub model: PathBuf,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Unlearn the rows of these classes only, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "CLASS,...")]
    pub classes: Vec<String>,
}

#[derive(Debug, Args)]
pub struct DropClassArgs {
    /// The model file
    pub model: PathBuf,

    /// The class
    pub class: String,
}

#[derive(Debug, Args)]
pub struct RenameClassArgs {
    /// The model file
    pub model: PathBuf,

    /// The class
    pub from: String,

    /// Its new name
    pub to: String,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The model file with its memory
    pub model: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Write ONNX, which any ONNX runtime can run
    #[arg(long, conflicts_with = "half")]
    pub onnx: bool,

    /// Store numbers in half precision
    #[arg(long)]
    pub half: bool,
}

#[derive(Debug, Args)]
pub struct InspectArgs {
    /// The model file
    pub model: PathBuf,

    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Debug, Args)]
pub struct DataArgs {
    /// Folder that holds the data sets known by name [default: the variable AUTOACTIVATOR_DATA; what is not there is
    /// looked for in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl DataArgs {
    /// The folder that was given, or that the environment names.
    pub fn dir(&self) -> Option<PathBuf> {
        self.data_dir.clone().or_else(named_data_dir)
    }
}

/// The folder that the environment names.
pub fn named_data_dir() -> Option<PathBuf> {
    let named = std::env::var_os("AUTOACTIVATOR_DATA").filter(|name| !name.is_empty());
    named.map(PathBuf::from)
}

/// Learners that a model file can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModelKind {
    /// One memory for all tasks
    Consolidation,
    /// The paper's: one neural unit per task
    Reactivation,
}

impl ModelKind {
    /// The name in model files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Consolidation => "consolidation",
            Self::Reactivation => "reactivation",
        }
    }

    /// The kind of this name; none for models that cannot be begun here.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Consolidation, Self::Reactivation]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Learners of the exam by name.
fn learners() -> impl TypedValueParser<Value = LearnerKind> {
    let values = LearnerKind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.meaning()));
    PossibleValuesParser::new(values).try_map(|name| named(&name))
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

/// Parameters that both learners have; what is not given keeps its default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of both learners", mut_args = defaults::shared)]
pub struct SharedArgs {
    /// r: fraction of the squared residual that may remain after a join
    #[arg(long, value_name = "r")]
    pub r: Option<f64>,

    /// Regularisation of the output weights, relative to the mean diagonal of their Gram matrix
    #[arg(long)]
    pub ridge: Option<f64>,
}

/// Parameters of the paper's learner; what is not given keeps its default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of reactivation", mut_args = defaults::reactivation)]
pub struct ReactivationArgs {
    /// l: nodes that join at a time
    #[arg(long, value_name = "l")]
    pub step_size: Option<usize>,

    /// T_max: batches drawn at random for every join
    #[arg(long, value_name = "T_max")]
    pub t_max: Option<usize>,

    /// L_max: nodes at which a unit is finished
    #[arg(long, value_name = "L_max")]
    pub l_max: Option<usize>,

    /// R: training accuracy at which a unit is finished, 0.99 or 99%
    #[arg(long, value_name = "R", value_parser = fraction)]
    pub expected_accuracy: Option<f64>,

    /// λ: scopes of the random weights, tried in this order
    #[arg(long, value_delimiter = ',', value_name = "λ,...")]
    pub scopes: Option<Vec<f32>>,

    /// g: activation function
    #[arg(long, value_parser = named::<Activation>)]
    pub activation: Option<Activation>,

    /// Fraction of a task's rows kept to watch the residual; 0 switches it off
    #[arg(long, value_parser = fraction)]
    pub validation: Option<f64>,

    /// Joins without a new lowest validation residual after which a unit is finished
    #[arg(long)]
    pub patience: Option<usize>,

    /// Former layers of a unit
    #[arg(long)]
    pub layers: Option<usize>,

    /// Let nodes of earlier units stand among the candidates
    #[arg(long)]
    pub reuse: bool,

    /// Judge all candidates on all rows, as the paper does, instead of the most promising ones; slower
    #[arg(long)]
    pub no_screening: bool,

    /// What to do with a class that an earlier task brought: refuse or accept
    #[arg(long, value_parser = named::<RepeatedClasses>)]
    pub repeated_classes: Option<RepeatedClasses>,
}

/// Parameters of consolidation; what is not given keeps its default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of consolidation", mut_args = defaults::consolidation)]
pub struct ConsolidationArgs {
    /// Kind of the pool [default: convolution for images of 16 pixels and more, the features and random nodes on them
    /// otherwise]
    #[arg(long, value_parser = pools())]
    pub pool: Option<PoolSpec>,

    /// Nodes of the pool, or filters of a convolution
    #[arg(long, value_name = "N", requires = "pool")]
    pub pool_nodes: Option<usize>,

    /// Random nodes on top of the pool, read beside it
    #[arg(long, value_name = "N", requires = "pool")]
    pub second_layer: Option<usize>,

    /// Nodes recruited from the pool at the most [default: all]
    #[arg(long, value_name = "N")]
    pub max_nodes: Option<usize>,

    /// Nodes recruited for every class known, so that early tasks leave room for later ones
    #[arg(long, value_name = "N")]
    pub nodes_per_class: Option<usize>,

    /// Part of the residual that a node must take away to be recruited
    #[arg(long)]
    pub expected_gain: Option<f64>,

    /// What the nodes are read with: ridge, lda or nearest-mean
    #[arg(long, value_parser = named::<ReadoutKind>)]
    pub readout: Option<ReadoutKind>,

    /// Shrinkage of the covariance for lda
    #[arg(long)]
    pub shrinkage: Option<f64>,

    /// Precision of the products, f32 or f64; sums are always f64
    #[arg(long, value_parser = named::<Precision>)]
    pub precision: Option<Precision>,

    /// What old evidence counts for when a new task arrives, for drifting data
    #[arg(long)]
    pub fading: Option<f64>,

    /// What a row of a class counts for; may be given several times
    #[arg(long, value_name = "CLASS=WEIGHT", value_parser = class_weight)]
    pub class_weight: Vec<(String, f64)>,

    /// Shape of the images that rows are, for data that does not tell: 28x28 or 32x32x3
    #[arg(long, value_name = "HxW[xC]")]
    pub image: Option<ImageShape>,
}

/// Pools by name, with their usual settings.
fn pools() -> impl TypedValueParser<Value = PoolSpec> {
    let values = PoolSpec::KINDS.map(|(name, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(values).try_map(|name| PoolSpec::named(&name).ok_or("no such pool"))
}

/// A value by the name it has in files.
pub(crate) fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|e| e.to_string())
}

/// A fraction from 0 to 1, also written as a percentage.
fn rate(text: &str) -> Result<f64, String> {
    let rate = fraction(text)?;
    if (0.0..=1.0).contains(&rate) {
        Ok(rate)
    } else {
        Err("a number from 0 to 1, or from 0% to 100%".to_owned())
    }
}

fn class_weight(text: &str) -> Result<(String, f64), String> {
    let (name, weight) = text.rsplit_once('=').ok_or("expected CLASS=WEIGHT")?;
    let weight = weight.parse::<f64>().map_err(|e| e.to_string())?;
    Ok((name.to_owned(), weight))
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
