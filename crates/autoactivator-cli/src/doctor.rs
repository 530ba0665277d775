//! `autoactivator doctor`: what is found on this machine. It changes nothing, and finds nothing wrong: it ends well
//! whatever it finds, so that its answer can go into a report.

use std::fmt;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Result;
use autoactivator::counted;
use autoactivator::math::instruction_set;
use autoactivator_data::{Known, Runtime, dataset};
use clap::Args;
use serde::Serialize;

use crate::args::DataArgs;
use crate::config::{self, Config};
use crate::rows::default_cache;
use crate::terminal;

/// Where `serve` listens unless it is told otherwise.
const LISTEN: &str = "127.0.0.1:7878";

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataArgs,
}

pub fn doctor(args: &DoctorArgs) -> Result<()> {
    let findings = Findings::here(args);
    let text = if args.json {
        serde_json::to_string_pretty(&findings)? + "\n"
    } else {
        findings.to_string()
    };
    terminal::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Everything that was found.
#[derive(Serialize)]
struct Findings {
    version: &'static str,
    system: String,
    /// Optional parts that this build has.
    features: Vec<&'static str>,
    cores: usize,
    instruction_set: &'static str,
    data_folders: Vec<Folder>,
    data_sets: Vec<Set>,
    backbones: Vec<Set>,
    cache: Option<Cache>,
    onnxruntime: Found,
    server: Address,
    configuration: Configuration,
}

#[derive(Serialize)]
struct Folder {
    path: PathBuf,
    exists: bool,
}

/// A data set or backbone that is known by name, and where it is, if it is here.
#[derive(Serialize)]
struct Set {
    name: &'static str,
    path: Option<PathBuf>,
}

/// Features that were computed before.
#[derive(Serialize)]
struct Cache {
    path: PathBuf,
    files: usize,
    bytes: u64,
}

/// A version, or why there is none.
#[derive(Serialize)]
struct Found {
    version: Option<String>,
    reason: Option<String>,
}

/// Where a server would listen.
#[derive(Serialize)]
struct Address {
    listen: String,
    is_free: bool,
}

#[derive(Serialize)]
struct Configuration {
    path: Option<PathBuf>,
    exists: bool,
    settings: Vec<String>,
    error: Option<String>,
}

impl Findings {
    fn here(args: &DoctorArgs) -> Self {
        let (config, configuration) = configuration();
        let configured = |name| config.as_ref().and_then(|config| config.value(name));
        let data_dir = args
            .data
            .dir()
            .or_else(|| configured("data-dir").map(PathBuf::from));
        let folders = dataset::folders(data_dir.as_deref());
        let cache = configured("cache").map(PathBuf::from).or_else(default_cache);
        let onnxruntime = Runtime::installed();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            system: format!("{}, {}", std::env::consts::OS, std::env::consts::ARCH),
            features: features(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            instruction_set: instruction_set(),
            data_sets: dataset::NAMES
                .iter()
                .map(|&name| Set {
                    name,
                    path: first(&folders, name),
                })
                .collect(),
            backbones: Known::all()
                .iter()
                .map(|known| Set {
                    name: known.name,
                    path: known.folder(&folders),
                })
                .collect(),
            data_folders: folders
                .into_iter()
                .map(|path| Folder {
                    exists: path.is_dir(),
                    path,
                })
                .collect(),
            cache: cache.map(measured),
            onnxruntime: Found {
                version: onnxruntime.as_ref().ok().cloned(),
                reason: onnxruntime.err(),
            },
            server: address(configured("serve.listen").unwrap_or(LISTEN)),
            configuration,
        }
    }
}

/// Optional parts of this build.
fn features() -> Vec<&'static str> {
    let all = [
        ("backbones", cfg!(feature = "backbones")),
        ("fetch", cfg!(feature = "fetch")),
        ("npz", cfg!(feature = "npz")),
        ("ort", cfg!(feature = "ort")),
        ("parquet", cfg!(feature = "parquet")),
        ("server", cfg!(feature = "server")),
        ("text", cfg!(feature = "text")),
    ];
    all.iter()
        .filter(|(_, is_in)| *is_in)
        .map(|(name, _)| *name)
        .collect()
}

