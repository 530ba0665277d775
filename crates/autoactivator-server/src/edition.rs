//! An edition: the model as it was published by one change. It never changes itself, so that whoever reads it waits for
//! nobody; the `writer` publishes the next one.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use autoactivator::Model;
use axum::body::Bytes;
use serde_json::Value;

/// The model as one change left it.
pub struct Edition {
    /// The model.
    pub model: Model,
    /// Changes since the server started.
    pub version: u64,
    /// Size of the model file.
    pub file_bytes: u64,
    /// Multiply-adds to predict one row.
    pub(crate) multiply_adds: usize,
    /// Its files, once somebody wanted them: all who download one share its bytes.
    pub(crate) files: [OnceLock<Bytes>; 3],
    /// How well it does on held-out rows, once somebody asked.
    pub(crate) examined: OnceLock<Value>,
}

impl Edition {
    /// The model as this change left it.
    pub fn new(model: Model, version: u64, file_bytes: u64) -> Self {
        Self {
            multiply_adds: model.size().multiply_adds,
            model,
            version,
            file_bytes,
            files: Default::default(),
            examined: OnceLock::new(),
        }
    }
}

/// The edition that is current. The lock is held for as long as a pointer takes to copy.
pub(crate) struct Current(RwLock<Arc<Edition>>);

impl Current {
    pub(crate) fn new(first: Edition) -> Self {
        Self(RwLock::new(Arc::new(first)))
    }

    pub(crate) fn read(&self) -> Arc<Edition> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn publish(&self, next: Arc<Edition>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = next;
    }
}
