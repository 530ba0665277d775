//! Whether a file has the content that was published: its length and its checksum.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::catalogue::{Item, Kind};
use super::error::{Error, io_error};
use crate::hash::hex;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Whether a folder holds what a file brings, with the right content.
///
/// The files of an archive have no checksums of their own: they only get their names when the archive had the right one.
pub(super) fn is_in(item: &Item, folder: &Path) -> Result<bool, Error> {
    match (&item.kind, item.kept_in(folder)) {
        (Kind::Archive { .. }, _) => Ok(item.is_named_in(folder)),
        (Kind::Packed, Some(path)) => Ok(digest(&path, item)? == item.sha256),
        (Kind::Packed, None) => Ok(false),
    }
}

/// The checksum of a file's content; a description of what is wrong when it cannot be read or is too long.
pub(super) fn digest(path: &Path, item: &Item) -> Result<String, Error> {
    let file = File::open(path).map_err(|cause| io_error(path, cause))?;
    let mut packed = BufReader::with_capacity(1 << 16, file);
    let start = packed.fill_buf().map_err(|cause| io_error(path, cause))?;
    let content: Box<dyn Read> = match item.kind {
        Kind::Packed if start.starts_with(&GZIP_MAGIC) => Box::new(MultiGzDecoder::new(packed)),
        _ => Box::new(packed),
    };
    let mut sha256 = Sha256::new();
    // One byte more than expected is enough to see that it is too long.
    let mut content = content.take(item.bytes.saturating_add(1));
    let mut chunk = vec![0; 1 << 16];
    let mut length = 0;
    loop {
        match content.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                length += n as u64;
                sha256.update(&chunk[..n]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if is_of_the_content(error.kind()) => {
                return Ok(format!("damaged gzip data ({error})"));
            }
            Err(error) => return Err(io_error(path, error)),
        }
    }
    if length > item.bytes {
        return Ok(format!("more than {} bytes", item.bytes));
    }
    Ok(hex(&sha256.finalize()))
}

fn is_of_the_content(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}
