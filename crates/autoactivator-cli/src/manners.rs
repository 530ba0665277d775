//! What every command takes: help in two lengths, and how much is said on stderr.

use clap::{ArgAction, Args};

use crate::terminal::Voice;

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Every command")]
pub struct Manners {
    /// Say only what went wrong: no progress, no receipts, and no log of requests
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,

    /// Say more: which configuration is used, and how long it took
    #[arg(short, long, global = true)]
    verbose: bool,

    /// Print the help with the options that most users need
    #[arg(short, long, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,

    /// Print the help with all options
    #[arg(long, global = true, action = ArgAction::HelpLong)]
    help_all: Option<bool>,
}

impl Manners {
    /// How much is said on stderr.
    pub fn voice(&self) -> Voice {
        match (self.quiet, self.verbose) {
            (true, _) => Voice::Quiet,
            (_, true) => Voice::Verbose,
            _ => Voice::Usual,
        }
    }
}
