//! Threads for estimators that are told how many to use. Those of one number share them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::PyResult;
use pyo3::exceptions::PyRuntimeError;
use rayon::{ThreadPool, ThreadPoolBuilder};

static STARTED: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());

/// This many threads.
pub fn threads(n_threads: usize) -> PyResult<Arc<ThreadPool>> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(threads) = started.get(&n_threads) {
        return Ok(Arc::clone(threads));
    }
    let threads = ThreadPoolBuilder::new().num_threads(n_threads).build();
    let threads = Arc::new(threads.map_err(|e| PyRuntimeError::new_err(e.to_string()))?);
    started.insert(n_threads, Arc::clone(&threads));
    Ok(threads)
}
