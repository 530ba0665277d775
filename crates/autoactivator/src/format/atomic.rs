//! Files on disk, all or none: written beside the old file, then renamed over it.
//!
//! [`NewFile`] is how models, tables, answers and reports are written. A crash at any moment, or a full disk, leaves
//! the old file or the new one. The rename itself is synced where the system can do that.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The ending of an incomplete file.
pub(crate) const UNFINISHED: &str = ".tmp";

/// A file that gets its name only when it is whole: until then it lies beside its place, under a hidden name.
///
/// Dropped before it has its name, it is deleted.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    beside: PathBuf,
}

impl NewFile {
    /// Makes the file, so that a folder that cannot be written to is reported before anything is computed.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let ending = format!(".{}{UNFINISHED}", std::process::id());
        let beside = hidden_beside(path, &ending).map_err(|cause| io_error(path, cause))?;
        let file = Self {
            path: path.to_owned(),
            beside,
        };
        file.open()?;
        Ok(file)
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The empty file, to write to.
    pub fn open(&self) -> Result<File, Error> {
        File::create(&self.beside).map_err(|cause| io_error(&self.path, cause))
    }

    /// Gives the file its name, once its content is on the disk.
    pub fn give_name(self) -> Result<(), Error> {
        // Windows syncs only what is open for writing.
        let file = OpenOptions::new().write(true).open(&self.beside);
        file.and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.beside, &self.path))
            .and_then(|()| sync_folder(folder_of(&self.path)))
            .map_err(|cause| io_error(&self.path, cause))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After `give_name` there is nothing left to delete.
        let _ = fs::remove_file(&self.beside);
    }
}

/// Writes a file whole: beside `path`, synced to disk, then renamed over what was there.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let file = NewFile::create(path)?;
    let written = file.open()?.write_all(bytes);
    written.map_err(|cause| io_error(path, cause))?;
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

/// Waits until a rename has reached the disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened for syncing; the file itself is synced.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
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
