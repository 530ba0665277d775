//! Which arguments does the command line take, and how do they become parameters?
//!
//! There is one struct per command; [`defaults`] adds the default values to the help.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use autoactivator::pool::PoolSpec;
use autoactivator::{Activation, GateKind, ImageShape, Precision, Prior, ReadoutKind, RepeatedClasses};
use autoactivator_data::Columns;
use autoactivator_exam::kind::LearnerKind;
use autoactivator_exam::protocol::Protocol;
use autoactivator_exam::scenario::Scenario;
use autoactivator_exam::supply::Order;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::de::DeserializeOwned;

use crate::catalogue::BackboneCommand;
#[cfg(feature = "fetch")]
use crate::data::DataCommand;
use crate::defaults;
use crate::doctor::DoctorArgs;
use crate::image_args::ImageArgs;
use crate::manners::Manners;
use crate::manual::{CompletionsArgs, ManArgs};
use crate::memory::MemoryCommand;
use crate::reproduce::ReproduceArgs;
#[cfg(feature = "server")]
use crate::serve::ServeArgs;
use crate::text_args::TextArgs;
use crate::watch::WatchArgs;

/// Learns new classes in seconds on a CPU, without old data and without forgetting.
#[derive(Debug, Parser)]
#[command(
    name = "autoactivator",
    version,
    max_term_width = 100,
    disable_help_flag = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    #[command(flatten)]
    pub manners: Manners,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Evaluate learners: learn a data set task by task and report what is remembered
    Run(RunArgs),
    /// Reproduce the paper's tables and figures, beside the printed ones
    Reproduce(ReproduceArgs),
    /// Learn one task into a model file, which is created if it does not exist
    Learn(LearnArgs),
    /// Predict the class of each row with a model file
    Predict(PredictArgs),
    /// Evaluate a model file on rows whose class is known
    Eval(EvalArgs),
    /// Find wrong labels: rank rows by how doubtful their label is
    Suspect(SuspectArgs),
    /// Choose the rows that are most worth a label
    Ask(AskArgs),
    /// Find new classes: group rows that look like no known class
    Discover(DiscoverArgs),
    /// Learn what arrives in class folders, and predict what arrives in an inbox
    Watch(WatchArgs),
    /// Compute the features of images once, or write a table in another format
    Features(FeaturesArgs),
    /// Show what a model file holds
    Inspect(InspectArgs),
    /// Learn on many machines: make the pool, sum the parts, add the sums
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Add up the memories of several model files that share one pool
    Merge(MergeArgs),
    /// Unlearn rows: take them out of the sums of a model file
    Unlearn(UnlearnArgs),
    /// Forget a class
    DropClass(DropClassArgs),
    /// Rename a class
    RenameClass(RenameClassArgs),
    /// Write a smaller model, or ONNX: it predicts, but cannot learn
    Export(ExportArgs),
    #[cfg(feature = "server")]
    /// Serve a model: learn and predict over HTTP, with a page to teach it
    Serve(ServeArgs),
    #[cfg(feature = "server")]
    /// Make a token for serve
    Token,
    /// Fetch data sets known by name, or show which are here
    #[cfg(feature = "fetch")]
    #[command(subcommand)]
    Data(DataCommand),
    /// Fetch backbones known by name, show which are here, or describe one
    #[command(subcommand)]
    Backbone(BackboneCommand),
    /// Show what is found on this machine: processor, data, backbones, caches, and settings
    Doctor(DoctorArgs),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsArgs),
    /// Write the manual pages into a folder
    Man(ManArgs),
}

impl Command {
    /// Whether options that are not given may come from the configuration file. The others work without it: the doctor
    /// says what is wrong with it.
    pub fn takes_defaults(&self) -> bool {
        !matches!(self, Self::Doctor(_) | Self::Completions(_) | Self::Man(_))
    }
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true, mut_args = defaults::run)]
pub struct RunArgs {
    /// digits (built in), mnist, fashion-mnist, cifar100, cifar100-lite0, clinc150, a folder or table of your own, a
    /// folder of images or of .txt files, an experiment file (.toml), whose settings apply unless an option overrides them, or - for a table on
    /// stdin
    #[arg(default_value = "digits")]
    pub dataset: String,

