//! Reads feature tables in NumPy's npy format, such as a frozen backbone's outputs.
//!
//! [`open_folder`] reads `{train,test}_features.npy` and `{train,test}_labels.npy`; `label_names.txt`, one name per
//! line, turns the label numbers into class names. [`Array`] is one file: numbers of one [`Kind`] and a shape.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use autoactivator::Table;
use autoactivator::half::from_f16_bits;

use super::source::{Source, io_error, require};
use super::{Dataset, NamedRows, bad, name_of};
use crate::error::Error;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Whether a folder holds a data set of this kind.
pub(super) fn is_in(folder: &Path) -> bool {
    folder.join("train_features.npy").is_file()
}

/// Opens the four tables of a folder.
pub(super) fn open_folder(folder: &Path) -> Result<Dataset, Error> {
    let names = read_names(&folder.join("label_names.txt"))?;
    let train = read_split(folder, "train", names.as_deref())?;
    let test = read_split(folder, "test", names.as_deref())?;
    Dataset::new(name_of(folder), folder, train, test)
}

fn read_split(folder: &Path, split: &str, names: Option<&[String]>) -> Result<NamedRows, Error> {
    let features = require(folder, &format!("{split}_features.npy"))?;
    let labels = require(folder, &format!("{split}_labels.npy"))?;
    let x = read_features(&features)?;
    let y = read_labels(&labels, names)?;
    let (n_rows, n_labels) = (x.rows().len(), y.len());
    if n_rows != n_labels {
        let reason = format!(
            "{n_labels} labels for the {n_rows} rows of {}",
            features.display()
        );
        return Err(bad(&labels, reason));
    }
    Ok(NamedRows { x, y })
}

fn read_features(path: &Path) -> Result<Table, Error> {
    let array = Array::read(path)?;
    let &[_, n_features] = array.shape.as_slice() else {
        let reason = format!(
            "features have shape {:?}, but must be (rows, features)",
            array.shape
        );
        return Err(bad(path, reason));
    };
    let table =
        Table::new(array.floats(), n_features as usize).map_err(|error| bad(path, error.to_string()))?;
    table
        .rows()
        .check_finite()
        .map_err(|error| bad(path, error.to_string()))?;
    Ok(table)
}

fn read_labels(path: &Path, names: Option<&[String]>) -> Result<Vec<String>, Error> {
    let array = Array::read(path)?;
    if array.shape.len() != 1 {
        return Err(bad(
            path,
            format!("labels have shape {:?}, but must be one per row", array.shape),
        ));
    }
    let numbers = array.integers().ok_or_else(|| {
        bad(
            path,
            "labels must be integers: save them again with `.astype('int64')`",
        )
    })?;
    let Some(names) = names else {
        return Ok(numbers.iter().map(i128::to_string).collect());
    };
    let named = numbers.iter().enumerate().map(|(row, &label)| {
        let name = usize::try_from(label).ok().and_then(|label| names.get(label));
        name.cloned().ok_or_else(|| {
            let n = names.len();
            bad(
                path,
                format!("row {row} has label {label}, but label_names.txt has {n} names, for 0 and up"),
            )
        })
    });
    named.collect()
}

/// The class names, one per line, when there is such a file.
fn read_names(path: &Path) -> Result<Option<Vec<String>>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).map_err(|source| io_error(path, source))?;
    let names: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
    let mut seen = HashSet::new();
    match names
        .iter()
        .position(|name| name.is_empty() || !seen.insert(name))
    {
        None => Ok(Some(names)),
        Some(at) => {
            let reason = format!("line {}: '{}' is empty or was there before", at + 1, names[at]);
            Err(bad(path, reason))
        }
    }
}

/// The content of one npy file.
struct Array {
    kind: Kind,
    shape: Vec<u64>,
    bytes: Vec<u8>,
}

