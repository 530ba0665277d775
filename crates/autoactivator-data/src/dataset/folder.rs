//! How the files of a data set are called, and which of them are its two parts.

use std::path::{Path, PathBuf};

use super::rows::read_table;
use super::{Dataset, cifar, name_of};
use crate::error::{Error, bad};
use crate::table::Columns;

/// Whether a folder holds a data set that [`open`](super::open) reads, judged by the names of its files.
pub fn is_dataset(folder: &Path) -> bool {
    cifar::is_in(folder) || PARTS.iter().any(|(train, _)| there(folder, train).is_some())
}

/// Opens the data set of a folder.
pub(super) fn open(folder: &Path, columns: &Columns) -> Result<Dataset, Error> {
    if cifar::is_in(folder) {
        columns.refuse(folder)?;
        return cifar::open(folder);
    }
    let (train, test) = parts(folder)?;
    let ((train, image), (test, test_image)) = (read_table(&train, columns)?, read_table(&test, columns)?);
    if image != test_image {
        let reason = "training and test images differ in height or width: both need the same size";
        return Err(bad(folder, reason));
    }
    Dataset::new(name_of(folder), folder, train, test, image)
}

/// How the two tables of a folder may be called, gzip or not.
const PARTS: [(&str, &str); 10] = [
    ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte"),
    ("train_features.npy", "test_features.npy"),
    ("train.parquet", "test.parquet"),
    ("train.arrow", "test.arrow"),
    ("train.feather", "test.feather"),
    ("train.npz", "test.npz"),
    ("train.npy", "test.npy"),
    ("train.safetensors", "test.safetensors"),
    ("train.csv", "test.csv"),
    ("train.jsonl", "test.jsonl"),
];

/// A file of a folder, gzip or not.
fn there(folder: &Path, name: &str) -> Option<PathBuf> {
    let candidates = [folder.join(name), folder.join(format!("{name}.gz"))];
    candidates.into_iter().find(|path| path.is_file())
}

/// The file of labels that belongs to a table of features alone.
fn labels_of(table: &str) -> Option<String> {
    let idx = table.strip_suffix("-images-idx3-ubyte");
    let npy = table.strip_suffix("_features.npy");
    idx.map(|part| format!("{part}-labels-idx1-ubyte"))
        .or_else(|| npy.map(|part| format!("{part}_labels.npy")))
}

/// The two tables of a folder.
pub(super) fn parts(folder: &Path) -> Result<(PathBuf, PathBuf), Error> {
    for (train_name, test) in PARTS {
        if let Some(train) = there(folder, train_name) {
            let missing = |name: &str| bad(folder, format!("{name}[.gz] is missing"));
            let test_table = there(folder, test).ok_or_else(|| missing(test))?;
            for labels in [labels_of(train_name), labels_of(test)].into_iter().flatten() {
                there(folder, &labels).ok_or_else(|| missing(&labels))?;
            }
            return Ok((train, test_table));
        }
    }
    let reason = "the folder holds no data set: expected train-images-idx3-ubyte[.gz], train_features.npy, or tables \
                  called train and test (train.parquet, .arrow, .npz, .npy, .safetensors, .csv or .jsonl), or train.bin";
    Err(bad(folder, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> Result<Dataset, Error> {
        super::open(folder, &Columns::default())
    }

    #[test]
    fn a_folder_keeps_its_own_split() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("train.csv", "1,a\n2,b\n3,b\n");
        let error = open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("test.csv[.gz] is missing"), "{error}");
        write("test.csv", "4,b\n5,a\n");
        let data = open(folder.path()).unwrap();
        assert_eq!(data.train.x.rows().values(), [1.0, 2.0, 3.0]);
        assert_eq!(data.test.y.codes(), [1, 0]);
        write("test.csv", "4,1,b\n");
        let error = open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("1 feature, test rows have 2"), "{error}");
    }
}
