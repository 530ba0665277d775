//! How files are read: as they are, or unpacked when their content is gzip.
//!
//! [`Source`] is the reader that `array` and `csv` share. It trusts no size stated in a file: memory grows with the bytes
//! that arrive, and a small gzip file may not unpack to more than a limit.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::claims;
use crate::error::{Error, bad, io_error};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The most that a gzip file may unpack to: a malicious one of a few MB would fill the disk.
const MAX_UNPACKED: u64 = 16 << 30;

/// The content of one file.
pub(super) struct Source {
    reader: Box<dyn Read + Send>,
    path: PathBuf,
    remaining: u64,
    /// Bytes of the packed file; none if it is not packed.
    packed: Option<u64>,
}

impl Source {
    /// Opens a file. Whether it is gzip is decided by its content, not by its name.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| io_error(path, source))?;
        let n_bytes = file.metadata().map_err(|source| io_error(path, source))?.len();
        Self::new(
            path,
            BufReader::with_capacity(1 << 16, file),
            n_bytes,
            MAX_UNPACKED,
        )
    }

    /// Reads bytes that are in memory; `path` is their name in errors.
    pub fn embedded(path: &Path, bytes: &'static [u8]) -> Result<Self, Error> {
        Self::new(path, bytes, bytes.len() as u64, MAX_UNPACKED)
    }

    /// Reads a part of the file `path`, which is not packed.
    pub fn part(path: &Path, reader: impl Read + Send + 'static) -> Self {
        Self {
            reader: Box::new(reader),
            path: path.to_owned(),
            remaining: u64::MAX,
            packed: None,
        }
    }

    /// Reads a part of the file `path` that `reader` unpacks from `packed` bytes.
    pub fn unpacked(path: &Path, reader: impl Read + Send + 'static, packed: u64) -> Self {
        Self {
            remaining: MAX_UNPACKED,
            packed: Some(packed),
            ..Self::part(path, reader)
        }
    }

    fn new(
        path: &Path,
        mut packed: impl BufRead + Send + 'static,
        n_bytes: u64,
        max_unpacked: u64,
    ) -> Result<Self, Error> {
        let start = packed.fill_buf().map_err(|source| io_error(path, source))?;
        if !start.starts_with(&GZIP_MAGIC) {
            return Ok(Self::part(path, packed));
        }
        Ok(Self {
            remaining: max_unpacked,
            ..Self::unpacked(path, MultiGzDecoder::new(packed), n_bytes)
        })
    }

    /// The file, for errors.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next `N` bytes, which must be there.
    pub fn header<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (bytes, _) = self.up_to(N as u64)?;
        let found = bytes.len();
        bytes.try_into().map_err(|_| {
            let reason = format!(
                "truncated: a header of {N} bytes was expected here, found {found}; fetch the file again"
            );
            bad(&self.path, reason)
        })
    }

    /// Everything that is left, which must be exactly `expected` bytes.
    pub fn rest(mut self, expected: u64) -> Result<Vec<u8>, Error> {
        if let Some(packed) = self.packed {
            claims::check(packed, expected, claims::SMALL).map_err(|reason| bad(&self.path, reason))?;
        }
        let (bytes, _) = self.up_to(expected)?;
        let found = bytes.len() as u64;
        if found < expected {
            return Err(truncated(&self.path, expected, found));
        }
        self.expect_end(expected)?;
        Ok(bytes)
    }

    /// Refuses what follows the `expected` bytes that have been read, and a gzip stream without its checksum.
    pub fn expect_end(&mut self, expected: u64) -> Result<(), Error> {
        let (more, cut) = self.up_to(1)?;
        if !more.is_empty() {
            let reason = format!(
                "more data than the header says: {expected} bytes were expected after it, but more follow"
            );
            return Err(bad(&self.path, reason));
        }
        if cut {
            let reason = "truncated: the gzip stream ends before its checksum; fetch the file again";
            return Err(bad(&self.path, reason));
        }
        Ok(())
    }

    /// At most `n` bytes, fewer when the file ends first; and whether a gzip stream was cut short.
    pub fn up_to(&mut self, n: u64) -> Result<(Vec<u8>, bool), Error> {
        let mut bytes = Vec::new();
        match self.by_ref().take(n).read_to_end(&mut bytes) {
            Ok(_) => Ok((bytes, false)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok((bytes, true)),
            Err(error) => Err(io_error(&self.path, error)),
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        match self.remaining.checked_sub(n as u64) {
            Some(remaining) => self.remaining = remaining,
            None => {
                return Err(io::Error::other("unpacks to more than 16 GB: unpack it by hand"));
            }
        }
        Ok(n)
    }
}

/// The error for a file that ends too soon.
pub(super) fn truncated(path: &Path, expected: u64, found: u64) -> Error {
    let reason = format!(
        "truncated: {expected} bytes were expected after the header, found {found}; fetch the file again"
    );
    bad(path, reason)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::testing::gzip;
    use super::*;

    fn source(bytes: Vec<u8>, max_unpacked: u64) -> Source {
        let n_bytes = bytes.len() as u64;
        Source::new(Path::new("file"), Cursor::new(bytes), n_bytes, max_unpacked).unwrap()
    }

    #[test]
    fn plain_and_gzip_content_read_the_same() {
        for bytes in [b"abcde".to_vec(), gzip(b"abcde")] {
            let mut source = source(bytes, 100);
            assert_eq!(&source.header::<2>().unwrap(), b"ab");
            assert_eq!(source.rest(3).unwrap(), b"cde");
        }
    }

    #[test]
    fn a_cut_gzip_stream_says_what_was_expected_and_found() {
        let content: Vec<u8> = (0..5000_u32).flat_map(|i| (i * i).to_le_bytes()).collect();
        let mut packed = gzip(&content);
        packed.truncate(packed.len() / 2);
        let error = source(packed, u64::MAX).rest(20_000).unwrap_err().to_string();
        assert!(error.contains("truncated: 20000 bytes were expected"), "{error}");
    }

    #[test]
    fn trailing_bytes_are_refused() {
        let error = source(b"abc".to_vec(), 100).rest(2).unwrap_err().to_string();
        assert!(error.contains("more follow"), "{error}");
    }

    #[test]
    fn a_gzip_bomb_is_stopped() {
        let error = source(gzip(&[0; 10_000]), 5_000)
            .rest(10_000)
            .unwrap_err()
            .to_string();
        assert!(error.contains("more than 16 GB"), "{error}");
    }

    #[test]
    fn what_is_read_in_one_piece_may_not_claim_more_than_is_likely() {
        let error = source(gzip(&[0; 10_000]), u64::MAX).rest(1 << 30);
        assert!(error.unwrap_err().to_string().contains("unpack to 1073741824"));
    }

    #[test]
    fn a_huge_promise_costs_no_memory() {
        let error = source(b"abc".to_vec(), 100)
            .rest(u64::MAX)
            .unwrap_err()
            .to_string();
        assert!(error.contains("found 3"), "{error}");
    }
}
