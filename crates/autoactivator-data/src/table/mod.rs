//! Feature tables: [`FeatureTable::open`] finds out what a file holds, [`FeatureTable::batches`] streams its rows.
//!
//! The content decides the format, not the name. csv, Parquet, Arrow and JSON lines files hold records; npy, npz, safetensors and
//! idx files hold arrays. [`TableWriter`] is the way back.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use autoactivator::Table;
//! use autoactivator_data::table::TableWriter;
//! use autoactivator_data::{Batch, Columns, FeatureTable};
//!
//! let path = std::env::temp_dir().join(format!("things-{}.csv", std::process::id()));
//! let batch = Batch {
//!     x: Table::new(vec![1.0, 2.0, 3.0, 4.0], 2)?,
//!     y: Some(vec!["ape".to_owned(), "bee".to_owned()]),
//!     weights: None,
//!     names: None,
//! };
//! let mut writer = TableWriter::create(&path, None, None)?;
//! writer.write(&batch)?;
//! writer.finish()?;
//!
//! let table = FeatureTable::open(&path, &Columns::default())?;
//! assert!(table.shape().labelled);
//! assert_eq!(Batch::collect(table.batches()?)?, Some(batch));
//! # std::fs::remove_file(path)?;
//! # Ok(())
//! # }
//! ```

mod answer;
mod array;
#[cfg(feature = "parquet")]
mod arrow;
#[cfg(not(feature = "parquet"))]
#[path = "no_arrow.rs"]
mod arrow;
mod claims;
mod columns;
mod csv;
mod idx;
mod jsonl;
mod kind;
mod measurement;
mod npy;
#[cfg(feature = "npz")]
mod npz;
#[cfg(not(feature = "npz"))]
#[path = "no_npz.rs"]
mod npz;
mod reading;
mod safetensors;
mod source;
#[cfg(test)]
mod testing;
mod text_column;
mod text_table;
mod write;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use autoactivator::{ImageShape, check_weights};
use serde_json::Value;

use crate::batch::{Batch, Batches};
use crate::error::{Error, NO_ROWS, bad, io_error};
use crate::sentences::SentenceBatches;
pub use answer::AnswerRow;
pub use arrow::AnswerTable;
pub use columns::Columns;
use measurement::Values;
pub use reading::{Choice, ClassColumn, Reading};
use source::Source;
pub use text_table::TextTable;
pub use write::TableWriter;

/// The name of the threads that read Parquet and Arrow files.
///
/// A damaged file may make one of them panic. That is reported as an error, so a program may silence the panic message
/// of threads of this name.
pub const READER: &str = "table reader";

/// About how many values a batch holds: few beside the memory of a machine, many beside the cost of handing them over.
const BATCH_VALUES: usize = 1 << 20;

/// How many sentences are handed over together.
const SENTENCES: usize = 2048;

/// A row with more features than this means a damaged header.
const MAX_FEATURES: u64 = 1 << 22;

/// The reason to refuse rows that should carry their classes and do not.
pub const NO_CLASSES: &str = "the rows carry no classes: choose the column that does with --label";

/// A table on disk: rows of numbers, with or without the class of each.
pub struct FeatureTable {
    path: PathBuf,
    shape: Shape,
    content: Box<dyn Content>,
}

/// What is known of a table before its rows are read.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// Features of each row.
    pub n_features: usize,
    /// Number of rows, where the file tells.
    pub n_rows: Option<u64>,
    /// Whether each row carries its class.
    pub labelled: bool,
    /// The shape of each row, when rows are known to be images.
    pub image: Option<ImageShape>,
}

/// The metadata key under which a table keeps what computed its rows, as JSON.
const ORIGIN: &str = "autoactivator.origin";

/// One format's way to stream the rows of a file from the beginning.
trait Content: Send + Sync {
    fn batches(&self) -> Result<Batches, Error>;

    /// Streams the column of text that was chosen; the default is for arrays, which have none and refuse it on opening.
    fn sentences(&self) -> Result<SentenceBatches, Error> {
        Ok(Box::new(std::iter::empty()))
    }

    /// How the table was read; the default is for rows without names.
    fn reading(&self) -> Reading {
        Reading::default()
    }

    /// What the file says under a key of its metadata.
    fn metadata(&self, _key: &str) -> Option<&str> {
        None
    }
}

/// A table that was just opened: its shape, and its rows.
type Opened = Result<(Shape, Box<dyn Content>), Error>;

impl FeatureTable {
    /// Opens a file and finds out which columns are features and which one is the class.
    ///
    /// Only the start of the file is read here, and the labels of arrays. What is wrong with a row shows in
    /// [`batches`](Self::batches).
    pub fn open(path: &Path, columns: &Columns) -> Result<Self, Error> {
        if columns.text.is_some() {
            return Err(bad(path, text_table::NEEDS_ENCODER));
        }
        let (shape, content) = open_content(path, columns)?;
        if shape.n_features as u64 > MAX_FEATURES {
            let reason = format!(
                "the header states {} features a row, more than the {MAX_FEATURES} allowed: it is probably damaged",
                shape.n_features
            );
            return Err(bad(path, reason));
        }
        if shape.n_rows == Some(0) {
            return Err(bad(path, NO_ROWS));
        }
        Ok(Self {
            path: path.to_owned(),
            shape,
            content,
        })
    }

    /// What is known of the table.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What computed the rows, an [`Origin`](crate::Origin) as JSON; none when the file does not tell.
    pub fn origin(&self) -> Option<Value> {
        serde_json::from_str(self.content.metadata(ORIGIN)?).ok()
    }

    /// How the table was read: which columns are features, which one is the class, and what was left out.
    pub fn reading(&self) -> Reading {
        self.content.reading()
    }

