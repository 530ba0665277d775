//! An edition: the model as one change published it. An edition never changes, so readers never wait; the
//! `writer` publishes the next one.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use autoactivator::Model;
use axum::body::Bytes;
use serde_json::Value;

/// The model as one change left it.
pub struct Edition {
    /// The model.
    pub model: Model,
    /// Number of changes of the model file so far.
    pub version: u64,
    /// Size of the model file.
    pub file_bytes: u64,
    /// SHA-256 of the model file, in hexadecimal digits.
    pub sha256: String,
    /// Multiply-adds to predict one row.
    pub(crate) multiply_adds: usize,
    /// The model's files, each made on first request; all downloads share its bytes.
    pub(crate) files: [OnceLock<Bytes>; 3],
    /// The result on the held-out rows, computed on first request.
    pub(crate) examined: OnceLock<Value>,
}

impl Edition {
    /// The edition that a change leaves behind.
    pub fn new(model: Model, version: u64, file_bytes: u64, sha256: String) -> Self {
        Self {
            multiply_adds: model.size().multiply_adds,
            model,
            version,
            file_bytes,
            sha256,
            files: Default::default(),
            examined: OnceLock::new(),
        }
    }
}

/// The current edition. The lock is held only while a pointer is copied.
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