impl Array {
    fn read(path: &Path) -> Result<Self, Error> {
        let mut source = Source::open(path)?;
        let header = read_header(&mut source)?;
        let (kind, shape) = parse_header(&header).map_err(|reason| bad(path, reason))?;
        let n_bytes = shape
            .iter()
            .try_fold(kind.n_bytes(), |n, &side| n.checked_mul(side));
        let n_bytes = n_bytes.ok_or_else(|| bad(path, format!("shape {shape:?} is too large to be true")))?;
        let bytes = source.rest(n_bytes)?;
        Ok(Self { kind, shape, bytes })
    }

    fn floats(&self) -> Vec<f32> {
        match self.kind {
            Kind::F2 => self.decode(|bytes| from_f16_bits(u16::from_le_bytes(bytes))),
            Kind::F4 => self.decode(f32::from_le_bytes),
            Kind::F8 => self.decode(|bytes| f64::from_le_bytes(bytes) as f32),
            _ => self
                .integers()
                .into_iter()
                .flatten()
                .map(|value| value as f32)
                .collect(),
        }
    }

    /// The numbers, unless they are floating-point ones.
    fn integers(&self) -> Option<Vec<i128>> {
        Some(match self.kind {
            Kind::F2 | Kind::F4 | Kind::F8 => return None,
            Kind::I1 => self.decode(|bytes| i8::from_le_bytes(bytes).into()),
            Kind::I2 => self.decode(|bytes| i16::from_le_bytes(bytes).into()),
            Kind::I4 => self.decode(|bytes| i32::from_le_bytes(bytes).into()),
            Kind::I8 => self.decode(|bytes| i64::from_le_bytes(bytes).into()),
            Kind::U1 => self.decode(|bytes| u8::from_le_bytes(bytes).into()),
            Kind::U2 => self.decode(|bytes| u16::from_le_bytes(bytes).into()),
            Kind::U4 => self.decode(|bytes| u32::from_le_bytes(bytes).into()),
            Kind::U8 => self.decode(|bytes| u64::from_le_bytes(bytes).into()),
        })
    }

    fn decode<T, const N: usize>(&self, number: impl Fn([u8; N]) -> T) -> Vec<T> {
        let (numbers, _) = self.bytes.as_chunks();
        numbers.iter().map(|&bytes| number(bytes)).collect()
    }
}

/// The type of the numbers: float, signed or unsigned, and how many bytes each has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
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
}

impl Kind {
    /// Reads a type such as `<f4`: little-endian, or of a single byte.
    fn parse(descr: &str) -> Result<Self, String> {
        Ok(match descr {
            "<f2" => Self::F2,
            "<f4" => Self::F4,
            "<f8" => Self::F8,
            "|i1" | "<i1" => Self::I1,
            "<i2" => Self::I2,
            "<i4" => Self::I4,
            "<i8" => Self::I8,
            "|u1" | "<u1" => Self::U1,
            "<u2" => Self::U2,
            "<u4" => Self::U4,
            "<u8" => Self::U8,
            _ => {
                return Err(format!(
                    "numbers of type '{descr}' are not read: save the array again with `.astype('<f4')`, \
                     or labels with `.astype('<i8')`"
                ));
            }
        })
    }

    fn n_bytes(self) -> u64 {
        match self {
            Self::I1 | Self::U1 => 1,
            Self::F2 | Self::I2 | Self::U2 => 2,
            Self::F4 | Self::I4 | Self::U4 => 4,
            Self::F8 | Self::I8 | Self::U8 => 8,
        }
    }
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
    Ok((Kind::parse(descr)?, shape))
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

    use super::*;

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

