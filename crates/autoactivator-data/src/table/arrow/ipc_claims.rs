//! What an Arrow file claims about its messages, read before the library that believes it.
//!
//! A compressed buffer begins with the length that it unpacks to, and a message states where its buffers are. [`check`]
//! goes from message to message and reads nothing else.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use arrow_ipc::{MessageHeader, RecordBatch, root_as_footer, root_as_message};

use crate::table::claims;

/// Four bytes before the length of a message; older files do not have them.
const CONTINUATION: u32 = u32::MAX;

/// Bytes at the end of a file, behind its footer: the footer's length, and `ARROW1`.
const TAIL: u64 = 10;

/// Refuses a file or stream whose messages claim more than it can hold.
pub(super) fn check(file: File, is_stream: bool) -> Result<(), String> {
    let length = file.metadata().map_err(|cause| cause.to_string())?.len();
    let mut claims = Claims {
        file: BufReader::new(file),
        length,
    };
    if is_stream {
        claims.stream()
    } else {
        claims.blocks()
    }
}

struct Claims {
    file: BufReader<File>,
    length: u64,
}

impl Claims {
    /// The messages of a stream, one after the other.
    fn stream(&mut self) -> Result<(), String> {
        let mut at = 0;
        while at < self.length {
            match self.message(at)? {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(())
    }

    /// The messages that a file's footer lists.
    fn blocks(&mut self) -> Result<(), String> {
        let tail: [u8; 4] = self.array(self.length.saturating_sub(TAIL))?;
        let footer_length = u64::from(u32::from_le_bytes(tail));
        let footer = self.bytes(
            self.length.saturating_sub(TAIL).saturating_sub(footer_length),
            footer_length,
        )?;
        let footer = root_as_footer(&footer).map_err(|cause| cause.to_string())?;
        let lists = [footer.dictionaries(), footer.recordBatches()];
        for block in lists.into_iter().flatten().flat_map(|list| list.iter()) {
            let parts = [
                block.offset(),
                i64::from(block.metaDataLength()),
                block.bodyLength(),
            ];
            let end = parts.into_iter().try_fold(0_u64, |sum, part| {
                u64::try_from(part).ok().and_then(|part| sum.checked_add(part))
            });
            if end.is_none_or(|end| end > self.length) {
                return Err("a record batch lies outside of the file".to_owned());
            }
            self.message(parts[0].unsigned_abs())?;
        }
        Ok(())
    }

    /// Checks the message at a place; returns the place of the next one, if there is one.
    fn message(&mut self, mut at: u64) -> Result<Option<u64>, String> {
        let mut length = u32::from_le_bytes(self.array(at)?);
        at += 4;
        if length == CONTINUATION {
            length = u32::from_le_bytes(self.array(at)?);
            at += 4;
        }
        if length == 0 {
            return Ok(None);
        }
        let head = self.bytes(at, length.into())?;
        let body_at = at + u64::from(length);
        let message = root_as_message(&head).map_err(|cause| cause.to_string())?;
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|d| d.data()),
            _ => None,
        };
        if let Some(batch) = batch {
            self.batch(&batch, body_at)?;
        }
        let body = u64::try_from(message.bodyLength()).ok();
        let next = body.and_then(|body| body_at.checked_add(body));
        next.map(Some)
            .ok_or_else(|| "a message of impossible length".to_owned())
    }

    /// Checks what the buffers of a record batch unpack to, all together: they are in memory at the same time.
    fn batch(&mut self, batch: &RecordBatch<'_>, body_at: u64) -> Result<(), String> {
        let Some(buffers) = batch.buffers().filter(|_| batch.compression().is_some()) else {
            return Ok(());
        };
        let (mut packed, mut unpacked) = (0_u64, 0_u64);
        for buffer in buffers {
            let length = buffer.length().unsigned_abs();
            if length < 8 {
                continue; // Empty, or refused by the reader.
            }
            let place = body_at.saturating_add(buffer.offset().unsigned_abs());
            let claimed = i64::from_le_bytes(self.array(place)?);
            packed = packed.saturating_add(length);
            // -1 says that the buffer is not compressed.
            unpacked = unpacked.saturating_add(u64::try_from(claimed).unwrap_or(0));
        }
        claims::check(packed.min(self.length), unpacked, claims::SMALL)
    }

    fn array<const N: usize>(&mut self, at: u64) -> Result<[u8; N], String> {
        let bytes = self.bytes(at, N as u64)?;
        bytes.try_into().map_err(|_| "it is cut off".to_owned())
    }

    /// Bytes at a place, which must be there.
    fn bytes(&mut self, at: u64, n: u64) -> Result<Vec<u8>, String> {
        if at.checked_add(n).is_none_or(|end| end > self.length) {
            return Err("it is cut off".to_owned());
        }
        let mut bytes = Vec::new();
        let mut read = || -> io::Result<usize> {
            self.file.seek(SeekFrom::Start(at))?;
            self.file.by_ref().take(n).read_to_end(&mut bytes)
        };
        read().map_err(|cause| cause.to_string())?;
        Ok(bytes)
    }
}
