//! Everything that can go wrong on the way from a mirror to a folder.
//!
//! What has arrived before an error is kept, and the error says so.

use std::path::{Path, PathBuf};

/// An error of a fetch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder that cannot be written or read.
    #[error("{}: {cause}{}", path.display(), remedy(cause))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },

    /// A mirror that could not be reached, fell silent, or hung up, each time it was tried.
    #[error("{url}: {cause}; {}", kept(*got, *of))]
    Cut {
        /// The file.
        url: String,
        /// What happened at the last try.
        cause: String,
        /// Bytes that have arrived.
        got: u64,
        /// Bytes of the file, when the mirror tells.
        of: Option<u64>,
    },

    /// A mirror that does not give the file.
    #[error("{url}: the server answers with status {status} instead of the file")]
    Refused {
        /// The file.
        url: String,
        /// The HTTP status.
        status: u16,
    },

    /// An address that cannot be asked.
    #[error("{url}: {cause}; an address looks like https://host/folder")]
    BadAddress {
        /// The address.
        url: String,
        /// What is wrong.
        cause: String,
    },

    /// A file that is not the one that was published.
    #[error("{url}: wrong content: expected sha256 {expected}, found {found}; it was deleted")]
    WrongContent {
        /// Where it came from.
        url: String,
        /// The checksum it should have.
        expected: String,
        /// The checksum it has, or why it has none.
        found: String,
    },

    /// A file that is longer than the one that was published.
    #[error("{url}: wrong content: expected at most {max} bytes, the server sends more; it was deleted")]
    TooLong {
        /// Where it came from.
        url: String,
        /// The largest length it may have.
        max: u64,
    },

    /// An archive that lacks a file or cannot be read.
    #[error("{}: {reason}", path.display())]
    BadArchive {
        /// The archive.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },

    /// No mirror gave the file.
    #[error("none of {n_mirrors} mirrors gives {file}; the last one: {last}")]
    NoMirror {
        /// The file.
        file: String,
        /// How many mirrors were tried.
        n_mirrors: usize,
        /// What the last one did.
        #[source]
        last: Box<Error>,
    },

    /// A checksum that was pinned, or should be, and what is wrong with it.
    #[error(transparent)]
    Pin(Box<crate::Error>),

    /// A catalogue entry without a mirror.
    #[error("'{name}' has no mirror: name one with --from")]
    NoMirrors {
        /// The data set.
        name: String,
    },

    /// Stopped by the user.
    #[error("interrupted; {}", kept(*got, *of))]
    Interrupted {
        /// Bytes of the current file that have arrived.
        got: u64,
        /// Bytes of the file, when the mirror tells.
        of: Option<u64>,
    },
}

impl Error {
    /// Whether the mirror is at fault, so that another one may do better.
    pub(super) fn is_of_the_mirror(&self) -> bool {
        matches!(
            self,
            Self::Cut { .. }
                | Self::Refused { .. }
                | Self::BadAddress { .. }
                | Self::WrongContent { .. }
                | Self::TooLong { .. }
        )
    }
}

/// The error for a file that the system cannot read or write.
pub(super) fn io_error(path: &Path, cause: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        cause,
    }
}

fn remedy(cause: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match cause.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; make room, or choose another folder with --data-dir: the same command then resumes"
        }
        ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::NotADirectory
        | ErrorKind::AlreadyExists => "; choose a folder that can be written to with --data-dir",
        _ => "",
    }
}

fn kept(got: u64, of: Option<u64>) -> String {
    match (got, of) {
        (0, _) => "nothing has arrived yet, try again later".to_owned(),
        (got, Some(of)) => format!("{got} of {of} bytes are kept: the same command resumes there"),
        (got, None) => format!("{got} bytes are kept: the same command resumes there"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_full_disk_and_a_locked_folder_have_their_remedies() {
        let said = |kind: ErrorKind| io_error(Path::new("data/file"), kind.into()).to_string();
        let full = said(ErrorKind::StorageFull);
        assert!(
            full.starts_with("data/file: ") && full.contains("make room"),
            "{full}"
        );
        let locked = said(ErrorKind::ReadOnlyFilesystem);
        assert!(locked.contains("--data-dir"), "{locked}");
    }
}
