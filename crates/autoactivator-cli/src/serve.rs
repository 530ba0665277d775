//! `autoactivator serve`: starts the server on a model file, which is created if it does not exist.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use autoactivator::{ConsolidationParams, Error, Model, ModelFile};
use autoactivator_data::Part;
use autoactivator_data::origin::difference;
use autoactivator_data::{Encoder, Extractor};
use autoactivator_server::{HeldOut, Limits, Options, Server, Token, starter};
use clap::Args;

use crate::args::{DataArgs, NewModelArgs, RowsArgs};
use crate::backbones;
use crate::browser;
use crate::demo::Demo;
use crate::encoders;
use crate::image_args::ImageArgs;
use crate::interrupt;
use crate::learn::make;
use crate::rows::{Expected, RowSource};
use crate::terminal::{self, Voice};
use crate::text_args::TextArgs;

/// The environment variables that hold the token and the read token.
const TOKEN: &str = "AUTOACTIVATOR_TOKEN";
const READ_TOKEN: &str = "AUTOACTIVATOR_READ_TOKEN";

#[derive(Debug, Args)]
#[command(allow_negative_numbers = true)]
pub struct ServeArgs {
    /// The model file; if it does not exist, it starts with the built-in digits 0 to 4
    /// [default: autoactivator.aact, or photos.aact with --demo photos]
    model: Option<PathBuf>,

    /// What a new model begins with; photographs go through the backbone efficientnet-lite0
    #[arg(long, value_enum, value_name = "NAME", default_value = "digits")]
    demo: Demo,

    /// Open the page in the browser
    #[arg(long)]
    open: bool,

    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,

    /// Start a new model with nothing learned
    #[arg(long)]
    empty: bool,

    /// Rows that show what is remembered: a table, a folder of images, or the test part of a data set; whoever has the
    /// token can see them
    #[arg(long, value_name = "ROWS")]
    held_out: Option<PathBuf>,

    /// Keep rows that are answered "unknown", the newest N, in the file NAME.unknown beside the model, so that whoever has
    /// the token can look at them and name them [default: none are kept]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    keep_unknown: Option<u32>,

    /// File that holds the token, which allows everything [default: the variable AUTOACTIVATOR_TOKEN; not needed on this machine]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// File that holds the read token, which only allows to ask [default: the variable AUTOACTIVATOR_READ_TOKEN]
    #[arg(long, value_name = "FILE")]
    read_token_file: Option<PathBuf>,

    /// Let everybody who can connect ask; without this, other machines need a token for everything
    #[arg(long, conflicts_with = "read_token_file")]
    public: bool,

    /// Origin whose pages may also send requests, such as https://lab.example; can be given several times
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    cors: Vec<String>,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    images: ImageArgs,

    #[command(flatten)]
    texts: TextArgs,

    #[command(flatten)]
    new: NewModelArgs,

    // Last, because its heading would otherwise also stand above options that follow.
    #[command(flatten)]
    limits: LimitArgs,
}

/// How much a request may ask for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArgs {
    /// Rows or images per request
    #[arg(long, value_name = "N", default_value_t = Limits::default().rows)]
    max_rows: usize,

    /// Megabytes per request
    #[arg(long, value_name = "MB", default_value_t = Limits::default().body_bytes >> 20, value_parser = megabytes)]
    max_body: usize,

    /// Megabytes per request that merges a model
    #[arg(long, value_name = "MB", default_value_t = Limits::default().model_bytes >> 20, value_parser = megabytes)]
    max_model: usize,

    /// Megabytes of the answers to one request
    #[arg(long, value_name = "MB", default_value_t = Limits::default().answer_bytes >> 20, value_parser = megabytes)]
    max_answer: usize,

    /// Megabytes per image file
    #[arg(long, value_name = "MB", default_value_t = Limits::default().image_bytes >> 20, value_parser = megabytes)]
    max_image: usize,

    /// Megabytes of the file of --keep-unknown
    #[arg(long, value_name = "MB", default_value_t = Limits::default().unknown_bytes >> 20, value_parser = megabytes)]
    max_unknown: usize,

    /// Changes waiting in the queue
    #[arg(long, value_name = "N", default_value_t = Limits::default().queue)]
    max_queue: usize,

    /// Connections open at once
    #[arg(long, value_name = "N", default_value_t = Limits::default().connections)]
    max_connections: usize,

    /// Seconds per request
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
}

impl LimitArgs {
    fn limits(&self) -> Limits {
        Limits {
            rows: self.max_rows,
            body_bytes: self.max_body << 20,
            model_bytes: self.max_model << 20,
            answer_bytes: self.max_answer << 20,
            image_bytes: self.max_image << 20,
            unknown_bytes: self.max_unknown << 20,
            queue: self.max_queue,
            connections: self.max_connections,
            time: Duration::from_secs(self.time_limit),
            ..Limits::default()
        }
    }
}

impl ServeArgs {
    fn path(&self) -> &Path {
        let path = self.model.as_deref();
        path.unwrap_or_else(|| Path::new(self.demo.file()))
    }
}

