//! `autoactivator completions` and `autoactivator man`: what a package installs beside the program.
//!
//! Both are made from the same description of the command line as the help, so they cannot drift apart.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use autoactivator::counted;
use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::output::{Output, Replace};
use crate::short_help;
use crate::terminal;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder, which is created if it does not exist; pages of the same names are replaced
    folder: PathBuf,
}

pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut program = short_help::command();
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, name, &mut script);
    terminal::stdout().write_all(&script)?;
    Ok(())
}

pub fn man(args: &ManArgs) -> Result<()> {
    let folder = &args.folder;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut program = short_help::command().disable_help_subcommand(true);
    program.build();
    let written = write(&program, folder)?;
    say!("{}: {}", folder.display(), counted(written, "manual page"));
    Ok(())
}

/// Writes the page of a command, and those of the commands below it; returns how many.
fn write(command: &Command, folder: &Path) -> Result<usize> {
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    Output::new(&folder.join(page.get_filename()), &[], Replace::Files)?.write(&text)?;
    let below = command.get_subcommands().map(|command| write(command, folder));
    Ok(1 + below.sum::<Result<usize>>()?)
}
