//! Reads tables of comma-separated values: one row per line, with the class in the last column or in a named one.
//!
//! The first line tells the layout; a header is recognised by having no number among its features.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use autoactivator::Table;
use csv::{Reader, ReaderBuilder, StringRecord, Trim};

use super::columns::{Chosen, Columns, NAME, Use, choose, is_label};
use super::source::Source;
use super::{Content, NO_ROWS, Opened, Shape, batch_rows};
use crate::batch::{Batch, Batches};
use crate::error::{Error, bad};

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

/// What the first line says about all others.
#[derive(Clone)]
struct Layout {
    n_columns: usize,
    has_header: bool,
    chosen: Chosen,
}

impl Csv {
    fn new(
        path: &Path,
        open: Arc<dyn Fn() -> Result<Source, Error> + Send + Sync>,
        columns: &Columns,
    ) -> Result<Self, Error> {
        let mut first = StringRecord::new();
        let mut reader = reader(open()?);
        if !read(&mut reader, &mut first, path)? {
            return Err(bad(path, NO_ROWS));
        }
        let layout = Layout::new(&first, columns).map_err(|reason| bad(path, reason))?;
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

impl Content for Csv {
    fn batches(&self) -> Result<Batches, Error> {
        Ok(Box::new(CsvBatches {
            path: self.path.clone(),
            reader: reader((self.open)()?),
            layout: self.layout.clone(),
            record: StringRecord::new(),
            before_first: true,
            ended: false,
        }))
    }
}

fn reader(source: Source) -> Reader<Source> {
    ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(source)
}

/// Reads the next line; false at the end.
fn read(reader: &mut Reader<Source>, record: &mut StringRecord, path: &Path) -> Result<bool, Error> {
    reader
        .read_record(record)
        .map_err(|error| unreadable(path, error))
}

fn unreadable(path: &Path, error: csv::Error) -> Error {
    let line = error
        .position()
        .map_or(String::new(), |at| format!("line {}: ", at.line()));
    let reason = match error.into_kind() {
        csv::ErrorKind::Io(source) => format!("cannot be read to its end: {source}; fetch the file again"),
        csv::ErrorKind::Utf8 { .. } => format!("{line}not UTF-8 text; save the file as UTF-8"),
        other => format!("{line}{other:?}"),
    };
    bad(path, reason)
}

impl Layout {
    fn new(first: &StringRecord, wanted: &Columns) -> Result<Self, String> {
        let n_columns = first.len();
        let header = is_header(first, wanted).then(|| first.iter().map(str::to_owned));
        let has_header = header.is_some();
        let Some(names) = header else {
            if wanted.label.is_some() || !wanted.features.is_empty() {
                return Err("the first line holds no column names to choose from".to_owned());
            }
            let labelled = wanted.width != Some(n_columns);
            let n_features = n_columns - usize::from(labelled);
            if n_features == 0 {
                return Err(ONE_COLUMN.to_owned());
            }
            return Ok(Self {
                n_columns,
                has_header,
                chosen: Chosen {
                    features: (0..n_features).collect(),
                    label: labelled.then_some(n_features),
                    name: None,
                },
            });
        };
        let names: Vec<String> = names.collect();
        if n_columns == 1 && wanted.width != Some(1) {
            return Err(ONE_COLUMN.to_owned());
        }
        let mut wanted = wanted.clone();
        let n_others = names.iter().filter(|name| *name == NAME).count();
        let labelled = wanted.width != Some(n_columns - n_others) && wanted.features.is_empty();
        if wanted.label.is_none() && labelled && !names.iter().any(|name| is_label(name)) {
            wanted.label = names.last().cloned();
        }
        let uses = |name: String| {
            let kind = if name == NAME { Use::Other } else { Use::Number };
            (name, kind)
        };
        let columns: Vec<(String, Use)> = names.into_iter().map(uses).collect();
        Ok(Self {
            n_columns,
            has_header,
            chosen: choose(&columns, &wanted)?,
        })
    }
}

/// Whether the first line is a header: no feature in it is a number, so that one misprint does not turn a row into one.
fn is_header(first: &StringRecord, wanted: &Columns) -> bool {
    let is_name = |cell: &str| !cell.is_empty() && cell.parse::<f32>().is_err();
    let n_features = match wanted.width {
        Some(width) if width == first.len() => width,
        _ => first.len() - 1,
    };
    first.iter().take(n_features.max(1)).all(is_name)
}

/// The lines of a file, some at a time.
struct CsvBatches {
    path: PathBuf,
    reader: Reader<Source>,
    layout: Layout,
    record: StringRecord,
    before_first: bool,
    ended: bool,
}

impl Iterator for CsvBatches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.batch();
        self.ended = !matches!(batch, Ok(Some(_)));
        batch.transpose()
    }
}

impl CsvBatches {
    fn batch(&mut self) -> Result<Option<Batch>, Error> {
        let chosen = &self.layout.chosen;
        let n_features = chosen.features.len();
        let (mut values, mut y, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_rows = 0;
        while n_rows < batch_rows(n_features) && read(&mut self.reader, &mut self.record, &self.path)? {
            if std::mem::take(&mut self.before_first) && self.layout.has_header {
                continue;
            }
            let line = self.record.position().map_or(0, csv::Position::line);
            self.layout
                .push(&self.record, line, &mut values, &mut y)
                .map_err(|reason| bad(&self.path, reason))?;
            names.extend(chosen.name.and_then(|at| self.record.get(at)).map(str::to_owned));
            n_rows += 1;
        }
        if n_rows == 0 {
            return Ok(None);
        }
        Ok(Some(Batch {
            x: Table::new(values, n_features)?,
            y: chosen.label.map(|_| y),
            names: chosen.name.map(|_| names),
        }))
    }
}

impl Layout {
    /// Adds the numbers and the class of one line to `values` and `y`.
    fn push(
        &self,
        record: &StringRecord,
        line: u64,
        values: &mut Vec<f32>,
        y: &mut Vec<String>,
    ) -> Result<(), String> {
        let (found, expected) = (record.len(), self.n_columns);
        if found != expected {
            return Err(format!(
                "line {line} has {found} columns, the first line has {expected}"
            ));
        }
        for &at in &self.chosen.features {
            let cell = record.get(at).unwrap_or_default();
            let column = at + 1;
            values.push(number(cell).map_err(|why| format!("line {line}, column {column}: {why}"))?);
        }
        if let Some(at) = self.chosen.label {
            let class = record.get(at).unwrap_or_default();
            if class.is_empty() {
                return Err(format!("line {line}, column {}: the class is missing", at + 1));
            }
            y.push(class.to_owned());
        }
        Ok(())
    }
}

fn number(cell: &str) -> Result<f32, String> {
    match cell.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!(
            "'{cell}' is not finite: remove the row or replace the value with a finite one"
        )),
        Err(_) => Err(format!(
            "'{cell}' is not a number; only the class may be text, in the last column or in one called class or label"
        )),
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
        refused(b"w,h,kind\n1,,a\n", "line 2, column 2: '' is not a number");
        refused(b"1,2,a\n3,NaN,b\n", "line 2, column 2: 'NaN' is not finite");
        refused(b"1,1e99,a\n", "line 1, column 2: '1e99' is not finite");
        refused(b"1,2,a\n3,b\n", "line 2 has 2 columns, the first line has 3");
        refused(b"1,2,\n", "line 1, column 3: the class is missing");
        refused(b"1;2;a\n", "line 1 has one column");
        refused(b"1,2,a\n1,2,\xff\n", "line 2: not UTF-8");
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
            width: None,
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
