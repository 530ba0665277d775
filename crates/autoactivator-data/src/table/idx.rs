//! Reads the idx format, in which MNIST and its relatives come: images of bytes, and one byte per label.
//!
//! [`open`] takes the file of images and finds the file of labels beside it. A header is never trusted beyond what the
//! file holds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::array::{Array, ArrayTable, labels_of};
use super::kind::Kind;
use super::source::Source;
use super::{Columns, Opened};
use crate::error::{Error, bad};

/// Unsigned bytes in three dimensions: images, rows, columns.
const IMAGES_MAGIC: u32 = 0x0803;
/// Unsigned bytes in one dimension.
const LABELS_MAGIC: u32 = 0x0801;

/// Opens a file of images; its labels are in `columns.label`, or in the file beside it that is named as for MNIST.
pub(super) fn open(path: &Path, columns: &Columns) -> Opened {
    columns.refuse_records(path)?;
    let images = array(path, IMAGES_MAGIC, "images")?;
    let names = columns.label_file(labels_beside(path)).map(|file| {
        let labels = array(&file, LABELS_MAGIC, "labels")?;
        labels_of(&images, &labels, "images")
    });
    Ok(ArrayTable::new(images, names.transpose()?)?.boxed())
}

/// `train-labels-idx1-ubyte` for `train-images-idx3-ubyte`, gzip or not.
fn labels_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let labels = plain.replace("images", "labels").replace("idx3", "idx1");
    let beside = [labels.clone(), format!("{labels}.gz")].map(|name| path.with_file_name(name));
    beside.into_iter().find(|file| labels != plain && file.is_file())
}

fn array(path: &Path, magic: u32, what: &str) -> Result<Array, Error> {
    let mut source = Source::open(path)?;
    let found = number(&mut source)?;
    if found != magic {
        let reason = format!(
            "not an idx file of {what}: it should start with {magic:#010x}, not {found:#010x}; fetch the file again"
        );
        return Err(bad(path, reason));
    }
    let n_sides = magic & 0xff;
    let shape = (0..n_sides).map(|_| Ok(number(&mut source)?.into()));
    let shape: Vec<u64> = shape.collect::<Result<_, Error>>()?;
    let file = path.to_owned();
    Ok(Array {
        name: String::new(),
        path: path.to_owned(),
        kind: Kind::U1,
        shape,
        open: Arc::new(move || {
            let mut source = Source::open(&file)?;
            for _ in 0..=n_sides {
                number(&mut source)?;
            }
            Ok(source)
        }),
    })
}

fn number(source: &mut Source) -> Result<u32, Error> {
    source.header().map(u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::testing::{self, gzip, read, write};
    use super::*;

    const IMAGES: &str = "train-images-idx3-ubyte";
    const LABELS: &str = "train-labels-idx1-ubyte";

    fn file(head: &[u32], body: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = head.iter().flat_map(|number| number.to_be_bytes()).collect();
        bytes.extend_from_slice(body);
        bytes
    }

    /// Two images of 1 × 2 pixels, plain and as gzip.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let images = file(&[IMAGES_MAGIC, 2, 1, 2], &[0, 255, 51, 102]);
        let labels = file(&[LABELS_MAGIC, 2], &[7, 3]);
        write(&folder, IMAGES, &images);
        write(&folder, LABELS, &labels);
        write(&folder, "t10k-images-idx3-ubyte.gz", &gzip(&images));
        write(&folder, "t10k-labels-idx1-ubyte.gz", &gzip(&labels));
        folder
    }

    #[track_caller]
    fn refused(name: &str, bytes: &[u8], expected: &str) {
        testing::refused(&folder(), IMAGES, name, bytes, expected);
    }

    #[test]
    fn plain_and_gzip_files_are_read() {
        let folder = folder();
        for name in [IMAGES, "t10k-images-idx3-ubyte.gz"] {
            let (shape, batch) = read(&folder, name).unwrap();
            assert_eq!(shape.image.unwrap().to_string(), "1x2x1");
            assert_eq!(batch.x.rows().values(), [0.0, 1.0, 0.2, 0.4]);
            assert_eq!(batch.y.unwrap(), ["7", "3"]);
        }
    }

    #[test]
    fn damaged_files_are_refused_by_name() {
        refused(
            IMAGES,
            &file(&[IMAGES_MAGIC, 2, 1, 2], &[1, 2, 3]),
            "4 bytes were expected after the header, found 3",
        );
        refused(
            IMAGES,
            &file(&[IMAGES_MAGIC, 2, 1, 2], &[0; 5]),
            "more data than the header says",
        );
        refused(IMAGES, &file(&[IMAGES_MAGIC, 2], &[]), "truncated: a header");
        refused(
            IMAGES,
            &file(&[LABELS_MAGIC, 2], &[7, 3]),
            "should start with 0x00000803, not 0x00000801",
        );
        refused(IMAGES, &file(&[IMAGES_MAGIC, 2, 0, 2], &[]), "cannot be");
        refused(
            IMAGES,
            &file(&[IMAGES_MAGIC, 2, u32::MAX, u32::MAX], &[0; 9]),
            "larger than any file",
        );
        refused(
            LABELS,
            &file(&[LABELS_MAGIC, 3], &[7, 3, 3]),
            "3 labels for the 2 images",
        );
        let packed = gzip(&file(&[LABELS_MAGIC, 2], &[7, 3]));
        refused(LABELS, &packed[..packed.len() - 10], "truncated");
    }

    #[test]
    fn a_huge_promise_is_not_believed() {
        let folder = folder();
        fs::remove_file(folder.path().join(LABELS)).unwrap();
        write(&folder, IMAGES, &file(&[IMAGES_MAGIC, u32::MAX, 28, 28], &[0; 9]));
        let error = read(&folder, IMAGES).unwrap_err().to_string();
        assert!(error.contains("found 9"), "{error}");
    }
}
