//! Reads Arrow IPC files, also called Feather, and Arrow streams.
//!
//! A file is read on one thread; `record` turns its record batches into rows.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::ipc_claims;
use super::ordered::in_order;
use super::record::{Piece, Record};
use crate::batch::{Batches, Stream};
use crate::error::{Error, bad, io_error};
use crate::sentences::SentenceBatches;
use crate::table::reading::Reading;
use crate::table::{Columns, Content, NO_ROWS, Opened, SENTENCES, batch_rows, read_start};

/// Opens a file or a stream.
pub(super) fn open(path: &Path, columns: &Columns) -> Opened {
    let (schema, records) = records(path)?;
    let mut record = Record::new(&schema, columns).map_err(|reason| bad(path, reason))?;
    if record.n_features.is_none() {
        record.n_features = first_width(path, &record, records)?;
    }
    let shape = record.shape(None);
    let path = path.to_owned();
    Ok((shape, Box::new(Ipc { path, record, schema })))
}

struct Ipc {
    path: PathBuf,
    record: Record,
    schema: SchemaRef,
}

type Records = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

fn damaged(path: &Path, cause: &ArrowError) -> Error {
    unusable(path, &cause.to_string())
}

fn unusable(path: &Path, reason: &str) -> Error {
    bad(
        path,
        format!("not a usable Arrow file ({reason}): write it again"),
    )
}

fn records(path: &Path) -> Result<(SchemaRef, Records), Error> {
    let mut start = [0; 6];
    read_start(path, &mut start).map_err(|cause| io_error(path, cause))?;
    let is_stream = &start != b"ARROW1";
    let open = || File::open(path).map_err(|cause| io_error(path, cause));
    ipc_claims::check(open()?, is_stream).map_err(|reason| unusable(path, &reason))?;
    let file = BufReader::new(open()?);
    let damaged = |cause| damaged(path, &cause);
    Ok(if !is_stream {
        let reader = FileReader::try_new(file, None).map_err(damaged)?;
        (reader.schema(), Box::new(reader))
    } else {
        let reader = StreamReader::try_new(file, None).map_err(damaged)?;
        (reader.schema(), Box::new(reader))
    })
}

/// The length of the first list, when the schema does not state it: all others must be as long.
fn first_width(path: &Path, record: &Record, records: Records) -> Result<Option<usize>, Error> {
    for read in records {
        let read = read.map_err(|cause| damaged(path, &cause))?;
        if read.num_rows() > 0 {
            let first = record
                .rows(&read.slice(0, 1), 0)
                .map_err(|reason| bad(path, reason))?;
            return Ok(Some(first.x.rows().n_features()));
        }
    }
    Err(bad(path, NO_ROWS))
}

impl Content for Ipc {
    fn reading(&self) -> Reading {
        self.record.reading.clone()
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        self.schema.metadata().get(key).map(String::as_str)
    }

    fn batches(&self) -> Result<Batches, Error> {
        Ok(self.stream(batch_rows(self.record.n_features.unwrap_or(1))))
    }

    fn sentences(&self) -> Result<SentenceBatches, Error> {
        Ok(self.stream(SENTENCES))
    }
}

impl Ipc {
    /// All rows, `rows` at a time.
    fn stream<T: Piece>(&self, rows: usize) -> Stream<T> {
        let (path, record) = (self.path.clone(), self.record.clone());
        in_order(&self.path, 1, Arc::new(move |_| read(&path, &record, rows)))
    }
}

/// All rows of a file, on this thread.
fn read<T: Piece>(path: &Path, record: &Record, rows: usize) -> Result<Stream<T>, Error> {
    let (_, records) = records(path)?;
    let (path, record) = (path.to_owned(), record.clone());
    // Written in one piece, a record batch can be as large as the file.
    let pieces = records.flat_map(move |read| -> Records {
        match read {
            Ok(read) => {
                let starts = (0..read.num_rows()).step_by(rows);
                Box::new(starts.map(move |at| Ok(read.slice(at, rows.min(read.num_rows() - at)))))
            }
            Err(cause) => Box::new(std::iter::once(Err(cause))),
        }
    });
    let mut row = 0;
    Ok(Box::new(pieces.map(move |read| {
        let read = read.map_err(|cause| damaged(&path, &cause))?;
        let piece = T::of(&record, &read, row).map_err(|reason| bad(&path, reason))?;
        row += read.num_rows();
        Ok(piece)
    })))
}
