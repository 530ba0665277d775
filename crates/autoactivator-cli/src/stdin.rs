//! Rows from stdin, kept in a temporary file: a table is read more than once.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What stdin held, until this value is dropped.
pub struct Spool(PathBuf);

impl Spool {
    /// Reads stdin to its end.
    pub fn read() -> Result<Self> {
        let name = format!("autoactivator-stdin-{}", std::process::id());
        let spool = Self(std::env::temp_dir().join(name));
        let copied = File::create(&spool.0).and_then(|mut file| io::copy(&mut io::stdin().lock(), &mut file));
        copied.with_context(|| format!("stdin cannot be kept in {}", spool.0.display()))?;
        Ok(spool)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // A leftover in the folder for temporary files does no harm.
        let _ = fs::remove_file(&self.0);
    }
}
