//! Writes feature tables: Parquet, Arrow or csv, by the file's extension; whole, or not at all.
//!
//! [`TableWriter`] takes batches; the csv sink is here, the others are in `arrow`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use autoactivator::format::NewFile;
use serde_json::Value;

use super::arrow;
use super::columns::NAME;
use crate::batch::Batch;
use crate::error::{Error, bad};

/// The column of classes in written tables.
pub(super) const CLASS: &str = "class";

/// Writes batches to a table that gets its name when [`finish`](Self::finish) is called.
///
/// A writer that is dropped before leaves nothing behind.
pub struct TableWriter {
    file: NewFile<'static>,
    begin: Begin,
    about: About,
    sink: Option<Box<dyn Sink>>,
}

/// What is written of a table besides its rows.
pub(super) struct About {
    /// Names of the features; by default f0, f1 and so on.
    pub features: Option<Vec<String>>,
    /// What computed the rows; csv files cannot keep it.
    #[cfg_attr(
        not(feature = "parquet"),
        allow(dead_code, reason = "only Parquet and Arrow keep it")
    )]
    pub origin: Option<Value>,
}

impl About {
    /// The name of a feature.
    pub fn feature(&self, at: usize) -> String {
        let named = self.features.as_ref().and_then(|names| names.get(at));
        named.cloned().unwrap_or_else(|| format!("f{at}"))
    }
}

/// Begins a file of one format; the batch tells which columns there are.
pub(super) type Begin = fn(File, &Batch, &About) -> Result<Box<dyn Sink>, String>;

/// Takes the rows of a file of one format.
pub(super) trait Sink: Send {
    /// Adds rows.
    fn write(&mut self, batch: &Batch) -> Result<(), String>;

    /// Writes what is left.
    fn finish(self: Box<Self>) -> Result<(), String>;
}

fn format_of(path: &Path) -> Result<Begin, Error> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("parquet") => arrow::parquet_sink(path),
        Some("arrow" | "feather" | "ipc") => arrow::ipc_sink(path),
        Some("csv") => Ok(CsvSink::begin),
        _ => Err(bad(
            path,
            "the name must end in .parquet, .arrow or .csv: it says how the table is written",
        )),
    }
}

impl TableWriter {
    /// Begins a table that will be called `path`. `features` are the names of its columns, where they have any, and
    /// `origin` is what computed its rows, an [`Origin`](crate::Origin) as JSON; csv files cannot keep that.
    pub fn create(path: &Path, features: Option<Vec<String>>, origin: Option<Value>) -> Result<Self, Error> {
        let begin = format_of(path)?;
        Ok(Self {
            file: NewFile::create(path)?,
            begin,
            about: About { features, origin },
            sink: None,
        })
    }

    /// Adds rows; the first batch decides which columns there are.
    pub fn write(&mut self, batch: &Batch) -> Result<(), Error> {
        let failed = |reason| bad(self.file.path(), reason);
        let sink = match &mut self.sink {
            Some(sink) => sink,
            None => {
                let begun = (self.begin)(self.file.open()?, batch, &self.about);
                self.sink.insert(begun.map_err(failed)?)
            }
        };
        sink.write(batch).map_err(failed)
    }

    /// Gives the file its name, once its content is on the disk. A table without rows is refused.
    pub fn finish(self) -> Result<(), Error> {
        let path = self.file.path();
        let sink = self.sink.ok_or_else(|| bad(path, "there are no rows to write"))?;
        sink.finish().map_err(|reason| bad(path, reason))?;
        Ok(self.file.give_name()?)
    }
}

/// Lines of comma-separated values: name, features and class.
struct CsvSink {
    writer: BufWriter<File>,
}

impl CsvSink {
    fn begin(file: File, batch: &Batch, about: &About) -> Result<Box<dyn Sink>, String> {
        let mut writer = BufWriter::new(file);
        write_header(&mut writer, batch, about).map_err(|e| e.to_string())?;
        Ok(Box::new(Self { writer }))
    }
}

impl Sink for CsvSink {
    fn write(&mut self, batch: &Batch) -> Result<(), String> {
        write_rows(&mut self.writer, batch).map_err(|e| e.to_string())
    }

    fn finish(mut self: Box<Self>) -> Result<(), String> {
        self.writer.flush().map_err(|e| e.to_string())
    }
}

fn write_header(writer: &mut impl Write, batch: &Batch, about: &About) -> io::Result<()> {
    let mut line = csv::Writer::from_writer(writer);
    let features = (0..batch.x.rows().n_features()).map(|at| about.feature(at));
    let name = batch.names.as_ref().map(|_| NAME.to_owned());
    let class = batch.y.as_ref().map(|_| CLASS.to_owned());
    line.write_record(name.into_iter().chain(features).chain(class))?;
    line.flush()
}

fn write_rows(writer: &mut impl Write, batch: &Batch) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(writer);
    for (at, row) in batch.x.rows().iter().enumerate() {
        let name = batch.names.as_ref().map(|names| names[at].clone());
        let class = batch.y.as_ref().map(|y| y[at].clone());
        let features = row.iter().map(ToString::to_string);
        lines.write_record(name.into_iter().chain(features).chain(class))?;
    }
    lines.flush()
}
