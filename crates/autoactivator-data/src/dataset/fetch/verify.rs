//! Whether a file has the content that was published: its length and its checksum.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use super::catalogue::{Checksum, Item, Kind};
use super::error::{Error, io_error};
use crate::hash::hex;
use crate::pin;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A file that is to be fetched, and the contents that are right for it.
pub(super) struct Wanted<'a> {
    pub(super) item: &'a Item,
    /// SHA-256 of each, in hexadecimal; none if any content will do, because nothing is known of it.
    pub(super) accepted: Vec<String>,
}

impl Wanted<'_> {
    /// Whether a folder holds what the file brings, with the right content.
    ///
    /// The files of an archive have no checksums of their own: they only get their names when the archive had the right
    /// one.
    pub(super) fn is_in(&self, folder: &Path) -> Result<bool, Error> {
        match (&self.item.kind, self.item.kept_in(folder)) {
            (Kind::Archive { .. }, _) => Ok(self.item.is_named_in(folder)),
            (Kind::Packed, Some(path)) => Ok(self.verdict(&path)?.is_ok()),
            (Kind::Packed, None) => Ok(false),
        }
    }

    /// The checksum of a file if its content is right, or else what it has instead.
    pub(super) fn verdict(&self, path: &Path) -> Result<Result<String, String>, Error> {
        Ok(digest(path, self.item)?.and_then(|found| {
            let right = self.accepted.is_empty() || self.accepted.contains(&found);
            if right { Ok(found) } else { Err(found) }
        }))
    }
}

/// What a folder holds of a data set: none if nothing is missing, or what has to be fetched.
///
/// A file of which nothing is known is pinned; one that differs from what was pinned is refused.
pub(super) fn wanted<'a>(item: &'a Item, folder: &Path) -> Result<Option<Wanted<'a>>, Error> {
    let place = folder.join(&item.file);
    let wanted = Wanted {
        item,
        accepted: item.checksum.accepted(&place)?,
    };
    if matches!(item.kind, Kind::Archive { .. }) {
        return Ok((!item.is_named_in(folder)).then_some(wanted));
    }
    let Some(path) = item.kept_in(folder) else {
        return Ok(Some(wanted));
    };
    match (wanted.verdict(&path)?, &item.checksum) {
        (Ok(found), checksum) => {
            checksum.pin(&place, &found)?;
            Ok(None)
        }
        (Err(_), Checksum::Published(_)) => Ok(Some(wanted)),
        (Err(found), Checksum::Pinned(_)) => match wanted.accepted.last() {
            Some(pinned) => Err(Error::Pin(Box::new(pin::refusal(&place, pinned, &found)))),
            None => Ok(Some(wanted)),
        },
    }
}

/// The checksum of a file's content, or what is wrong when it cannot be read or is too long.
fn digest(path: &Path, item: &Item) -> Result<Result<String, String>, Error> {
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
                return Ok(Err(format!("damaged gzip data ({error})")));
            }
            Err(error) => return Err(io_error(path, error)),
        }
    }
    if length > item.bytes {
        return Ok(Err(format!("more than {} bytes", item.bytes)));
    }
    Ok(Ok(hex(&sha256.finalize())))
}

fn is_of_the_content(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof
    )
}
