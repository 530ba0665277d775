//! Arrays of numbers, as npy, npz, safetensors and idx files hold them: one row after the other.
//!
//! [`Array`] tells where an array lies and what its numbers are; [`ArrayTable`] streams one as rows, with another as
//! labels.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use autoactivator::{ImageShape, Table};

use super::kind::Kind;
use super::reading::{Choice, ClassColumn, Reading};
use super::source::Source;
use super::{Columns, Content, Opened, Shape, batch_rows};
use crate::batch::{Batch, Batches};
use crate::error::{Error, bad};

/// Opens a file where an array's numbers begin.
pub(super) type Opener = Arc<dyn Fn() -> Result<Source, Error> + Send + Sync>;

/// One array of a file.
#[derive(Clone)]
pub(super) struct Array {
    /// Its name, in files that hold several.
    pub name: String,
    pub path: PathBuf,
    pub kind: Kind,
    pub shape: Vec<u64>,
    pub open: Opener,
}

impl Array {
    pub fn n_rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(0)
    }

    /// Bytes of all its numbers.
    pub fn n_bytes(&self) -> Result<u64, Error> {
        let sides = self.shape.iter();
        let n_bytes = sides.copied().try_fold(self.kind.n_bytes(), u64::checked_mul);
        n_bytes.ok_or_else(|| self.bad(too_large(&self.shape)))
    }

    /// All its values, as class names.
    pub fn read_names(&self) -> Result<Vec<String>, Error> {
        if self.shape.len() != 1 {
            return Err(self.bad(format!(
                "labels have shape {:?}, but there must be one per row",
                self.shape
            )));
        }
        let bytes = (self.open)()?.rest(self.n_bytes()?)?;
        self.kind.names(&bytes).ok_or_else(|| {
            self.bad("labels must be integers or text: save them again with `.astype('int64')`")
        })
    }

    /// The error for something wrong with this array.
    pub fn bad(&self, reason: impl Into<String>) -> Error {
        let reason = reason.into();
        if self.name.is_empty() {
            bad(&self.path, reason)
        } else {
            bad(&self.path, format!("array '{}': {reason}", self.name))
        }
    }
}

fn too_large(shape: &[u64]) -> String {
    format!("shape {shape:?} is larger than any file: the header is probably damaged")
}

/// The labels of `features` that another file holds; `rows` is what the features are called in errors.
pub(super) fn labels_of(features: &Array, labels: &Array, rows: &str) -> Result<Vec<String>, Error> {
    let (n_labels, n_rows) = (labels.n_rows(), features.n_rows());
    // A wrong shape is reported as such, and not as a wrong count.
    let comparable = labels.shape.len() == 1 && features.shape.len() > 1 && features.n_bytes().is_ok();
    if n_labels != n_rows && comparable {
        let features = features.path.display();
        let reason = format!("{n_labels} labels for the {n_rows} {rows} of {features}");
        return Err(bad(&labels.path, reason));
    }
    labels.read_names()
}

/// An array as rows of features, with or without labels.
pub(super) struct ArrayTable {
    features: Array,
    labels: Option<Arc<[String]>>,
    shape: Shape,
    n_bytes: u64,
    /// What numbers are divided by: the bytes of images become values between 0 and 1.
    scale: Option<f32>,
}

impl ArrayTable {
    /// Pairs features with the class of each row.
    pub fn new(features: Array, labels: Option<Vec<String>>) -> Result<Self, Error> {
        let (n_features, image) = row_shape(&features)?;
        let n_bytes = features.n_bytes()?;
        if let Some(labels) = &labels
            && labels.len() as u64 != features.n_rows()
        {
            let reason = format!("there are {} labels for {} rows", labels.len(), features.n_rows());
            return Err(features.bad(reason));
        }
        let shape = Shape {
            n_features,
            n_rows: Some(features.n_rows()),
            labelled: labels.is_some(),
            image,
        };
        Ok(Self {
            n_bytes,
            scale: image.filter(|_| features.kind == Kind::U1).map(|_| 255.0),
            labels: labels.map(Into::into),
            features,
            shape,
        })
    }

    /// The table as its format's `open` returns it.
    pub fn boxed(self) -> (Shape, Box<dyn Content>) {
        (self.shape, Box::new(self))
    }
}

/// How many features a row has, and its image shape where rows are images.
fn row_shape(features: &Array) -> Result<(usize, Option<ImageShape>), Error> {
    if features.kind.is_text() {
        return Err(features.bad("features must be numbers, but these are text"));
    }
    let too_large = || features.bad(too_large(&features.shape));
    let size = |n: u64| usize::try_from(n).map_err(|_| too_large());
    let image = match features.shape[..] {
        [_, n_features] if n_features > 0 => return Ok((size(n_features)?, None)),
        [_, height, width] => (height, width, 1),
        [_, height, width, channels @ (1 | 3)] => (height, width, channels),
        [_, 0] => return Err(features.bad("rows have no features")),
        _ => {
            let reason = format!(
                "features have shape {:?}, but must be (rows, features), or (rows, height, width[, channels]) for \
                 images",
                features.shape
            );
            return Err(features.bad(reason));
        }
    };
    let (height, width, channels) = image;
    let n_values = height
        .checked_mul(width)
        .and_then(|n| n.checked_mul(channels))
        .filter(|&n| n > 0);
    let Some(n_values) = n_values else {
        let n = features.n_rows();
        let reason =
            format!("{n} images of {height} × {width} pixels cannot be: the header is probably damaged");
        return Err(features.bad(reason));
    };
    let image = ImageShape {
        height: size(height)?,
        width: size(width)?,
        channels: size(channels)?,
    };
    Ok((size(n_values)?, Some(image)))
}

