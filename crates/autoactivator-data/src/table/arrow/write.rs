//! Writes feature tables as Parquet or Arrow: `name` and `class` where there are any, and a list of features, which
//! has no names for them.
//!
//! [`ParquetSink`] and [`IpcSink`] are what `TableWriter` writes to. Both keep the origin of the rows as metadata.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeListArray, Float32Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use serde_json::Value;

use crate::batch::Batch;
use crate::table::ORIGIN;
use crate::table::columns::NAME;
use crate::table::write::{About, CLASS, Sink};

/// The column of features in written tables.
const FEATURES: &str = "features";

/// How every Parquet file is compressed.
pub(super) fn compressed() -> Result<WriterPropertiesBuilder, ParquetError> {
    let level = ZstdLevel::try_new(1)?;
    Ok(WriterProperties::builder().set_compression(Compression::ZSTD(level)))
}

/// A Parquet file.
pub(super) struct ParquetSink {
    writer: ArrowWriter<File>,
    origin: Option<Value>,
}

impl ParquetSink {
    pub fn begin(file: File, batch: &Batch, about: &About) -> Result<Box<dyn Sink>, String> {
        let origin = about.origin.as_ref();
        let properties = compressed()
            .map_err(|e| e.to_string())?
            .set_dictionary_enabled(false)
            .set_column_dictionary_enabled(CLASS.into(), true)
            .set_max_row_group_row_count(Some(1 << 16))
            .build();
        let schema = record(batch, origin)?.schema();
        let writer = ArrowWriter::try_new(file, schema, Some(properties));
        let mut writer = writer.map_err(|e| e.to_string())?;
        if let Some(origin) = origin {
            writer.append_key_value_metadata(KeyValue::new(ORIGIN.to_owned(), origin.to_string()));
        }
        let origin = origin.cloned();
        Ok(Box::new(Self { writer, origin }))
    }
}

impl Sink for ParquetSink {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        let record = record(batch, self.origin.as_ref())?;
        self.writer.write(&record).map_err(|e| e.to_string())
    }

    fn finish(self: Box<Self>) -> Result<(), String> {
        self.writer.close().map(|_| ()).map_err(|e| e.to_string())
    }
}

/// An Arrow IPC file.
pub(super) struct IpcSink {
    writer: FileWriter<BufWriter<File>>,
    origin: Option<Value>,
}

impl IpcSink {
    pub fn begin(file: File, batch: &Batch, about: &About) -> Result<Box<dyn Sink>, String> {
        let origin = about.origin.as_ref();
        let schema = record(batch, origin)?.schema();
        let writer = FileWriter::try_new(BufWriter::new(file), &schema);
        Ok(Box::new(Self {
            writer: writer.map_err(|e| e.to_string())?,
            origin: origin.cloned(),
        }))
    }
}

impl Sink for IpcSink {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        let record = record(batch, self.origin.as_ref())?;
        self.writer.write(&record).map_err(|e| e.to_string())
    }

    fn finish(mut self: Box<Self>) -> Result<(), String> {
        self.writer.finish().map_err(|e| e.to_string())
    }
}

/// A batch as a record.
fn record(batch: &Batch, origin: Option<&Value>) -> Result<RecordBatch, String> {
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
