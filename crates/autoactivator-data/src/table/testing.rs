//! What the tests of several formats share: a folder of files, read back or refused by name.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::{Columns, FeatureTable, Shape};
use crate::batch::Batch;
use crate::error::Error;

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn write(folder: &TempDir, name: &str, bytes: &[u8]) {
    fs::write(folder.path().join(name), bytes).unwrap();
}

pub fn read(folder: &TempDir, name: &str) -> Result<(Shape, Batch), Error> {
    let table = FeatureTable::open(&folder.path().join(name), &Columns::default())?;
    Ok((table.shape(), Batch::collect(table.batches()?)?.unwrap()))
}

/// Reading `table` fails with `expected` once the file `name` holds these bytes.
#[track_caller]
pub fn refused(folder: &TempDir, table: &str, name: &str, bytes: &[u8], expected: &str) {
    write(folder, name, bytes);
    let error = read(folder, table).unwrap_err().to_string();
    assert!(error.contains(name) && error.contains(expected), "{error}");
}
