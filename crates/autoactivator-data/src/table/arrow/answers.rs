//! Writes answers as a Parquet table: the class of each row, and as many probabilities as were asked for.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float32Builder, ListBuilder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use autoactivator::format::NewFile;
use parquet::arrow::ArrowWriter;

use super::write::compressed;
use crate::error::{Error, bad};
use crate::table::AnswerRow;

/// Rows that are written at a time.
const ROWS_AT_A_TIME: usize = 8192;

/// A Parquet table of answers that gets its name when [`finish`](Self::finish) is called.
///
/// Its columns are `row`, `name`, `class`, `true_class`, `classes` and `probabilities`; the last two are lists of one length. A table
/// that is dropped before leaves nothing behind.
pub struct AnswerTable {
    file: NewFile<'static>,
    writer: Option<ArrowWriter<File>>,
    rows: Vec<AnswerRow>,
}

impl AnswerTable {
    /// Begins a table that will be called `path`.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            file: NewFile::create(path)?,
            writer: None,
            rows: Vec::new(),
        })
    }

    /// Adds the answer to the next row.
    pub fn write(&mut self, row: AnswerRow) -> Result<(), Error> {
        self.rows.push(row);
        if self.rows.len() < ROWS_AT_A_TIME {
            return Ok(());
        }
        self.flush()
    }

    /// Gives the table its name, once its content is on the disk.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        if let Some(writer) = self.writer {
            let closed = writer.close();
            closed.map_err(|e| bad(self.file.path(), e.to_string()))?;
        }
        Ok(self.file.give_name()?)
    }

    fn flush(&mut self) -> Result<(), Error> {
        let failed = |e: &dyn std::fmt::Display| bad(self.file.path(), e.to_string());
        let record = record(&self.rows).map_err(|e| failed(&e))?;
        self.rows.clear();
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let properties = compressed().map_err(|e| failed(&e))?.build();
                let writer = ArrowWriter::try_new(self.file.open()?, record.schema(), Some(properties));
                self.writer.insert(writer.map_err(|e| failed(&e))?)
            }
        };
        writer.write(&record).map_err(|e| failed(&e))
    }
}

fn record(rows: &[AnswerRow]) -> Result<RecordBatch, arrow_schema::ArrowError> {
    let mut numbers = UInt64Builder::new();
    let (mut names, mut classes, mut truths) =
        (StringBuilder::new(), StringBuilder::new(), StringBuilder::new());
    let mut top = ListBuilder::new(StringBuilder::new());
    let mut probabilities = ListBuilder::new(Float32Builder::new());
    for row in rows {
        numbers.append_value(row.row);
        names.append_option(row.name.as_deref());
        classes.append_option(row.class.as_deref());
        truths.append_option(row.true_class.as_deref());
        for (class, probability) in &row.probabilities {
            top.values().append_value(class);
            probabilities.values().append_value(*probability);
        }
        top.append(true);
        probabilities.append(true);
    }
    let columns: [(&str, ArrayRef); 6] = [
        ("row", Arc::new(numbers.finish())),
        ("name", Arc::new(names.finish())),
        ("class", Arc::new(classes.finish())),
        ("true_class", Arc::new(truths.finish())),
        ("classes", Arc::new(top.finish())),
        ("probabilities", Arc::new(probabilities.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
}
