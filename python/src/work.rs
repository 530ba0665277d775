//! Long calls: they release the GIL, so that other Python threads can run, and they respond to Ctrl-C.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use autoactivator::math::until;
use autoactivator::{Error, Observer};
use autoactivator_exam::run::Progress;
use pyo3::prelude::*;
use rayon::ThreadPool;

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

/// Runs a job of the method in the same way, on these threads.
pub fn work_on<T: Send>(
    py: Python<'_>,
    threads: &ThreadPool,
    job: impl FnOnce(&mut Signals) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let (done, signal) = py.detach(|| {
        // Python tells its signals to this thread alone, so this one waits and listens.
        let (here, stop) = (Signals::new(), Arc::new(AtomicBool::new(false)));
        let (sender, receiver) = channel();
        let done = threads.in_place_scope(|scope| {
            let told = Arc::clone(&stop);
            scope.spawn(move |_| drop(sender.send(heeding(Signals::told(told), job))));
            loop {
                match receiver.recv_timeout(SIGNALS_ASKED_EVERY) {
                    Err(RecvTimeoutError::Timeout) => stop.store(here.heard(), Ordering::Relaxed),
                    finished => return finished.ok(),
                }
            }
        });
        let interrupted = || (Err(Error::Interrupted), None);
        let (done, _) = done.unwrap_or_else(interrupted);
        (done, here.0.raised.take())
    });
    done.map_err(|error| signal.unwrap_or_else(|| raise(py, &error)))
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
    let (done, signal) = py.detach(|| heeding(Signals::new(), job));
    done.map_err(|error| signal.unwrap_or_else(|| raise(py, &error)))
}

/// Runs a job on this thread, which stops once there is a signal; also returns the exception of that signal.
fn heeding<T, E>(
    mut signals: Signals,
    job: impl FnOnce(&mut Signals) -> Result<T, E>,
) -> (Result<T, E>, Option<PyErr>) {
    let inside = signals.clone();
    let done = until(move || inside.heard(), || job(&mut signals));
    (done, signals.0.raised.take())
}

/// Checks Python for signals now and then.
#[derive(Clone)]
pub struct Signals(Rc<Heard>);

struct Heard {
    asked: Cell<Instant>,
    raised: RefCell<Option<PyErr>>,
    /// Where another thread says that there was a signal, if this one cannot ask.
    told: Option<Arc<AtomicBool>>,
}

impl Signals {
    fn new() -> Self {
        Self::with(None)
    }

    /// For a thread that another one tells of signals.
    fn told(told: Arc<AtomicBool>) -> Self {
        Self::with(Some(told))
    }

    fn with(told: Option<Arc<AtomicBool>>) -> Self {
        Self(Rc::new(Heard {
            asked: Cell::new(Instant::now()),
            raised: RefCell::new(None),
            told,
        }))
    }

    /// Whether to stop.
    pub fn heard(&self) -> bool {
        if let Some(told) = &self.0.told {
            return told.load(Ordering::Relaxed);
        }
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
