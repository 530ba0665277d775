//! Checksums that are pinned on first use: where no published one is known, a later file must at least be the same.
//!
//! The pin of `net.onnx` is `net.onnx.sha256` beside it, as `sha256sum` writes it: the checksum and the name.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, bad, io_error};

/// Digits of a SHA-256 in hexadecimal.
const DIGITS: usize = 64;

/// Where the pin of a file is.
pub(crate) fn place(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".sha256");
    file.with_file_name(name)
}

/// The checksum that is pinned for a file, which need not be there.
pub(crate) fn of(file: &Path) -> Result<Option<String>, Error> {
    let place = place(file);
    if !place.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&place).map_err(|cause| io_error(&place, cause))?;
    let sha256 = text.split_whitespace().next().unwrap_or_default();
    if sha256.len() != DIGITS || !sha256.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(bad(
            &place,
            "holds no SHA-256: delete it to accept the file that it is about",
        ));
    }
    Ok(Some(sha256.to_ascii_lowercase()))
}

/// Pins the checksum of a file.
pub(crate) fn write(file: &Path, sha256: &str) -> Result<(), Error> {
    let (place, name) = (place(file), file.file_name().unwrap_or_default());
    let line = format!("{sha256}  {}\n", name.to_string_lossy());
    fs::write(&place, line).map_err(|cause| io_error(&place, cause))
}

/// Refuses a file that is not the one that was pinned.
pub(crate) fn refusal(file: &Path, pinned: &str, found: &str) -> Error {
    let place = place(file);
    let reason = format!(
        "has the sha256 {found}, but {pinned} was pinned when it was first used: if the change is meant, delete {}",
        place.display()
    );
    bad(file, reason)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail loudly.
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_read_back_and_damage_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("net.onnx");
        assert_eq!(of(&file).unwrap(), None);
        let sha256 = "0a".repeat(32);
        write(&file, &sha256).unwrap();
        assert_eq!(of(&file).unwrap(), Some(sha256.clone()));
        let text = fs::read_to_string(folder.path().join("net.onnx.sha256")).unwrap();
        assert_eq!(text, format!("{sha256}  net.onnx\n"));
        fs::write(place(&file), "nothing").unwrap();
        assert!(of(&file).unwrap_err().to_string().contains("net.onnx.sha256"));
    }
}
