//! Bytes on disk, all or none: written beside the old file, then renamed over it.
//!
//! A crash at any moment leaves the old file or the new one. The rename itself is synced where the system can do that.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The ending of an incomplete file.
pub(crate) const UNFINISHED: &str = ".tmp";

/// Writes a file whole: beside `path`, synced to disk, then renamed over what was there.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, bytes).map_err(|cause| io_error(path, cause))
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

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = hidden_beside(path, &format!(".{}{UNFINISHED}", std::process::id()))?;
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    if renamed.is_err() {
        // The failure itself is reported; removing the leftover is best effort.
        let _ = fs::remove_file(&beside);
    }
    renamed?;
    sync_folder(folder_of(path))
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
