//! Connections: how many there may be, how long they may stay silent, and which one is closed when there is no room.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::header;
use axum::response::Response;
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
use crate::waiting::{Arriving, Patience};

/// Number of connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// How often to check whether to stop.
const STOP_ASKED_EVERY: Duration = Duration::from_millis(100);

/// How often to check whether the place of a connection that was closed is free, and how many times.
const PLACE_ASKED_EVERY: Duration = Duration::from_millis(1);
const PLACE_ASKED: usize = 50;

/// Number of connections that may have ended before they are forgotten.
const MANY: usize = 64;

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
    let mut open = Open::default();
    while !stop.load(Ordering::Relaxed) {
        match timeout(STOP_ASKED_EVERY, listener.accept()).await {
            Err(_) => {}
            // Most likely too many open files: that passes.
            Ok(Err(_)) => sleep(STOP_ASKED_EVERY).await,
            Ok(Ok((stream, from))) => {
                let client = Client::at(from.ip());
                let Some(place) = open.place(&places, client).await else {
                    continue;
                };
                let patience = Arc::new(Patience::new());
                let (router, app) = (router.clone(), Arc::clone(&app));
                let connection = converse(stream, client, router, app, Arc::clone(&patience), place);
                open.0.push(Connection {
                    client,
                    task: tokio::spawn(connection).abort_handle(),
                    patience,
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
    patience: Arc<Patience>,
    _place: Share,
) {
    let _ = stream.set_nodelay(true);
    let stream = Impatient::new(stream, app.limits.time);
    let _counted = app.metrics.connections.count();
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(client);
        let request = request.map(|body| Arriving::new(body, Arc::clone(&patience)));
        let (answer, patience) = (router.call(request), Arc::clone(&patience));
        async move {
            let answer = answer.await;
            // Who listens to events has no request under way, but does not keep anybody waiting either.
            if !answer.as_ref().is_ok_and(is_endless) {
                patience.wait();
            }
            answer
        }
    });
    // A connection that breaks off is not an error.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Whether an answer has no end: a client listens to changes.
fn is_endless(answer: &Response) -> bool {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind == "text/event-stream")
}

/// A connection, as seen by whoever accepts others.
struct Connection {
    client: Client,
    task: AbortHandle,
    patience: Arc<Patience>,
}

/// Connections, the oldest first. Some of them may have ended.
#[derive(Default)]
struct Open(Vec<Connection>);

impl Open {
    /// A place for one more connection of a client. If there is none, the connection that has kept the server waiting for
    /// longest is closed, whether it says nothing, stalls or rests: one of this client, if it has as many as one client may.
    async fn place(&mut self, places: &Budget, client: Client) -> Option<Share> {
        if self.0.len() > 2 * places.in_use() + MANY {
            self.forget();
        }
        if let Some(place) = places.take(client, 1) {
            return Some(place);
        }
        self.forget();
        let own = places.is_full_for(client);
        let goes = |connection: &&Connection| !own || connection.client == client;
        let waiting = |connection: &Connection| {
            let since = connection.patience.since()?;
            Some((since, connection.task.clone()))
        };
        let waiting = self.0.iter().filter(goes).filter_map(waiting);
        let (_, longest): (Instant, AbortHandle) = waiting.min_by_key(|(since, _)| *since)?;
        longest.abort();
        // Its place is free once its task has ended.
        for _ in 0..PLACE_ASKED {
            sleep(PLACE_ASKED_EVERY).await;
            if let Some(place) = places.take(client, 1) {
                return Some(place);
            }
        }
        None
    }

    /// Forgets connections that have ended.
    fn forget(&mut self) {
        self.0.retain(|connection| !connection.task.is_finished());
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;

    use super::*;

    /// A connection of a client that never ends by itself.
    fn connected(places: &Budget, n: u8) -> Connection {
        let client = Client::at([10, 0, 0, n].into());
        let place = places.take(client, 1).unwrap();
        let forever = async move {
            let _place = place;
            std::future::pending::<()>().await;
        };
        Connection {
            client,
            task: tokio::spawn(forever).abort_handle(),
            patience: Arc::new(Patience::new()),
        }
    }

    #[test]
    fn who_has_kept_the_server_waiting_for_longest_makes_room() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let places = Budget::new(4);
            let mut open = Open((0..4).map(|i| connected(&places, 1 + i / 2)).collect());
            for place in [3, 0, 1, 2] {
                sleep(Duration::from_millis(5)).await;
                open.0[place].patience.wait();
            }
            open.0[3].patience.work();
            let tasks: Vec<AbortHandle> = open.0.iter().map(|one| one.task.clone()).collect();
            let ended = || -> Vec<bool> { tasks.iter().map(AbortHandle::is_finished).collect() };
            let of = |n: u8| Client::at([10, 0, 0, n].into());
            let third = open.place(&places, of(3)).await;
            assert!(third.is_some());
            assert_eq!(ended(), [true, false, false, false]);
            // The second client has as many as one may: one of its own goes.
            assert!(open.place(&places, of(2)).await.is_some());
            assert_eq!(ended(), [true, false, true, false]);
            // Whoever is worked for stays.
            let _second = places.take(of(2), 1).unwrap();
            assert!(open.place(&places, of(2)).await.is_none());
        });
    }
}
