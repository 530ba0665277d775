//! Writes answers as a Parquet table: the class of each row, and as many probabilities as were asked for.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Float32Builder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::write::{beside, give_name};
use crate::error::{Error, bad, io_error};

/// Rows that are written at a time.
const ROWS: usize = 8192;

/// The answer to one row.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// Its number, from 0.
    pub row: u64,
    /// What it is called.
    pub name: Option<String>,
    /// Its class; none for "none of the classes I know".
    pub class: Option<String>,
    /// Classes and their probabilities, as many as are wanted.
    pub probabilities: Vec<(String, f32)>,
}

/// A table of answers that gets its name when it is finished.
pub struct AnswerTable {
    path: PathBuf,
    beside: PathBuf,
    writer: Option<ArrowWriter<File>>,
    rows: Vec<AnswerRow>,
}

impl AnswerTable {
    /// A table that will be called `path`.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            beside: beside(path)?,
            writer: None,
            rows: Vec::new(),
        })
    }

    /// Adds the answer to the next row.
    pub fn write(&mut self, row: AnswerRow) -> Result<(), Error> {
        self.rows.push(row);
        if self.rows.len() < ROWS {
            return Ok(());
        }
        self.flush()
    }

    /// Gives the table its name.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        if let Some(writer) = self.writer.take() {
            writer.close().map_err(|e| bad(&self.path, e.to_string()))?;
        }
        give_name(&self.beside, &self.path)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let failed = |e: &dyn std::fmt::Display| bad(&self.path, e.to_string());
        let record = record(&self.rows).map_err(|e| failed(&e))?;
        self.rows.clear();
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let file = File::create(&self.beside).map_err(|cause| io_error(&self.path, cause))?;
                let level = ZstdLevel::try_new(1).map_err(|e| failed(&e))?;
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(level))
                    .build();
                let writer = ArrowWriter::try_new(file, record.schema(), Some(properties));
                self.writer.insert(writer.map_err(|e| failed(&e))?)
            }
        };
        writer.write(&record).map_err(|e| bad(&self.path, e.to_string()))
    }
}

impl Drop for AnswerTable {
    /// Tidies away what was not finished.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.beside);
    }
}

fn record(rows: &[AnswerRow]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let mut numbers = UInt64Builder::new();
    let (mut names, mut classes) = (StringBuilder::new(), StringBuilder::new());
    let mut top = ListBuilder::new(StringBuilder::new());
    let mut probabilities = ListBuilder::new(Float32Builder::new());
    for row in rows {
        numbers.append_value(row.row);
        names.append_option(row.name.as_deref());
        classes.append_option(row.class.as_deref());
        for (class, probability) in &row.probabilities {
            top.values().append_value(class);
            probabilities.values().append_value(*probability);
        }
        top.append(true);
        probabilities.append(true);
    }
    let columns: [(&str, ArrayRef); 5] = [
        ("row", Arc::new(numbers.finish())),
        ("name", Arc::new(names.finish())),
        ("class", Arc::new(classes.finish())),
        ("classes", Arc::new(top.finish())),
        ("probabilities", Arc::new(probabilities.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
}
