//! Where the rows of an exam come from: [`open`] finds a data set by name or path and reads it.
//!
//! [`Dataset`] is two [`Split`]s that share one list of class names, read from [`table`](crate::table)s; `digits` is built
//! in, `cifar` reads a format of its own, and [`fetch`] brings what is known by name.

mod cifar;
mod digits;
pub mod fetch;
mod split;
mod thin;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autoactivator::{ImageShape, Labels, Table};

use crate::batch::Batch;
use crate::error::{Error, bad};
use crate::part::Part;
use crate::table::{Columns, FeatureTable};
use split::split;

/// The data sets known by name; all but `digits`, which is built in, are folders of a data directory.
pub const NAMES: [&str; 5] = ["digits", "mnist", "fashion-mnist", "cifar100", "cifar100-lite0"];

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

/// Opens a data set: one of [`NAMES`], a folder, or a feature table.
///
/// A folder holds idx files named like MNIST's, or `{train,test}_features.npy` and `{train,test}_labels.npy`, or tables
/// called `train` and `test` in any format, or CIFAR-100's binary files. A single table is split 80/20, class by class,
/// the same way every time.
pub fn open(name_or_path: &str, data_dir: Option<&Path>) -> Result<Dataset, Error> {
    if name_or_path == digits::NAME {
        return digits::open();
    }
    let path = locate(name_or_path, &folders(data_dir))?;
    if path.is_dir() {
        return open_folder(&path);
    }
    let (rows, image) = read_table(&path)?;
    let (train, test) = split(&path, &rows)?;
    Dataset::new(name_of(&path), &path, train, test, image)
}

/// Where the rows of a task are.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// In a table on disk.
    Table(PathBuf),
    /// In a data set that is no table: [`read_part`] reads it.
    Memory,
}

/// Finds the rows of one task: a table, whole, or one part of a data set by name or folder.
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
    let (train, test) = parts(&path)?;
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

/// Whether a folder holds a data set.
pub fn is_dataset(folder: &Path) -> bool {
    cifar::is_in(folder) || PARTS.iter().any(|(train, _)| there(folder, train).is_some())
}

/// The folders in which data sets known by name are looked for, in this order: the one that was given, and the user's.
pub fn folders(data_dir: Option<&Path>) -> Vec<PathBuf> {
    data_dir
        .map(Path::to_owned)
        .into_iter()
        .chain(fetch::cache_dir())
        .collect()
}

/// Where a data set, or something that belongs to one, is: a path, or a name in one of the data directories.
pub fn place(name_or_path: &str, data_dir: Option<&Path>) -> Result<PathBuf, Error> {
    locate(name_or_path, &folders(data_dir))
}

/// The file or folder that a name or a path stands for.
fn locate(name_or_path: &str, folders: &[PathBuf]) -> Result<PathBuf, Error> {
    // A folder that happens to be called like a known data set is not taken for it.
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
        let remedy = match fetch::Catalogue::published().find(name) {
            Some(_) => format!("fetch it with `autoactivator data get {name}`, or "),
            None => String::new(),
        };
        format!("{place}; {remedy}set AUTOACTIVATOR_DATA or --data-dir to the folder that holds `{name}/`")
    };
    Error::NoDataset {
        name: name.to_owned(),
        hint,
    }
}

fn open_folder(folder: &Path) -> Result<Dataset, Error> {
    if cifar::is_in(folder) {
        return cifar::open_folder(folder);
    }
    let (train, test) = parts(folder)?;
    let ((train, image), (test, test_image)) = (read_table(&train)?, read_table(&test)?);
    if image != test_image {
        let reason = "training and test images differ in height or width: both need the same";
        return Err(bad(folder, reason));
    }
    Dataset::new(name_of(folder), folder, train, test, image)
}

/// How the two tables of a folder may be called, gzip or not.
const PARTS: [(&str, &str); 9] = [
    ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte"),
    ("train_features.npy", "test_features.npy"),
    ("train.parquet", "test.parquet"),
    ("train.arrow", "test.arrow"),
    ("train.feather", "test.feather"),
    ("train.npz", "test.npz"),
    ("train.npy", "test.npy"),
    ("train.safetensors", "test.safetensors"),
    ("train.csv", "test.csv"),
];

/// A file of a folder, gzip or not.
fn there(folder: &Path, name: &str) -> Option<PathBuf> {
    let candidates = [folder.join(name), folder.join(format!("{name}.gz"))];
    candidates.into_iter().find(|path| path.is_file())
}

/// The file of labels that belongs to a table of features alone.
fn labels_of(table: &str) -> Option<String> {
    let idx = table.strip_suffix("-images-idx3-ubyte");
    let npy = table.strip_suffix("_features.npy");
    idx.map(|part| format!("{part}-labels-idx1-ubyte"))
        .or_else(|| npy.map(|part| format!("{part}_labels.npy")))
}

/// The two tables of a folder.
fn parts(folder: &Path) -> Result<(PathBuf, PathBuf), Error> {
    for (train_name, test) in PARTS {
        if let Some(train) = there(folder, train_name) {
            let missing = |name: &str| bad(folder, format!("{name}[.gz] is missing"));
            let test_table = there(folder, test).ok_or_else(|| missing(test))?;
            for labels in [labels_of(train_name), labels_of(test)].into_iter().flatten() {
                there(folder, &labels).ok_or_else(|| missing(&labels))?;
            }
            return Ok((train, test_table));
        }
    }
    let reason = "the folder holds no data set: expected train-images-idx3-ubyte[.gz], train_features.npy, or tables \
                  called train and test (train.parquet, .arrow, .npz, .npy, .safetensors or train.csv), or train.bin";
    Err(bad(folder, reason))
}

