//! Reads arrays in NumPy's npy format, such as a frozen backbone's outputs.
//!
//! [`open`] takes a file of features; its labels are in `X_labels.npy` for `X_features.npy` or `X.npy`, and
//! `label_names.txt` beside it, one name per line, turns label numbers into class names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::array::{Array, ArrayTable, Opener, labels_of};
use super::kind::Kind;
use super::source::Source;
use super::{Columns, Opened};
use crate::error::{Error, bad, io_error};

pub(super) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header, in bytes: NumPy itself reads 10,000.
const LONGEST_HEADER: u64 = 1 << 20;

/// Opens a file of features.
pub(super) fn open(path: &Path, columns: &Columns) -> Opened {
    columns.refuse_records(path)?;
    let file = path.to_owned();
    let features = array(path, "", Arc::new(move || Source::open(&file)))?;
    let labels = columns.label_file(labels_beside(path));
    let names = labels.map(|labels| read_labels(&labels, &features)).transpose()?;
    Ok(ArrayTable::new(features, names)?.boxed())
}

/// The array whose file `open` opens at its first byte.
pub(super) fn array(path: &Path, name: &str, open: Opener) -> Result<Array, Error> {
    let header = read_header(&mut open()?)?;
    let (kind, shape) = parse_header(&header).map_err(|reason| bad(path, reason))?;
    Ok(Array {
        name: name.to_owned(),
        path: path.to_owned(),
        kind,
        shape,
        open: Arc::new(move || {
            let mut source = open()?;
            read_header(&mut source)?;
            Ok(source)
        }),
    })
}

fn labels_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".npy")?;
    let stem = stem.strip_suffix("_features").unwrap_or(stem);
    let beside = path.with_file_name(format!("{stem}_labels.npy"));
    beside.is_file().then_some(beside)
}

fn read_labels(path: &Path, features: &Array) -> Result<Vec<String>, Error> {
    let file = path.to_owned();
    let labels = array(path, "", Arc::new(move || Source::open(&file)))?;
    let found = labels_of(features, &labels, "rows")?;
    match read_class_names(&path.with_file_name("label_names.txt"))? {
        Some(names) => rename(path, &found, &names),
        None => Ok(found),
    }
}

/// The class names that label numbers stand for.
fn rename(path: &Path, labels: &[String], names: &[String]) -> Result<Vec<String>, Error> {
    let named = labels.iter().enumerate().map(|(row, label)| {
        let name = label.parse::<usize>().ok().and_then(|label| names.get(label));
        name.cloned().ok_or_else(|| {
            let n = names.len();
            let reason =
                format!("row {row} has label {label}, but label_names.txt has {n} names, counted from 0");
            bad(path, reason)
        })
    });
    named.collect()
}

/// The class names, one per line, when there is such a file.
fn read_class_names(path: &Path) -> Result<Option<Vec<String>>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|cause| io_error(path, cause))?;
    let names: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    let mut seen = HashSet::new();
    match names
        .iter()
        .position(|name| name.is_empty() || !seen.insert(name))
    {
        None => Ok(Some(names)),
        Some(at) => {
            let reason = format!(
                "line {}: '{}' is empty or used twice: every class needs a name of its own",
                at + 1,
                names[at]
            );
            Err(bad(path, reason))
        }
    }
}

/// Reads a type such as `<f4`: little-endian, or of a single byte.
fn parse_kind(descr: &str) -> Result<Kind, String> {
    let sized = |letter| descr.split_once(letter).and_then(|(_, n)| n.parse::<u32>().ok());
    Ok(match descr {
        "<f2" => Kind::F2,
        "<f4" => Kind::F4,
        "<f8" => Kind::F8,
        "|i1" | "<i1" => Kind::I1,
        "<i2" => Kind::I2,
        "<i4" => Kind::I4,
        "<i8" => Kind::I8,
        "|u1" | "<u1" | "|b1" => Kind::U1,
        "<u2" => Kind::U2,
        "<u4" => Kind::U4,
        "<u8" => Kind::U8,
        _ => match (sized('U'), sized('S')) {
            (Some(n), _) if descr.starts_with("<U") => Kind::Utf32(4 * u64::from(n)),
            (_, Some(n)) if descr.starts_with("|S") => Kind::Utf8(n.into()),
            _ => {
                return Err(format!(
                    "numbers of type '{descr}' are not read: save the array again with `.astype('<f4')`, \
                     or labels with `.astype('<i8')` or `.astype(str)`"
                ));
            }
        },
    })
}

