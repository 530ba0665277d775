//! Stands in for `arrow` in a build without it: every file is refused with the name of the feature.

use std::path::Path;

use super::write::Begin;
use super::{AnswerRow, Columns, Opened};
use crate::error::Error;

pub(super) fn open_parquet(path: &Path, _columns: &Columns) -> Opened {
    Err(left_out(path, "reads no Parquet"))
}

pub(super) fn open_ipc(path: &Path, _columns: &Columns) -> Opened {
    Err(left_out(path, "reads no Arrow files"))
}

pub(super) fn parquet_sink(path: &Path) -> Result<Begin, Error> {
    Err(left_out(path, "writes no Parquet"))
}

pub(super) fn ipc_sink(path: &Path) -> Result<Begin, Error> {
    Err(left_out(path, "writes no Arrow files"))
}

fn left_out(path: &Path, cannot: &'static str) -> Error {
    Error::LeftOut {
        path: path.to_owned(),
        cannot,
        feature: "parquet",
    }
}

/// A Parquet table of answers, which this build cannot make: it lacks the feature `parquet`.
pub enum AnswerTable {}

impl AnswerTable {
    /// Refuses, with the name of the feature.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Err(left_out(path, "writes no Parquet"))
    }

    /// Never called: there is no such table.
    pub fn write(&mut self, _row: AnswerRow) -> Result<(), Error> {
        match *self {}
    }

    /// Never called: there is no such table.
    pub fn finish(self) -> Result<(), Error> {
        match self {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::TableWriter;
    use super::super::testing::refused;
    use super::*;

    #[test]
    fn files_are_refused_with_the_name_of_the_feature() {
        let folder = tempfile::tempdir().unwrap();
        let remedy = "build with the feature `parquet`";
        for start in ["PAR1 and more", "ARROW1 and more"] {
            refused(&folder, "table", "table", start.as_bytes(), remedy);
        }
        for name in ["new.parquet", "new.arrow"] {
            let path = folder.path().join(name);
            let error = TableWriter::create(&path, None, None).err().unwrap().to_string();
            assert!(error.contains(name) && error.contains(remedy), "{error}");
            assert!(AnswerTable::create(&path).is_err());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
