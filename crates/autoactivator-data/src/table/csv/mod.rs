//! Reads tables of comma-separated values: one row per line, with the class in the last column or in a named one.
//!
//! `dialect` finds out how a file is written, with `prose` for files of text; `lines` stops where its quotes go wrong;
//! [`Layout`] is what is known about all lines.

mod dialect;
mod lines;
mod prose;

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use autoactivator::Table;
use csv::{Reader, ReaderBuilder, StringRecord, Trim};

use self::dialect::{Dialect, Sample, has_decimal_comma};
use self::lines::{Lines, Misquoted};
use super::claims;
use super::columns::{Chosen, Columns, NAME, Records, Use, choose};
use super::reading::{ClassColumn, Reading};
use super::source::Source;
use super::{Content, NO_ROWS, Opened, SENTENCES, Shape, batch_rows};
use crate::batch::{Batch, Batches, Stream};
use crate::error::{Error, bad};
use crate::sentences::{SentenceBatches, Sentences, check_sentence};

/// How much of a file is looked at before it is read.
const SAMPLE: u64 = 1 << 16;

/// Opens a file, with or without a header.
pub(super) fn open(path: &Path, columns: &Columns) -> Opened {
    let file = path.to_owned();
    let csv = Csv::new(path, Arc::new(move || Source::open(&file)), columns)?;
    Ok((csv.shape(), Box::new(csv)))
}

/// Opens a file that is in memory; `path` is its name in errors.
pub(super) fn embedded(path: &Path, bytes: &'static [u8]) -> Result<impl Content + use<>, Error> {
    let name = path.to_owned();
    let open = Arc::new(move || Source::embedded(&name, bytes));
    Csv::new(path, open, &Columns::default())
}

/// The reason to refuse a file whose lines hold a single value.
const ONE_COLUMN: &str = "line 1 has one column: a row needs at least one feature and, last, the class";

struct Csv {
    path: PathBuf,
    open: Arc<dyn Fn() -> Result<Source, Error> + Send + Sync>,
    layout: Layout,
}

/// What the start of a file says about all its lines.
#[derive(Clone)]
struct Layout {
    dialect: Dialect,
    decimal_comma: bool,
    n_columns: usize,
    /// The names in the header, if there is one.
    names: Option<Vec<String>>,
    chosen: Chosen,
}

impl Csv {
    fn new(
        path: &Path,
        open: Arc<dyn Fn() -> Result<Source, Error> + Send + Sync>,
        columns: &Columns,
    ) -> Result<Self, Error> {
        let (start, cut) = open()?.up_to(SAMPLE)?;
        if cut {
            let reason = "truncated: the gzip stream ends before its checksum; fetch the file again";
            return Err(bad(path, reason));
        }
        let sample = Sample::new(&start, start.len() as u64 == SAMPLE);
        let dialect = Dialect::find(&sample, columns).map_err(|reason| bad(path, reason))?;
        let mut reader = reader(open()?, &dialect);
        let mut first = StringRecord::new();
        for _ in 0..=dialect.skipped {
            if !read(&mut reader, &mut first, path)? {
                return Err(bad(path, NO_ROWS));
            }
        }
        let layout = Layout::new(&first, dialect, columns).map_err(|reason| bad(path, reason))?;
        Ok(Self {
            path: path.to_owned(),
            open,
            layout,
        })
    }

    fn shape(&self) -> Shape {
        Shape {
            n_features: self.layout.chosen.features.len(),
            n_rows: None,
            labelled: self.layout.chosen.label.is_some(),
            image: None,
        }
    }
}

impl Csv {
    fn lines(&self) -> Result<CsvLines, Error> {
        Ok(CsvLines {
            path: self.path.clone(),
            reader: reader((self.open)()?, &self.layout.dialect),
            to_skip: self.layout.dialect.skipped + usize::from(self.layout.names.is_some()),
            layout: self.layout.clone(),
            record: StringRecord::new(),
        })
    }
}

impl Content for Csv {
    fn batches(&self) -> Result<Batches, Error> {
        Ok(self.lines()?.stream(CsvLines::batch))
    }

    fn sentences(&self) -> Result<SentenceBatches, Error> {
        Ok(self.lines()?.stream(CsvLines::sentences))
    }

    fn reading(&self) -> Reading {
        self.layout.reading()
    }
}

fn reader(source: Source, dialect: &Dialect) -> Reader<Lines<Source>> {
    ReaderBuilder::new()
        .delimiter(dialect.delimiter)
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(Lines::new(source, dialect.delimiter))
}