    /// How classes become tasks: 5, 10/5, 10,20,30,40, B50/10 or single
    #[arg(long)]
    pub tasks: Option<Scenario>,

    /// One pass over all rows in random order, instead of one task after another
    #[arg(long)]
    pub online: bool,

    /// A stream without tasks, N rows at a time: each is predicted before it is learned. A class begins with its task, and
    /// then comes back until the end
    #[arg(long, value_name = "N", conflicts_with = "online")]
    pub stream: Option<NonZeroUsize>,

    /// Order of classes: shuffled, anew for each run, or natural, as they first appear in the training rows; a stream in
    /// natural order has the rows as they come
    #[arg(long, value_parser = named::<Order>)]
    pub order: Option<Order>,

    /// Long-tailed classes: the class that comes first has RATIO times the training rows of the one that comes last,
    /// and in between they fall by equal ratios
    #[arg(long, value_name = "RATIO")]
    pub imbalance: Option<f64>,

    /// Few-shot increments: N training rows of each class after the first task, as in --tasks B60/8 --shots 5
    #[arg(long, value_name = "N")]
    pub shots: Option<NonZeroUsize>,

    /// Learners to evaluate, separated by commas; can be given several times [default: the first six]
    #[arg(long = "learner", value_name = "LEARNER,...", value_delimiter = ',', value_parser = learners())]
    pub learners: Vec<LearnerKind>,

    /// How test rows are grouped: instance, task-batch=B, class-batch=B or mixed-batch=B (B is a number or all), or
    /// task-told; can be given several times
    #[arg(long = "protocol")]
    pub protocols: Vec<Protocol>,

    /// Number of runs, each with its own class order and random nodes
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: Option<u64>,

    /// Seed of the first run
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Write the record as JSON to this file; - writes it to stdout instead of the table
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    pub json: Option<PathBuf>,

    /// Write the report to this file
    #[arg(
        long,
        value_name = "FILE",
        default_value = "report.html",
        help_heading = "Outputs"
    )]
    pub report: PathBuf,

    /// Write no report
    #[arg(long, help_heading = "Outputs")]
    pub no_report: bool,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub images: ImageArgs,

    #[command(flatten)]
    pub texts: TextArgs,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub shared: SharedArgs,

    #[command(flatten)]
    pub reactivation: ReactivationArgs,

    #[command(flatten)]
    pub consolidation: ConsolidationArgs,

    #[command(flatten)]
    pub rivals: RivalArgs,
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct LearnArgs {
    /// The model file
    pub model: PathBuf,

    /// Learn only these classes, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "CLASS,...")]
    pub classes: Vec<String>,

    /// Learn a file that was already learned: its rows then count twice
    #[arg(long)]
    pub again: bool,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Column that says how often each row counts, by name or number; without it, every row counts once
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    pub weight: Option<String>,

    #[command(flatten)]
    pub new: NewModelArgs,
}

/// The kind and parameters of a new model.
#[derive(Debug, Args)]
pub struct NewModelArgs {
    /// Kind of a new model [default: consolidation]
    #[arg(long, value_enum, help_heading = "New model")]
    pub learner: Option<ModelKind>,

    /// Seed of a new model [default: 0]
    #[arg(long, help_heading = "New model")]
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

    /// Number of consecutive rows that are known to belong together, or all; by default each row is judged alone
    #[arg(long, default_value = "1", value_name = "ROWS|all", value_parser = group_size)]
    pub group: GroupSize,

    /// Add the probability of every class (consolidation)
    #[arg(long)]
    pub proba: bool,

    /// Answer "unknown" to rows that look like nothing learned; RATE is the fraction of known rows that this rejects
    /// (consolidation, and units with a gate of densities)
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = rate)]
    pub reject: f64,

    /// Add the K most probable classes and their probabilities (consolidation)
    #[arg(long, value_name = "K", conflicts_with = "proba", value_parser = above_zero)]
    pub top: Option<usize>,

    /// Format of the answers [default: from the output's file name, or else csv]
    #[arg(long, value_enum, help_heading = "Outputs")]
    pub format: Option<AnswerFormat>,

    /// Write the answers to this file instead of stdout, replacing it if it exists
    #[arg(short, long, value_name = "FILE", help_heading = "Outputs")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub rows: RowsArgs,
}

