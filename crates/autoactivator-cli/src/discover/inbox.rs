//! Whether there is anything in an inbox yet.

use std::fs;
use std::path::Path;

/// Whether a path is a folder without files, or a file without bytes.
pub(super) fn is_empty(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => fs::read_dir(path)
            .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_nothing(&entry.path())))),
        Ok(found) => found.is_file() && found.len() == 0,
        Err(_) => false,
    }
}

/// A folder without files is nothing; an empty file is something, if only a broken image.
fn is_nothing(path: &Path) -> bool {
    path.is_dir() && is_empty(path)
}
