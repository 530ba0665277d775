//! One writer at a time: a lock file beside the model. The system releases the lock when the process ends, no
//! matter how. The file says who holds the lock, so that whoever is refused knows what to stop.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::holder;
use crate::error::Error;
use crate::format::{UNFINISHED, folder_of, hidden_beside, io_error};

/// The right to change one model file for as long as this value lives.
#[derive(Debug)]
pub(super) struct WriteLock {
    file: PathBuf,
    _held: File,
}

impl WriteLock {
    /// Locks the model file at `path`, which need not exist yet; fails if another process holds the lock.
    /// Removes what a killed writer left half-written beside the model.
    pub(super) fn take(path: &Path) -> Result<Self, Error> {
        let failed = |cause| io_error(path, cause);
        let file = hidden_beside(path, ".lock").map_err(failed)?;
        // Whatever a link leads to would be emptied.
        if file.is_symlink() {
            let reason = format!("{} is a symbolic link: remove it", file.display());
            return Err(failed(io::Error::other(reason)));
        }
        loop {
            let mut held = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&file)
                .map_err(failed)?;
            match held.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::Locked {
                        path: path.to_owned(),
                        holder: holder::read(&file),
                    });
                }
                Err(TryLockError::Error(cause)) => return Err(failed(cause)),
            }
            // The previous holder may have removed the file after we opened it and before we locked it.
            if is_at(&held, &file).map_err(failed)? {
                tidy(path).map_err(failed)?;
                holder::write(&mut held).map_err(failed)?;
                return Ok(Self { file, _held: held });
            }
        }
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        // Removed while the lock is still held; a file that stays does no harm.
        let _ = fs::remove_file(&self.file);
    }
}

/// Whether the open file is still the one at this path.
#[cfg(unix)]
fn is_at(open: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = open.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(cause),
    }
}

/// Elsewhere an open file keeps its path.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Removes what killed writers left behind, of the model and of the hidden files that its holder keeps beside it:
/// `.model.aact.NUMBER.tmp` and `..model.aact.changes.NUMBER.tmp`, the number in hexadecimal digits.
fn tidy(path: &Path) -> io::Result<()> {
    let hidden = hidden_beside(path, "")?;
    let hidden = hidden.file_name().unwrap_or_default().to_string_lossy();
    for entry in fs::read_dir(folder_of(path))? {
        let entry = entry?;
        if is_left_behind(&entry.file_name().to_string_lossy(), &hidden) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether this is the name of an unfinished file of the model whose name, hidden, is this one.
fn is_left_behind(name: &str, hidden: &str) -> bool {
    let unfinished = name
        .strip_suffix(UNFINISHED)
        .and_then(|name| name.rsplit_once('.'));
    unfinished.is_some_and(|(of, number)| {
        let beside = of.strip_prefix('.').and_then(|of| of.strip_prefix(hidden));
        let is_its = of == hidden || beside.is_some_and(|rest| rest.starts_with('.'));
        is_its && !number.is_empty() && number.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_is_refused_until_the_first_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.aact");
        let first = WriteLock::take(&path).unwrap();
        assert!(matches!(WriteLock::take(&path), Err(Error::Locked { .. })));
        assert!(WriteLock::take(&folder.path().join("other.aact")).is_ok());
        drop(first);
        drop(WriteLock::take(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_writer_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            ".model.aact.17af.tmp",
            ".model.aact.new.tmp",
            "model.aact.17.tmp",
            ".else.aact.17.tmp",
            "..model.aact.changes.17af.tmp",
            "..model.aact.changes",
            "..model.aacts.17.tmp",
            ".model.aact.old.17.tmp",
        ];
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let lock = WriteLock::take(&folder.path().join("model.aact")).unwrap();
        let left = names.map(|name| folder.path().join(name).exists());
        assert_eq!(left, [false, true, true, true, false, true, true, true]);
        drop(lock);
    }
}
