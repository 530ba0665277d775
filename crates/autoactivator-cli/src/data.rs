//! `autoactivator data`: fetches data sets known by name, and lists those that are here.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use autoactivator_data::dataset::fetch::{
    self, Catalogue, Entry, Fetcher, Got, Listed, Patience, Place, Watcher,
};
use autoactivator_data::dataset::{self, NAMES};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};

use crate::args::{DataArgs, named_data_dir};
use crate::interrupt;
use crate::terminal;

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Fetch data sets from their publishers, or from a mirror of your own
    ///
    /// Each file is verified against its published content before it gets its final name. If a fetch is cut off, run
    /// the same command again to resume it. Proxies are read from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY.
    /// Prints the folder of each data set.
    Get(DataGetArgs),
    /// Show the data sets known by name: rows, classes, where they are, size on disk
    List(DataListArgs),
}

#[derive(Debug, Args)]
pub struct DataGetArgs {
    /// mnist, fashion-mnist or cifar100
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    /// Address of a mirror to use instead of the publisher; its files must have the publisher's names
    #[arg(long, value_name = "URL")]
    from: Option<String>,

    /// Folder to put the data sets into [default: the variable AUTOACTIVATOR_DATA if that folder is writable, or else
    /// the user's cache folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DataListArgs {
    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataArgs,
}

pub fn data(command: &DataCommand) -> Result<()> {
    match command {
        DataCommand::Get(args) => get(args),
        DataCommand::List(args) => list(args),
    }
}

fn get(args: &DataGetArgs) -> Result<()> {
    let catalogue = Catalogue::published();
    // A wrong name is reported before anything is fetched.
    let entries = args.names.iter().map(|name| find(&catalogue, name, args));
    let entries = entries.collect::<Result<Vec<Entry>>>()?;
    let fetcher = Fetcher::new(Patience::default());
    for entry in &entries {
        let folder = destination(entry, args)?;
        let mut bar = FetchBar::new();
        let got = fetcher.get(entry, &folder, &mut bar);
        bar.finish();
        let path = folder.join(&entry.name);
        match got? {
            Got::Fetched => say!("{}: fetched, content verified", entry.name),
            Got::AlreadyHere => say!("{}: already here, content verified", entry.name),
        }
        writeln!(terminal::stdout(), "{}", path.display())?;
    }
    Ok(())
}

fn find(catalogue: &Catalogue, name: &str, args: &DataGetArgs) -> Result<Entry> {
    let Some(entry) = catalogue.find(name) else {
        let reason = match name {
            "digits" => "it is built in",
            known if dataset::text_columns(known).is_some() => {
                "no download is known: put its train.csv and test.csv, with the columns text and intent, into a folder of \
                 this name"
            }
            known if NAMES.contains(&known) => {
                "its features are made from images with a backbone, and no download is known"
            }
            _ => "it is not known",
        };
        bail!(
            "data set '{name}' cannot be fetched: {reason}; choose from {}",
            catalogue.names()
        );
    };
    let mut entry = entry.clone();
    if let Some(mirror) = &args.from {
        entry.mirrors = vec![mirror.clone()];
    }
    Ok(entry)
}

/// The given folder, or else the folder that already has the data set, or else the first writable one.
fn destination(entry: &Entry, args: &DataGetArgs) -> Result<PathBuf> {
    if let Some(given) = &args.data_dir {
        return Ok(given.clone());
    }
    let folders = dataset::folders(named_data_dir().as_deref());
    let found = folders.iter().find(|folder| folder.join(&entry.name).is_dir());
    if let Some(found) = found {
        return Ok(found.clone());
    }
    let mut last = None;
    for folder in folders {
        match fetch::prepare(entry, &folder) {
            Ok(_) => return Ok(folder),
            Err(error) => {
                if let Some(error) = last.replace(error) {
                    say!("{error}");
                }
            }
        }
    }
    match last {
        Some(error) => Err(error.into()),
        None => bail!("no folder to put data sets into: give one with --data-dir"),
    }
}

fn list(args: &DataListArgs) -> Result<()> {
    let listed = fetch::list(&dataset::folders(args.data.dir().as_deref()));
    let text = if args.json {
        serde_json::to_string_pretty(&listed)? + "\n"
    } else {
        table(&listed)
    };
    terminal::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn table(listed: &[Listed]) -> String {
    let mut text = format!(
        "{:<14}  {:>6}  {:>7}  {:>9}  where\n",
        "name", "rows", "classes", "size"
    );
    for set in listed {
        let get = format!("autoactivator data get {}", set.name);
        let (bytes, place) = match &set.place {
            Place::BuiltIn => (None, "built in".to_owned()),
            Place::Here { path, bytes } => (Some(bytes), path.display().to_string()),
            Place::Incomplete { path, bytes } => {
                (Some(bytes), format!("incomplete: {get} ({})", path.display()))
            }
            Place::Fetchable => (None, format!("not here: {get}")),
            Place::Published => (
                None,
                "not here: from its publishers, as train.csv and test.csv of the columns text and intent"
                    .to_owned(),
            ),
            Place::MadeFromImages => (
                None,
                "not here: features made from images with a backbone, no download known".to_owned(),
            ),
        };
        let size = bytes.map_or_else(String::new, |&bytes| format!("{:.1} MB", bytes as f64 / 1e6));
        text += &format!(
            "{:<14}  {:>6}  {:>7}  {:>9}  {}\n",
            set.name, set.rows, set.classes, size, place
        );
    }
    text
}

/// A progress bar over the bytes of a file.
struct FetchBar {
    bar: ProgressBar,
    file: String,
}

impl FetchBar {
    fn new() -> Self {
        let bar = ProgressBar::new(0);
        let template = "{bar:30} {bytes}/{total_bytes} [{bytes_per_sec}, {eta} left] {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self {
            bar,
            file: String::new(),
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for FetchBar {
    fn received(&mut self, file: &str, done: u64, of: Option<u64>) {
        self.bar.set_length(of.unwrap_or(done));
        self.bar.set_position(done);
        if self.file != file {
            // What an earlier command fetched says nothing about the speed of this one.
            self.bar.reset_eta();
            self.file = file.to_owned();
            self.bar.set_message(file.to_owned());
            // The bar appears with the first byte; before that there is no progress to show.
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn note(&mut self, message: &str) {
        self.bar.suspend(|| say!("{message}"));
    }

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
}