/// Reads the next line; false at the end.
fn read(reader: &mut Reader<Lines<Source>>, record: &mut StringRecord, path: &Path) -> Result<bool, Error> {
    reader
        .read_record(record)
        .map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, error: csv::Error) -> Error {
    let line = error
        .position()
        .map_or(String::new(), |at| format!("line {}: ", at.line()));
    let reason = match error.into_kind() {
        csv::ErrorKind::Io(source) if misquoted(&source) => source.to_string(),
        csv::ErrorKind::Io(source) => format!("cannot be read to its end: {source}; fetch the file again"),
        csv::ErrorKind::Utf8 { .. } => format!("{line}not UTF-8 text; save the file as UTF-8"),
        other => format!("{line}{other:?}"),
    };
    bad(path, reason)
}

fn misquoted(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Misquoted>())
}

impl Layout {
    fn new(first: &StringRecord, dialect: Dialect, wanted: &Columns) -> Result<Self, String> {
        let n_columns = first.len();
        let cells = first.iter().map(str::to_owned);
        let names: Option<Vec<String>> = dialect.has_header.then(|| cells.collect());
        let alone = wanted.no_label
            || wanted.text.is_some()
            || wanted.width == Some(1)
            || wanted.names.as_ref().is_some_and(|n| n.len() == 1);
        if n_columns == 1 && !alone {
            return Err(ONE_COLUMN.to_owned());
        }
        // Without a header, columns are called by their numbers.
        let called = names
            .clone()
            .unwrap_or_else(|| (1..=n_columns).map(|at| at.to_string()).collect());
        let uses = |(at, name): (usize, String)| {
            let number = dialect.index != Some(at) && (name != NAME || names.is_none());
            (name, if number { Use::Number } else { Use::Other })
        };
        let columns: Vec<(String, Use)> = called.into_iter().enumerate().map(uses).collect();
        let records = Records {
            columns: &columns,
            last_is_class: true,
            index: dialect.index,
        };
        let by_position = Columns {
            names: None,
            width: wanted.width.or(wanted.names.as_ref().map(Vec::len)),
            ..wanted.clone()
        };
        let wanted_here = if names.is_some() { wanted } else { &by_position };
        Ok(Self {
            decimal_comma: wanted.decimal_comma,
            n_columns,
            chosen: choose(&records, wanted_here)?,
            dialect,
            names,
        })
    }

    /// How the file was read, for the user.
    fn reading(&self) -> Reading {
        let name = |at: usize| match &self.names {
            Some(names) => format!("column '{}'", names[at]),
            None => format!("column {}", at + 1),
        };
        let left_out = self.chosen.left_out.iter().map(|&at| {
            let number = at + 1;
            let called = self.names.as_ref().map_or("", |names| &names[at]);
            let called = if called.is_empty() {
                String::new()
            } else {
                format!(" ('{called}')")
            };
            format!("column {number}{called} only numbers or names the rows and is left out")
        });
        let features =
            |names: &Vec<String>| self.chosen.features.iter().map(|&at| names[at].clone()).collect();
        Reading {
            features: self
                .names
                .as_ref()
                .filter(|_| self.chosen.text.is_none())
                .map(features),
            class: self.chosen.label.map(|(at, chosen)| ClassColumn {
                name: name(at),
                chosen,
            }),
            weight: self.chosen.weight.map(name),
            notes: left_out.collect(),
        }
    }
}

/// The lines of a file, some at a time.
struct CsvLines {
    path: PathBuf,
    reader: Reader<Lines<Source>>,
    layout: Layout,
    record: StringRecord,
    /// Lines before the first row.
    to_skip: usize,
}

impl CsvLines {
    /// What `next` makes of the lines, until it finds none or fails.
    fn stream<T: Send + 'static>(mut self, next: fn(&mut Self) -> Result<Option<T>, Error>) -> Stream<T> {
        let mut ended = false;
        Box::new(std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let piece = next(&mut self);
            ended = !matches!(piece, Ok(Some(_)));
            piece.transpose()
        }))
    }

    fn batch(&mut self) -> Result<Option<Batch>, Error> {
        let n_features = self.layout.chosen.features.len();
        let mut cells = Cells::default();
        while cells.n_rows < batch_rows(n_features) && self.row(&mut cells)? {}
        if cells.n_rows == 0 {
            return Ok(None);
        }
        let chosen = &self.layout.chosen;
        Ok(Some(Batch {
            x: Table::new(cells.values, n_features)?,
            y: chosen.label.map(|_| cells.y),
            weights: chosen.weight.map(|_| cells.weights),
            names: chosen.name.map(|_| cells.names),
        }))
    }

    fn sentences(&mut self) -> Result<Option<Sentences>, Error> {
        let mut cells = Cells::default();
        while cells.n_rows < SENTENCES && self.row(&mut cells)? {}
        if cells.n_rows == 0 {
            return Ok(None);
        }
        let chosen = &self.layout.chosen;
        Ok(Some(Sentences {
            texts: cells.texts,
            y: chosen.label.map(|_| cells.y),
            weights: chosen.weight.map(|_| cells.weights),
            names: chosen.name.map(|_| cells.names),
        }))
    }

    /// Adds the next row to the cells; false at the end.
    fn row(&mut self, cells: &mut Cells) -> Result<bool, Error> {
        loop {
            if !read(&mut self.reader, &mut self.record, &self.path)? {
                return Ok(false);
            }
            if self.to_skip == 0 {
                break;
            }
            self.to_skip -= 1;
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        self.layout
            .push(&self.record, line, cells)
            .map_err(|reason| bad(&self.path, reason))?;
        Ok(true)
    }
}