    /// Two rows of two features in each split, labels 1 and 0.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for split in ["train", "test"] {
            write(
                &folder,
                &format!("{split}_features.npy"),
                &npy("<f4", "(2, 2)", &floats(&[1.0, 2.0, 3.0, 4.0])),
            );
            write(
                &folder,
                &format!("{split}_labels.npy"),
                &npy("|u1", "(2,)", &[1, 0]),
            );
        }
        folder
    }

    fn write(folder: &TempDir, name: &str, bytes: &[u8]) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }

    #[track_caller]
    fn refused(name: &str, bytes: &[u8], expected: &str) {
        let folder = folder();
        write(&folder, name, bytes);
        let error = open_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(expected), "{error}");
    }

    #[test]
    fn names_replace_label_numbers() {
        let folder = folder();
        assert_eq!(open_folder(folder.path()).unwrap().test.y.names(), ["0", "1"]);
        write(&folder, "label_names.txt", b"zebra\nape\n");
        let data = open_folder(folder.path()).unwrap();
        assert_eq!(data.test.y.names(), ["ape", "zebra"]);
        assert_eq!(data.test.y.codes(), [0, 1]);
        assert_eq!(data.train.x.rows().values(), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn every_kind_of_number_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.npy");
        let one_and_minus_two: [(&str, Vec<u8>); 7] = [
            ("<f2", [0x3c00_u16, 0xc000].map(u16::to_le_bytes).concat()),
            ("<f4", floats(&[1.0, -2.0])),
            ("<f8", [1.0_f64, -2.0].map(f64::to_le_bytes).concat()),
            ("|i1", [1_i8, -2].map(i8::to_le_bytes).concat()),
            ("<i2", [1_i16, -2].map(i16::to_le_bytes).concat()),
            ("<i4", [1_i32, -2].map(i32::to_le_bytes).concat()),
            ("<i8", [1_i64, -2].map(i64::to_le_bytes).concat()),
        ];
        for (descr, body) in one_and_minus_two {
            fs::write(&path, npy(descr, "(2,)", &body)).unwrap();
            assert_eq!(Array::read(&path).unwrap().floats(), [1.0, -2.0], "{descr}");
        }
        let one_and_two: [(&str, Vec<u8>); 4] = [
            ("|u1", vec![1, 2]),
            ("<u2", [1_u16, 2].map(u16::to_le_bytes).concat()),
            ("<u4", [1_u32, 2].map(u32::to_le_bytes).concat()),
            ("<u8", [1_u64, 2].map(u64::to_le_bytes).concat()),
        ];
        for (descr, body) in one_and_two {
            fs::write(&path, npy(descr, "(2,)", &body)).unwrap();
            assert_eq!(Array::read(&path).unwrap().integers().unwrap(), [1, 2], "{descr}");
        }
    }

    #[test]
    fn every_version_of_the_format_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.npy");
        for version in 1..=3 {
            let header = "{'shape': (1, 2), 'fortran_order': False, 'descr': '|u1'}";
            fs::write(&path, versioned(version, header, &[5, 6])).unwrap();
            let array = Array::read(&path).unwrap();
            assert_eq!(
                (array.shape.as_slice(), array.floats()),
                ([1, 2].as_slice(), vec![5.0, 6.0])
            );
        }
    }

    #[test]
    fn damaged_files_are_refused_by_name() {
        let (features, labels) = ("train_features.npy", "test_labels.npy");
        refused(features, b"hello, world", "not an npy file");
        refused(features, &versioned(9, "", &[]), "version 9");
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
            "too large to be true",
        );
        refused(features, &npy(">f4", "(2, 2)", &[0; 16]), "astype('<f4')");
        refused(
            features,
            &npy("<f4", "(2, 2)", &floats(&[1.0, 2.0, 3.0, f32::NAN])),
            "row 1, feature 1 is NaN",
        );
        refused(features, &npy("<f4", "(4,)", &[0; 16]), "shape [4]");
        refused(features, &npy("<f4", "(2, 0)", &[]), "no features");
        refused(labels, &npy("<f4", "(2,)", &[0; 8]), "labels must be integers");
        refused(labels, &npy("|u1", "(3,)", &[0, 1, 1]), "3 labels for the 2 rows");
        let columns = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}";
        refused(features, &versioned(1, columns, &[0; 16]), "ascontiguousarray");
    }

    #[test]
    fn names_must_be_distinct_and_enough() {
        refused("label_names.txt", b"ape\nape\n", "line 2");
        let folder = folder();
        write(&folder, "label_names.txt", b"ape\n");
        let error = open_folder(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("row 0 has label 1") && error.contains("1 names"),
            "{error}"
        );
    }
}
