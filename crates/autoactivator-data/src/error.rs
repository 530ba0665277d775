//! Everything that can go wrong on the way from a file to rows.
//!
//! Each error names the file, what is wrong with it, and what to do. Fetching has errors of its own, in
//! `dataset::fetch`.

use std::path::{Path, PathBuf};

/// An error of a source of rows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the method.
    #[error(transparent)]
    Method(#[from] autoactivator::Error),

    /// A file that cannot be opened, read or written.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
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

    /// A file that this build cannot read or write, because a feature of the crate is turned off.
    #[error("{}: this build {cannot}: build with the feature `{feature}`", path.display())]
    LeftOut {
        /// The file.
        path: PathBuf,
        /// What the build cannot do, such as "reads no Parquet".
        cannot: &'static str,
        /// The feature that would do it.
        feature: &'static str,
    },
}

impl Error {
    /// Whether nothing is wrong with a table but that it has no rows.
    pub fn is_of_no_rows(&self) -> bool {
        matches!(self, Self::BadData { reason, .. } if reason == NO_ROWS)
    }
}

/// The reason to refuse a table without rows.
pub(crate) const NO_ROWS: &str = "there are no rows in this file";

/// The error for content that is not what it should be.
pub(crate) fn bad(path: &Path, reason: impl Into<String>) -> Error {
    Error::BadData {
        path: path.to_owned(),
        reason: reason.into(),
    }
}

/// The error for a file that the system cannot open, read or write.
pub(crate) fn io_error(path: &Path, cause: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        cause,
    }
}
