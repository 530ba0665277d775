//! The arguments of `autoactivator reproduce`.

use std::path::PathBuf;

use clap::Args;

use crate::args::DataArgs;

#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// Experiments to run: by name, by table or figure (table-1), or an experiment file (.toml) [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// One seed and fewer rows: everything in minutes
    #[arg(long)]
    pub quick: bool,

    /// Folder for reproduction.html, reproduction.md and the records; records found there are not computed again
    /// [default: reproduction, or reproduction-quick with --quick]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Put the tables into this Markdown file, between the lines <!-- reproduce:begin --> and <!-- reproduce:end -->
    #[arg(long, value_name = "FILE")]
    pub write_docs: Option<PathBuf>,

    /// List the experiments and where in the paper they belong
    #[arg(long)]
    pub list: bool,

    #[command(flatten)]
    pub data: DataArgs,
}

impl ReproduceArgs {
    /// The folder that everything is written to.
    pub fn folder(&self) -> PathBuf {
        let default = if self.quick {
            "reproduction-quick"
        } else {
            "reproduction"
        };
        self.out.clone().unwrap_or_else(|| PathBuf::from(default))
    }
}