/// Formats of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// Comma-separated values, one line per row
    Csv,
    /// One JSON object per line
    Jsonl,
    /// A Parquet table; needs an output file
    Parquet,
}

#[derive(Debug, Args)]
pub struct DiscoverArgs {
    /// The model file; it is not changed
    pub model: PathBuf,

    /// Write the groups to this folder, which must not exist: a page to look at, and the rows of each group under a name
    /// that can be changed and learned
    #[arg(short, long, value_name = "FOLDER", help_heading = "Outputs")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub rows: RowsArgs,
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The model file
    pub model: PathBuf,

    /// Print everything as JSON: how many rows of each class got which answer, calibration and mistakes
    #[arg(long)]
    pub json: bool,

    /// Write a report to this HTML file: what is taken for what, class by class, with the surest mistakes
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    #[command(flatten)]
    pub rows: RowsArgs,
}

#[derive(Debug, Args)]
pub struct SuspectArgs {
    #[command(flatten)]
    pub rows: RowsArgs,

    /// Judge by this model; rows that it has learned are judged as if it had not. Without it, rows are judged by each other
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,

    /// The N most doubtful rows [default: all rows for which another class is more probable]
    #[arg(long, value_name = "N", value_parser = above_zero)]
    pub count: Option<usize>,

    /// One JSON object per line instead of csv
    #[arg(long, help_heading = "Outputs")]
    pub json: bool,

    /// Write the rows to this file instead of stdout, replacing it if it exists
    #[arg(short, long, value_name = "FILE", help_heading = "Outputs")]
    pub output: Option<PathBuf>,

    /// Also write a page that shows the rows
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    pub page: Option<PathBuf>,

    /// Also write a copy of the table, or a list of the images or sentences, in which labels that are more likely wrong than
    /// right are replaced: .csv, and .parquet or .arrow for a table
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    pub fix: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct AskArgs {
    /// The model file
    pub model: PathBuf,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Number of rows
    #[arg(long, value_name = "N", default_value = "20", value_parser = above_zero)]
    pub count: usize,

    /// One JSON object per line instead of csv
    #[arg(long, help_heading = "Outputs")]
    pub json: bool,

    /// Write the rows to this file instead of stdout, replacing it if it exists
    #[arg(short, long, value_name = "FILE", help_heading = "Outputs")]
    pub output: Option<PathBuf>,

    /// Also write a page that shows the rows
    #[arg(long, value_name = "FILE", help_heading = "Outputs")]
    pub page: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct FeaturesArgs {
    /// The table to write, replaced if it exists: .parquet, .arrow or .csv; - is csv on stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Which part of a data set that has both
    #[arg(long, value_enum, default_value = "train")]
    pub part: PartName,

    #[command(flatten)]
    pub rows: RowsArgs,
}

/// Parts of a data set by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PartName {
    /// Rows to learn from
    Train,
    /// Rows to evaluate on
    Test,
}

/// Which columns of a table are read.
#[derive(Clone, Debug, Default, Args)]
pub struct ColumnArgs {
    /// Column that holds the class, by name, or by number where there are no names [default: one called class or label,
    /// or else the last in csv files]
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    label: Option<String>,

    /// No column holds the class
    #[arg(long, conflicts_with = "label", help_heading = "Tables")]
    no_label: bool,

    /// Column that holds sentences, by name or number: features are computed from them by a sentence encoder [default
    /// for a model of sentences: the column of this name]
    #[arg(
        long,
        value_name = "COLUMN",
        conflicts_with = "columns",
        help_heading = "Tables"
    )]
    pub text: Option<String>,

    /// Columns that hold the features, separated by commas [default: the one column of lists, or else all columns]
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COLUMN,...",
        help_heading = "Tables"
    )]
    columns: Vec<String>,

    /// Column that names the rows, such as an order number, by name or number: it is no feature, and `predict` passes it
    /// on with its answers [default: one called name]
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    id: Option<String>,

    /// The first line of a csv file holds column names [default: found out]
    #[arg(long, conflicts_with = "no_header", help_heading = "Tables")]
    header: bool,

    /// The first line of a csv file is a row [default: found out]
    #[arg(long, help_heading = "Tables")]
    no_header: bool,

    /// What separates the cells of a csv file: a character, or tab, space [default: found out]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter, help_heading = "Tables")]
    delimiter: Option<u8>,

    /// The numbers of a csv file have a decimal comma, as in 1,5
    #[arg(long, help_heading = "Tables")]
    decimal_comma: bool,
}

