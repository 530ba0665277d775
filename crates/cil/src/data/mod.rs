//! Where the rows of an exam come from: [`open`] finds a data set by name or path and reads it.
//!
//! [`Dataset`] is two [`Split`]s that share one list of class names; `idx`, `npy`, `csv` and `digits` each read
//! one kind of source. Next in the flow: [`scenario`](crate::scenario) deals the classes to tasks.

mod csv;
mod digits;
mod idx;
mod npy;
mod source;
mod split;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autoactivator::{ImageShape, Labels, Table};

use crate::error::Error;
use source::Source;

/// The data sets known by name; all but `digits`, which is built in, are folders of the data directory.
pub const NAMES: [&str; 4] = ["digits", "mnist", "fashion-mnist", "cifar100-lite0"];

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

/// Opens a data set: one of [`NAMES`], a folder, or a `.csv` or `.csv.gz` file.
///
/// A folder holds idx files named like MNIST's, or `{train,test}_features.npy` and `{train,test}_labels.npy`, or
/// `train.csv` and `test.csv`. A single csv file is split 80/20, class by class, the same way every time.
pub fn open(name_or_path: &str, data_dir: Option<&Path>) -> Result<Dataset, Error> {
    if name_or_path == digits::NAME {
        return digits::open();
    }
    let path = locate(name_or_path, data_dir)?;
    if path.is_dir() {
        open_folder(&path)
    } else {
        csv::open_file(&path)
    }
}

/// Which rows of a data set are meant; a csv file has only one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rows to learn from.
    Train,
    /// Rows to be examined on.
    Test,
}

/// Rows of one task.
#[derive(Clone, Debug)]
pub struct TaskRows {
    /// The features.
    pub x: Table,
    /// The classes.
    pub y: Labels,
    /// The shape of each row, when rows are known to be images.
    pub image: Option<ImageShape>,
}

/// Reads the rows of one task: all rows of a csv file, or one part of a data set.
pub fn read(name_or_path: &str, data_dir: Option<&Path>, part: Part) -> Result<TaskRows, Error> {
    if is_file(name_or_path) {
        let rows = csv::read(Source::open(Path::new(name_or_path))?)?;
        return Ok(TaskRows {
            y: Labels::from_names(&rows.y),
            x: rows.x,
            image: None,
        });
    }
    let dataset = open(name_or_path, data_dir)?;
    let split = match part {
        Part::Train => dataset.train,
        Part::Test => dataset.test,
    };
    Ok(TaskRows {
        x: split.x,
        y: split.y,
        image: dataset.image,
    })
}

/// Reads rows for a model of `n_features`; a csv file with just as many columns carries no classes.
pub fn read_maybe_labelled(
    name_or_path: &str,
    data_dir: Option<&Path>,
    part: Part,
    n_features: usize,
) -> Result<(Table, Option<Labels>), Error> {
    if !is_file(name_or_path) {
        let split = read(name_or_path, data_dir, part)?;
        return Ok((split.x, Some(split.y)));
    }
    let rows = csv::read_maybe_labelled(Source::open(Path::new(name_or_path))?, n_features)?;
    let labelled = rows.y.iter().all(|name| !name.is_empty());
    Ok((rows.x, labelled.then(|| Labels::from_names(&rows.y))))
}

fn is_file(name_or_path: &str) -> bool {
    !NAMES.contains(&name_or_path) && Path::new(name_or_path).is_file()
}

/// The file or folder that a name or a path stands for.
fn locate(name_or_path: &str, data_dir: Option<&Path>) -> Result<PathBuf, Error> {
    let known = NAMES.contains(&name_or_path);
    let path = match data_dir {
        Some(folder) if known => folder.join(name_or_path),
        None if known => return Err(not_found(name_or_path, None)),
        _ => PathBuf::from(name_or_path),
    };
    if path.exists() {
        Ok(path)
    } else {
        Err(not_found(name_or_path, data_dir.filter(|_| known)))
    }
}

fn not_found(name: &str, looked_in: Option<&Path>) -> Error {
    let hint = if !NAMES.contains(&name) {
        format!(
            "there is no such file or folder; the data sets known by name are {}",
            NAMES.join(", ")
        )
    } else {
        let place = match looked_in {
            Some(folder) => format!("{} has no folder `{name}`", folder.display()),
            None => "no data directory was given".to_owned(),
        };
        format!("{place}; set AUTOACTIVATOR_DATA or --data-dir to the folder that holds `{name}/`")
    };
    Error::NoDataset {
        name: name.to_owned(),
        hint,
    }
}

fn open_folder(folder: &Path) -> Result<Dataset, Error> {
    if idx::is_in(folder) {
        idx::open_folder(folder)
    } else if npy::is_in(folder) {
        npy::open_folder(folder)
    } else if csv::is_in(folder) {
        csv::open_folder(folder)
    } else {
        Err(bad(
            folder,
            "the folder holds no data set: expected train-images-idx3-ubyte[.gz], train_features.npy or \
             train.csv[.gz], each with its companions",
        ))
    }
}

/// Rows as a file gives them: features, and a class name for each row.
struct NamedRows {
    x: Table,
    y: Vec<String>,
}

impl Dataset {
    /// Brings two splits under one list of class names; `path` is where they came from.
    fn new(name: String, path: &Path, train: NamedRows, test: NamedRows) -> Result<Self, Error> {
        check_shapes(path, &train, &test)?;
        let names = class_names(path, train.y.iter().chain(&test.y))?;
        Ok(Self {
            name,
            train: train.coded(&names)?,
            test: test.coded(&names)?,
            image: None,
        })
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.train.y.names().len()
    }

    /// States that each row is an image of that shape.
    fn with_image(self, shape: ImageShape) -> Self {
        Self {
            image: Some(shape),
            ..self
        }
    }
}

impl NamedRows {
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

/// Numbers by their value, before all other names.
fn natural_order(a: &str, b: &str) -> std::cmp::Ordering {
    let number = |name: &str| name.parse().ok().filter(|value: &f64| value.is_finite());
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// The last part of a path without its endings: `things` for `some/things.csv.gz`.
fn name_of(path: &Path) -> String {
    let last = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let name = last.strip_suffix(".gz").unwrap_or(&last);
    name.strip_suffix(".csv").unwrap_or(name).to_owned()
}

fn bad(path: &Path, reason: impl Into<String>) -> Error {
    Error::BadData {
        path: path.to_owned(),
        reason: reason.into(),
    }
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
    fn a_known_name_without_a_data_directory_tells_how_to_set_it() {
        let error = open("mnist", None).unwrap_err().to_string();
        assert!(error.contains("AUTOACTIVATOR_DATA"), "{error}");
        assert!(error.contains("`mnist/`"), "{error}");
    }

    #[test]
    fn a_known_name_is_looked_for_in_the_data_directory() {
        let folder = tempfile::tempdir().unwrap();
        let error = open("mnist", Some(folder.path())).unwrap_err().to_string();
        assert!(error.contains(&folder.path().display().to_string()), "{error}");
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
    fn a_name_is_the_last_part_of_a_path() {
        assert_eq!(name_of(Path::new("some/things.csv.gz")), "things");
        assert_eq!(name_of(Path::new("some/folder/")), "folder");
    }
}
