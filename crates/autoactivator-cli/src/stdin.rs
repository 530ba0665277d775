//! Rows from stdin, kept in a temporary file: a table is read more than once.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::output::is_standard;

/// What stdin held, in a file called `stdin`, until this value is dropped.
pub struct Spool(PathBuf);

impl Spool {
    /// Reads stdin to its end.
    pub fn read() -> Result<Self> {
        let name = format!("autoactivator-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let cannot = || format!("stdin cannot be kept in {}", folder.display());
        fs::create_dir(&folder).with_context(cannot)?;
        let spool = Self(folder.join("stdin"));
        let file = File::options().write(true).create_new(true).open(&spool.0);
        let copied = file.and_then(|mut file| io::copy(&mut io::stdin().lock(), &mut file));
        copied.with_context(cannot)?;
        Ok(spool)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// These paths, with stdin in a file, which is there as long as the spool.
pub fn spooled(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Option<Spool>)> {
    let standard = paths.iter().any(|path| is_standard(path));
    let spool = standard.then(Spool::read).transpose()?;
    let file = |path: &PathBuf| match &spool {
        Some(spool) if is_standard(path) => spool.path().to_owned(),
        _ => path.clone(),
    };
    Ok((paths.iter().map(file).collect(), spool))
}

impl Drop for Spool {
    fn drop(&mut self) {
        // A leftover in the folder for temporary files does no harm.
        let _ = self.0.parent().map(fs::remove_dir_all);
    }
}
