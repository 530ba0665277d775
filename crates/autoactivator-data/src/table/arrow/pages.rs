//! A Parquet file whose pages may claim no more than is likely: [`Pages`] looks at the head of each one before the
//! library that believes it.
//!
//! A head begins with three numbers (kind, unpacked and packed bytes), an optional checksum, and a structure that begins
//! with the number of values. All known writers write them in this order.

use std::fs::File;
use std::io::{BufRead, BufReader};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::table::claims;

/// The most bytes of a page: what writers call a large page is a hundredth of it.
const LARGEST_PAGE: u64 = 1 << 30;

/// The most values of a page. Repeated ones take no bytes, and those of one list are unpacked at once.
const MOST_VALUES: u64 = 1 << 27;

/// What small pages of all columns may take together; each column has one in memory.
const SMALL_PAGES: u64 = 1 << 30;

/// The marks of a number and of a structure in a head, behind the distance from the field before.
const NUMBER: u8 = 5;
const STRUCTURE: u8 = 12;

/// A file, of which some columns are read.
pub(super) struct Pages {
    file: File,
    small: u64,
}

impl Pages {
    pub fn new(file: File, n_columns: usize) -> Self {
        let small = SMALL_PAGES / n_columns.max(1) as u64;
        Self {
            file,
            small: small.clamp(2 << 20, 16 << 20),
        }
    }
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Pages {
    type T = BufReader<File>;

    /// The library asks for this where the head of a page begins.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut reader = self.file.get_read(start)?;
        let head = reader.fill_buf()?;
        check(head, self.small).map_err(ParquetError::General)?;
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start
            .checked_add(length as u64)
            .is_none_or(|end| end > self.len())
        {
            return Err(ParquetError::General(
                "a page lies outside of the file".to_owned(),
            ));
        }
        self.file.get_bytes(start, length)
    }
}

/// Refuses a page that claims too much.
fn check(head: &[u8], small: u64) -> Result<(), String> {
    let claims = Claims::read(head).ok_or("the head of a page is not as any writer writes it")?;
    if claims.unpacked > LARGEST_PAGE || claims.values > MOST_VALUES {
        return Err(format!(
            "a page claims {} bytes and {} values; write smaller pages",
            claims.unpacked, claims.values
        ));
    }
    claims::check(claims.packed, claims.unpacked, small)
}

struct Claims {
    unpacked: u64,
    packed: u64,
    values: u64,
}

impl Claims {
    fn read(mut head: &[u8]) -> Option<Self> {
        field(&mut head, NUMBER).filter(|&distance| distance == 1)?;
        number(&mut head)?;
        field(&mut head, NUMBER).filter(|&distance| distance == 1)?;
        let unpacked = number(&mut head)?;
        field(&mut head, NUMBER).filter(|&distance| distance == 1)?;
        let packed = number(&mut head)?;
        if field(&mut { head }, NUMBER).is_some() {
            field(&mut head, NUMBER)?;
            number(&mut head)?; // The checksum.
        }
        field(&mut head, STRUCTURE)?;
        // Pages of an index have no values.
        let values = match field(&mut { head }, NUMBER) {
            Some(1) => number(&mut &head[1..])?,
            _ => 0,
        };
        Some(Self {
            unpacked,
            packed,
            values,
        })
    }
}

/// The distance of a field from the one before, if it is of this kind.
fn field(head: &mut &[u8], kind: u8) -> Option<u8> {
    let (&first, rest) = head.split_first()?;
    *head = rest;
    (first & 0xf == kind).then_some(first >> 4)
}

/// A number: seven bits a byte, the sign in the lowest. A negative one counts as more than any page has.
fn number(head: &mut &[u8]) -> Option<u64> {
    let mut bits = 0_u64;
    for place in 0..5 {
        let (&byte, rest) = head.split_first()?;
        *head = rest;
        bits |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Some(if bits & 1 == 0 { bits >> 1 } else { u64::MAX });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_with_and_without_a_checksum() {
        // A data page: 300 bytes unpacked, 100 packed, 50 values.
        let plain = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x2c, 0x15, 100];
        let checked = [0x15, 0, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x15, 9, 0x1c, 0x15, 100];
        for head in [&plain[..], &checked[..]] {
            let claims = Claims::read(head).unwrap();
            assert_eq!((claims.unpacked, claims.packed, claims.values), (300, 100, 50));
            assert_eq!(check(head, 1 << 20), Ok(()));
        }
    }

    #[test]
    fn large_claims_and_strange_heads_are_refused() {
        // 2^31 - 2 bytes unpacked from 100.
        let large = [
            0x15, 0, 0x15, 0xfc, 0xff, 0xff, 0xff, 0xf, 0x15, 0xc8, 1, 0x2c, 0x15, 100,
        ];
        assert!(
            check(&large, 1 << 20)
                .unwrap_err()
                .contains("write smaller pages")
        );
        // 16 MB from 100 bytes.
        let bomb = [
            0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x10, 0x15, 0xc8, 1, 0x2c, 0x15, 100,
        ];
        assert!(
            check(&bomb, 2 << 20)
                .unwrap_err()
                .contains("claims that 100 bytes")
        );
        assert!(check(&bomb, 16 << 20).is_ok());
        // 2^31 - 2 values.
        let values = [
            0x15, 0, 0x15, 0xd8, 4, 0x15, 0xc8, 1, 0x2c, 0x15, 0xfc, 0xff, 0xff, 0xff, 0xf,
        ];
        assert!(
            check(&values, 1 << 20)
                .unwrap_err()
                .contains("write smaller pages")
        );
        for strange in [
            &[][..],
            &[0x15],
            &[0x25, 0, 0x15, 0],
            &[0x15, 0x80, 0x80, 0x80, 0x80, 0x80],
        ] {
            assert!(check(strange, 1 << 20).is_err());
        }
    }
}
