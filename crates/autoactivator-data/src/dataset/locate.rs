//! Where a data set is: at a path, or under its name in one of the data directories.
//!
//! What is not found is reported with every place that was looked at, and how to get it.

use std::path::{Path, PathBuf};

use super::{NAMES, user_folder};
use crate::error::Error;

/// The folders in which data sets known by name are looked for, in this order: the given one, then the user's own.
pub fn folders(data_dir: Option<&Path>) -> Vec<PathBuf> {
    data_dir
        .map(Path::to_owned)
        .into_iter()
        .chain(user_folder::data_dir())
        .collect()
}

/// Where a data set, or a file that belongs to one, is: a path, or a name in one of the [`folders`].
pub fn place(name_or_path: &str, data_dir: Option<&Path>) -> Result<PathBuf, Error> {
    locate(name_or_path, &folders(data_dir))
}

/// The file or folder that a name or a path stands for.
pub(super) fn locate(name_or_path: &str, folders: &[PathBuf]) -> Result<PathBuf, Error> {
    // A folder here that has the name of a known data set is not taken for it.
    let given = Some(PathBuf::from(name_or_path)).filter(|_| !NAMES.contains(&name_or_path));
    let in_folders = folders.iter().map(|folder| folder.join(name_or_path));
    let found = given.into_iter().chain(in_folders).find(|path| path.exists());
    found.ok_or_else(|| not_found(name_or_path, folders))
}

fn not_found(name: &str, looked_in: &[PathBuf]) -> Error {
    let hint = if !NAMES.contains(&name) {
        format!(
            "there is no such file or folder; the data sets known by name are {}",
            NAMES.join(", ")
        )
    } else {
        let places: Vec<String> = looked_in
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        let place = match places[..] {
            [] => "no data directory was given".to_owned(),
            _ => format!("no folder `{name}` in {}", places.join(" or ")),
        };
        let remedy = how_to_fetch(name);
        format!("{place}; {remedy}set AUTOACTIVATOR_DATA or --data-dir to the folder that holds `{name}/`")
    };
    Error::NoDataset {
        name: name.to_owned(),
        hint,
    }
}

/// The command that fetches a data set; empty when no mirror is known.
#[cfg(feature = "fetch")]
fn how_to_fetch(name: &str) -> String {
    match super::fetch::Catalogue::published().find(name) {
        Some(_) => format!("fetch it with `autoactivator data get {name}`, or "),
        None => String::new(),
    }
}

/// Empty: this build fetches nothing.
#[cfg(not(feature = "fetch"))]
fn how_to_fetch(_name: &str) -> String {
    String::new()
}

/// The last part of a path without its extensions: `things` for `some/things.csv.gz`.
pub fn name_of(path: &Path) -> String {
    let last = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = last.strip_suffix(".gz").unwrap_or(&last);
    let endings = [
        ".csv",
        ".jsonl",
        ".parquet",
        ".arrow",
        ".feather",
        ".npz",
        ".npy",
        ".safetensors",
    ];
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending));
    stem.unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_name_without_a_data_directory_tells_how_to_get_it() {
        let error = locate("mnist", &[]).unwrap_err().to_string();
        assert!(error.contains("AUTOACTIVATOR_DATA"), "{error}");
        assert!(error.contains("`mnist/`"), "{error}");
        let fetched = error.contains("`autoactivator data get mnist`");
        assert_eq!(fetched, cfg!(feature = "fetch"), "{error}");
        let made = locate("cifar100-lite0", &[]).unwrap_err().to_string();
        assert!(!made.contains("data get"), "{made}");
    }

    #[test]
    fn a_known_name_is_looked_for_in_every_data_directory() {
        let (given, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folders = [given.path().to_owned(), cache.path().to_owned()];
        let error = locate("mnist", &folders).unwrap_err().to_string();
        for folder in &folders {
            assert!(error.contains(&folder.display().to_string()), "{error}");
        }
        std::fs::create_dir(cache.path().join("mnist")).unwrap();
        assert_eq!(locate("mnist", &folders).unwrap(), cache.path().join("mnist"));
        std::fs::create_dir(given.path().join("mnist")).unwrap();
        assert_eq!(locate("mnist", &folders).unwrap(), given.path().join("mnist"));
    }

    #[test]
    fn a_name_is_the_last_part_of_a_path() {
        assert_eq!(name_of(Path::new("some/things.csv.gz")), "things");
        assert_eq!(name_of(Path::new("some/folder/")), "folder");
    }
}
