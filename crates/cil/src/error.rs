//! Everything that can go wrong in an exam: data that cannot be read, a scenario that cannot be dealt.

use std::path::PathBuf;

/// An error of the exam.
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

    /// A file whose content is not what it should be.
    #[error("{}: {reason}", path.display())]
    BadData {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and the remedy.
        reason: String,
    },

    /// A data set that is not where it was looked for.
    #[error("data set '{name}' not found: {hint}")]
    NoDataset {
        /// Its name.
        name: String,
        /// Where it was looked for and how to get it.
        hint: String,
    },

    /// A scenario, split or protocol that makes no sense for the data.
    #[error("{0}")]
    Scenario(String),
}
