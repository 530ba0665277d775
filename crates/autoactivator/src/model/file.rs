//! The file of a model and the right to change it; nothing else writes models.
//!
//! A writer holds the [`ModelFile`] from reading the old model to writing the new one, so that nobody else
//! changes it in between. Reading alone needs no lock: see [`Model::load`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::Model;
use super::identity::{Identity, Inode};
use super::lock::WriteLock;
use crate::consolidation::Deployed;
use crate::error::Error;
use crate::format::{Disk, NewFile, System, folder_of, io_error};

/// Largest number of symbolic links that are followed, one to the next.
const LINKS: usize = 40;

/// A model file that this process may change for as long as this value lives.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    _lock: WriteLock,
    disk: Box<dyn Disk>,
    at_path: Mutex<AtPath>,
}

/// What became of a model that was written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Size of the file.
    pub n_bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

/// What this process knows to be at the path.
#[derive(Debug)]
struct AtPath {
    /// The file, locked under whatever name; none if there was none.
    inode: Option<Inode>,
    /// Whether the system failed to say that the last change is on the disk.
    unsure: bool,
}

impl ModelFile {
    /// Locks the model file at `path`, which need not exist yet; fails if another process holds the lock. If `path`
    /// is a symbolic link, the file that it points to is locked and written, and the link stays.
    pub fn lock(path: &Path) -> Result<Self, Error> {
        Self::lock_on(System, path)
    }

    /// As [`lock`](Self::lock), on this disk.
    pub fn lock_on(disk: impl Disk + 'static, path: &Path) -> Result<Self, Error> {
        let path = behind_links(path).map_err(|cause| io_error(path, cause))?;
        let lock = WriteLock::take(&path)?;
        Ok(Self {
            at_path: Mutex::new(AtPath {
                inode: Inode::lock(&path)?,
                unsure: false,
            }),
            _lock: lock,
            path,
            disk: Box::new(disk),
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
    ///
    /// Refused if the file is not the one that was locked or written last. If the system cannot say that a change will
    /// survive a power cut, it may or may not be there afterwards, so no other change is made on top of it.
    pub fn write(&self, model: &Model) -> Result<u64, Error> {
        self.write_announced(model, |_| Ok(()))
            .map(|written| written.n_bytes)
    }

    /// As [`write`](Self::write). Before the file has its name, `announce` is told its SHA-256; if that fails, nothing changes.
    pub fn write_announced<E: From<Error>>(
        &self,
        model: &Model,
        announce: impl FnOnce(&str) -> Result<(), E>,
    ) -> Result<Written, E> {
        let mut at_path = self.at_path();
        // A folder that is gone is reported as such, not as a file that was replaced.
        let new = NewFile::create_on(&*self.disk, &self.path)?;
        self.check(&at_path)?;
        let (mut sha, mut n_bytes) = (Sha256::new(), 0);
        model.write(&mut |piece| {
            sha.update(piece);
            n_bytes += piece.len() as u64;
            new.write(piece)
        })?;
        let sha256 = sha
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>();
        announce(&sha256)?;
        self.give_name(new, &mut at_path)?;
        Ok(Written { n_bytes, sha256 })
    }

    /// Writes only the deployed model, in half precision if `half`; returns the size of the file.
    pub(super) fn write_deployed(&self, deployed: &Deployed, half: bool) -> Result<u64, Error> {
        self.write_bytes(&deployed.to_bytes(half)?)
    }

    /// Writes the bytes of a model, as [`Model::to_bytes`] gives them; returns the size of the file.
    pub fn write_bytes(&self, bytes: &[u8]) -> Result<u64, Error> {
        let mut at_path = self.at_path();
        self.check(&at_path)?;
        let new = NewFile::create_on(&*self.disk, &self.path)?;
        new.write(bytes)?;
        self.give_name(new, &mut at_path)?;
        Ok(bytes.len() as u64)
    }

    fn give_name(&self, new: NewFile<'_>, at_path: &mut AtPath) -> Result<(), Error> {
        let inode = Inode::of(new.open()?, &self.path)?;
        let named = new.give_name();
        at_path.unsure = matches!(named, Err(Error::NotSynced { .. }));
        if named.is_ok() || at_path.unsure {
            at_path.inode = Some(inode);
        }
        named
    }

    /// Whether the file may be replaced.
    fn check(&self, at_path: &AtPath) -> Result<(), Error> {
        let path = || self.path.clone();
        if at_path.unsure {
            return Err(Error::NotSynced {
                path: path(),
                cause: io::Error::other("so it was with an earlier change"),
            });
        }
        let there = Identity::at(&self.path).map_err(|cause| io_error(&self.path, cause))?;
        if there.as_ref() == at_path.inode.as_ref().map(|inode| &inode.identity) {
            Ok(())
        } else {
            Err(Error::Replaced { path: path() })
        }
    }

    fn at_path(&self) -> MutexGuard<'_, AtPath> {
        self.at_path.lock().unwrap_or_else(PoisonError::into_inner)
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
        model.save(at("near.aact")).unwrap();
        for link in ["near.aact", "nearer.aact"] {
            assert!(at(link).is_symlink(), "{link}");
        }
        assert_eq!(Model::load(at("far/model.aact")).unwrap(), model);
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