impl ColumnArgs {
    /// The columns.
    pub fn columns(&self) -> Columns {
        Columns {
            features: self.columns.clone(),
            text: self.text.clone(),
            label: self.label.clone(),
            id: self.id.clone(),
            no_label: self.no_label,
            header: match (self.header, self.no_header) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            delimiter: self.delimiter,
            decimal_comma: self.decimal_comma,
            ..Columns::default()
        }
    }
}

/// Where rows come from, and how they are read.
#[derive(Debug, Args)]
pub struct RowsArgs {
    /// The rows: a feature table (.parquet, .arrow, .npy, .npz, .safetensors, .csv, .jsonl, idx), a table with a column
    /// of sentences (--text), a folder of images or of .txt files with one subfolder per class, a folder of images or one
    /// image (see --class), a data set by name or folder, or - for stdin: a table, or a list of image files if every line
    /// ends like one; for a model of sentences - and .txt files hold one sentence a line
    pub rows: PathBuf,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// The class of all images, where there is no folder per class
    #[arg(long, value_name = "CLASS", help_heading = "Images")]
    pub class: Option<String>,

    #[command(flatten)]
    pub images: ImageArgs,

    #[command(flatten)]
    pub texts: TextArgs,

    /// For a folder without train and test: learn four fifths, drawn with this seed, and evaluate on the rest
    #[arg(long, value_name = "SEED", help_heading = "Images")]
    pub split: Option<u64>,

    #[command(flatten)]
    pub data: DataArgs,
}

impl RowsArgs {
    /// The images of a folder. If it has no train and test parts, the split always holds out the same rows.
    pub fn of_images(folder: PathBuf, images: ImageArgs, data: DataArgs) -> Self {
        Self {
            rows: folder,
            class: None,
            columns: ColumnArgs::default(),
            images,
            texts: TextArgs::default(),
            split: Some(0),
            data,
        }
    }

    /// The name of the rows in messages.
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

    /// The model file that all of them started from, so that what it had learned counts only once
    #[arg(long, value_name = "MODEL")]
    pub base: Option<PathBuf>,

    /// Replace the model file to write if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct UnlearnArgs {
    /// The model file
    pub model: PathBuf,

    /// Unlearn only the rows of these classes, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "CLASS,...")]
    pub classes: Vec<String>,

    /// Unlearn a file that was already unlearned: its rows are then taken away twice
    #[arg(long)]
    pub again: bool,

    #[command(flatten)]
    pub rows: RowsArgs,

    /// Column that says how often each row counts, by name or number: the one that it was learned with
    #[arg(long, value_name = "COLUMN", help_heading = "Tables")]
    pub weight: Option<String>,
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

    /// The file to write: .aact, or .onnx, which any ONNX runtime can run; - is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Write ONNX [default: if the name ends in .onnx]
    #[arg(long, conflicts_with = "half")]
    pub onnx: bool,

    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,

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
    /// Folder that holds the data sets known by name; the user's cache folder is searched next [default: the variable
    /// AUTOACTIVATOR_DATA]
    #[arg(long, value_name = "DIR", help_heading = "Data sets")]
    data_dir: Option<PathBuf>,
}

impl DataArgs {
    /// The folder from the option, or else from the environment.
    pub fn dir(&self) -> Option<PathBuf> {
        self.data_dir.clone().or_else(named_data_dir)
    }
}

/// The folder from the environment.
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

    /// The kind with this name; none for models that cannot be created here.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Consolidation, Self::Reactivation]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Parses the learners that can be evaluated, by name.
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

