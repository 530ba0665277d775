//! Data sets by name or path: [`open`] finds one and reads it, with rows to learn from and rows to be examined on.
//!
//! `locate` finds the file or folder, `folder` knows how its files are called, and `rows` brings both parts under one
//! list of class names. `digits` is built in, `cifar` reads a format of its own, and `fetch` downloads what is known by
//! name.
//!
//! ```
//! use autoactivator_data::dataset;
//!
//! let digits = dataset::open("digits", None)?;
//! assert_eq!(digits.n_classes(), 10);
//! assert_eq!(digits.train.x.rows().n_features(), 64);
//! assert_eq!(digits.train.y.len() + digits.test.y.len(), 1797);
//! # Ok::<(), autoactivator_data::Error>(())
//! ```

mod cifar;
mod digits;
#[cfg(feature = "fetch")]
pub mod fetch;
mod folder;
mod locate;
mod rows;
mod split;
mod thin;
mod user_folder;

use std::path::{Path, PathBuf};

use autoactivator::{ImageShape, Labels, Table};

use crate::error::Error;
use crate::part::Part;
use crate::table::Columns;
pub use folder::is_dataset;
use locate::locate;
pub use locate::{folders, name_of, place};
pub use rows::natural_order;
pub use user_folder::{user_cache, user_config};

/// The data sets known by name. `digits` is built in; the others are folders in a data directory.
pub const NAMES: [&str; 6] = [
    "digits",
    "mnist",
    "fashion-mnist",
    "cifar100",
    "cifar100-lite0",
    "clinc150",
];

/// The columns of the text and of the class of a data set of sentences known by name.
pub fn text_columns(name: &str) -> Option<(&'static str, &'static str)> {
    (name == "clinc150").then_some(("text", "intent"))
}

/// Rows to learn from and rows to be examined on.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name in tables.
    pub name: String,
    /// Rows to learn from.
    pub train: Split,
    /// Rows to be examined on.
    pub test: Split,
    /// The shape of each row, when rows are images.
    pub image: Option<ImageShape>,
}

/// Rows of features and the class of each.
#[derive(Clone, Debug)]
pub struct Split {
    /// The features.
    pub x: Table,
    /// The classes; both splits of a data set share one list of names.
    pub y: Labels,
}

/// Opens a data set: one of [`NAMES`], a folder, or a feature table. Names are looked up as [`folders`] tells.
///
/// A folder holds idx files named like MNIST's, or `{train,test}_features.npy` and `{train,test}_labels.npy`, or tables
/// called `train` and `test` in any format, or CIFAR-100's binary files. A single table is split 80/20, class by class,
/// the same way every time.
pub fn open(name_or_path: &str, data_dir: Option<&Path>) -> Result<Dataset, Error> {
    open_columns(name_or_path, data_dir, &Columns::default())
}

/// Opens a data set as [`open`] does, with these columns of its tables. Data without columns to choose from is refused
/// if any are named.
pub fn open_columns(
    name_or_path: &str,
    data_dir: Option<&Path>,
    columns: &Columns,
) -> Result<Dataset, Error> {
    if name_or_path == digits::NAME {
        columns.refuse(Path::new(name_or_path))?;
        return digits::open();
    }
    let path = locate(name_or_path, &folders(data_dir))?;
    if path.is_dir() {
        return folder::open(&path, columns);
    }
    let (rows, image) = rows::read_table(&path, columns)?;
    let (train, test) = split::split(&path, &rows)?;
    Dataset::new(name_of(&path), &path, train, test, image)
}

/// Where the rows of a task are.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// In a table on disk.
    Table(PathBuf),
    /// In a data set that is not a table: [`read_part`] reads it.
    Memory,
}

/// Finds the rows of one task without reading them: a whole table, or one part of a data set.
pub fn find(name_or_path: &str, data_dir: Option<&Path>, part: Part) -> Result<Source, Error> {
    if name_or_path == digits::NAME {
        return Ok(Source::Memory);
    }
    let path = locate(name_or_path, &folders(data_dir))?;
    if cifar::is_in(&path) {
        return Ok(Source::Memory);
    }
    if !path.is_dir() {
        return Ok(Source::Table(path));
    }
    let (train, test) = folder::parts(&path)?;
    Ok(Source::Table(match part {
        Part::Train => train,
        Part::Test => test,
    }))
}

/// Reads one part of a data set, and the shape of its images.
pub fn read_part(
    name_or_path: &str,
    data_dir: Option<&Path>,
    part: Part,
) -> Result<(Split, Option<ImageShape>), Error> {
    let dataset = open(name_or_path, data_dir)?;
    let split = match part {
        Part::Train => dataset.train,
        Part::Test => dataset.test,
    };
    Ok((split, dataset.image))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = open("minst", None).unwrap_err().to_string();
        assert!(error.contains("fashion-mnist"), "{error}");
    }

    #[test]
    fn a_folder_without_data_says_what_was_expected() {
        let folder = tempfile::tempdir().unwrap();
        let error = open(&folder.path().display().to_string(), None)
            .unwrap_err()
            .to_string();
        assert!(error.contains("train_features.npy"), "{error}");
    }
}
