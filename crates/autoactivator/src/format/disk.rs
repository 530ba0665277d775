//! The few things that are asked of the file system when a file is written whole.
//!
//! [`System`] asks the system. Tests have disks that note what is asked, fail at a chosen step, or lose what was never
//! synced.

use std::fmt::Debug;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// What writes files.
pub trait Disk: Debug + Send + Sync {
    /// Makes a file where there is none, with the mode and the owner of the file `like`, if that is given.
    fn create(&self, path: &Path, like: Option<&Metadata>) -> io::Result<File>;

    /// Writes to the end of the file at this path.
    fn write(&self, file: &File, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Waits until the file at this path is on the disk.
    fn sync(&self, file: &File, path: &Path) -> io::Result<()>;

    /// Gives a file another name, over what had it before.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Waits until the names in a folder are on the disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// The system's own files.
#[derive(Clone, Copy, Debug)]
pub struct System;

impl Disk for System {
    fn create(&self, path: &Path, like: Option<&Metadata>) -> io::Result<File> {
        // Never through a link that somebody has put there: the file must be new.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        with_mode(&mut options, like);
        let file = options.open(path)?;
        if let Some(like) = like {
            file.set_permissions(like.permissions())?;
            keep_owner(&file, like);
        }
        Ok(file)
    }

    fn write(&self, mut file: &File, _: &Path, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &File, _: &Path) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(unix)]
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    /// Elsewhere a folder cannot be opened for syncing; the file itself is synced.
    #[cfg(not(unix))]
    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Nobody may read the new file who could not read the old one, not even before it has its name.
#[cfg(unix)]
fn with_mode(options: &mut OpenOptions, like: Option<&Metadata>) {
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    if let Some(like) = like {
        options.mode(like.mode() & 0o777);
    }
}

#[cfg(not(unix))]
fn with_mode(_: &mut OpenOptions, _: Option<&Metadata>) {}

/// Only the superuser may give files away; for everybody else the owner stays who writes.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let _ = fchown(file, Some(like.uid()), Some(like.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}
