//! Whether anybody still waits for an answer: work that nobody waits for is given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use autoactivator::{Error, Observer};

/// Tells a piece of work whether it is still wanted.
#[derive(Clone, Default)]
pub(crate) struct Wanted(Arc<AtomicBool>);

/// The client's end: once dropped, because the client has gone or the time is up, the work is no longer wanted.
pub(crate) struct Waiting(Wanted);

impl Wanted {
    /// Work that is wanted for as long as the other end lives.
    pub(crate) fn new() -> (Self, Waiting) {
        let wanted = Self::default();
        (wanted.clone(), Waiting(wanted))
    }

    /// Ends work that nobody waits for; to be called between steps that take a fraction of a second.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.interrupted() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

impl Observer for Wanted {
    fn interrupted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