/// The text between the magic number and the data.
fn read_header(source: &mut Source) -> Result<String, Error> {
    if source.header::<6>()? != *MAGIC {
        return Err(bad(source.path(), "not an npy file: write it with `numpy.save`"));
    }
    let [version, _] = source.header()?;
    let n_bytes = match version {
        1 => u64::from(u16::from_le_bytes(source.header()?)),
        2 | 3 => u64::from(u32::from_le_bytes(source.header()?)),
        _ => {
            return Err(bad(
                source.path(),
                format!("npy format version {version} is not known, only 1 to 3"),
            ));
        }
    };
    if n_bytes > LONGEST_HEADER {
        let reason = format!("a header of {n_bytes} bytes is not NumPy's: write it again with `numpy.save`");
        return Err(bad(source.path(), reason));
    }
    let (text, _) = source.up_to(n_bytes)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
fn parse_header(header: &str) -> Result<(Kind, Vec<u64>), String> {
    let unclear = || {
        let start: String = header.chars().take(100).collect();
        format!("the npy header is not understood: {start:?}")
    };
    let descr = field(header, "descr").and_then(quoted).ok_or_else(unclear)?;
    let order = field(header, "fortran_order").ok_or_else(unclear)?;
    let shape = field(header, "shape").and_then(parse_shape).ok_or_else(unclear)?;
    if !order.starts_with("False") {
        return Err(
            "the array is stored column by column: save it again with `numpy.ascontiguousarray`".into(),
        );
    }
    Ok((parse_kind(descr)?, shape))
}

/// What follows `'key':` in the header.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, after_key) = header.split_once(&format!("'{key}'"))?;
    Some(after_key.trim_start().strip_prefix(':')?.trim_start())
}

fn quoted(text: &str) -> Option<&str> {
    Some(text.strip_prefix('\'')?.split_once('\'')?.0)
}

