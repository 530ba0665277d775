//! Whether a JPEG is complete: the decoder fills a missing end with grey instead of reporting it.

const START_OF_SCAN: u8 = 0xda;
const END_OF_IMAGE: [u8; 2] = [0xff, 0xd9];

/// Whether there is an end of image after the first scan. A thumbnail before the scan has an end of its own.
pub(super) fn is_whole(jpeg: &[u8]) -> bool {
    let scan = first_scan(jpeg).unwrap_or(jpeg.len());
    jpeg[scan..].windows(2).rev().any(|marker| marker == END_OF_IMAGE)
}

/// Where the first scan begins: markers and their lengths lead to it.
fn first_scan(jpeg: &[u8]) -> Option<usize> {
    let mut at = 2;
    loop {
        match *jpeg.get(at..at + 4)? {
            [0xff, START_OF_SCAN, ..] => return Some(at),
            [0xff, 0xff, ..] => at += 1, // a marker may be preceded by fill bytes
            [0xff, _, high, low] => at += 2 + usize::from(u16::from_be_bytes([high, low])),
            _ => return None,
        }
    }
}
