//! Images of kinds that are not read: they are named and counted, so that none is left out in silence.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The extensions of images that are not read.
const EXTENSIONS: [&str; 8] = ["heic", "heif", "avif", "gif", "bmp", "tif", "tiff", "dng"];

/// What to do about them.
pub(super) const REMEDY: &str = "convert them to JPEG, PNG or WebP";

/// The kind of a file that is not read, by how it begins: phones call HEIC files `.jpg` at times.
pub(super) fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'G', b'I', b'F', b'8', ..] => Some("GIF"),
        [b'B', b'M', ..] => Some("BMP"),
        [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => Some("TIFF"),
        [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] => match brand.get(..4)? {
            b"avif" | b"avis" => Some("AVIF"),
            b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx" | b"mif1" | b"msf1" => Some("HEIC"),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a file is an image of a kind that is not read, judged by its extension.
pub(super) fn is_foreign(path: &Path) -> bool {
    ending(path).is_some_and(|end| EXTENSIONS.contains(&end.as_str()))
}

/// Says how many files of each kind are not read, and what to do; none if there are none.
pub(super) fn told(files: &[PathBuf]) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for end in files.iter().filter_map(|path| ending(path)) {
        *counts.entry(end).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(end, n)| format!("{n} .{end}")).collect();
    let files = match files.len() {
        0 => return None,
        1 => "1 file is not read".to_owned(),
        n => format!("{n} files are not read"),
    };
    Some(format!("{files} ({}): {REMEDY}", counts.join(", ")))
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_their_first_bytes() {
        for (bytes, kind) in [
            (&b"GIF89a"[..], Some("GIF")),
            (b"BM\x36\x00", Some("BMP")),
            (b"II*\0", Some("TIFF")),
            (b"MM\0*", Some("TIFF")),
            (b"\0\0\0\x18ftypheic", Some("HEIC")),
            (b"\0\0\0\x18ftypavif", Some("AVIF")),
            (b"\0\0\0\x18ftypmp42", None),
            (b"\0\0\0\x18ftyp", None),
            (b"", None),
        ] {
            assert_eq!(kind_of(bytes), kind, "{bytes:?}");
        }
    }

    #[test]
    fn they_are_counted_by_kind() {
        let files = ["b.HEIC", "a.gif", "c.heic"].map(PathBuf::from);
        let told = told(&files).unwrap_or_default();
        assert_eq!(told, format!("3 files are not read (1 .gif, 2 .heic): {REMEDY}"));
        assert_eq!(super::told(&[]), None);
    }
}