fn parse_shape(text: &str) -> Option<Vec<u64>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let sides = inside.split(',').map(str::trim).filter(|side| !side.is_empty());
    sides.map(|side| side.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::testing::{self, read, write};
    use super::*;

    const FEATURES: &str = "train_features.npy";
    const LABELS: &str = "train_labels.npy";

    fn npy(descr: &str, shape: &str, body: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        versioned(1, &header, body)
    }

    fn versioned(version: u8, header: &str, body: &[u8]) -> Vec<u8> {
        let length = header.len() as u32;
        let length = if version == 1 {
            (length as u16).to_le_bytes().to_vec()
        } else {
            length.to_le_bytes().to_vec()
        };
        [MAGIC, [version, 0].as_slice(), &length, header.as_bytes(), body].concat()
    }

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    /// Two rows of two features, labels 1 and 0.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let features = npy("<f4", "(2, 2)", &floats(&[1.0, 2.0, 3.0, 4.0]));
        write(&folder, FEATURES, &features);
        write(&folder, LABELS, &npy("|u1", "(2,)", &[1, 0]));
        folder
    }

    #[track_caller]
    fn refused(name: &str, bytes: &[u8], expected: &str) {
        testing::refused(&folder(), FEATURES, name, bytes, expected);
    }

    #[test]
    fn names_replace_label_numbers() {
        let folder = folder();
        assert_eq!(read(&folder, FEATURES).unwrap().1.y.unwrap(), ["1", "0"]);
        write(&folder, "label_names.txt", b"zebra\nape\n");
        let (_, batch) = read(&folder, FEATURES).unwrap();
        assert_eq!(batch.y.unwrap(), ["ape", "zebra"]);
        assert_eq!(batch.x.rows().values(), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn labels_may_be_text() {
        let folder = folder();
        let ape_and_bee = "ape\0bee\0".chars().flat_map(|c| u32::from(c).to_le_bytes());
        write(
            &folder,
            LABELS,
            &npy("<U4", "(2,)", &ape_and_bee.collect::<Vec<u8>>()),
        );
        assert_eq!(read(&folder, FEATURES).unwrap().1.y.unwrap(), ["ape", "bee"]);
        write(&folder, LABELS, &npy("|S4", "(2,)", b"ape\0\xc3\xa4u\0"));
        assert_eq!(read(&folder, FEATURES).unwrap().1.y.unwrap(), ["ape", "äu"]);
    }

    #[test]
    fn every_kind_of_number_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let one_and_two: [(&str, Vec<u8>); 11] = [
            ("<f2", [0x3c00_u16, 0x4000].map(u16::to_le_bytes).concat()),
            ("<f4", floats(&[1.0, 2.0])),
            ("<f8", [1.0_f64, 2.0].map(f64::to_le_bytes).concat()),
            ("|i1", vec![1, 2]),
            ("<i2", [1_i16, 2].map(i16::to_le_bytes).concat()),
            ("<i4", [1_i32, 2].map(i32::to_le_bytes).concat()),
            ("<i8", [1_i64, 2].map(i64::to_le_bytes).concat()),
            ("|u1", vec![1, 2]),
            ("<u2", [1_u16, 2].map(u16::to_le_bytes).concat()),
            ("<u4", [1_u32, 2].map(u32::to_le_bytes).concat()),
            ("<u8", [1_u64, 2].map(u64::to_le_bytes).concat()),
        ];
        for (descr, body) in one_and_two {
            write(&folder, "a.npy", &npy(descr, "(1, 2)", &body));
            let (_, batch) = read(&folder, "a.npy").unwrap();
            assert_eq!(batch.x.rows().values(), [1.0, 2.0], "{descr}");
            write(&folder, "b.npy", &npy("|u1", "(2, 1)", &[0, 0]));
            write(&folder, "b_labels.npy", &npy(descr, "(2,)", &body));
            match read(&folder, "b.npy") {
                Ok((_, batch)) => assert_eq!(batch.y.unwrap(), ["1", "2"], "{descr}"),
                Err(error) => assert!(descr.contains('f'), "{error}"),
            }
        }
    }

    #[test]
    fn every_version_of_the_format_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for version in 1..=3 {
            let header = "{'shape': (1, 2), 'fortran_order': False, 'descr': '|u1'}";
            write(&folder, "numbers.npy", &versioned(version, header, &[5, 6]));
            let (_, batch) = read(&folder, "numbers.npy").unwrap();
            assert_eq!(batch.x.rows().values(), [5.0, 6.0]);
        }
    }

    #[test]
    fn images_keep_their_shape() {
        let folder = tempfile::tempdir().unwrap();
        write(
            &folder,
            "images.npy",
            &npy("|u1", "(1, 1, 2, 3)", &[0, 51, 102, 153, 204, 255]),
        );
        let (shape, batch) = read(&folder, "images.npy").unwrap();
        assert_eq!(shape.image.unwrap().to_string(), "1x2x3");
        assert_eq!(batch.x.rows().values()[..3], [0.0, 0.2, 0.4]);
    }

    #[test]
    fn damaged_files_are_refused_by_name() {
        let (features, labels) = (FEATURES, LABELS);
        refused(features, b"hello, world", "not an npy file");
        refused(features, &versioned(9, "", &[]), "version 9");
        let long = " ".repeat(2 << 20);
        refused(features, &versioned(2, &long, &[]), "a header of 2097152 bytes");
        refused(
            features,
            &versioned(1, "{'descr': [('a', '<f4')]}", &[]),
            "not understood",
        );
        refused(
            features,
            &npy("<f4", "(2, 2)", &[0; 15]),
            "16 bytes were expected after the header, found 15",
        );
        refused(
            features,
            &npy("<f4", "(2, 2)", &[0; 17]),
            "more data than the header says",
        );
        refused(
            features,
            &npy("<f4", "(9999999999999, 9999999999999)", &[]),
            "larger than any file",
        );
        refused(features, &npy(">f4", "(2, 2)", &[0; 16]), "astype('<f4')");
        refused(
            features,
            &npy("<f4", "(2, 2)", &floats(&[1.0, 2.0, 3.0, f32::NAN])),
            "row 1, feature 1 is NaN",
        );
        refused(features, &npy("<f4", "(4,)", &[0; 16]), "shape [4]");
        refused(features, &npy("<f4", "(2, 0)", &[]), "no features");
        refused(
            labels,
            &npy("<f4", "(2,)", &[0; 8]),
            "labels must be integers or text",
        );
        refused(labels, &npy("|u1", "(3,)", &[0, 1, 1]), "3 labels for the 2 rows");
        let columns = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}";
        refused(features, &versioned(1, columns, &[0; 16]), "ascontiguousarray");
    }

    #[test]
    fn names_must_be_distinct_and_enough() {
        refused("label_names.txt", b"ape\nape\n", "line 2");
        let folder = folder();
        write(&folder, "label_names.txt", b"ape\n");
        let error = read(&folder, FEATURES).unwrap_err().to_string();
        assert!(
            error.contains("row 0 has label 1") && error.contains("1 names"),
            "{error}"
        );
    }
}
