//! Reads the binary format of CIFAR-100: a coarse label, a fine label, and three planes of 32 × 32 bytes for each image.
//!
//! [`open`] reads what `fetch` unpacks. The fine labels are the classes.

use std::fs;
use std::path::Path;

use autoactivator::{ImageShape, Table};

use super::rows::NamedRows;
use super::{Dataset, name_of};
use crate::error::{Error, bad, io_error};

/// The files of a folder: training rows, test rows, and the class names.
#[cfg(feature = "fetch")]
pub(super) const FILES: [&str; 3] = [TRAIN, TEST, NAMES];
const TRAIN: &str = "train.bin";
const TEST: &str = "test.bin";
const NAMES: &str = "fine_label_names.txt";

const SHAPE: ImageShape = ImageShape {
    height: 32,
    width: 32,
    channels: 3,
};
const N_PIXELS: usize = 32 * 32;
const RECORD: usize = 2 + 3 * N_PIXELS;

/// Whether a folder holds a data set of this kind.
pub(super) fn is_in(folder: &Path) -> bool {
    folder.join(TRAIN).is_file() && folder.join(NAMES).is_file()
}

/// Opens `train.bin`, `test.bin` and `fine_label_names.txt` of a folder.
pub(super) fn open(folder: &Path) -> Result<Dataset, Error> {
    let names = read_names(&folder.join(NAMES))?;
    let train = read_rows(&folder.join(TRAIN), &names)?;
    let test = read_rows(&folder.join(TEST), &names)?;
    Dataset::new(name_of(folder), folder, train, test, Some(SHAPE))
}

fn read_names(path: &Path) -> Result<Vec<String>, Error> {
    let text = fs::read_to_string(path).map_err(|cause| io_error(path, cause))?;
    let names = text.lines().map(str::trim).filter(|name| !name.is_empty());
    Ok(names.map(str::to_owned).collect())
}

fn read_rows(path: &Path, names: &[String]) -> Result<NamedRows, Error> {
    let bytes = fs::read(path).map_err(|cause| io_error(path, cause))?;
    if bytes.len() % RECORD != 0 {
        let reason = format!(
            "{} bytes are not a multiple of {RECORD}, the size of an image with its labels; fetch the file again",
            bytes.len()
        );
        return Err(bad(path, reason));
    }
    let n = bytes.len() / RECORD;
    let mut x = Vec::with_capacity(n * 3 * N_PIXELS);
    let mut y = Vec::with_capacity(n);
    for (i, record) in bytes.chunks_exact(RECORD).enumerate() {
        let label = usize::from(record[1]);
        let Some(name) = names.get(label) else {
            let reason = format!(
                "image {}: label {label}, but {NAMES} names {} classes",
                i + 1,
                names.len()
            );
            return Err(bad(path, reason));
        };
        y.push(name.clone());
        let planes = &record[2..];
        // Planes of red, green and blue become pixels of all three.
        x.extend((0..3 * N_PIXELS).map(|k| f32::from(planes[k % 3 * N_PIXELS + k / 3]) / 255.0));
    }
    let x = Table::new(x, 3 * N_PIXELS)?;
    Ok(NamedRows { x, y })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// An image whose pixel `p` has the red value `p % 256`, no green, and full blue.
    fn record(label: u8) -> Vec<u8> {
        let mut record = vec![9, label];
        record.extend((0..N_PIXELS).map(|p| (p % 256) as u8));
        record.extend([0; N_PIXELS]);
        record.extend([255; N_PIXELS]);
        record
    }

    fn folder(train: &[u8], test: &[u8]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(TRAIN), train).unwrap();
        fs::write(folder.path().join(TEST), test).unwrap();
        fs::write(folder.path().join(NAMES), "bear\r\napple\n\n").unwrap();
        folder
    }

    #[test]
    fn planes_become_pixels_and_fine_labels_names() {
        let folder = folder(&[record(1), record(0)].concat(), &record(1));
        let data = open(folder.path()).unwrap();
        assert_eq!(data.image, Some(SHAPE));
        assert_eq!(data.train.y.names(), ["apple", "bear"]);
        assert_eq!(data.train.y.codes(), [0, 1]);
        assert_eq!(data.test.y.codes(), [0]);
        let values = data.test.x.rows().values();
        assert_eq!(values.len(), 3 * N_PIXELS);
        assert_eq!(values[..6], [0.0, 0.0, 1.0, 1.0 / 255.0, 0.0, 1.0]);
        assert_eq!(values[3 * 33..3 * 34], [33.0 / 255.0, 0.0, 1.0]);
    }

    #[test]
    fn damaged_files_are_refused_by_name() {
        let refused = |train: &[u8], expected: &str| {
            let error = open(folder(train, &record(1)).path()).unwrap_err().to_string();
            assert!(error.contains(TRAIN) && error.contains(expected), "{error}");
        };
        refused(&record(1)[1..], "not a multiple of 3074");
        refused(&[record(1), record(2)].concat(), "image 2: label 2");
        let without = folder(&record(0), &record(1));
        fs::remove_file(without.path().join(TEST)).unwrap();
        let error = open(without.path()).unwrap_err().to_string();
        assert!(error.contains(TEST), "{error}");
    }
}
