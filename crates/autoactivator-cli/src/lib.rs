//! The command line of AutoActivator: parses arguments, calls the method or the exam, and prints the answer.
//!
//! [`main`] is all of it. The program calls it, and so does the script that the Python package installs.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 done, 2 bad input, 130 interrupted.

#[macro_use]
mod terminal;

mod answers;
mod args;
mod ask;
mod backbones;
#[cfg(feature = "server")]
mod browser;
mod catalogue;
mod config;
#[cfg(feature = "fetch")]
mod data;
mod dataset;
mod defaults;
#[cfg(feature = "server")]
mod demo;
mod discover;
mod doctor;
mod encoders;
mod eval;
mod exhibits;
mod extract;
#[cfg(feature = "fetch")]
mod fetching;
mod gallery;
mod given;
mod image_args;
mod inbox;
mod inspect;
mod interrupt;
mod learn;
mod lines;
mod manners;
mod manual;
mod memory;
mod output;
mod predict;
mod progress;
mod reproduce;
mod rows;
mod run;
#[cfg(feature = "server")]
mod serve;
mod short_help;
mod shown;
mod stdin;
mod suspect;
mod text_args;
mod texts;
#[cfg(feature = "server")]
mod token;
mod watch;

use std::ffi::OsString;
use std::time::Instant;

use clap::FromArgMatches;

use args::{Cli, Command};
use autoactivator::math::until;
use config::Config;

/// Runs the command that these words name, of which the first is the program itself. Returns the exit code. Help, and words
/// that make no sense, end the process here.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    interrupt::listen();
    leave_readers_quiet();
    let started = Instant::now();
    let words: Vec<OsString> = words.into_iter().collect();
    let done = understood(&words).and_then(|cli| until(interrupt::requested, || execute(&cli.command)));
    match done {
        Ok(()) => {
            detail!("done in {:.2} s", started.elapsed().as_secs_f64());
            0
        }
        Err(error) if broken_pipe(&error) => 0,
        Err(error) => {
            warn!("error: {}", message(&error));
            if interrupt::happened() { 130 } else { 2 }
        }
    }
}

/// What the user typed, with the defaults of the configuration file. Help, and words that make no sense, end the program
/// here, whatever that file holds.
fn understood(words: &[OsString]) -> anyhow::Result<Cli> {
    let command = short_help::command;
    let given = command().get_matches_from(words);
    let cli = Cli::from_arg_matches(&given).unwrap_or_else(|error| error.exit());
    terminal::speak(cli.manners.voice());
    if !cli.command.takes_defaults() {
        return Ok(cli);
    }
    let Some(config) = Config::load()? else {
        return Ok(cli);
    };
    detail!("configuration: {}", config.path().display());
    let given = config.defaults(command()).get_matches_from(words);
    Ok(Cli::from_arg_matches(&given).unwrap_or_else(|error| error.exit()))
}

/// Runs a command, which stops within a fraction of a second when it is interrupted.
fn execute(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Run(args) => run::run(args),
        Command::Reproduce(args) => reproduce::reproduce(args),
        Command::Learn(args) => learn::learn(args),
        Command::Predict(args) => predict::predict(args),
        Command::Eval(args) => eval::eval(args),
        Command::Suspect(args) => suspect::suspect(args),
        Command::Ask(args) => ask::ask(args),
        Command::Discover(args) => discover::discover(args),
        Command::Watch(args) => watch::watch(args),
        Command::Features(args) => extract::features(args),
        Command::Inspect(args) => inspect::inspect(args),
        Command::Memory(command) => memory::memory(command),
        Command::Merge(args) => memory::merge(args),
        Command::Unlearn(args) => memory::unlearn(args),
        Command::DropClass(args) => memory::drop_class(args),
        Command::RenameClass(args) => memory::rename_class(args),
        Command::Export(args) => memory::export(args),
        #[cfg(feature = "server")]
        Command::Serve(args) => serve::serve(args),
        #[cfg(feature = "server")]
        Command::Token => token::token(),
        #[cfg(feature = "fetch")]
        Command::Data(command) => data::data(command),
        Command::Backbone(command) => catalogue::backbone(command),
        Command::Doctor(args) => doctor::doctor(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
    }
}

/// An error with its causes, each shown once: some messages already end with their cause, and some causes already
/// begin with the file that they are about.
fn message(error: &anyhow::Error) -> String {
    let causes = error.chain().map(ToString::to_string);
    causes.reduce(joined).unwrap_or_default()
}

fn joined(said: String, cause: String) -> String {
    if said.ends_with(&cause) {
        said
    } else if cause
        .strip_prefix(&said)
        .is_some_and(|rest| rest.starts_with([':', '/']))
    {
        cause
    } else {
        format!("{said}: {cause}")
    }
}

/// Silences panics in table readers: a panic on a damaged file is already reported as an error.
fn leave_readers_quiet() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(autoactivator_data::table::READER) {
            usual(panic);
        }
    }));
}

/// Whether the reader of our stdout has closed it, which is no error.
fn broken_pipe(error: &anyhow::Error) -> bool {
    let io = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