/// A folder of this name in the first folder that has one.
fn first(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let mut places = folders.iter().map(|folder| folder.join(name));
    places.find(|place| place.is_dir())
}

fn measured(path: PathBuf) -> Cache {
    let found = std::fs::read_dir(&path).into_iter().flatten().flatten();
    let sizes = found
        .filter_map(|file| file.metadata().ok())
        .filter(|file| file.is_file());
    let (files, bytes) = sizes.fold((0, 0), |(n, bytes), file| (n + 1, bytes + file.len()));
    Cache { path, files, bytes }
}

fn address(listen: &str) -> Address {
    Address {
        listen: listen.to_owned(),
        is_free: TcpListener::bind(listen).is_ok(),
    }
}

/// What the configuration file says, and what is to be told about it.
fn configuration() -> (Option<Config>, Configuration) {
    let path = config::place();
    let (config, error) = match Config::load() {
        Ok(config) => (config, None),
        Err(error) => (None, Some(crate::message(&error))),
    };
    let told = Configuration {
        exists: path.as_deref().is_some_and(Path::exists),
        path,
        settings: config.as_ref().map(Config::names).unwrap_or_default(),
        error,
    };
    (config, told)
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, "version", &format!("{} ({})", self.version, self.system))?;
        line(f, "features", &self.features.join(", "))?;
        line(f, "cores", &self.cores.to_string())?;
        line(f, "instructions", self.instruction_set)?;
        for folder in &self.data_folders {
            let absent = if folder.exists { "" } else { " (not there)" };
            line(f, "data folder", &format!("{}{absent}", folder.path.display()))?;
        }
        let sets = self.data_sets.iter().map(|set| match &set.path {
            _ if set.name == "digits" => "digits (built in)".to_owned(),
            Some(path) => format!("{} ({})", set.name, path.display()),
            None => format!("{} (not here)", set.name),
        });
        lines(f, "data sets", sets)?;
        let backbones = self.backbones.iter().map(|set| match &set.path {
            Some(path) => format!("{} ({})", set.name, path.display()),
            None => format!("{} (not here)", set.name),
        });
        lines(f, "backbones", backbones)?;
        match &self.cache {
            Some(Cache { path, files, bytes }) => {
                let size = format!("{}, {:.1} MB", counted(*files, "file"), *bytes as f64 / 1e6);
                line(f, "cache", &format!("{}: {size}", path.display()))?;
            }
            None => line(f, "cache", "none: the environment names no folder for it")?,
        }
        let Found { version, reason } = &self.onnxruntime;
        let found = version.as_deref().or(reason.as_deref());
        line(f, "onnxruntime", found.unwrap_or_default())?;
        let free = if self.server.is_free { "free" } else { "in use" };
        line(f, "server", &format!("{} is {free}", self.server.listen))?;
        line(f, "configuration", &self.configuration.to_string())
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(path) = &self.path else {
            return f.write_str("none: the environment names no folder for it");
        };
        match &self.error {
            Some(error) => write!(f, "not usable: {error}"),
            None if !self.exists => write!(f, "none (it would be {})", path.display()),
            None => write!(f, "{}: {}", path.display(), self.settings.join(", ")),
        }
    }
}

/// A line with its title, in one column.
fn line(f: &mut fmt::Formatter<'_>, title: &str, text: &str) -> fmt::Result {
    writeln!(f, "{title:<14} {text}")
}

/// Several lines under one title.
fn lines(f: &mut fmt::Formatter<'_>, title: &str, texts: impl Iterator<Item = String>) -> fmt::Result {
    for (place, text) in texts.enumerate() {
        line(f, if place == 0 { title } else { "" }, &text)?;
    }
    Ok(())
}
