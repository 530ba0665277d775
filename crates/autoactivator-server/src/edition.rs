//! An edition: the model as one change published it. An edition never changes, so readers never wait; the
//! `writer` publishes the next one.

use std::sync::{Arc, OnceLock};

use autoactivator::Model;
use axum::body::Bytes;
use serde_json::Value;
use tokio::sync::watch;

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

/// The current edition. Its lock is held only while a pointer is copied; listeners learn of the next one.
pub(crate) struct Current(watch::Sender<Arc<Edition>>);

impl Current {
    pub(crate) fn new(first: Edition) -> Self {
        Self(watch::Sender::new(Arc::new(first)))
    }

    pub(crate) fn read(&self) -> Arc<Edition> {
        Arc::clone(&self.0.borrow())
    }

    pub(crate) fn publish(&self, next: Arc<Edition>) {
        self.0.send_replace(next);
    }

    /// Hears of every edition from here on, unless the next one comes before it has listened: then only of the latest.
    pub(crate) fn listen(&self) -> watch::Receiver<Arc<Edition>> {
        self.0.subscribe()
    }
}
