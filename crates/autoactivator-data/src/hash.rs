//! Hashes of files and texts, written as two hexadecimal digits a byte.

use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, io_error};

/// SHA-256 of a file's content, in hexadecimal.
pub(crate) fn sha256_of_file(path: &Path) -> Result<String, Error> {
    let read = |path: &Path| -> io::Result<String> {
        let mut hasher = Hasher(Sha256::new());
        io::copy(&mut File::open(path)?, &mut hasher)?;
        Ok(hex(&hasher.0.finalize()))
    };
    read(path).map_err(|cause| io_error(path, cause))
}

/// SHA-256 of texts in this order, in hexadecimal.
pub(crate) fn sha256_of_texts<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text);
        hasher.update([0]);
    }
    hex(&hasher.finalize())
}

/// A hash that can be written to.
struct Hasher(Sha256);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
