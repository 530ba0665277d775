//! Everything that can go wrong on the way from a file to rows.

use std::path::{Path, PathBuf};

/// An error of a source of rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the method.
    #[error(transparent)]
    Method(#[from] autoactivator::Error),

    /// A file that cannot be opened or read.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },

    /// A data set that is not where it was looked for.
    #[error("data set '{name}' not found: {hint}")]
    NoDataset {
        /// Its name.
        name: String,
        /// Where it was looked for and how to get it.
        hint: String,
    },

    /// A file whose content is not what it should be.
    #[error("{}: {reason}", path.display())]
    BadData {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and the remedy.
        reason: String,
    },
}

/// The error for content that is not what it should be.
pub fn bad(path: &Path, reason: impl Into<String>) -> Error {
    Error::BadData {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// The error for a file that the system does not give.
pub fn io_error(path: &Path, cause: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        cause,
    }
}
