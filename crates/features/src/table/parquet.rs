//! Reads Parquet files: row groups in parallel, each a stream of record batches, in order.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::ordered::in_order;
use super::record::Record;
use super::{Batches, Columns, Content, NO_ROWS, Shape, batch_rows};
use crate::error::{Error, bad, io_error};

/// Opens a file.
pub(super) fn open(path: &Path, columns: &Columns) -> Result<(Shape, Box<dyn Content>), Error> {
    let file = File::open(path).map_err(|cause| io_error(path, cause))?;
    let damaged = |cause: parquet::errors::ParquetError| {
        bad(
            path,
            format!("not a usable Parquet file ({cause}): write it again"),
        )
    };
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(damaged)?;
    let record = Record::new(metadata.schema(), columns).map_err(|reason| bad(path, reason))?;
    let fields = metadata.schema().fields().iter().enumerate();
    let wanted = fields.filter(|(_, field)| record.reads(field)).map(|(at, _)| at);
    let mask = ProjectionMask::roots(metadata.parquet_schema(), wanted.collect::<Vec<_>>());
    let mut first_rows = vec![0];
    for group in metadata.metadata().row_groups() {
        let rows =
            usize::try_from(group.num_rows()).map_err(|_| bad(path, "a row group of less than no rows"))?;
        first_rows.push(first_rows[first_rows.len() - 1] + rows);
    }
    let n_rows = first_rows[first_rows.len() - 1];
    let mut content = Parquet {
        path: path.to_owned(),
        metadata,
        record,
        mask,
        first_rows,
    };
    if content.record.n_features.is_none() {
        content.record.n_features = Some(first_width(&content)?);
    }
    let shape = Shape {
        n_features: content.record.n_features.unwrap_or(0),
        n_rows: Some(n_rows as u64),
        labelled: content.record.label.is_some(),
        image: None,
    };
    Ok((shape, Box::new(content)))
}

#[derive(Clone)]
struct Parquet {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    record: Record,
    mask: ProjectionMask,
    /// The number of each group's first row, and of the row after the last.
    first_rows: Vec<usize>,
}

/// Lists of no stated length are as long as the first.
fn first_width(content: &Parquet) -> Result<usize, Error> {
    match content.group(0, 1)?.next() {
        Some(batch) => Ok(batch?.x.rows().n_features()),
        None => Err(bad(&content.path, NO_ROWS)),
    }
}

impl Parquet {
    /// The rows of one group, so many at a time.
    fn group(&self, group: usize, rows: usize) -> Result<Batches, Error> {
        let path = self.path.clone();
        let damaged = {
            let path = path.clone();
            move |cause: String| {
                bad(
                    &path,
                    format!("damaged in row group {group} ({cause}): write it again"),
                )
            }
        };
        let file = File::open(&path).map_err(|cause| io_error(&path, cause))?;
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(self.mask.clone())
            .with_batch_size(rows)
            .build()
            .map_err(|cause| damaged(cause.to_string()))?;
        let record = self.record.clone();
        let mut row = self.first_rows[group];
        Ok(Box::new(reader.map(move |read| {
            let read = read.map_err(|cause| damaged(cause.to_string()))?;
            let batch = record.rows(&read, row).map_err(|reason| bad(&path, reason))?;
            row += batch.len();
            Ok(batch)
        })))
    }
}

impl Content for Parquet {
    fn metadata(&self, key: &str) -> Option<&str> {
        let pairs = self.metadata.metadata().file_metadata().key_value_metadata()?;
        let pair = pairs.iter().find(|pair| pair.key == key)?;
        pair.value.as_deref()
    }

    fn batches(&self) -> Result<Batches, Error> {
        let content = self.clone();
        let rows = batch_rows(self.record.n_features.unwrap_or(1));
        let n_groups = self.first_rows.len() - 1;
        let read = Arc::new(move |group| content.group(group, rows));
        Ok(in_order(&self.path, n_groups, read))
    }
}
