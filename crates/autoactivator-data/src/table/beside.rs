//! A file that gets its name only when it is whole: until then it lies beside its place, under a hidden name.
//!
//! Every table is written through a [`Beside`], so that a reader never sees half a table.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use crate::error::{Error, io_error};

/// A file that is being written; dropped before it has its name, it is deleted.
pub struct Beside {
    path: PathBuf,
    beside: PathBuf,
}

impl Beside {
    /// Makes the file, so that a folder that cannot be written to is reported before anything is computed.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.tmp", std::process::id()));
        let file = Self {
            path: path.to_owned(),
            beside: path.with_file_name(name),
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
            .map_err(|cause| io_error(&self.path, cause))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // After `give_name` there is nothing left to delete.
        let _ = fs::remove_file(&self.beside);
    }
}
