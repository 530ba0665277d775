//! Reads npz files: npy arrays in a zip file, stored or deflated.
//!
//! The zip directory tells where each array lies; its bytes are then read as those of an npy file.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::array::open_among;
use super::source::Source;
use super::{Columns, Opened, npy};
use crate::error::{Error, bad, io_error};

/// Opens the features of a file, and its labels where it has any.
pub(super) fn open(path: &Path, columns: &Columns) -> Opened {
    let arrays: Result<Vec<_>, Error> = entries(path)?
        .into_iter()
        .map(|entry| {
            let name = entry.name.clone();
            npy::array(path, &name, Arc::new(move || entry.open()))
        })
        .collect();
    open_among(path, &arrays?, columns)
}

/// Where an array lies in a zip file.
struct Entry {
    name: String,
    path: PathBuf,
    offset: u64,
    n_bytes: u64,
    deflated: bool,
}

impl Entry {
    fn open(&self) -> Result<Source, Error> {
        let mut file = File::open(&self.path).map_err(|cause| io_error(&self.path, cause))?;
        file.seek(SeekFrom::Start(self.offset))
            .map_err(|cause| io_error(&self.path, cause))?;
        let packed = BufReader::with_capacity(1 << 16, file.take(self.n_bytes));
        Ok(if self.deflated {
            Source::unpacked(&self.path, DeflateDecoder::new(packed), self.n_bytes)
        } else {
            Source::part(&self.path, packed)
        })
    }
}

fn entries(path: &Path) -> Result<Vec<Entry>, Error> {
    let damaged = |cause: zip::result::ZipError| {
        bad(
            path,
            format!("not a usable npz file ({cause}): write it again with `numpy.savez`"),
        )
    };
    let file = File::open(path).map_err(|cause| io_error(path, cause))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
    let mut entries = Vec::new();
    for place in 0..archive.len() {
        let entry = archive.by_index_raw(place).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?;
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else {
            continue;
        };
        let deflated = match entry.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            other => {
                let reason =
                    format!("array '{name}' is packed with {other}: write it again with `numpy.savez`");
                return Err(bad(path, reason));
            }
        };
        let offset = entry
            .data_start()
            .ok_or_else(|| bad(path, "not a usable npz file: write it again with `numpy.savez`"))?;
        entries.push(Entry {
            name,
            path: path.to_owned(),
            offset,
            n_bytes: entry.compressed_size(),
            deflated,
        });
    }
    Ok(entries)
}
