//! Which file is it? A name may come to mean another file, and a file may have several names.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use crate::error::Error;
use crate::format::io_error;

/// What tells one file from another, and one content from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    file: (u64, u64),
    length: u64,
    changed: Option<SystemTime>,
}

impl Identity {
    fn new(metadata: &Metadata) -> Self {
        Self {
            file: number(metadata),
            length: metadata.len(),
            changed: metadata.modified().ok(),
        }
    }

    /// The file at a path; none if there is none.
    pub(super) fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(Self::new(&metadata))),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(cause),
        }
    }
}

/// A file that is held open and locked, so that nobody else changes it, whatever name they know it by.
#[derive(Debug)]
pub(super) struct Inode {
    /// What it was when it was locked.
    pub(super) identity: Identity,
    _held: File,
}

impl Inode {
    /// Locks the file at this path; none if there is none. Fails if another process holds it.
    pub(super) fn lock(path: &Path) -> Result<Option<Self>, Error> {
        match File::open(path) {
            Ok(file) => Self::of(file, path).map(Some),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(io_error(path, cause)),
        }
    }

    /// Locks an open file.
    pub(super) fn of(file: File, path: &Path) -> Result<Self, Error> {
        // Not every file system has locks: where asking fails, the lock file beside the model must do.
        if let Err(TryLockError::WouldBlock) = try_lock(&file) {
            return Err(Error::Locked {
                path: path.to_owned(),
                holder: "another process is changing this file, which it may know by another name".to_owned(),
            });
        }
        let metadata = file.metadata().map_err(|cause| io_error(path, cause))?;
        Ok(Self {
            identity: Identity::new(&metadata),
            _held: file,
        })
    }
}

/// Readers do not ask for the lock, so they are not in the way.
#[cfg(unix)]
fn try_lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Elsewhere a locked file cannot be read by others.
#[cfg(not(unix))]
fn try_lock(_: &File) -> Result<(), TryLockError> {
    Ok(())
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Elsewhere a file is known by its length and the time of its last change.
#[cfg(not(unix))]
fn number(_: &Metadata) -> (u64, u64) {
    (0, 0)
}
