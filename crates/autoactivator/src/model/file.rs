//! The file of a model and the right to change it; nothing else writes models.
//!
//! A writer holds the [`ModelFile`] from reading the old model to writing the new one, so that nobody else
//! changes it in between. Reading alone needs no lock: see [`Model::load`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Model;
use super::lock::WriteLock;
use crate::consolidation::Deployed;
use crate::error::Error;
use crate::format::{folder_of, io_error, write_atomically};

/// Largest number of symbolic links that are followed, one to the next.
const LINKS: usize = 40;

/// A model file that this process may change for as long as this value lives.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    _lock: WriteLock,
}

impl ModelFile {
    /// Locks the model file at `path`, which need not exist yet; fails if another process holds the lock. If `path`
    /// is a symbolic link, the file that it points to is locked and written, and the link stays.
    pub fn lock(path: &Path) -> Result<Self, Error> {
        let path = behind_links(path).map_err(|cause| io_error(path, cause))?;
        Ok(Self {
            _lock: WriteLock::take(&path)?,
            path,
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

    /// Writes the bytes of a model, as [`Model::to_bytes`] gives them; returns their number.
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<u64, Error> {
        write_atomically(&self.path, bytes)?;
        Ok(bytes.len() as u64)
    }
}

/// The file that a path leads to through symbolic links. It need not exist, so the system cannot be asked for it.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            // A relative link begins in the folder that it is in.
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its symbolic links lead in a circle"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_link_stays_and_the_file_behind_it_is_locked_and_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        symlink("far/model.aact", at("near.aact")).unwrap();
        symlink(at("near.aact"), at("nearer.aact")).unwrap();
        let model = Model::new("consolidation", &json!({})).unwrap();
        let file = ModelFile::lock(&at("nearer.aact")).unwrap();
        for name in ["near.aact", "nearer.aact", "far/model.aact"] {
            let refused = ModelFile::lock(&at(name)).unwrap_err();
            assert!(matches!(refused, Error::Locked { .. }), "{name}: {refused}");
        }
        file.write(&model).unwrap();
        drop(file);
        model.save(&at("near.aact")).unwrap();
        for link in ["near.aact", "nearer.aact"] {
            assert!(at(link).is_symlink(), "{link}");
        }
        assert_eq!(Model::load(&at("far/model.aact")).unwrap(), model);
        let left = |name: &str| fs::read_dir(at(name)).unwrap().count();
        assert_eq!(
            (left("."), left("far")),
            (3, 1),
            "no lock and no half-written file"
        );
    }

    #[test]
    fn links_in_a_circle_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.aact");
        symlink("model.aact", &path).unwrap();
        let refused = ModelFile::lock(&path).unwrap_err().to_string();
        assert!(refused.contains("lead in a circle"), "{refused}");
    }
}
