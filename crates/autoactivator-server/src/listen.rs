//! Connections: how many there may be, how long they may stay silent, and which one is closed when there is no room.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::app::App;
use crate::budget::{Budget, Share};
use crate::client::Client;
use crate::error::Error;
use crate::limits::HEAD_TIME;
use crate::slow::Impatient;

/// Number of connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// How often to check whether to stop.
const STOP_ASKED_EVERY: Duration = Duration::from_millis(100);

/// How often to check whether the place of a connection that was closed is free, and how many times.
const PLACE_ASKED_EVERY: Duration = Duration::from_millis(1);
const PLACE_ASKED: usize = 50;

/// Number of files that are open besides connections.
#[cfg(unix)]
const OTHER_FILES: u64 = 128;

/// Listens on `address`, even right after another process did.
pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    let bound = || {
        let socket = if address.is_ipv4() {
            TcpSocket::new_v4()?
        } else {
            TcpSocket::new_v6()?
        };
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bound().map_err(|cause| Error::Listen { address, cause })
}

/// The number of connections that the system allows, up to `wanted`; raises the system's limit as far as possible.
pub(crate) fn room_for(wanted: usize) -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let mut files = getrlimit(Resource::Nofile);
        files.current = files.maximum;
        let _ = setrlimit(Resource::Nofile, files);
        if let Some(allowed) = getrlimit(Resource::Nofile).current {
            let allowed = usize::try_from(allowed.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX);
            return wanted.min(allowed).max(1);
        }
    }
    wanted
}

/// Accepts connections until told to stop.
pub(crate) async fn accept(
    listener: TcpListener,
    app: Arc<App>,
    router: Router,
    room: usize,
    stop: &AtomicBool,
) {
    let places = Budget::new(room);
    let mut silent = Silent::default();
    while !stop.load(Ordering::Relaxed) {
        match timeout(STOP_ASKED_EVERY, listener.accept()).await {
            Err(_) => {}
            // Most likely too many open files: that passes.
            Ok(Err(_)) => sleep(STOP_ASKED_EVERY).await,
            Ok(Ok((stream, from))) => {
                let client = Client::at(from.ip());
                let Some(place) = silent.place(&places, client).await else {
                    continue;
                };
                let spoke = Arc::new(AtomicBool::new(false));
                let (router, app) = (router.clone(), Arc::clone(&app));
                let connection = converse(stream, client, router, app, Arc::clone(&spoke), place);
                silent.add(Quiet {
                    client,
                    connection: tokio::spawn(connection).abort_handle(),
                    spoke,
                });
            }
        }
    }
}

/// Answers the requests of one connection.
async fn converse(
    stream: TcpStream,
    client: Client,
    router: Router,
    app: Arc<App>,
    spoke: Arc<AtomicBool>,
    _place: Share,
) {
    let _ = stream.set_nodelay(true);
    let stream = Impatient::new(stream, app.limits.time);
    let _counted = app.metrics.connections.count();
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(client);
        spoke.store(true, Ordering::Relaxed);
        router.call(request)
    });
    // A connection that breaks off is not an error.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// A connection that has not sent a request yet, as far as is known.
struct Quiet {
    client: Client,
    connection: AbortHandle,
    spoke: Arc<AtomicBool>,
}

impl Quiet {
    /// Whether it has ended or has sent a request.
    fn is_over(&self) -> bool {
        self.connection.is_finished() || self.spoke.load(Ordering::Relaxed)
    }
}

/// Connections that have not sent a request yet, the oldest first.
#[derive(Default)]
struct Silent(VecDeque<Quiet>);

impl Silent {
    fn add(&mut self, quiet: Quiet) {
        while self.0.front().is_some_and(Quiet::is_over) {
            self.0.pop_front();
        }
        self.0.push_back(quiet);
    }

    /// A place for one more connection of a client. If there is none, the connection that has been silent longest is
    /// closed: one of this client, if it has as many as one client may.
    async fn place(&mut self, places: &Budget, client: Client) -> Option<Share> {
        if let Some(place) = places.take(client, 1) {
            return Some(place);
        }
        let own = places.is_full_for(client);
        let goes = |quiet: &Quiet| !quiet.is_over() && (!own || quiet.client == client);
        let longest = self.0.iter().position(goes)?;
        self.0.remove(longest)?.connection.abort();
        // Its place is free once its task has ended.
        for _ in 0..PLACE_ASKED {
            sleep(PLACE_ASKED_EVERY).await;
            if let Some(place) = places.take(client, 1) {
                return Some(place);
            }
        }
        None
    }
}
