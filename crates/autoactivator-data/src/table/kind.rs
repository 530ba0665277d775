//! The type of an array's values, and how bytes become numbers or class names.

use half::f16;

/// The type of the values: floats, signed or unsigned integers of a number of bytes each, or text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    F2,
    F4,
    F8,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    /// Characters of four bytes each; the number is that of all bytes.
    Utf32(u64),
    /// UTF-8, padded with zeros to this number of bytes.
    Utf8(u64),
}

impl Kind {
    pub fn n_bytes(self) -> u64 {
        match self {
            Self::I1 | Self::U1 => 1,
            Self::F2 | Self::I2 | Self::U2 => 2,
            Self::F4 | Self::I4 | Self::U4 => 4,
            Self::F8 | Self::I8 | Self::U8 => 8,
            Self::Utf32(n) | Self::Utf8(n) => n,
        }
    }

    pub fn is_text(self) -> bool {
        matches!(self, Self::Utf32(_) | Self::Utf8(_))
    }

    /// The numbers in `bytes`; none for text.
    pub fn floats(self, bytes: &[u8]) -> Vec<f32> {
        match self {
            Self::F2 => decode(bytes, |b| f16::from_le_bytes(b).to_f32()),
            Self::F4 => decode(bytes, f32::from_le_bytes),
            Self::F8 => decode(bytes, |b| f64::from_le_bytes(b) as f32),
            Self::I1 => decode(bytes, |b| i8::from_le_bytes(b).into()),
            Self::I2 => decode(bytes, |b| i16::from_le_bytes(b).into()),
            Self::I4 => decode(bytes, |b| i32::from_le_bytes(b) as f32),
            Self::I8 => decode(bytes, |b| i64::from_le_bytes(b) as f32),
            Self::U1 => decode(bytes, |b| u8::from_le_bytes(b).into()),
            Self::U2 => decode(bytes, |b| u16::from_le_bytes(b).into()),
            Self::U4 => decode(bytes, |b| u32::from_le_bytes(b) as f32),
            Self::U8 => decode(bytes, |b| u64::from_le_bytes(b) as f32),
            Self::Utf32(_) | Self::Utf8(_) => Vec::new(),
        }
    }

    /// The class names in `bytes`; none for floats, which are not names.
    pub fn names(self, bytes: &[u8]) -> Option<Vec<String>> {
        Some(match self {
            Self::F2 | Self::F4 | Self::F8 => return None,
            Self::I1 => decode(bytes, |b| i8::from_le_bytes(b).to_string()),
            Self::I2 => decode(bytes, |b| i16::from_le_bytes(b).to_string()),
            Self::I4 => decode(bytes, |b| i32::from_le_bytes(b).to_string()),
            Self::I8 => decode(bytes, |b| i64::from_le_bytes(b).to_string()),
            Self::U1 => decode(bytes, |b| u8::from_le_bytes(b).to_string()),
            Self::U2 => decode(bytes, |b| u16::from_le_bytes(b).to_string()),
            Self::U4 => decode(bytes, |b| u32::from_le_bytes(b).to_string()),
            Self::U8 => decode(bytes, |b| u64::from_le_bytes(b).to_string()),
            Self::Utf32(n) => text(bytes, n, utf32),
            Self::Utf8(n) => text(bytes, n, utf8),
        })
    }
}

fn decode<T, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (numbers, _) = bytes.as_chunks();
    numbers.iter().map(|&bytes| number(bytes)).collect()
}

/// Texts of `n` bytes each; an array of empty texts has no bytes, and so no names.
fn text(bytes: &[u8], n: u64, read: impl Fn(&[u8]) -> String) -> Vec<String> {
    bytes.chunks(n.max(1) as usize).map(read).collect()
}

fn utf32(bytes: &[u8]) -> String {
    let (letters, _) = bytes.as_chunks();
    let letters = letters.iter().map(|&letter| u32::from_le_bytes(letter));
    letters
        .take_while(|&letter| letter != 0)
        .map(|letter| char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

fn utf8(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
