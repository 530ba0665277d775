//! The arguments of `watch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::{AnswerFormat, ColumnArgs, DataArgs, NewModelArgs, RowsArgs, rate};
use crate::image_args::ImageArgs;
use crate::text_args::TextArgs;

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct WatchArgs {
    /// The folder: what lies in FOLDER/CLASS/ (images or .txt files) and feature tables in FOLDER are learned, what lies
    /// in FOLDER/inbox/ is predicted into FOLDER/answered/
    pub folder: PathBuf,

    /// The model file; a new one begins with the first rows
    pub model: PathBuf,

    /// Seconds between two looks; a file is taken when its size and time were the same at both
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    pub every: Duration,

    /// Take what is there, and end
    #[arg(long)]
    pub once: bool,

    /// Answer "unknown" to rows that look like nothing learned; RATE is the fraction of known rows that this rejects
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = rate)]
    pub reject: f64,

    /// Format of the answers
    #[arg(long, value_enum, default_value = "csv", help_heading = "Outputs")]
    pub format: AnswerFormat,

    #[command(flatten)]
    pub columns: ColumnArgs,

    #[command(flatten)]
    pub images: ImageArgs,

    #[command(flatten)]
    pub texts: TextArgs,

    #[command(flatten)]
    pub data: DataArgs,

    #[command(flatten)]
    pub new: NewModelArgs,
}

impl WatchArgs {
    /// The rows of a path, read as these arguments say.
    pub fn rows(&self, path: PathBuf) -> RowsArgs {
        RowsArgs {
            rows: path,
            columns: self.columns.clone(),
            class: None,
            images: self.images.clone(),
            texts: self.texts.clone(),
            split: None,
            data: self.data.clone(),
        }
    }
}

/// Parses a number of seconds, of which there must be some: a look is work, too.
fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds")?;
    if (0.01..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("expected a number of seconds from 0.01 to 86400, a day".to_owned())
    }
}