/// What was read of some lines.
#[derive(Default)]
struct Cells {
    n_rows: usize,
    values: Vec<f32>,
    texts: Vec<String>,
    y: Vec<String>,
    weights: Vec<f64>,
    names: Vec<String>,
}

impl Layout {
    /// Adds one line to the cells.
    fn push(&self, record: &StringRecord, line: u64, cells: &mut Cells) -> Result<(), String> {
        let (found, expected) = (record.len(), self.n_columns);
        if found != expected {
            return Err(format!(
                "line {line} has {found} columns, the first line has {expected}"
            ));
        }
        let broken =
            |(at, cell): &(usize, &str)| Some(*at) != self.chosen.text && cell.contains(['\n', '\r']);
        if let Some((at, _)) = record.iter().enumerate().find(broken) {
            return Err(format!(
                "line {line}, column {}: a quoted text runs over several lines; is a quote missing?",
                at + 1
            ));
        }
        for &at in &self.chosen.features {
            let cell = record.get(at).unwrap_or_default();
            let number = self.number::<f32>(cell);
            cells
                .values
                .push(number.map_err(|why| self.refused(cell, line, at, why))?);
        }
        if let Some(at) = self.chosen.text {
            let text = record.get(at).unwrap_or_default();
            check_sentence(text).map_err(|reason| format!("line {line}, column {}: {reason}", at + 1))?;
            cells.texts.push(text.to_owned());
        }
        if let Some((at, _)) = self.chosen.label {
            let class = record.get(at).unwrap_or_default();
            if class.is_empty() {
                return Err(format!("line {line}, column {}: the class is missing", at + 1));
            }
            claims::check_name(class.len())
                .map_err(|reason| format!("line {line}, column {}: {reason}", at + 1))?;
            cells.y.push(class_name(class));
        }
        cells.weights.extend(self.weight(record, line)?);
        let name = self.chosen.name.and_then(|at| record.get(at));
        cells.names.extend(name.map(str::to_owned));
        cells.n_rows += 1;
        Ok(())
    }

    /// The weight of one line, if there are weights.
    fn weight(&self, record: &StringRecord, line: u64) -> Result<Option<f64>, String> {
        let Some(at) = self.chosen.weight else {
            return Ok(None);
        };
        let cell = record.get(at).unwrap_or_default();
        let weight = self.number::<f64>(cell);
        let weight = weight.map_err(|why| self.refused(cell, line, at, why))?;
        Ok(Some(weight))
    }

    fn number<T: FromStr + Into<f64> + Copy>(&self, cell: &str) -> Result<T, &'static str> {
        let number = if self.decimal_comma {
            cell.replace(',', ".").parse::<T>()
        } else {
            cell.parse::<T>()
        };
        match number {
            Ok(value) if value.into().is_finite() => Ok(value),
            Ok(_) => Err("is not finite: remove the row or replace the value with a finite one"),
            Err(_) if cell.is_empty() => Err("is empty: remove the row or fill the value in"),
            Err(_) if has_decimal_comma(cell) => {
                Err("has a comma: say with --decimal-comma if it is the decimal sign, or else leave it out")
            }
            Err(_) => Err(
                "is not a number; only the class may be text: choose its column with --label, or read a column of \
                 sentences with --text",
            ),
        }
    }

    /// The reason to refuse a cell.
    fn refused(&self, cell: &str, line: u64, at: usize, why: &str) -> String {
        let first = self.names.is_none() && line <= 1 + self.dialect.skipped as u64;
        let hint = if first {
            ", or say with --header that the first line holds names"
        } else {
            ""
        };
        format!("line {line}, column {}: '{cell}' {why}{hint}", at + 1)
    }
}

