//! Files on disk, all or none: written beside the old file, then renamed over it.
//!
//! [`NewFile`] is how models, tables, answers and reports are written. A crash at any moment, or a full disk, leaves
//! the old file or the new one. The rename itself is synced where the system can do that.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Disk, System};
use crate::error::Error;

/// The ending of an incomplete file.
pub(crate) const UNFINISHED: &str = ".tmp";

/// A file that gets its name only when it is whole: until then it lies beside its place, under a hidden name that nobody
/// can guess. It has the mode and the owner of the file that it replaces.
///
/// Dropped before it has its name, it is deleted.
#[derive(Debug)]
pub struct NewFile<'a> {
    path: PathBuf,
    beside: PathBuf,
    file: File,
    disk: &'a dyn Disk,
}

impl NewFile<'static> {
    /// Makes the file, so that a folder that cannot be written to is reported before anything is computed.
    pub fn create(path: &Path) -> Result<Self, Error> {
        NewFile::create_on(&System, path)
    }
}

impl<'a> NewFile<'a> {
    /// Makes the file on this disk.
    pub fn create_on(disk: &'a dyn Disk, path: &Path) -> Result<Self, Error> {
        let failed = |cause| io_error(path, cause);
        let ending = format!(".{:016x}{UNFINISHED}", RandomState::new().hash_one(path));
        let beside = hidden_beside(path, &ending).map_err(failed)?;
        let replaced = fs::metadata(path).ok();
        let file = disk.create(&beside, replaced.as_ref()).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            beside,
            file,
            disk,
        })
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The empty file, to write to.
    pub fn open(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|cause| io_error(&self.path, cause))
    }

    /// Writes to the end.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.disk.write(&self.file, &self.beside, bytes);
        written.map_err(|cause| io_error(&self.path, cause))
    }

    /// Gives the file its name, once its content is on the disk.
    pub fn give_name(self) -> Result<(), Error> {
        let named = self.disk.sync(&self.file, &self.beside);
        let named = named.and_then(|()| self.disk.rename(&self.beside, &self.path));
        named.map_err(|cause| io_error(&self.path, cause))?;
        self.disk
            .sync_folder(folder_of(&self.path))
            .map_err(|cause| Error::NotSynced {
                path: self.path.clone(),
                cause,
            })
    }
}

impl Drop for NewFile<'_> {
    fn drop(&mut self) {
        // After `give_name` there is nothing left to delete.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Writes a file whole: beside `path`, synced to disk, then renamed over what was there.
pub fn write_atomically(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    let file = NewFile::create(path.as_ref())?;
    file.write(bytes)?;
    file.give_name()
}

/// Reads a whole file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|cause| io_error(path, cause))
}

/// The error for a file that the system cannot read or write.
pub(crate) fn io_error(path: &Path, cause: io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        cause,
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The path of a hidden file beside `path`: the same name with a dot in front and `ending` after it.
pub(crate) fn hidden_beside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("not a file name"))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(ending);
    Ok(folder_of(path).join(hidden))
}
