//! How long a client has kept its connection waiting: with the head or the body of a request, or between two of them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};

/// Whether a connection waits for its client, and since when.
pub(crate) struct Patience {
    began: Instant,
    /// Milliseconds from the beginning; [`AT_WORK`] while the server works for the client.
    since: AtomicU64,
}

const AT_WORK: u64 = u64::MAX;

impl Patience {
    /// Waits from now on.
    pub(crate) fn new() -> Self {
        Self {
            began: Instant::now(),
            since: AtomicU64::new(0),
        }
    }

    /// It is the client's turn from now on.
    pub(crate) fn wait(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(AT_WORK);
        self.since.store(now, Ordering::Relaxed);
    }

    /// It is the server's turn.
    pub(crate) fn work(&self) {
        self.since.store(AT_WORK, Ordering::Relaxed);
    }

    /// Since when it has waited; none if the server is at work.
    pub(crate) fn since(&self) -> Option<Instant> {
        let since = Some(self.since.load(Ordering::Relaxed)).filter(|&since| since != AT_WORK)?;
        Some(self.began + Duration::from_millis(since))
    }
}

/// The body of a request: once it is whole, the client has done its part.
pub(crate) struct Arriving {
    body: Incoming,
    patience: Arc<Patience>,
}

impl Arriving {
    pub(crate) fn new(body: Incoming, patience: Arc<Patience>) -> Self {
        let arriving = Self { body, patience };
        arriving.note();
        arriving
    }

    fn note(&self) {
        if self.body.is_end_stream() {
            self.patience.work();
        }
    }
}

impl HttpBody for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let frame = Pin::new(&mut this.body).poll_frame(context);
        match &frame {
            Poll::Ready(None) => this.patience.work(),
            Poll::Ready(Some(_)) => this.note(),
            Poll::Pending => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
