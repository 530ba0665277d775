//! Rows as a file gives them, and how two parts of a data set come under one list of class names.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use autoactivator::{ImageShape, Labels, Table, counted};

use super::{Dataset, Split, split};
use crate::batch::Batch;
use crate::error::{Error, NO_ROWS, bad};
use crate::table::{Columns, FeatureTable, NO_CLASSES};

/// All rows of a table that carries classes.
pub(super) fn read_table(path: &Path, columns: &Columns) -> Result<(NamedRows, Option<ImageShape>), Error> {
    let table = FeatureTable::open(path, columns)?;
    let no_rows = || bad(path, NO_ROWS);
    let rows = Batch::collect(table.batches()?)?.ok_or_else(no_rows)?;
    let y = rows.y.ok_or_else(|| bad(path, NO_CLASSES))?;
    Ok((NamedRows { x: rows.x, y }, table.shape().image))
}

/// Rows as a file gives them: features, and a class name for each row.
pub(super) struct NamedRows {
    pub x: Table,
    pub y: Vec<String>,
}

impl Dataset {
    /// Brings two splits under one list of class names; `path` is their place in errors.
    pub(super) fn new(
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

    /// Makes a data set of rows that are in memory, each with its class name; `path` is their place in errors.
    ///
    /// Both parts need rows of one length, and there must be at least two classes.
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

    /// Makes a data set of the rows of one table, each with its class name: 80/20, class by class, as [`open`] divides a
    /// table.
    ///
    /// [`open`]: super::open
    pub fn from_table(name: String, path: &Path, rows: (Table, Vec<String>)) -> Result<Self, Error> {
        let (train, test) = split::split(path, &NamedRows::paired(rows)?)?;
        Self::new(name, path, train, test, None)
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
        let reason = format!(
            "training rows have {}, test rows have {found}: both need the same number",
            counted(expected, "feature")
        );
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
            format!("there is only one class ('{only}'): at least two are needed"),
        )),
        _ => {
            names.sort_by(|a, b| natural_order(a, b));
            Ok(names.into_iter().cloned().collect())
        }
    }
}

/// The order of class names: numbers by their value, before all other names.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let number = |name: &str| name.parse().ok().filter(|value: &f64| value.is_finite());
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
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
}