    /// Streams all rows; every call begins with the first row. After an error the stream ends.
    pub fn batches(&self) -> Result<Batches, Error> {
        let path = self.path.clone();
        let mut batches = self.content.batches()?;
        let (mut first_row, mut ended) = (0, false);
        // Only a class column that nobody chose may be a mistake.
        let mut class = self.reading().class.filter(|class| class.chosen == Choice::Last);
        let mut values = Values::default();
        let checked = std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let batch = match batches.next() {
                Some(batch) => batch.and_then(|batch| {
                    check(&batch, first_row).map_err(|reason| bad(&path, reason))?;
                    first_row += batch.len();
                    if class.is_some() {
                        values.add(batch.y.as_deref().unwrap_or_default());
                    }
                    Ok(batch)
                }),
                None if first_row == 0 => Err(bad(&path, NO_ROWS)),
                None => {
                    let (class, measured) = class.take().zip(values.measured())?;
                    Err(bad(&path, not_a_class(&class.name, &measured)))
                }
            };
            ended = batch.is_err();
            Some(batch)
        });
        Ok(Box::new(checked))
    }
}

/// The reason to refuse a class column that holds measurements.
fn not_a_class(column: &str, measured: &str) -> String {
    format!(
        "{column} is the last one and would be the class, but it looks like a measurement ({measured}): name the column \
         of the class with --label, or say with --no-label that there is none"
    )
}

/// Reads a csv file that is in memory, gzip or not; `path` is its name in errors.
pub(crate) fn embedded_csv(path: &Path, bytes: &'static [u8]) -> Result<Batch, Error> {
    let batches = csv::embedded(path, bytes)?.batches()?;
    Batch::collect(batches)?.ok_or_else(|| bad(path, NO_ROWS))
}

fn open_content(path: &Path, columns: &Columns) -> Opened {
    let mut start = [0; 12];
    let n = read_start(path, &mut start).map_err(|cause| io_error(path, cause))?;
    let start = &start[..n];
    if start.starts_with(b"PAR1") {
        arrow::open_parquet(path, columns)
    } else if start.starts_with(b"ARROW1") || start.starts_with(&[0xff; 4]) {
        arrow::open_ipc(path, columns)
    } else if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        npz::open(path, columns)
    } else if safetensors::looks_like(start) {
        safetensors::open(path, columns)
    } else {
        open_unpacked(path, columns)
    }
}

/// Formats that also come as gzip.
fn open_unpacked(path: &Path, columns: &Columns) -> Opened {
    let (start, _) = Source::open(path)?.up_to(6)?;
    let name = path.to_string_lossy();
    if start.starts_with(npy::MAGIC) {
        npy::open(path, columns)
    } else if start.starts_with(&[0, 0, 8]) || name.contains("-idx") {
        idx::open(path, columns)
    } else if start.starts_with(b"{") {
        jsonl::open(path, columns)
    } else if let Some(known) = foreign(&start) {
        let reason = format!("this is {known}, which cannot be read: write it as csv, Parquet or JSON lines");
        Err(bad(path, reason))
    } else if [".npy", ".npy.gz"].iter().any(|ending| name.ends_with(ending)) {
        Err(bad(path, "not an npy file: write it with `numpy.save`"))
    } else {
        csv::open(path, columns)
    }
}

/// What a file is that holds no table which could be read, by its first bytes.
fn foreign(start: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 9] = [
        (b"[", "a JSON list"),
        (b"<", "HTML or XML"),
        (b"%PDF", "a PDF document"),
        (b"\x89HDF", "an HDF5 file"),
        (b"SQLite", "an SQLite database"),
        (b"\x80\x04", "a pickle"),
        (b"\x80\x05", "a pickle"),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
        (b"Obj\x01", "an Avro file"),
    ];
    let found = known.iter().find(|(magic, _)| start.starts_with(magic));
    found.map(|(_, name)| *name)
}

/// Fills `start` with the first bytes of a file; returns how many there were.
fn read_start(path: &Path, start: &mut [u8]) -> std::io::Result<usize> {
    let mut file = File::open(path)?;
    let mut n = 0;
    while n < start.len() {
        match file.read(&mut start[n..])? {
            0 => break,
            more => n += more,
        }
    }
    Ok(n)
}

/// How many rows of `n_features` make a batch.
fn batch_rows(n_features: usize) -> usize {
    (BATCH_VALUES / n_features.max(1)).clamp(16, 1 << 16)
}

/// Whether no value is NaN or infinite. It does not look for the place, so that many values are compared at a time.
fn all_finite(values: &[f32]) -> bool {
    const EXPONENT: u32 = 0x7f80_0000;
    let finite = |block: &[f32]| {
        !block
            .iter()
            .fold(false, |found, v| found | (v.to_bits() & EXPONENT == EXPONENT))
    };
    values.chunks(4096).all(finite)
}

/// Checks what must hold for every row, whatever the format; `first_row` is the number of the batch's first row.
fn check(batch: &Batch, first_row: usize) -> Result<(), String> {
    let x = batch.x.rows();
    if !all_finite(x.values())
        && let Some(at) = x.values().iter().position(|value| !value.is_finite())
    {
        let (row, feature) = (first_row + at / x.n_features(), at % x.n_features());
        let value = x.values()[at];
        return Err(format!(
            "row {row}, feature {feature} is {value}: remove the row or replace the value with a finite one"
        ));
    }
    if let Some(weights) = &batch.weights {
        check_weights(weights, first_row).map_err(|error| error.to_string())?;
    }
    let unnamed = batch.y.iter().flatten().position(String::is_empty);
    match unnamed {
        Some(row) => Err(format!("row {}: the class is missing", first_row + row)),
        None => Ok(()),
    }
}