/// The name of a class; a whole number that a program wrote as `3.000e+00` is that number.
fn class_name(cell: &str) -> String {
    let number = cell
        .contains(['e', 'E'])
        .then(|| cell.parse::<f64>().ok())
        .flatten();
    match number {
        Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number}"),
        _ => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::FeatureTable;
    use super::super::testing::gzip;
    use super::*;

    fn read_text(text: &[u8], columns: &Columns) -> Result<Batch, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("things.csv");
        fs::write(&path, text).unwrap();
        let read = || {
            let table = FeatureTable::open(&path, columns)?;
            Batch::collect(table.batches()?)?.ok_or_else(|| bad(&path, "there are no rows in this file"))
        };
        read().map_err(|error: Error| error.to_string())
    }

    #[track_caller]
    fn refused(text: &[u8], expected: &str) {
        let error = read_text(text, &Columns::default()).err().unwrap();
        assert!(
            error.contains("things.csv") && error.contains(expected),
            "{error}"
        );
    }

    #[test]
    fn rows_with_and_without_a_header_are_the_same() {
        for text in [
            "1,2.5,a\n-3,4e1,b\n",
            "\u{feff}width, height ,kind\r\n\r\n1, 2.5 ,a\r\n-3,4e1,b",
        ] {
            let rows = read_text(text.as_bytes(), &Columns::default()).unwrap();
            assert_eq!(rows.x, Table::new(vec![1.0, 2.5, -3.0, 40.0], 2).unwrap());
            assert_eq!(rows.y.unwrap(), ["a", "b"]);
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_column() {
        refused(b"1,2,a\n3,x,b\n", "line 2, column 2: 'x' is not a number");
        refused(b"1,x,a\n", "line 1, column 2: 'x' is not a number");
        refused(b"w,h,kind\n1,,a\n", "line 2, column 2: '' is empty");
        refused(b"1,2,a\n3,NaN,b\n", "line 2, column 2: 'NaN' is not finite");
        refused(b"1,1e99,a\n", "line 1, column 2: '1e99' is not finite");
        refused(b"1,2,a\n3,b\n", "line 2 has 2 columns, the first line has 3");
        refused(b"1,2,\n", "line 1, column 3: the class is missing");
        refused(b"1\n2\n", "line 1 has one column");
        refused(
            b"1,2,\"a\n3,4,b\n",
            "line 1: a quote is opened and not closed; is a quote missing?",
        );
        refused(b"1,2,\"a\n3,4,b\"\n", "line 1, column 3: a quoted text runs over");
        refused(b"w,h,kind\r1,2,\"a\r3,4,b\"\r", "a quoted text runs over");
        refused(b"w,\"h,kind\n1,2,a\n3,4,b\n", "line 1: a quote is opened");
        refused(b"w,h,kind\n1,2,\"a", "line 2: a quote is opened");
        refused(b"1,2,a\n3,4,b\"c\n", "line 2: a quote stands inside a text");
        refused(b"1,2,a\n3,4,b\0\n", "line 2: a NUL byte");
        refused(b"w;h;kind\n1,5;2;a\n", "has a comma: say with --decimal-comma");
        refused(b"1,x,a\n", "or say with --header");
        refused(b"1,2,a\n1,2,\xff\n", "line 2: not UTF-8");
    }

    #[test]
    fn a_quote_that_is_lost_far_behind_the_start_is_named_by_its_line() {
        let rows = "1,2,a\n".repeat(100_000);
        let text = format!("{rows}3,4,\"b\n{rows}");
        refused(text.as_bytes(), "line 100001: a quote is opened");
        refused(&gzip(text.as_bytes()), "line 100001: a quote is opened");
    }

    #[test]
    fn a_file_without_rows_is_refused() {
        refused(b"", "no rows");
        refused(b"w,h,kind\n", "no rows");
    }

    #[test]
    fn a_cut_gzip_file_is_refused() {
        let mut packed = gzip("1,2,a\n".repeat(1000).as_bytes());
        packed.truncate(packed.len() - 12);
        refused(&packed, "fetch the file again");
    }

    #[test]
    fn columns_are_chosen_by_name() {
        let text = b"label,w,name,h\nape,1,first,2\nbee,3,second,4\n";
        let rows = read_text(text, &Columns::default()).unwrap();
        assert_eq!(rows.x.rows().values(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(rows.y.unwrap(), ["ape", "bee"]);
        assert_eq!(rows.names.unwrap(), ["first", "second"]);
        let wanted = Columns {
            features: vec!["h".to_owned()],
            label: Some("w".to_owned()),
            ..Columns::default()
        };
        let rows = read_text(text, &wanted).unwrap();
        assert_eq!(
            (rows.x.rows().values(), rows.y.unwrap()),
            ([2.0, 4.0].as_slice(), vec!["1".into(), "3".into()])
        );
    }

    #[test]
    fn as_many_columns_as_a_model_has_features_carry_no_class() {
        let wanted = Columns {
            width: Some(2),
            ..Columns::default()
        };
        for text in ["1,2\n3,4\n", "w,h\n1,2\n3,4\n"] {
            let rows = read_text(text.as_bytes(), &wanted).unwrap();
            assert_eq!((rows.x.rows().len(), rows.y), (2, None));
        }
    }
}