fn above_zero(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

fn group_size(text: &str) -> Result<GroupSize, String> {
    match text.parse::<usize>() {
        _ if text == "all" => Ok(GroupSize::All),
        Ok(rows) if rows > 0 => Ok(GroupSize::Rows(rows)),
        _ => Err("expected a number of rows above 0, or all".to_owned()),
    }
}

/// Parameters of both learners; those not given keep their defaults.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of both learners", mut_args = defaults::shared)]
pub struct SharedArgs {
    /// r: fraction of the squared residual that may remain after a join
    #[arg(long, value_name = "r")]
    pub r: Option<f64>,

    /// Regularisation of the output weights, relative to the mean diagonal of their Gram matrix
    #[arg(long)]
    pub ridge: Option<f64>,

    /// Shape of the images, for data that does not state it: 28x28 or 32x32x3
    #[arg(long, value_name = "HxW[xC]")]
    pub image: Option<ImageShape>,
}

/// Parameters of the paper's learner; those not given keep their defaults.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of reactivation", mut_args = defaults::reactivation)]
pub struct ReactivationArgs {
    /// l: nodes that join at a time
    #[arg(long, value_name = "l")]
    pub step_size: Option<usize>,

    /// T_max: random batches drawn for each join
    #[arg(long, value_name = "T_max")]
    pub t_max: Option<usize>,

    /// L_max: number of nodes at which a unit is finished
    #[arg(long, value_name = "L_max")]
    pub l_max: Option<usize>,

    /// R: training accuracy at which a unit is finished, as 0.99 or 99%
    #[arg(long, value_name = "R", value_parser = fraction)]
    pub expected_accuracy: Option<f64>,

    /// λ: scopes of the random weights, tried in this order
    #[arg(long, value_delimiter = ',', value_name = "λ,...")]
    pub scopes: Option<Vec<f32>>,

    /// g: activation function
    #[arg(long, value_parser = named::<Activation>)]
    pub activation: Option<Activation>,

    /// Fraction of a task's rows held out to watch the residual; 0 turns this off
    #[arg(long, value_parser = fraction)]
    pub validation: Option<f64>,

    /// Number of joins without a new lowest validation residual after which a unit is finished
    #[arg(long)]
    pub patience: Option<usize>,

    /// Number of former layers of a unit
    #[arg(long)]
    pub layers: Option<usize>,

    /// Include nodes of earlier units among the candidates
    #[arg(long)]
    pub reuse: bool,

    /// Judge every candidate on all rows, as the paper does, not only the most promising ones; slower
    #[arg(long)]
    pub no_screening: bool,

    /// How a unit is woken: by its threshold, as in the paper, or by the density of its rows
    #[arg(long, value_parser = named::<GateKind>)]
    pub gate: Option<GateKind>,

    /// Nodes that all units look through with `--gate density`
    #[arg(long, value_name = "N")]
    pub gate_nodes: Option<usize>,

    /// Random filters that all units read images through; 0 reads the features themselves
    #[arg(long, value_name = "N")]
    pub filters: Option<usize>,

    /// What to do with a class from an earlier task: refuse or accept
    #[arg(long, value_parser = named::<RepeatedClasses>)]
    pub repeated_classes: Option<RepeatedClasses>,
}

/// Parameters of consolidation; those not given keep their defaults.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of consolidation", mut_args = defaults::consolidation)]
pub struct ConsolidationArgs {
    /// Kind of pool [default: convolution for images of at least 16 x 16 pixels; otherwise the features and random
    /// nodes on them]
    #[arg(long, value_parser = pools())]
    pub pool: Option<PoolSpec>,

    /// Nodes of the pool, or filters of a convolution
    #[arg(long, value_name = "N", requires = "pool")]
    pub pool_nodes: Option<usize>,

    /// Random nodes on top of the pool, read out together with it
    #[arg(long, value_name = "N", requires = "pool")]
    pub second_layer: Option<usize>,

    /// Random nodes of the pool: more are more accurate, and cost their square [default: by the kind of rows]
    #[arg(long, value_name = "N")]
    pub nodes: Option<usize>,

    /// Rows in use that show how good answers are; twice as many are kept in the model. 0 keeps none
    #[arg(long, value_name = "N")]
    pub witnesses: Option<usize>,

    /// What the number of rows says about how often a class will come: seen, equal, or cautious, which is
    /// in between: a class of few rows may just be new
    #[arg(long, value_parser = named::<Prior>)]
    pub prior: Option<Prior>,

    /// Keep nothing of rows but sums: no means of the first task, no witnesses, no list of files
    #[arg(long)]
    pub private: bool,

    /// Maximum number of nodes to recruit from the pool [default: all]
    #[arg(long, value_name = "N")]
    pub max_nodes: Option<usize>,

    /// Maximum number of nodes to recruit per known class, so that early tasks leave room for later ones
    #[arg(long, value_name = "N")]
    pub nodes_per_class: Option<usize>,

    /// Fraction of the residual that a node must remove to be recruited
    #[arg(long)]
    pub expected_gain: Option<f64>,

    /// How the nodes are read out: blend, ridge, lda or nearest-mean
    #[arg(long, value_parser = named::<ReadoutKind>)]
    pub readout: Option<ReadoutKind>,

    /// Shrinkage of the covariance for lda
    #[arg(long)]
    pub shrinkage: Option<f64>,

    /// Precision of the products, f32 or f64; sums are always f64
    #[arg(long, value_parser = named::<Precision>)]
    pub precision: Option<Precision>,

    /// Weight of old evidence when a new task arrives, for drifting data
    #[arg(long)]
    pub fading: Option<f64>,

    /// Weight of each row of a class; can be given several times
    #[arg(long, value_name = "CLASS=WEIGHT", value_parser = class_weight)]
    pub class_weight: Vec<(String, f64)>,
}

/// Parameters of learners from the literature; those not given keep their defaults.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters of rivals", mut_args = defaults::rivals)]
pub struct RivalArgs {
    /// Widths of the hidden layers of trained networks; 0 is a linear head [default: 400,400 on images, 0 on other rows]
    #[arg(long, value_delimiter = ',', value_name = "N,...")]
    pub hidden: Option<Vec<usize>>,

    /// Passes of a trained network over the rows of a task
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,

    /// Rows in each step of a trained network
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,

    /// Largest step size of each task: reached after a tenth of its steps, then it falls to zero
    #[arg(long)]
    pub learning_rate: Option<f64>,

    /// How much of a step the next one repeats
    #[arg(long)]
    pub momentum: Option<f64>,

    /// Rows that may be kept for replay
    #[arg(long, value_name = "N")]
    pub exemplars: Option<usize>,

    /// How strongly a learner keeps what it knows: the weight of its penalty, of distillation or of kept scores, or α of owm
    #[arg(long)]
    pub strength: Option<f64>,

    /// Random nodes
    #[arg(long, value_name = "N")]
    pub random_nodes: Option<usize>,

    /// k: nearest neighbours that vote
    #[arg(long, value_name = "k")]
    pub neighbours: Option<usize>,
}

/// Parses pools by name, with their usual settings.
fn pools() -> impl TypedValueParser<Value = PoolSpec> {
    let values = PoolSpec::KINDS.map(|(name, meaning)| PossibleValue::new(name).help(meaning));
    PossibleValuesParser::new(values).try_map(|name| PoolSpec::named(&name).ok_or("no such pool"))
}

/// Parses a value by its name in files.
pub(crate) fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|e| e.to_string())
}

/// Parses a fraction from 0 to 1, or a percentage.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let rate = fraction(text)?;
    if (0.0..=1.0).contains(&rate) {
        Ok(rate)
    } else {
        Err("expected a number from 0 to 1, or from 0% to 100%".to_owned())
    }
}

/// Parses the character between the cells of a csv file.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" => Ok(b' '),
        b"comma" => Ok(b','),
        b"semicolon" => Ok(b';'),
        [character] if character.is_ascii() && !character.is_ascii_alphanumeric() => Ok(*character),
        _ => Err("expected one character, such as ; or | - or tab, space, comma, semicolon".to_owned()),
    }
}

fn class_weight(text: &str) -> Result<(String, f64), String> {
    let (name, weight) = text.rsplit_once('=').ok_or("expected CLASS=WEIGHT")?;
    let weight = weight.parse::<f64>().map_err(|e| e.to_string())?;
    Ok((name.to_owned(), weight))
}

/// Parses a fraction or a percentage.
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
