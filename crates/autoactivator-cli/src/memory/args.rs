//! The arguments of `autoactivator memory`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{ColumnArgs, ConsolidationArgs, SharedArgs};

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // A program parses its arguments once.
pub enum MemoryCommand {
    /// Make the pool of a new model from a sample of rows, without learning anything yet
    Begin(BeginArgs),
    /// Sum the rows of some files over a model's pool, into a partial memory
    ///
    /// The model is not changed, so any number of these commands can run at once, on any number of machines. A file
    /// that the model has already learned, or that is given twice, is skipped. Files are compared by content, not by
    /// name.
    Build(BuildArgs),
    /// Add partial memories to a model, each file once, and solve its readout once
    ///
    /// A partial memory whose files have all been learned is skipped, so a job can be started again. If only some of
    /// its files have been learned, it is refused.
    Merge(MergeArgs),
}

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct BeginArgs {
    /// The model file to create
    pub model: PathBuf,

    /// Feature tables that are typical of what will come; the pool is made from evenly spaced rows of them
    #[arg(required = true)]
    pub sample: Vec<PathBuf>,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// Seed for everything random
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    #[command(flatten)]
    pub shared: SharedArgs,

    #[command(flatten)]
    pub consolidation: ConsolidationArgs,
}

#[derive(Debug, Args)]
pub struct BuildArgs {
    /// The model file with the pool
    pub model: PathBuf,

    /// Feature tables to sum
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<PathBuf>,

    #[command(flatten)]
    pub columns: ColumnArgs,

    /// The partial memory to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Replace the partial memory if it exists
    #[arg(long)]
    pub force: bool,

    /// Store sums in single precision, which halves the file
    #[arg(long)]
    pub single: bool,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The model file
    pub model: PathBuf,

    /// The partial memories to add
    #[arg(required = true, value_name = "PARTIAL")]
    pub partials: Vec<PathBuf>,
}
