//! `autoactivator backbone`: lists the backbones known by name, fetches them, and describes one.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use autoactivator_data::dataset;
use autoactivator_data::{Backbone, BackboneSpec, Known, Runtime};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::args::DataArgs;
use crate::backbones;
#[cfg(feature = "fetch")]
use crate::fetching;
use crate::terminal;

#[derive(Debug, Subcommand)]
pub enum BackboneCommand {
    /// Show the backbones known by name: what for, where they are, whether their content is verified
    List(BackboneListArgs),
    /// Fetch backbones from their publishers, from a mirror, or from files of your own
    ///
    /// A file gets its name when all of it is there. If a fetch is cut off, run the same command again to resume it.
    /// Content whose checksum is known is verified. For other content, the first checksum is pinned beside the file, and
    /// a later file that differs is refused. Proxies are read from HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY.
    /// Prints the folder of each backbone.
    #[cfg(feature = "fetch")]
    Get(BackboneGetArgs),
    /// Show what a backbone takes and gives, and the tensors of its graph that can be read
    Info(BackboneInfoArgs),
}

#[derive(Debug, Args)]
pub struct BackboneListArgs {
    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataArgs,
}

#[cfg(feature = "fetch")]
#[derive(Debug, Args)]
pub struct BackboneGetArgs {
    /// Names, as `backbone list` shows them
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    /// Where to take the files instead: the address of a mirror, a folder, or the file itself
    #[arg(long, value_name = "URL|FOLDER|FILE")]
    from: Option<String>,

    /// Folder to put `backbones` into [default: the variable AUTOACTIVATOR_DATA if that folder is writable, or else the
    /// user's cache folder]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct BackboneInfoArgs {
    /// A backbone by name, or an ONNX file
    #[arg(value_name = "NAME|FILE")]
    backbone: PathBuf,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataArgs,
}

pub fn backbone(command: &BackboneCommand) -> Result<()> {
    match command {
        BackboneCommand::List(args) => list(args),
        #[cfg(feature = "fetch")]
        BackboneCommand::Get(args) => get(args),
        BackboneCommand::Info(args) => info(args),
    }
}

#[cfg(feature = "fetch")]
fn get(args: &BackboneGetArgs) -> Result<()> {
    // A wrong name is reported before anything is fetched.
    let known = args.names.iter().map(|name| find(name));
    for known in known.collect::<Result<Vec<_>>>()? {
        if known.address.is_none() && args.from.is_none() {
            anyhow::bail!(
                "{}: {}: give a mirror or the file with --from",
                known.name,
                known.about
            );
        }
        let entry = fetching::from(known.entry(), args.from.as_deref())?;
        let folder = fetching::destination(&entry, args.data_dir.as_deref(), Known::FOLDER)?;
        let got = fetching::get(&entry, &folder)?;
        tell(&entry, &folder, got)?;
        writeln!(terminal::stdout(), "{}", folder.join(&entry.name).display())?;
    }
    Ok(())
}

/// Says what was done, and how far the content can be trusted.
#[cfg(feature = "fetch")]
fn tell(entry: &dataset::fetch::Entry, folder: &std::path::Path, got: dataset::fetch::Got) -> Result<()> {
    let done = match got {
        dataset::fetch::Got::Fetched => "fetched",
        dataset::fetch::Got::AlreadyHere => "already here",
    };
    let pinned = dataset::fetch::pinned(entry, folder)?;
    if pinned.is_empty() {
        say!("{}: {done}, content verified", entry.name);
        return Ok(());
    }
    say!(
        "{}: {done}, content not verified: its publisher states no checksum",
        entry.name
    );
    for (file, sha256) in pinned {
        say!(
            "{}: sha256 {sha256} of {file} is pinned: a file that differs will be refused",
            entry.name
        );
    }
    Ok(())
}

#[cfg(feature = "fetch")]
fn find(name: &str) -> Result<&'static Known> {
    match Known::named(name) {
        Some(known) => Ok(known),
        None => anyhow::bail!("backbone '{name}' is not known; choose from {}", Known::names()),
    }
}

fn list(args: &BackboneListArgs) -> Result<()> {
    let folders = dataset::folders(args.data.dir().as_deref());
    let listed: Vec<Value> = Known::all()
        .iter()
        .map(|known| described(known, &folders))
        .collect();
    let text = if args.json {
        serde_json::to_string_pretty(&listed)? + "\n"
    } else {
        Known::all().iter().zip(&listed).map(line).collect()
    };
    terminal::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn described(known: &Known, folders: &[PathBuf]) -> Value {
    let files: Vec<&str> = known.files.iter().map(|file| file.file).collect();
    json!({
        "name": known.name,
        "about": known.about,
        "files": files,
        "address": known.address,
        "address_verified": false,
        "content_verified": known.is_of_one_content(),
        "path": known.folder(folders),
    })
}

fn line((known, listed): (&Known, &Value)) -> String {
    let place = match listed["path"].as_str() {
        Some(path) => path.to_owned(),
        None => format!("not here: {}", known.remedy()),
    };
    let from = match known.address {
        Some(address) => format!("from {address} (unverified; the first content is pinned)"),
        None => "no address is known; the content is verified".to_owned(),
    };
    format!(
        "{:<18}  {place}\n{:20}{}\n{:20}{from}\n",
        known.name, "", known.about, ""
    )
}

fn info(args: &BackboneInfoArgs) -> Result<()> {
    let (path, preset) = backbones::named(&args.backbone, &args.data)?;
    let spec = BackboneSpec {
        preset,
        ..BackboneSpec::default()
    };
    let backbone = Backbone::open(&path, spec, Runtime::default())?;
    for note in backbone.notes() {
        say!("note: {note}");
    }
    let outline = backbone.outline()?;
    let identity = backbone.placed_identity();
    let text = if args.json {
        let all = json!({ "identity": identity, "features": backbone.n_features(), "graph": outline });
        serde_json::to_string_pretty(&all)? + "\n"
    } else {
        let settings = &identity.settings;
        format!(
            "file      {}\nsha256    {}\nruns on   {}\nsettings  {} px, {}, {}, mean {:?}, scale {:?}, {}\nfeatures  {} from \
             {}\ninputs    {}\noutputs   {}\ninside    {}\n",
            path.display(),
            identity.sha256,
            identity.runtime.as_deref().unwrap_or_default(),
            settings.size,
            name(&json!(settings.layout)),
            name(&json!(settings.channels)),
            settings.mean,
            settings.scale,
            settings.resize,
            backbone.n_features(),
            settings.output,
            outline.inputs,
            outline.outputs,
            outline.inside.join(", "),
        )
    };
    terminal::stdout().write_all(text.as_bytes())?;
    Ok(())
}

fn name(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
