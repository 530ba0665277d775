//! How many of something there are at the moment: requests, connections, pieces of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number that goes up and down.
#[derive(Clone, Default)]
pub(crate) struct Gauge(Arc<AtomicUsize>);

/// One of those that are counted, for as long as this lives.
pub(crate) struct One(Gauge);

impl Gauge {
    /// Counts one more.
    pub(crate) fn count(&self) -> One {
        self.0.fetch_add(1, Ordering::Relaxed);
        One(self.clone())
    }

    pub(crate) fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
