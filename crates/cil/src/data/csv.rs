//! Reads tables of comma-separated values: one row per line, features first, the class in the last column.
//!
//! [`read`] gives the rows of one file; [`open_file`] splits them for the exam, [`open_folder`] takes
//! `train.csv` and `test.csv` as they are.

use std::path::Path;

use autoactivator::Table;
use csv::{ReaderBuilder, StringRecord, Trim};

use super::source::{Source, find, require};
use super::split::split;
use super::{Dataset, NamedRows, bad, name_of};
use crate::error::Error;

/// Whether a folder holds a data set of this kind.
pub(super) fn is_in(folder: &Path) -> bool {
    find(folder, "train.csv").is_some()
}

/// Opens `train.csv` and `test.csv` of a folder, gzip or not.
pub(super) fn open_folder(folder: &Path) -> Result<Dataset, Error> {
    let split = |name| read(Source::open(&require(folder, name)?)?);
    Dataset::new(name_of(folder), folder, split("train.csv")?, split("test.csv")?)
}

/// Opens a single file, and splits it 80/20.
pub(super) fn open_file(path: &Path) -> Result<Dataset, Error> {
    let (train, test) = split(path, &read(Source::open(path)?)?)?;
    Dataset::new(name_of(path), path, train, test)
}

/// Reads all rows of a file; a first line of names is skipped.
pub(super) fn read(source: Source) -> Result<NamedRows, Error> {
    read_columns(source, |_| true)
}

/// Reads all rows of a file for a model of `n_features`; a file with just as many columns carries no classes, and the
/// names of its rows are empty.
pub(super) fn read_maybe_labelled(source: Source, n_features: usize) -> Result<NamedRows, Error> {
    read_columns(source, |n_columns| n_columns != n_features)
}

/// Reads all rows; `labelled` says whether the last of so many columns is the class.
fn read_columns(source: Source, labelled: impl Fn(usize) -> bool) -> Result<NamedRows, Error> {
    let path = source.path().to_owned();
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(source);
    let mut rows = Rows::default();
    let mut record = StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => rows
                .push(&record, &labelled)
                .map_err(|reason| bad(&path, reason))?,
            Ok(false) => break,
            Err(error) => return Err(unreadable(&path, error)),
        }
    }
    rows.finish(&path)
}

fn unreadable(path: &Path, error: csv::Error) -> Error {
    let line = error
        .position()
        .map_or(String::new(), |at| format!("line {}: ", at.line()));
    let reason = match error.into_kind() {
        csv::ErrorKind::Io(source) => format!("cannot be read to its end: {source}; fetch the file again"),
        csv::ErrorKind::Utf8 { .. } => format!("{line}not UTF-8 text; save the file as UTF-8"),
        other => format!("{line}{other:?}"),
    };
    bad(path, reason)
}

/// The rows read so far.
#[derive(Default)]
struct Rows {
    values: Vec<f32>,
    labels: Vec<String>,
    /// Set by the first line, be it names or a row; every other line must have as many.
    n_columns: Option<usize>,
    n_features: usize,
}

impl Rows {
    fn push(&mut self, record: &StringRecord, labelled: impl Fn(usize) -> bool) -> Result<(), String> {
        let line = record.position().map_or(0, csv::Position::line);
        let first = self.n_columns.is_none();
        let expected = *self.n_columns.get_or_insert(record.len());
        if record.len() != expected {
            let found = record.len();
            return Err(format!(
                "line {line} has {found} columns, the first line has {expected}"
            ));
        }
        let has_class = labelled(expected);
        self.n_features = expected - usize::from(has_class);
        if self.n_features == 0 {
            return Err(format!(
                "line {line} has one column: at least a feature and, last, a class are needed"
            ));
        }
        let features = record.iter().take(self.n_features);
        let label = record.get(self.n_features).unwrap_or_default();
        if first && is_header(features.clone()) {
            return Ok(());
        }
        for (column, cell) in (1..).zip(features) {
            self.values
                .push(number(cell).map_err(|why| format!("line {line}, column {column}: {why}"))?);
        }
        if has_class && label.is_empty() {
            return Err(format!("line {line}, column {expected}: the class is missing"));
        }
        self.labels.push(label.to_owned());
        Ok(())
    }

