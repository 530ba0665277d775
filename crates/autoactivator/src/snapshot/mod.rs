//! The model file: what a learner is, on disk, so that task 3 can be learned next week.
//!
//! A file is safetensors: a JSON header and raw tensors, nothing that can run. The header's one metadata entry
//! holds the format version, the parameters, the classes and the growth record, and a SHA-256 over the whole
//! file, so that a truncated file or a flipped byte is refused, never half-loaded. Files are written beside the
//! old one and renamed over it: whoever reads sees the old model or the new one.

mod consolidation;
mod container;
mod lock;
mod pool;
mod reactivation;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::consolidation::Consolidation;
use crate::deployed::{Deployed, Origin};
use crate::error::Error;
use crate::learner::Learner;
use crate::reactivation::Reactivation;

use container::Container;
pub use lock::WriteLock;

/// The newest format this version writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// A learner as found in a file.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // A program holds a handful of models, not millions.
pub enum Model {
    /// The paper's learner.
    Reactivation(Reactivation),
    /// One memory for all tasks, with the model it deploys.
    Consolidation(Consolidation),
    /// A deployed model alone, which predicts but does not learn.
    Deployed(Deployed),
}

impl Model {
    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|cause| io_error(path, cause))?;
        Self::from_bytes(&bytes).map_err(|reason| Error::BadModel {
            path: path.to_owned(),
            reason,
        })
    }

    /// Writes a model file; a crash at any moment leaves the old file or the new one.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        write_atomically(path, &self.to_bytes())
    }

    /// The bytes of a model file; the same model gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Reactivation(learner) => reactivation::pack(learner).to_bytes(),
            Self::Consolidation(learner) => consolidation::pack(learner).to_bytes(),
            Self::Deployed(deployed) => consolidation::pack_deployed(deployed, false).to_bytes(),
        }
    }

    /// Reads the bytes of a model file; the error says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let container = Container::from_bytes(bytes)?;
        match container.learner.as_str() {
            reactivation::NAME => reactivation::unpack(&container).map(Self::Reactivation),
            consolidation::NAME => consolidation::unpack(&container).map(Self::Consolidation),
            consolidation::DEPLOYED => consolidation::unpack_deployed(&container).map(Self::Deployed),
            other => Err(format!("it holds a learner of the unknown kind '{other}'")),
        }
    }

    /// What computed the rows that the model takes, where that was said.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Self::Reactivation(learner) => learner.origin.as_ref(),
            Self::Consolidation(learner) => learner.origin.as_ref(),
            Self::Deployed(deployed) => deployed.origin.as_ref(),
        }
    }

    /// Says what computes the rows that the model takes.
    pub fn set_origin(&mut self, origin: Option<Origin>) {
        match self {
            Self::Reactivation(learner) => learner.origin = origin,
            Self::Consolidation(learner) => learner.origin = origin,
            Self::Deployed(deployed) => deployed.origin = origin,
        }
    }

    /// The learner inside.
    pub fn learner(&self) -> &dyn Learner {
        match self {
            Self::Reactivation(learner) => learner,
            Self::Consolidation(learner) => learner,
            Self::Deployed(deployed) => deployed,
        }
    }

    /// The learner inside.
    pub fn learner_mut(&mut self) -> &mut dyn Learner {
        match self {
            Self::Reactivation(learner) => learner,
            Self::Consolidation(learner) => learner,
            Self::Deployed(deployed) => deployed,
        }
    }
}

impl Deployed {
    /// Writes the deployed model alone, in half precision if `half`.
    pub fn save(&self, path: &Path, half: bool) -> Result<(), Error> {
        let bytes = consolidation::pack_deployed(self, half).to_bytes();
        write_atomically(path, &bytes)
    }
}

fn io_error(path: &Path, cause: io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        cause,
    }
}

/// Writes a file whole: beside `path`, waiting for the disk, then renamed over what was there.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace(path, bytes).map_err(|cause| io_error(path, cause))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = hidden_beside(path, &format!(".{}{UNFINISHED}", std::process::id()))?;
    let written = File::create(&beside).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&beside, path));
    if renamed.is_err() {
        // What failed is reported; the leftover is only tidied away.
        let _ = fs::remove_file(&beside);
    }
    renamed?;
    // The rename itself must reach the disk too.
    File::open(folder_of(path))?.sync_all()
}

/// How the name of a file ends that is not whole yet.
const UNFINISHED: &str = ".tmp";

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A file beside `path` that listings leave out: its name with a dot before it and this ending.
fn hidden_beside(path: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("not a file name"))?;
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(ending);
    Ok(folder_of(path).join(hidden))
}
