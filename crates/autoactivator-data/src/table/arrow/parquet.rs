//! Reads Parquet files: row groups in parallel, each a stream of record batches, in order.
//!
//! A file of few row groups is also divided by columns, so that every core has work.

use std::fs::File;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use autoactivator::Table;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};

use super::ordered::in_order;
use super::pages::Pages;
use super::record::{Piece, Record};
use crate::batch::{Batch, Batches, Stream};
use crate::error::{Error, bad, io_error};
use crate::sentences::SentenceBatches;
use crate::table::reading::Reading;
use crate::table::{Columns, Content, NO_ROWS, Opened, SENTENCES, batch_rows};

/// The fewest columns that are worth a thread of their own.
const SLICE: usize = 16;

/// Opens a file.
pub(super) fn open(path: &Path, columns: &Columns) -> Opened {
    let file = File::open(path).map_err(|cause| io_error(path, cause))?;
    let damaged = |cause: parquet::errors::ParquetError| {
        bad(
            path,
            format!("not a usable Parquet file ({cause}): write it again"),
        )
    };
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(damaged)?;
    let record = Record::new(metadata.schema(), columns).map_err(|reason| bad(path, reason))?;
    let mask = mask(&metadata, &record);
    let mut first_rows = vec![0_usize];
    for group in metadata.metadata().row_groups() {
        let rows = usize::try_from(group.num_rows()).ok();
        let next = rows.and_then(|rows| first_rows[first_rows.len() - 1].checked_add(rows));
        first_rows.push(next.ok_or_else(|| {
            bad(
                path,
                "a row group states an impossible number of rows: write it again",
            )
        })?);
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
    let shape = content.record.shape(Some(n_rows as u64));
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

/// The length of the first list, when the schema does not state it: all others must be as long.
fn first_width(content: &Parquet) -> Result<usize, Error> {
    match content.group::<Batch>(0, 1)?.next() {
        Some(batch) => Ok(batch?.x.rows().n_features()),
        None => Err(bad(&content.path, NO_ROWS)),
    }
}

impl Parquet {
    /// The rows of one group, `rows` at a time.
    fn group<T: Piece>(&self, group: usize, rows: usize) -> Result<Stream<T>, Error> {
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
        let pages = Pages::new(file, self.metadata.schema().fields().len());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(pages, self.metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(self.mask.clone())
            .with_batch_size(rows)
            .build()
            .map_err(|cause| damaged(cause.to_string()))?;
        let record = self.record.clone();
        let mut row = self.first_rows[group];
        Ok(Box::new(reader.map(move |read| {
            let read = read.map_err(|cause| damaged(cause.to_string()))?;
            let piece = T::of(&record, &read, row).map_err(|reason| bad(&path, reason))?;
            row += read.num_rows();
            Ok(piece)
        })))
    }
}

impl Content for Parquet {
    fn reading(&self) -> Reading {
        self.record.reading.clone()
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        let pairs = self.metadata.metadata().file_metadata().key_value_metadata()?;
        let pair = pairs.iter().find(|pair| pair.key == key)?;
        pair.value.as_deref()
    }

    fn batches(&self) -> Result<Batches, Error> {
        let rows = batch_rows(self.record.n_features.unwrap_or(1));
        let (n_groups, n_columns) = (self.first_rows.len() - 1, self.record.features.len());
        let n_threads = thread::available_parallelism().map_or(1, NonZero::get);
        // Few row groups leave threads idle, unless each reads some of the columns.
        let n_slices = if n_groups < n_threads { n_threads } else { 1 };
        let size = n_columns.div_ceil(n_slices).max(SLICE);
        let slices = self.record.features.chunks(size).enumerate();
        let mut streams: Vec<Batches> = slices
            .map(|(s, names)| self.slice(names, s == 0).stream(rows))
            .collect();
        Ok(match streams.len() {
            1 => streams.remove(0),
            _ => side_by_side(streams),
        })
    }

    fn sentences(&self) -> Result<SentenceBatches, Error> {
        Ok(self.clone().stream(SENTENCES))
    }
}

impl Parquet {
    /// Some of the feature columns. Classes, weights and names come with the first slice.
    fn slice(&self, features: &[String], first: bool) -> Self {
        let n_features = if features.len() == self.record.features.len() {
            self.record.n_features
        } else {
            Some(features.len())
        };
        let record = Record {
            features: features.to_vec(),
            text: None,
            label: self.record.label.clone().filter(|_| first),
            weight: self.record.weight.clone().filter(|_| first),
            name: self.record.name.clone().filter(|_| first),
            n_features,
            reading: self.record.reading.clone(),
        };
        Self {
            mask: mask(&self.metadata, &record),
            record,
            ..self.clone()
        }
    }

    /// All row groups, `rows` at a time.
    fn stream<T: Piece>(self, rows: usize) -> Stream<T> {
        let (path, n_groups) = (self.path.clone(), self.first_rows.len() - 1);
        in_order(&path, n_groups, Arc::new(move |group| self.group(group, rows)))
    }
}

/// Which columns of the file a record needs.
fn mask(metadata: &ArrowReaderMetadata, record: &Record) -> ProjectionMask {
    let fields = metadata.schema().fields().iter().enumerate();
    let wanted = fields.filter(|(_, field)| record.reads(field)).map(|(at, _)| at);
    ProjectionMask::roots(metadata.parquet_schema(), wanted.collect::<Vec<_>>())
}

/// Joins streams of the same rows, each with some of the columns.
fn side_by_side(mut streams: Vec<Batches>) -> Batches {
    Box::new(std::iter::from_fn(move || {
        let next: Option<Vec<_>> = streams.iter_mut().map(Iterator::next).collect();
        let parts: Result<Vec<Batch>, Error> = next?.into_iter().collect();
        Some(parts.and_then(joined))
    }))
}

/// Puts the features of all parts side by side, row by row.
fn joined(mut parts: Vec<Batch>) -> Result<Batch, Error> {
    let n_features = parts.iter().map(|part| part.x.rows().n_features()).sum();
    let n_rows = parts.iter().map(Batch::len).min().unwrap_or(0);
    let mut values = Vec::with_capacity(n_rows * n_features);
    for row in 0..n_rows {
        for part in &parts {
            values.extend_from_slice(part.x.rows().row(row));
        }
    }
    let first = &mut parts[0];
    Ok(Batch {
        x: Table::new(values, n_features)?,
        y: first.y.take(),
        weights: first.weights.take(),
        names: first.names.take(),
    })
}
