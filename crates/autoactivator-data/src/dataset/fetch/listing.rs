//! Which data sets are here, which can be fetched, and which must be made from images.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::catalogue::Catalogue;
use super::staging;

/// One data set known by name.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its name.
    pub name: &'static str,
    /// Training and test rows together.
    pub rows: u32,
    /// Number of classes.
    pub classes: u32,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
}

/// Where a data set is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum Place {
    /// Part of the program.
    BuiltIn,
    /// In a folder.
    Here {
        /// The folder.
        path: PathBuf,
        /// Size on disk.
        bytes: u64,
    },
    /// Some of it is in a folder: a fetch was begun, or files are missing.
    Incomplete {
        /// The folder.
        path: PathBuf,
        /// Size on disk.
        bytes: u64,
    },
    /// Not here, but a mirror has it.
    Fetchable,
    /// Not here, and no mirror has it: its features must be made from images with a backbone.
    MadeFromImages,
    /// Not here, and no mirror has it: it comes from those who published it.
    Published,
}

/// Every data set known by name, and whether it is in one of these folders. Files are judged by their names alone.
pub fn list(folders: &[PathBuf]) -> Vec<Listed> {
    let known = [
        ("digits", 1_797, 10),
        ("mnist", 70_000, 10),
        ("fashion-mnist", 70_000, 10),
        ("cifar100", 60_000, 100),
        ("cifar100-lite0", 60_000, 100),
        ("clinc150", 19_500, 150),
    ];
    let catalogue = Catalogue::published();
    let listed = known.into_iter().map(|(name, rows, classes)| Listed {
        name,
        rows,
        classes,
        place: find(name, &catalogue, folders),
    });
    listed.collect()
}

fn find(name: &str, catalogue: &Catalogue, folders: &[PathBuf]) -> Place {
    if name == crate::dataset::digits::NAME {
        return Place::BuiltIn;
    }
    // The order in which `open` looks.
    let mut here = folders.iter().map(|folder| folder.join(name));
    if let Some(path) = here.find(|path| path.is_dir()) {
        let bytes = size(&path);
        return if is_complete(name, catalogue, &path) {
            Place::Here { path, bytes }
        } else {
            Place::Incomplete { path, bytes }
        };
    }
    let mut begun = folders.iter().map(|folder| staging(folder, name));
    if let Some(path) = begun.find(|path| path.is_dir()) {
        let bytes = size(&path);
        return Place::Incomplete { path, bytes };
    }
    match catalogue.find(name) {
        Some(_) => Place::Fetchable,
        None if crate::dataset::text_columns(name).is_some() => Place::Published,
        None => Place::MadeFromImages,
    }
}

/// Whether all files are there, by name: reading them all would take too long for a list.
fn is_complete(name: &str, catalogue: &Catalogue, folder: &Path) -> bool {
    let Some(entry) = catalogue.find(name) else {
        return true;
    };
    entry.items.iter().all(|item| item.is_named_in(folder))
}

fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|file| file.metadata().ok())
        .filter(fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_listed_and_nothing_else() {
        let names = list(&[]).iter().map(|listed| listed.name).collect::<Vec<_>>();
        assert_eq!(names, crate::dataset::NAMES);
    }

    #[test]
    fn what_is_here_begun_or_missing() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().to_owned();
        let state = |name: &str| find(name, &Catalogue::published(), std::slice::from_ref(&folder));
        assert_eq!(state("mnist"), Place::Fetchable);
        assert_eq!(state("cifar100-lite0"), Place::MadeFromImages);
        assert_eq!(state("clinc150"), Place::Published);
        assert_eq!(state("digits"), Place::BuiltIn);

        let part = folder.join("cifar100.part");
        fs::create_dir(&part).unwrap();
        fs::write(part.join("file.part"), [0; 9]).unwrap();
        assert_eq!(state("cifar100"), Place::Incomplete { path: part, bytes: 9 });
        let whole = folder.join("cifar100");
        fs::create_dir(&whole).unwrap();
        for file in crate::dataset::cifar::FILES {
            fs::write(whole.join(file), [0; 2]).unwrap();
        }
        assert_eq!(
            state("cifar100"),
            Place::Here {
                path: whole,
                bytes: 6
            }
        );
    }
}
