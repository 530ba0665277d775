//! One line per request on stderr: method, route, status, milliseconds. Never what was sent.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;

use crate::app::App;

/// Counts and logs a request.
pub(crate) async fn log(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = known(request.method().as_str());
    let matched = request.extensions().get::<MatchedPath>();
    let path = matched.map_or_else(|| "-".to_owned(), |path| path.as_str().to_owned());
    let in_flight = InFlight::new(&app);
    let response = next.run(request).await;
    drop(in_flight);
    let (status, took) = (response.status().as_u16(), began.elapsed());
    app.metrics.count(method, &path, status, took);
    if !app.quiet {
        let milliseconds = took.as_secs_f64() * 1e3;
        // Ignored, since nobody may be reading stderr any more.
        let _ = writeln!(
            std::io::stderr().lock(),
            "{method} {path} {status} {milliseconds:.1} ms"
        );
    }
    response
}

/// The method if it is a common one, else "-": clients can make up any number of others.
fn known(method: &str) -> &'static str {
    let methods = ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"];
    methods.into_iter().find(|known| *known == method).unwrap_or("-")
}

/// Counts a request in flight for as long as this lives.
struct InFlight<'a>(&'a App);

impl<'a> InFlight<'a> {
    fn new(app: &'a App) -> Self {
        app.metrics.in_flight.fetch_add(1, Ordering::Relaxed);
        Self(app)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.metrics.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