/// All rows of a table that carries classes.
fn read_table(path: &Path) -> Result<(NamedRows, Option<ImageShape>), Error> {
    let table = FeatureTable::open(path, &Columns::default())?;
    let no_rows = || bad(path, "there are no rows in this file");
    let rows = Batch::collect(table.batches()?)?.ok_or_else(no_rows)?;
    let y = rows.y.ok_or_else(|| bad(path, crate::table::NO_CLASSES))?;
    Ok((NamedRows { x: rows.x, y }, table.shape().image))
}

/// Rows as a file gives them: features, and a class name for each row.
struct NamedRows {
    x: Table,
    y: Vec<String>,
}

impl Dataset {
    /// Brings two splits under one list of class names; `path` is where they came from.
    fn new(
        name: String,
        path: &Path,
        train: NamedRows,
        test: NamedRows,
        image: Option<ImageShape>,
    ) -> Result<Self, Error> {
        check_shapes(path, &train, &test)?;
        let names = class_names(path, train.y.iter().chain(&test.y))?;
        Ok(Self {
            name,
            train: train.coded(&names)?,
            test: test.coded(&names)?,
            image,
        })
    }

    /// A data set of rows that are in memory already, each with its class name; `path` is where they came from.
    pub fn from_rows(
        name: String,
        path: &Path,
        train: (Table, Vec<String>),
        test: (Table, Vec<String>),
        image: Option<ImageShape>,
    ) -> Result<Self, Error> {
        let (train, test) = (NamedRows::paired(train)?, NamedRows::paired(test)?);
        Self::new(name, path, train, test, image)
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.train.y.names().len()
    }
}

impl NamedRows {
    fn paired((x, y): (Table, Vec<String>)) -> Result<Self, Error> {
        let (rows, labels) = (x.rows().len(), y.len());
        if rows != labels {
            return Err(autoactivator::Error::LengthMismatch { rows, labels }.into());
        }
        Ok(Self { x, y })
    }

    fn coded(self, names: &Arc<[String]>) -> Result<Split, Error> {
        let code_of: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
        let codes = self
            .y
            .iter()
            .filter_map(|name| code_of.get(name.as_str()).copied());
        let y = Labels::new(names.clone(), codes.collect())?;
        Ok(Split { x: self.x, y })
    }
}

fn check_shapes(path: &Path, train: &NamedRows, test: &NamedRows) -> Result<(), Error> {
    for (split, rows) in [("training", train), ("test", test)] {
        if rows.y.is_empty() {
            return Err(bad(path, format!("there are no {split} rows")));
        }
    }
    let (expected, found) = (train.x.rows().n_features(), test.x.rows().n_features());
    if expected != found {
        let reason = format!("training rows have {expected} features, test rows {found}: both need the same");
        return Err(bad(path, reason));
    }
    Ok(())
}

/// The distinct names in natural order, at least two of them.
fn class_names<'a>(path: &Path, labels: impl Iterator<Item = &'a String>) -> Result<Arc<[String]>, Error> {
    let mut names: Vec<&String> = labels.collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [] => Err(bad(path, "there are no rows")),
        [only] => Err(bad(
            path,
            format!("there is one class only ('{only}'): an exam needs at least two"),
        )),
        _ => {
            names.sort_by(|a, b| natural_order(a, b));
            Ok(names.into_iter().cloned().collect())
        }
    }
}

/// The order of class names: numbers by their value, before all other names.
pub fn natural_order(a: &str, b: &str) -> std::cmp::Ordering {
    let number = |name: &str| name.parse().ok().filter(|value: &f64| value.is_finite());
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// The last part of a path without its endings: `things` for `some/things.csv.gz`.
pub fn name_of(path: &Path) -> String {
    let last = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = last.strip_suffix(".gz").unwrap_or(&last);
    let endings = [
        ".csv",
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

    fn names(labels: &[&str]) -> Result<Vec<String>, Error> {
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        class_names(Path::new("here"), labels.iter()).map(|names| names.to_vec())
    }

    #[test]
    fn class_names_are_distinct_and_in_natural_order() {
        assert_eq!(names(&["10", "9", "10", "-1"]).unwrap(), ["-1", "9", "10"]);
        assert_eq!(names(&["pear", "2", "apple"]).unwrap(), ["2", "apple", "pear"]);
        assert_eq!(names(&["inf", "nan", "0"]).unwrap(), ["0", "inf", "nan"]);
    }

    #[test]
    fn one_class_is_refused_by_name() {
        let error = names(&["cat", "cat"]).unwrap_err().to_string();
        assert!(error.contains("'cat'"), "{error}");
    }

    #[test]
    fn a_known_name_without_a_data_directory_tells_how_to_get_it() {
        let error = locate("mnist", &[]).unwrap_err().to_string();
        assert!(error.contains("AUTOACTIVATOR_DATA"), "{error}");
        assert!(error.contains("`mnist/`"), "{error}");
        assert!(error.contains("`autoactivator data get mnist`"), "{error}");
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

    #[test]
    fn a_folder_keeps_its_own_split() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("train.csv", "1,a\n2,b\n3,b\n");
        let error = open_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("test.csv[.gz] is missing"), "{error}");
        write("test.csv", "4,b\n5,a\n");
        let data = open_folder(folder.path()).unwrap();
        assert_eq!(data.train.x.rows().values(), [1.0, 2.0, 3.0]);
        assert_eq!(data.test.y.codes(), [1, 0]);
        write("test.csv", "4,1,b\n");
        let error = open_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("1 features, test rows 2"), "{error}");
    }

    #[test]
    fn a_name_is_the_last_part_of_a_path() {
        assert_eq!(name_of(Path::new("some/things.csv.gz")), "things");
        assert_eq!(name_of(Path::new("some/folder/")), "folder");
    }
}
