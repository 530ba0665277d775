//! `autoactivator data`: fetches data sets known by name, and lists those that are here.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use autoactivator_data::dataset::fetch::{self, Catalogue, Entry, Got, Listed, Place};
use autoactivator_data::dataset::{self, NAMES};
use clap::{Args, Subcommand};

use crate::args::DataArgs;
use crate::fetching;
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

    /// Address of a mirror, or a folder here, to use instead of the publisher; its files must have the publisher's names
    #[arg(long, value_name = "URL|FOLDER")]
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
    for entry in &entries {
        let folder = fetching::destination(entry, args.data_dir.as_deref(), "")?;
        let got = fetching::get(entry, &folder)?;
        let path = folder.join(&entry.name);
        match got {
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
    fetching::from(entry.clone(), args.from.as_deref())
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
