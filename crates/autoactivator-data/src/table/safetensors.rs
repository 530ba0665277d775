//! Reads safetensors files: named arrays behind one JSON header.
//!
//! The header is checked against the size of the file before any array is opened.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::array::{Array, open_among};
use super::kind::Kind;
use super::source::{Source, truncated};
use super::{Columns, Opened};
use crate::error::{Error, bad, io_error};

/// The longest header that the format allows.
const MAX_HEADER: u64 = 100_000_000;

/// Whether a file is one, by its start: the length of the header, then an opening brace.
pub(super) fn looks_like(start: &[u8]) -> bool {
    let length = start.first_chunk::<8>().map(|length| u64::from_le_bytes(*length));
    length.is_some_and(|n| (2..=MAX_HEADER).contains(&n)) && start.get(8) == Some(&b'{')
}

/// Opens the features of a file, and its labels where it has any.
pub(super) fn open(path: &Path, columns: &Columns) -> Opened {
    let (header, data_at) = read_header(path)?;
    let arrays: Result<Vec<Array>, Error> = header
        .offset_keys()
        .into_iter()
        .filter_map(|name| Some((header.info(&name)?, name)))
        .map(|(info, name)| array(path, name, info, data_at))
        .collect();
    open_among(path, &arrays?, columns)
}

/// The header, and where the data begins.
fn read_header(path: &Path) -> Result<(Metadata, u64), Error> {
    let mut source = Source::open(path)?;
    let n = u64::from_le_bytes(source.header()?);
    let (text, _) = source.up_to(n)?;
    let damaged = |e: serde_json::Error| {
        bad(
            path,
            format!("not a usable safetensors file ({e}): write it again"),
        )
    };
    let header: Metadata = serde_json::from_slice(&text).map_err(damaged)?;
    let data_at = 8 + n;
    let (needed, found) = (header.data_len() as u64, file_size(path)?.saturating_sub(data_at));
    if needed > found {
        return Err(truncated(path, needed, found));
    }
    Ok((header, data_at))
}

fn file_size(path: &Path) -> Result<u64, Error> {
    std::fs::metadata(path)
        .map(|file| file.len())
        .map_err(|cause| io_error(path, cause))
}

fn array(path: &Path, name: String, info: &TensorInfo, data_at: u64) -> Result<Array, Error> {
    let kind = kind(info.dtype).ok_or_else(|| {
        let reason = format!(
            "array '{name}' is {:?}: only float and integer numbers are read",
            info.dtype
        );
        bad(path, reason)
    })?;
    let (begin, end) = info.data_offsets;
    let file = path.to_owned();
    Ok(Array {
        name,
        path: path.to_owned(),
        kind,
        shape: info.shape.iter().map(|&side| side as u64).collect(),
        open: Arc::new(move || {
            let part = File::open(&file).and_then(|mut opened| {
                opened.seek(SeekFrom::Start(data_at + begin as u64))?;
                Ok(BufReader::with_capacity(
                    1 << 16,
                    opened.take((end - begin) as u64),
                ))
            });
            Ok(Source::part(&file, part.map_err(|cause| io_error(&file, cause))?))
        }),
    })
}

fn kind(dtype: Dtype) -> Option<Kind> {
    Some(match dtype {
        Dtype::F16 => Kind::F2,
        Dtype::F32 => Kind::F4,
        Dtype::F64 => Kind::F8,
        Dtype::I8 => Kind::I1,
        Dtype::I16 => Kind::I2,
        Dtype::I32 => Kind::I4,
        Dtype::I64 => Kind::I8,
        Dtype::U8 | Dtype::BOOL => Kind::U1,
        Dtype::U16 => Kind::U2,
        Dtype::U32 => Kind::U4,
        Dtype::U64 => Kind::U8,
        _ => return None,
    })
}
