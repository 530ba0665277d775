//! The file of a model and the right to change it; nothing else writes models.
//!
//! A writer holds the [`ModelFile`] from reading the old model to writing the new one, so that nobody else
//! changes it in between. Reading alone needs no lock: see [`Model::load`].

use std::path::{Path, PathBuf};

use super::Model;
use super::lock::WriteLock;
use crate::consolidation::Deployed;
use crate::error::Error;
use crate::format::write_atomically;

/// A model file that this process may change for as long as this value lives.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    _lock: WriteLock,
}

impl ModelFile {
    /// Locks the model file at `path`, which need not exist yet; fails if another process holds the lock.
    pub fn lock(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            _lock: WriteLock::take(path)?,
            path: path.to_owned(),
        })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file exists yet.
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Reads the model.
    pub fn read(&self) -> Result<Model, Error> {
        Model::load(&self.path)
    }

    /// Writes the model and returns the size of the file; a crash at any moment leaves the old file or the new one.
    pub fn write(&self, model: &Model) -> Result<u64, Error> {
        self.write_bytes(&model.to_bytes()?)
    }

    /// Writes only the deployed model, in half precision if `half`; returns the size of the file.
    pub(super) fn write_deployed(&self, deployed: &Deployed, half: bool) -> Result<u64, Error> {
        self.write_bytes(&deployed.to_bytes(half)?)
    }

    fn write_bytes(&self, bytes: &[u8]) -> Result<u64, Error> {
        write_atomically(&self.path, bytes)?;
        Ok(bytes.len() as u64)
    }
}