pub fn serve(args: &ServeArgs) -> Result<()> {
    let token = token(args.token_file.as_deref(), "--token-file", TOKEN)?;
    let read_token = read_token(args)?;
    let path = args.path();
    // The lock is held from here on, so nobody else can change the file between reading and writing. It also shows
    // whether the folder can be written to.
    let file = ModelFile::lock(path)?;
    let found = if file.exists() { Some(file.read()?) } else { None };
    let expected = Expected::of(found.as_ref(), path);
    let images = match found {
        None => args.demo.images(&args.images, &args.data)?,
        Some(_) => args.images.clone(),
    };
    let encoder = encoders::open_to_serve(&images, &args.texts, &args.data, &expected)?;
    let backbones = if encoder.is_some() || encoders::is_of_sentences(&images, &args.data, &expected) {
        None
    } else {
        backbones::open_to_serve(&images, &args.data, &expected)?
    };
    let model = open(found, args, backbones.as_ref(), encoder.as_ref())?;
    let options = Options {
        listen: args.listen,
        token,
        read_token,
        public: args.public,
        cors: args.cors.clone(),
        limits: Limits {
            unknown_rows: args.keep_unknown.unwrap_or(0) as usize,
            ..args.limits.limits()
        },
        backbones,
        encoder,
        held_out: args
            .held_out
            .as_ref()
            .map(|rows| held_out(args, rows, &model))
            .transpose()?,
        quiet: terminal::voice() == Voice::Quiet,
    };
    let server = Server::start(options, model, file)?;
    let stop = server.stop();
    thread::spawn(move || {
        while !interrupt::requested() {
            thread::sleep(Duration::from_millis(50));
        }
        stop.store(true, Ordering::Relaxed);
    });
    // Whoever wants quiet still has to know where: the port may be one that the system chose.
    warn!(
        "{}: listening on http://{} - Ctrl-C stops it",
        path.display(),
        server.address()
    );
    if args.open {
        browser::open(server.address());
    }
    server.run();
    Ok(())
}

/// The model in the file, or a new one, which the server writes once it can start.
fn open(
    found: Option<Model>,
    args: &ServeArgs,
    backbones: Option<&Extractor>,
    encoder: Option<&Encoder>,
) -> Result<Model> {
    let of_texts = encoder.map(Encoder::placed_origin);
    let origin = of_texts.or_else(|| backbones.map(Extractor::placed_origin));
    let origin = origin.and_then(|origin| serde_json::to_value(origin).ok());
    if let Some(model) = found {
        if let Some(reason) = difference(model.origin(), origin.as_ref()) {
            bail!("{}: {reason}", args.path().display());
        }
        return Ok(model);
    }
    let model = if args.empty || origin.is_some() {
        let mut model = make(&args.new, &ConsolidationParams::default())?;
        model.set_origin(origin);
        model
    } else {
        let params = ConsolidationParams {
            image: starter::image()?,
            ..starter::params()
        };
        starter::starter(make(&args.new, &params)?)?
    };
    Ok(model)
}

fn held_out(args: &ServeArgs, rows: &Path, model: &Model) -> Result<HeldOut> {
    let rows = RowsArgs {
        texts: args.texts.clone(),
        ..RowsArgs::of_images(rows.to_owned(), args.images.clone(), args.data.clone())
    };
    let source = RowSource::open(&rows, Part::Test, &Expected::of(Some(model), args.path()))?;
    let (x, y) = source.collect(&[])?;
    if let Some(expected) = model.n_features() {
        let found = x.rows().n_features();
        if found != expected {
            return Err(Error::FeatureCount { expected, found }).with_context(|| rows.name());
        }
    }
    // If an image was left out, the others are no longer at the places of their rows.
    let mut pictures: Vec<PathBuf> = source.images().map(|(_, path)| path).collect();
    if pictures.len() != y.len() {
        pictures.clear();
    }
    Ok(HeldOut {
        data: rows.name(),
        x,
        y,
        pictures,
    })
}

/// A token from the file of an option, or from a variable.
fn token(file: Option<&Path>, option: &str, variable: &str) -> Result<Option<Token>> {
    let (text, from) = match file {
        Some(path) => {
            let from = format!("{option} {}", path.display());
            let text = std::fs::read_to_string(path).with_context(|| from.clone())?;
            (text, from)
        }
        None => match std::env::var(variable) {
            Ok(text) => (text, variable.to_owned()),
            Err(_) => return Ok(None),
        },
    };
    Ok(Some(Token::new(&text).context(from)?))
}

/// The read token; none if everybody may ask.
fn read_token(args: &ServeArgs) -> Result<Option<Token>> {
    if args.public {
        return Ok(None);
    }
    token(args.read_token_file.as_deref(), "--read-token-file", READ_TOKEN)
}

fn origin(text: &str) -> Result<String, String> {
    let host = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"));
    match host {
        Some(host) if !host.is_empty() && !host.contains('/') => Ok(text.to_owned()),
        _ => Err("expected an origin such as https://lab.example, without a path".to_owned()),
    }
}

fn megabytes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(megabytes @ 1..=1_000_000) => Ok(megabytes),
        _ => Err("expected a number from 1 to 1,000,000".to_owned()),
    }
}
