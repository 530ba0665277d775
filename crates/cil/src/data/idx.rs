//! Reads the idx format, in which MNIST and its relatives come: images of bytes, and one byte per label.
//!
//! [`open_folder`] reads four files named like MNIST's. A header is believed only as far as the file bears it out.

use std::path::Path;

use autoactivator::{ImageShape, Table};

use super::source::{Source, find, require};
use super::{Dataset, NamedRows, bad, name_of};
use crate::error::Error;

/// Unsigned bytes in three dimensions: images, rows, columns.
const IMAGES_MAGIC: u32 = 0x0803;
/// Unsigned bytes in one dimension.
const LABELS_MAGIC: u32 = 0x0801;

/// Whether a folder holds a data set of this kind.
pub(super) fn is_in(folder: &Path) -> bool {
    find(folder, "train-images-idx3-ubyte").is_some()
}

/// Opens `{train,t10k}-{images-idx3,labels-idx1}-ubyte` of a folder, gzip or not.
pub(super) fn open_folder(folder: &Path) -> Result<Dataset, Error> {
    let (train, shape) = read_split(folder, "train")?;
    let (test, test_shape) = read_split(folder, "t10k")?;
    if shape != test_shape {
        return Err(bad(
            folder,
            "training and test images differ in height or width: both need the same",
        ));
    }
    Ok(Dataset::new(name_of(folder), folder, train, test)?.with_image(shape))
}

fn read_split(folder: &Path, prefix: &str) -> Result<(NamedRows, ImageShape), Error> {
    let images = require(folder, &format!("{prefix}-images-idx3-ubyte"))?;
    let labels = require(folder, &format!("{prefix}-labels-idx1-ubyte"))?;
    let (x, shape) = read_images(&images)?;
    let y = read_labels(&labels)?;
    let (n_images, n_labels) = (x.rows().len(), y.len());
    if n_images != n_labels {
        let reason = format!(
            "{n_labels} labels for the {n_images} images of {}",
            images.display()
        );
        return Err(bad(&labels, reason));
    }
    Ok((NamedRows { x, y }, shape))
}

fn read_images(path: &Path) -> Result<(Table, ImageShape), Error> {
    let mut source = Source::open(path)?;
    check_magic(&mut source, IMAGES_MAGIC, "images")?;
    let [n, height, width] = [number(&mut source)?, number(&mut source)?, number(&mut source)?];
    let n_pixels = u64::from(height) * u64::from(width);
    let n_bytes = n_pixels
        .checked_mul(n.into())
        .filter(|_| n_pixels > 0)
        .ok_or_else(|| {
            bad(
                path,
                format!("{n} images of {height} × {width} pixels make no sense: not a usable idx file"),
            )
        })?;
    let pixels = source
        .rest(n_bytes)?
        .into_iter()
        .map(|pixel| f32::from(pixel) / 255.0);
    let shape = ImageShape {
        height: height as usize,
        width: width as usize,
        channels: 1,
    };
    Ok((Table::new(pixels.collect(), n_pixels as usize)?, shape))
}

fn read_labels(path: &Path) -> Result<Vec<String>, Error> {
    let mut source = Source::open(path)?;
    check_magic(&mut source, LABELS_MAGIC, "labels")?;
    let n = number(&mut source)?;
    Ok(source.rest(n.into())?.iter().map(u8::to_string).collect())
}

fn check_magic(source: &mut Source, expected: u32, what: &str) -> Result<(), Error> {
    let found = number(source)?;
    if found == expected {
        return Ok(());
    }
    let reason = format!(
        "not an idx file of {what}: it should start with {expected:#010x}, not {found:#010x}; fetch the file again"
    );
    Err(bad(source.path(), reason))
}

fn number(source: &mut Source) -> Result<u32, Error> {
    source.header().map(u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::source::tests::gzip;
    use super::*;

    fn file(head: &[u32], body: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = head.iter().flat_map(|number| number.to_be_bytes()).collect();
        bytes.extend_from_slice(body);
        bytes
    }

    /// Two training images and two test images of 1 × 2 pixels.
    fn folder() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let images = file(&[IMAGES_MAGIC, 2, 1, 2], &[0, 255, 51, 102]);
        let labels = file(&[LABELS_MAGIC, 2], &[7, 3]);
        for (prefix, images, labels) in [
            ("train", images.clone(), labels.clone()),
            ("t10k", gzip(&images), gzip(&labels)),
        ] {
            write(&folder, &format!("{prefix}-images-idx3-ubyte"), &images);
            write(&folder, &format!("{prefix}-labels-idx1-ubyte"), &labels);
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
    fn plain_and_gzip_files_are_read() {
        let folder = folder();
        let data = open_folder(folder.path()).unwrap();
        assert_eq!(
            data.image,
            Some(ImageShape {
                height: 1,
                width: 2,
                channels: 1
            })
        );
        for split in [&data.train, &data.test] {
            assert_eq!(split.x.rows().values(), [0.0, 1.0, 0.2, 0.4]);
            assert_eq!(split.y.names(), ["3", "7"]);
            assert_eq!(split.y.codes(), [1, 0]);
        }
    }

    #[test]
    fn damaged_files_are_refused_by_name() {
        let images = "train-images-idx3-ubyte";
        let labels = "t10k-labels-idx1-ubyte";
        refused(
            images,
            &file(&[IMAGES_MAGIC, 2, 1, 2], &[1, 2, 3]),
            "4 bytes were expected after the header, found 3",
        );
        refused(
            images,
            &file(&[IMAGES_MAGIC, 2, 1, 2], &[0; 5]),
            "more data than the header says",
        );
        refused(images, &file(&[IMAGES_MAGIC, 2], &[]), "truncated: a header");
        refused(
            images,
            &file(&[LABELS_MAGIC, 2], &[7, 3]),
            "should start with 0x00000803, not 0x00000801",
        );
        refused(images, &file(&[IMAGES_MAGIC, 2, 0, 2], &[]), "make no sense");
        refused(
            images,
            &file(&[IMAGES_MAGIC, u32::MAX, u32::MAX, u32::MAX], &[0; 9]),
            "make no sense",
        );
        refused(
            images,
            &file(&[IMAGES_MAGIC, u32::MAX, 28, 28], &[0; 9]),
            "found 9",
        );
        refused(
            labels,
            &file(&[LABELS_MAGIC, 3], &[7, 3, 3]),
            "3 labels for the 2 images",
        );
        let packed = gzip(&file(&[LABELS_MAGIC, 2], &[7, 3]));
        refused(labels, &packed[..packed.len() - 10], "truncated");
    }

    #[test]
    fn a_missing_companion_is_named() {
        let folder = folder();
        fs::remove_file(folder.path().join("t10k-labels-idx1-ubyte")).unwrap();
        let error = open_folder(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("t10k-labels-idx1-ubyte[.gz] is missing"),
            "{error}"
        );
    }

    #[test]
    fn one_class_is_refused() {
        let folder = folder();
        for prefix in ["train", "t10k"] {
            write(
                &folder,
                &format!("{prefix}-labels-idx1-ubyte"),
                &file(&[LABELS_MAGIC, 2], &[7, 7]),
            );
        }
        let error = open_folder(folder.path()).unwrap_err().to_string();
        assert!(error.contains("one class only ('7')"), "{error}");
    }
}
