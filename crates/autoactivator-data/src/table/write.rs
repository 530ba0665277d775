//! Writes feature tables: Parquet, Arrow or csv, by the name of the file; whole, or not at all.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use super::ORIGIN;
use super::columns::NAME;
use crate::batch::Batch;
use crate::error::{Error, bad, io_error};

/// The columns of written tables.
const CLASS: &str = "class";
const FEATURES: &str = "features";

/// Writes batches to a file that gets its name when [`finish`](Self::finish) is called.
pub struct TableWriter {
    path: PathBuf,
    beside: PathBuf,
    format: Format,
    origin: Option<Value>,
    sink: Option<Sink>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Parquet,
    Arrow,
    Csv,
}

enum Sink {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<BufWriter<File>>>),
    Csv(BufWriter<File>),
}

fn format_of(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "parquet" => Some(Format::Parquet),
        "arrow" | "feather" | "ipc" => Some(Format::Arrow),
        "csv" => Some(Format::Csv),
        _ => None,
    }
}

impl TableWriter {
    /// A table that will be called `path`, of rows that `origin` computed.
    pub fn create(path: &Path, origin: Option<Value>) -> Result<Self, Error> {
        let format = format_of(path).ok_or_else(|| {
            bad(
                path,
                "the name must end in .parquet, .arrow or .csv: it says how the table is written",
            )
        })?;
        let beside = beside(path)?;
        Ok(Self {
            path: path.to_owned(),
            beside,
            format,
            origin,
            sink: None,
        })
    }

    /// Adds rows; the first batch decides which columns there are.
    pub fn write(&mut self, batch: &Batch) -> Result<(), Error> {
        let written = self.try_write(batch);
        written.map_err(|reason| bad(&self.path, reason))
    }

    fn try_write(&mut self, batch: &Batch) -> Result<(), String> {
        if self.sink.is_none() {
            self.sink = Some(self.open(batch)?);
        }
        match &mut self.sink {
            Some(Sink::Parquet(writer)) => writer
                .write(&record(batch, &self.origin)?)
                .map_err(|e| e.to_string()),
            Some(Sink::Arrow(writer)) => writer
                .write(&record(batch, &self.origin)?)
                .map_err(|e| e.to_string()),
            Some(Sink::Csv(writer)) => write_csv(writer, batch).map_err(|e| e.to_string()),
            None => Ok(()),
        }
    }

    fn open(&self, batch: &Batch) -> Result<Sink, String> {
        let file = File::create(&self.beside).map_err(|e| e.to_string())?;
        Ok(match self.format {
            Format::Parquet => {
                let level = ZstdLevel::try_new(1).map_err(|e| e.to_string())?;
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(level))
                    .set_dictionary_enabled(false)
                    .set_column_dictionary_enabled(CLASS.into(), true)
                    .set_max_row_group_row_count(Some(1 << 16))
                    .build();
                let schema = record(batch, &self.origin)?.schema();
                let writer = ArrowWriter::try_new(file, schema, Some(properties));
                let mut writer = writer.map_err(|e| e.to_string())?;
                if let Some(origin) = &self.origin {
                    writer.append_key_value_metadata(KeyValue::new(ORIGIN.to_owned(), origin.to_string()));
                }
                Sink::Parquet(Box::new(writer))
            }
            Format::Arrow => {
                let writer =
                    FileWriter::try_new(BufWriter::new(file), &record(batch, &self.origin)?.schema());
                Sink::Arrow(Box::new(writer.map_err(|e| e.to_string())?))
            }
            Format::Csv => {
                let mut writer = BufWriter::new(file);
                write_header(&mut writer, batch).map_err(|e| e.to_string())?;
                Sink::Csv(writer)
            }
        })
    }

    /// Gives the file its name, once it is on the disk.
    pub fn finish(mut self) -> Result<(), Error> {
        let failed = |reason: String| bad(&self.path, reason);
        match self.sink.take() {
            Some(Sink::Parquet(writer)) => {
                writer.close().map_err(|e| failed(e.to_string()))?;
            }
            Some(Sink::Arrow(mut writer)) => writer.finish().map_err(|e| failed(e.to_string()))?,
            Some(Sink::Csv(mut writer)) => writer.flush().map_err(|e| failed(e.to_string()))?,
            None => return Err(failed("there is nothing to write: no rows".to_owned())),
        }
        give_name(&self.beside, &self.path)
    }
}

/// A file beside `path` to write to; what cannot be written is said before anything is computed.
pub(super) fn beside(path: &Path) -> Result<PathBuf, Error> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = path.with_file_name(name);
    File::create(&beside).map_err(|cause| io_error(path, cause))?;
    Ok(beside)
}

/// Gives a file its name, once it is on the disk.
pub(super) fn give_name(beside: &Path, path: &Path) -> Result<(), Error> {
    File::open(beside)
        .and_then(|file| file.sync_all())
        .and_then(|()| std::fs::rename(beside, path))
        .map_err(|cause| io_error(path, cause))
}

impl Drop for TableWriter {
    /// Tidies away what was not finished.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.beside);
    }
}

/// A batch as a record: `name` and `class` where there are any, and a list of features.
fn record(batch: &Batch, origin: &Option<Value>) -> Result<RecordBatch, String> {
    let mut columns: Vec<(Field, ArrayRef)> = Vec::new();
    for (name, values) in [(NAME, &batch.names), (CLASS, &batch.y)] {
        if let Some(values) = values {
            let field = Field::new(name, DataType::Utf8, false);
            columns.push((field, Arc::new(StringArray::from_iter_values(values))));
        }
    }
    let item = Arc::new(Field::new("item", DataType::Float32, false));
    let x = batch.x.rows();
    let width = i32::try_from(x.n_features()).map_err(|e| e.to_string())?;
    let values: ArrayRef = Arc::new(Float32Array::from(x.values().to_vec()));
    let list = FixedSizeListArray::try_new(item.clone(), width, values, None).map_err(|e| e.to_string())?;
    columns.push((
        Field::new(FEATURES, DataType::FixedSizeList(item, width), false),
        Arc::new(list),
    ));
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let metadata = origin
        .iter()
        .map(|origin| (ORIGIN.to_owned(), origin.to_string()));
    let schema = Schema::new(fields).with_metadata(metadata.collect::<HashMap<_, _>>());
    RecordBatch::try_new(Arc::new(schema), arrays).map_err(|e| e.to_string())
}

fn write_header(writer: &mut impl Write, batch: &Batch) -> std::io::Result<()> {
    let mut line = csv::Writer::from_writer(writer);
    let features = (0..batch.x.rows().n_features()).map(|at| format!("f{at}"));
    let name = batch.names.as_ref().map(|_| NAME.to_owned());
    let class = batch.y.as_ref().map(|_| CLASS.to_owned());
    line.write_record(name.into_iter().chain(features).chain(class))?;
    line.flush()
}

fn write_csv(writer: &mut impl Write, batch: &Batch) -> std::io::Result<()> {
    let mut lines = csv::Writer::from_writer(writer);
    for (at, row) in batch.x.rows().iter().enumerate() {
        let name = batch.names.as_ref().map(|names| names[at].clone());
        let class = batch.y.as_ref().map(|y| y[at].clone());
        let features = row.iter().map(ToString::to_string);
        lines.write_record(name.into_iter().chain(features).chain(class))?;
    }
    lines.flush()
}
