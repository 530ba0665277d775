//! Long calls: they release the GIL, so that other Python threads can run, and they respond to Ctrl-C.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use autoactivator::math::until;
use autoactivator::{Error, Observer};
use autoactivator_exam::run::Progress;
use pyo3::prelude::*;

use crate::error::{raise, raise_exam, raise_features};

/// How often to check Python for signals.
const SIGNALS_ASKED_EVERY: Duration = Duration::from_millis(20);

/// Runs a job of the method without the GIL. If Ctrl-C ends it, the exception is Python's own.
pub fn work<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&mut Signals) -> Result<T, Error> + Send,
) -> PyResult<T> {
    detached(py, job, raise)
}

/// Runs a job of the exam in the same way.
pub fn examine<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&mut Signals) -> Result<T, autoactivator_exam::Error> + Send,
) -> PyResult<T> {
    detached(py, job, raise_exam)
}

/// Runs a job that reads files in the same way.
pub fn work_on_files<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&mut Signals) -> Result<T, autoactivator_data::Error> + Send,
) -> PyResult<T> {
    detached(py, job, raise_features)
}

fn detached<T: Send, E: Send>(
    py: Python<'_>,
    job: impl FnOnce(&mut Signals) -> Result<T, E> + Send,
    raise: fn(Python<'_>, &E) -> PyErr,
) -> PyResult<T> {
    let (done, signal) = py.detach(|| {
        let mut signals = Signals::new();
        let inside = signals.clone();
        let done = until(move || inside.heard(), || job(&mut signals));
        (done, signals.0.raised.take())
    });
    done.map_err(|error| signal.unwrap_or_else(|| raise(py, &error)))
}

/// Checks Python for signals now and then.
#[derive(Clone)]
pub struct Signals(Rc<Heard>);

struct Heard {
    asked: Cell<Instant>,
    raised: RefCell<Option<PyErr>>,
}

impl Signals {
    fn new() -> Self {
        Self(Rc::new(Heard {
            asked: Cell::new(Instant::now()),
            raised: RefCell::new(None),
        }))
    }

    /// Whether to stop.
    pub fn heard(&self) -> bool {
        if self.0.raised.borrow().is_some() {
            return true;
        }
        if self.0.asked.get().elapsed() < SIGNALS_ASKED_EVERY {
            return false;
        }
        let raised = Python::attach(|py| py.check_signals().err());
        self.0.asked.set(Instant::now());
        let heard = raised.is_some();
        self.0.raised.replace(raised);
        heard
    }

    /// Returns an error if there was a signal.
    pub fn go_on(&self) -> Result<(), Error> {
        if self.heard() {
            Err(Error::Interrupted)
        } else {
            Ok(())
        }
    }
}

impl Observer for Signals {
    fn interrupted(&self) -> bool {
        self.heard()
    }
}

/// Shows no progress bar: a notebook has better ones.
impl Progress for Signals {
    fn interrupted(&self) -> bool {
        self.heard()
    }
}