    fn finish(self, path: &Path) -> Result<NamedRows, Error> {
        match self.n_columns {
            Some(_) if !self.labels.is_empty() => Ok(NamedRows {
                x: Table::new(self.values, self.n_features)?,
                y: self.labels,
            }),
            _ => Err(bad(path, "there are no rows in this file")),
        }
    }
}

/// A line of names has no number at all among its features: one misprint must not make a row a header.
fn is_header<'a>(mut features: impl Iterator<Item = &'a str>) -> bool {
    features.all(|cell| !cell.is_empty() && cell.parse::<f32>().is_err())
}

fn number(cell: &str) -> Result<f32, String> {
    match cell.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!(
            "'{cell}' is not finite: remove the row or replace the value by a finite one"
        )),
        Err(_) => Err(format!(
            "'{cell}' is not a number; only the last column, the class, may be text"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::source::tests::gzip;
    use super::*;

    fn read_text(text: &[u8]) -> Result<NamedRows, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("things.csv");
        fs::write(&path, text).unwrap();
        read(Source::open(&path).unwrap()).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refused(text: &[u8], expected: &str) {
        let error = read_text(text).err().unwrap();
        assert!(
            error.contains("things.csv") && error.contains(expected),
            "{error}"
        );
    }

    #[test]
    fn rows_with_and_without_a_header_are_the_same() {
        for text in [
            "1,2.5,a\n-3,4e1,b\n",
            "\u{feff}width, height ,kind\r\n\r\n1, 2.5 ,a\r\n-3,4e1,b",
        ] {
            let rows = read_text(text.as_bytes()).unwrap();
            assert_eq!(rows.x, Table::new(vec![1.0, 2.5, -3.0, 40.0], 2).unwrap());
            assert_eq!(rows.y, ["a", "b"]);
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_column() {
        refused(b"1,2,a\n3,x,b\n", "line 2, column 2: 'x' is not a number");
        refused(b"1,x,a\n", "line 1, column 2: 'x' is not a number");
        refused(b"w,h,kind\n1,,a\n", "line 2, column 2: '' is not a number");
        refused(b"1,2,a\n3,NaN,b\n", "line 2, column 2: 'NaN' is not finite");
        refused(b"1,1e99,a\n", "line 1, column 2: '1e99' is not finite");
        refused(b"1,2,a\n3,b\n", "line 2 has 2 columns, the first line has 3");
        refused(b"1,2,\n", "line 1, column 3: the class is missing");
        refused(b"1;2;a\n", "line 1 has one column");
        refused(b"1,2,a\n1,2,\xff\n", "line 2: not UTF-8");
    }

    #[test]
    fn a_file_without_rows_is_refused() {
        refused(b"", "no rows");
        refused(b"w,h,kind\n", "no rows");
    }

    #[test]
    fn a_cut_gzip_file_is_refused() {
        let mut packed = gzip("1,2,a\n".repeat(1000).as_bytes());
        packed.truncate(packed.len() - 12);
        refused(&packed, "fetch the file again");
    }

    #[test]
    fn a_folder_keeps_its_own_split() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("train.csv"), "1,a\n2,b\n3,b\n").unwrap();
        fs::write(folder.path().join("test.csv.gz"), gzip(b"4,b\n5,a\n")).unwrap();
        let data = open_folder(folder.path()).unwrap();
        assert_eq!(data.train.y.codes(), [0, 1, 1]);
        assert_eq!(data.test.y.codes(), [1, 0]);
        assert_eq!(data.test.x.rows().values(), [4.0, 5.0]);
    }

    #[test]
    fn splits_of_different_width_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("train.csv"), "1,a\n2,b\n").unwrap();
        fs::write(folder.path().join("test.csv"), "1,2,a\n3,4,b\n").unwrap();
        let error = open_folder(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("training rows have 1 features, test rows 2"),
            "{error}"
        );
    }
}
