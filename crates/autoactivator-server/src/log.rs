//! One line per request on stderr: method, route, status, milliseconds. Never what was sent.
//!
//! A thread of its own writes the lines: whoever reads stderr slowly, or not at all, keeps no answer waiting. Lines for
//! which there is no room are counted and dropped.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;

/// Lines that may wait to be written.
const WAITING: usize = 1024;

/// Where lines go; none if requests are not logged.
pub(crate) struct Log(Option<SyncSender<String>>);

impl Log {
    pub(crate) fn off() -> Self {
        Self(None)
    }

    /// Starts the thread that writes. It ends once the log is dropped and every line is written, which may be never.
    pub(crate) fn start() -> std::io::Result<(Self, JoinHandle<()>)> {
        let (lines, waiting) = sync_channel(WAITING);
        let thread = Builder::new()
            .name("log".to_owned())
            .spawn(move || write_all(&waiting))?;
        Ok((Self(Some(lines)), thread))
    }

    /// Warns, if there is room for the line.
    pub(crate) fn warn(&self, text: &str) {
        self.write(|| format!("warning: {text}"));
    }

    /// Hands over a line; false if there is no room for it.
    fn write(&self, line: impl FnOnce() -> String) -> bool {
        match &self.0 {
            Some(lines) => lines.try_send(line()).is_ok(),
            None => true,
        }
    }
}

fn write_all(lines: &Receiver<String>) {
    for line in lines {
        // Ignored, since nobody may be reading stderr any more.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }
}

/// Counts and logs a request.
pub(crate) async fn log(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = known(request.method().as_str());
    let matched = request.extensions().get::<MatchedPath>();
    let path = matched.map_or_else(|| "-".to_owned(), |path| path.as_str().to_owned());
    let in_flight = app.metrics.in_flight.count();
    let response = next.run(request).await;
    drop(in_flight);
    let (status, took) = (response.status().as_u16(), began.elapsed());
    app.metrics.count(method, &path, status, took);
    let milliseconds = took.as_secs_f64() * 1e3;
    let line = || format!("{method} {path} {status} {milliseconds:.1} ms");
    if !app.log.write(line) {
        app.metrics.lines_dropped.fetch_add(1, Ordering::Relaxed);
    }
    response
}

/// The method if it is a common one, else "-": clients can make up any number of others.
fn known(method: &str) -> &'static str {
    let methods = ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"];
    methods.into_iter().find(|known| *known == method).unwrap_or("-")
}
