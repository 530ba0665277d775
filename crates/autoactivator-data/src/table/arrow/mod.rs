//! Tables of records: Parquet and Arrow files, read and written by the Arrow libraries.
//!
//! `pages` and `ipc_claims` bound what a file may claim. `parquet` and `ipc` read, both through `record` (columns to rows) and `ordered` (several threads, results in order).
//! `write` and `answers` are the way back. Without the feature `parquet`, `no_arrow` stands in for all of it.

mod answers;
mod ipc;
mod ipc_claims;
mod ordered;
mod pages;
mod parquet;
mod record;
mod write;

use std::path::Path;

use super::write::Begin;
use super::{Columns, Opened};
use crate::error::Error;
pub use answers::AnswerTable;
use ordered::guarded;

/// Opens a Parquet file.
pub(super) fn open_parquet(path: &Path, columns: &Columns) -> Opened {
    let columns = columns.clone();
    guarded(path, move |path| parquet::open(path, &columns))
}

/// Opens an Arrow IPC file or stream.
pub(super) fn open_ipc(path: &Path, columns: &Columns) -> Opened {
    let columns = columns.clone();
    guarded(path, move |path| ipc::open(path, &columns))
}

/// How a Parquet file is written; a build without it refuses the path.
pub(super) fn parquet_sink(_path: &Path) -> Result<Begin, Error> {
    Ok(write::ParquetSink::begin)
}

/// How an Arrow IPC file is written; a build without it refuses the path.
pub(super) fn ipc_sink(_path: &Path) -> Result<Begin, Error> {
    Ok(write::IpcSink::begin)
}
