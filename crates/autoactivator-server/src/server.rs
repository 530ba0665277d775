//! The server: listens, and answers requests until told to stop.

use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use autoactivator::{Model, ModelFile};
use autoactivator_data::{Encoder, Extractor};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::time::sleep;

use crate::app::App;
use crate::budget::Budget;
use crate::digest::sha256;
use crate::drift::Watched;
use crate::edition::{Current, Edition};
use crate::error::Error;
use crate::guard::Guard;
use crate::held_out::HeldOut;
use crate::journal::Journal;
use crate::limits::Limits;
use crate::listen;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::room::Room;
use crate::routes::router;
use crate::starter::Digits;
use crate::threads;
use crate::tokens::{Token, Tokens};
use crate::turns::Turns;
use crate::unknown::Keeper;
use crate::writer::Writer;

/// How long requests in progress may still take when the server is told to stop.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long what is written aside may take to end.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Settings of a server.
pub struct Options {
    /// Where to listen.
    pub listen: SocketAddr,
    /// The token that allows everything.
    pub token: Option<Token>,
    /// The token that only allows to ask.
    pub read_token: Option<Token>,
    /// Whether everybody who can connect may ask, without a token.
    pub public: bool,
    /// Origins whose pages may use this server too.
    pub cors: Vec<String>,
    /// How much a request may ask for.
    pub limits: Limits,
    /// The backbones in front of the model.
    pub backbones: Option<Extractor>,
    /// The sentence encoder in front of the model.
    pub encoder: Option<Encoder>,
    /// Held-out rows to examine the model on.
    pub held_out: Option<HeldOut>,
    /// Whether request logging is off.
    pub quiet: bool,
}

/// A server that listens but does not answer yet.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
    writer: JoinHandle<()>,
    /// The threads that write the log and keep rows, if there are any.
    aside: Vec<JoinHandle<()>>,
    room: usize,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Starts listening for requests to `model`, which is what `file` holds. If the file does not exist yet, it is written
    /// last, so that a server that cannot start leaves nothing behind.
    pub fn start(options: Options, model: Model, file: ModelFile) -> Result<Self, Error> {
        let loopback = options.listen.ip().is_loopback();
        if !loopback && options.token.is_none() {
            return Err(Error::NoToken {
                address: options.listen,
            });
        }
        if options.read_token.is_some() && (options.token.is_none() || options.read_token == options.token) {
            return Err(Error::ReadTokenAlone);
        }
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(processors)
            .thread_name("answering")
            .enable_all()
            .build()?;
        let listener = {
            let _inside = runtime.enter();
            listen::bind(options.listen)?
        };
        let address = listener.local_addr()?;
        let limits = options.limits;
        let digits = Digits::behind(&model)?;
        let bytes = if file.exists() {
            std::fs::read(file.path())?
        } else {
            let bytes = model.to_bytes()?;
            file.write_bytes(&bytes)?;
            Journal::forget(file.path())?;
            bytes
        };
        let (file_bytes, digest) = (bytes.len() as u64, sha256(&[&bytes]));
        drop(bytes);
        let journal = Journal::open(file.path(), &digest)?;
        let kept = limits.unknown_rows > 0;
        let kept = kept.then(|| Keeper::start(file.path(), &model, &journal, limits));
        let (keeper, keeping) = kept.transpose()?.unzip();
        let edition = Edition::new(model, journal.version(), file_bytes, digest);
        let current = Arc::new(Current::new(edition));
        let stop = Arc::new(AtomicBool::new(false));
        let path = file.path().to_owned();
        let started = Writer::start(file, journal, Arc::clone(&current), limits, Arc::clone(&stop))?;
        let (writer, writing) = started;
        let (log, logging) = if options.quiet {
            (Log::off(), None)
        } else {
            let (log, thread) = Log::start()?;
            (log, Some(thread))
        };
        let tokens = Tokens::new(options.token, options.read_token);
        let app = Arc::new(App {
            current,
            writer,
            path,
            limits,
            guard: Guard::new(tokens, options.public, options.cors, loopback),
            backbones: options.backbones,
            encoder: options.encoder,
            held_out: options.held_out.or_else(|| digits.as_ref().map(Digits::held_out)),
            digits,
            metrics: Metrics::default(),
            keeper,
            drift: Watched::default(),
            log,
            unread: Budget::new(limits.all_answers()),
            listeners: Budget::new(limits.listeners()),
            // As many as there are turns, or more.
            threads: threads::pool("asking", threads::ASKING, Some(4 * processors + 1))?,
            questions: Room::for_questions(&limits, processors),
            short: Turns::new(processors, processors + 1),
            changes: Room::for_changes(&limits, processors),
        });
        Ok(Self {
            runtime,
            listener,
            address,
            app,
            writer: writing,
            aside: logging.into_iter().chain(keeping).collect(),
            room: listen::room_for(limits.connections),
            stop,
        })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The flag that ends [`run`](Self::run) once it is set.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Answers requests until [`stop`](Self::stop) is set. Every change acknowledged by then is on disk; a
    /// change that is still being learned is abandoned.
    pub fn run(self) {
        let router = router(&self.app);
        let (app, room, stop) = (Arc::clone(&self.app), self.room, &self.stop);
        self.runtime.block_on(async {
            listen::accept(self.listener, Arc::clone(&app), router, room, stop).await;
            let told = Instant::now();
            while app.metrics.in_flight.now() > 0 && told.elapsed() < LAST_WORDS {
                sleep(Duration::from_millis(10)).await;
            }
        });
        drop((app, self.app));
        // Closing all connections drops the last handle of the writer, which then ends.
        self.runtime.shutdown_timeout(LAST_WORDS);
        let _ = self.writer.join();
        // The last rows that are kept, and the last lines, unless nobody reads them.
        let told = Instant::now();
        while !self.aside.iter().all(JoinHandle::is_finished) && told.elapsed() < LAST_LINES {
            thread::sleep(Duration::from_millis(5));
        }
    }
}