impl Content for ArrayTable {
    fn reading(&self) -> Reading {
        let class = self.labels.as_ref().map(|_| ClassColumn {
            name: "the array of labels".to_owned(),
            chosen: Choice::Named,
        });
        Reading {
            class,
            ..Reading::default()
        }
    }

    fn batches(&self) -> Result<Batches, Error> {
        Ok(Box::new(ArrayBatches {
            source: (self.features.open)()?,
            kind: self.features.kind,
            n_features: self.shape.n_features,
            scale: self.scale,
            labels: self.labels.clone(),
            n_bytes: self.n_bytes,
            row: 0,
            n_rows: self.features.n_rows(),
            ended: false,
        }))
    }
}

/// The rows of an array, some at a time.
struct ArrayBatches {
    source: Source,
    kind: Kind,
    n_features: usize,
    scale: Option<f32>,
    labels: Option<Arc<[String]>>,
    n_bytes: u64,
    row: u64,
    n_rows: u64,
    ended: bool,
}

impl Iterator for ArrayBatches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.row == self.n_rows {
            self.ended = true;
            return self.source.expect_end(self.n_bytes).err().map(Err);
        }
        let batch = self.read();
        self.ended = batch.is_err();
        Some(batch)
    }
}

impl ArrayBatches {
    fn read(&mut self) -> Result<Batch, Error> {
        let n = (self.n_rows - self.row).min(batch_rows(self.n_features) as u64);
        let row_bytes = self.n_features as u64 * self.kind.n_bytes();
        let bytes = self.bytes(n * row_bytes, self.row * row_bytes)?;
        let mut values = self.kind.floats(&bytes);
        if let Some(scale) = self.scale {
            values.iter_mut().for_each(|value| *value /= scale);
        }
        let rows = self.row as usize..(self.row + n) as usize;
        self.row += n;
        Ok(Batch {
            x: Table::new(values, self.n_features)?,
            y: self.labels.as_ref().map(|labels| labels[rows].to_vec()),
            weights: None,
            names: None,
        })
    }

    /// The next `n` bytes, after the `before` that have been read.
    fn bytes(&mut self, n: u64, before: u64) -> Result<Vec<u8>, Error> {
        let (bytes, _) = self.source.up_to(n)?;
        match bytes.len() as u64 {
            found if found < n => Err(self.truncated(before + found)),
            _ => Ok(bytes),
        }
    }

    fn truncated(&self, found: u64) -> Error {
        super::source::truncated(self.source.path(), self.n_bytes, found)
    }
}

/// Opens a file that holds several arrays: features, and labels where there are any.
pub(super) fn open_among(path: &Path, arrays: &[Array], columns: &Columns) -> Opened {
    columns.refuse_records(path)?;
    let (features, labels) = pick(path, arrays, columns)?;
    let names = labels.map(|labels| labels.read_names()).transpose()?;
    Ok(ArrayTable::new(features, names)?.boxed())
}

/// Which array holds the features, and which one the labels.
fn pick(path: &Path, arrays: &[Array], columns: &Columns) -> Result<(Array, Option<Array>), Error> {
    let there = || {
        let names: Vec<&str> = arrays.iter().map(|array| array.name.as_str()).take(20).collect();
        names.join(", ")
    };
    let by_name = |name: &str, what: &str| {
        let found = arrays.iter().find(|array| array.name == name);
        found.cloned().ok_or_else(|| {
            let reason = format!("there is no {what} array '{name}'; the arrays are {}", there());
            bad(path, reason)
        })
    };
    let features = match &columns.features[..] {
        [] => only(arrays, |array| array.shape.len() >= 2).ok_or_else(|| {
            let reason = format!(
                "it is not clear which array holds the features: choose one of {} with --columns",
                there()
            );
            bad(path, reason)
        })?,
        [name] => by_name(name, "feature")?,
        _ => {
            return Err(bad(
                path,
                "the features must be one array: give one name with --columns",
            ));
        }
    };
    let labels = match &columns.label {
        Some(name) => Some(by_name(name, "label")?),
        None => only(arrays, |array| {
            array.shape.len() == 1 && array.n_rows() == features.n_rows()
        }),
    };
    Ok((features, labels))
}

/// The only array of its kind; none when there are several.
fn only(arrays: &[Array], is_meant: impl Fn(&Array) -> bool) -> Option<Array> {
    let mut found = arrays.iter().filter(|array| is_meant(array));
    let first = found.next()?;
    found.next().is_none().then(|| first.clone())
}
