//! Arrow record batches to rows: number columns or one list column, and the class of each row.
//!
//! [`Record`] is chosen once, by `columns`, and then applied to every record batch of a file.

use std::borrow::Cow;
use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use autoactivator::Table;

use crate::batch::Batch;
use crate::sentences::{Sentences, check_sentence};
use crate::table::Shape;
use crate::table::claims;
use crate::table::columns::{Columns, Records, Use, choose};
use crate::table::reading::{ClassColumn, Reading};

/// The columns of a table of records, by name.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub features: Vec<String>,
    /// The column of text that rows are made from; with one, there are no features.
    pub text: Option<String>,
    pub label: Option<String>,
    pub weight: Option<String>,
    pub name: Option<String>,
    /// Features of a row; none for lists whose length is not known yet.
    pub n_features: Option<usize>,
    /// How the table is read.
    pub reading: Reading,
}

impl Record {
    /// Chooses among the columns of a schema.
    pub fn new(schema: &Schema, wanted: &Columns) -> Result<Self, String> {
        let columns: Vec<(String, Use)> = schema
            .fields()
            .iter()
            .map(|field| (field.name().clone(), use_of(field.data_type())))
            .collect();
        let records = Records {
            columns: &columns,
            last_is_class: false,
            index: None,
        };
        let chosen = choose(&records, wanted)?;
        let name_of = |at: usize| columns[at].0.clone();
        let n_features = match (&chosen.features[..], &schema.fields()) {
            ([at], fields) if columns[*at].1 == Use::List => match fields[*at].data_type() {
                DataType::FixedSizeList(_, n) => usize::try_from(*n).ok(),
                _ => None,
            },
            (features, _) => Some(features.len()),
        };
        if n_features == Some(0) && chosen.text.is_none() {
            return Err("rows have no features".to_owned());
        }
        let features: Vec<String> = chosen.features.iter().map(|&at| name_of(at)).collect();
        let is_list = matches!(chosen.features[..], [at] if columns[at].1 == Use::List);
        let left_out = chosen
            .left_out
            .iter()
            .map(|&at| format!("column '{}' numbers the rows and is left out", name_of(at)));
        let beside = chosen.beside.first().map(|&at| {
            let more = match chosen.beside.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (list, name) = (&features[0], name_of(at));
            format!("left out beside the lists of column '{list}', which are the features: '{name}'{more}")
        });
        let class = chosen.label.map(|(at, chosen)| ClassColumn {
            name: format!("column '{}'", name_of(at)),
            chosen,
        });
        Ok(Self {
            text: chosen.text.map(name_of),
            label: chosen.label.map(|(at, _)| name_of(at)),
            weight: chosen.weight.map(name_of),
            name: chosen.name.map(name_of),
            n_features,
            reading: Reading {
                features: (!is_list && chosen.text.is_none()).then(|| features.clone()),
                class,
                weight: chosen.weight.map(|at| format!("column '{}'", name_of(at))),
                notes: left_out.chain(beside).collect(),
            },
            features,
        })
    }

    /// What is known of a table of such records.
    pub fn shape(&self, n_rows: Option<u64>) -> Shape {
        Shape {
            n_features: self.n_features.unwrap_or(0),
            n_rows,
            labelled: self.label.is_some(),
            image: None,
        }
    }

    /// Whether a column is read.
    pub fn reads(&self, field: &Field) -> bool {
        let name = field.name();
        let others = [&self.text, &self.label, &self.weight, &self.name];
        self.features.contains(name) || others.into_iter().flatten().any(|other| other == name)
    }

    /// The rows of a record batch whose first row has the number `first_row`.
    pub fn rows(&self, record: &RecordBatch, first_row: usize) -> Result<Batch, String> {
        let columns = by_name(record);
        let column = |name: &String| column(&columns, name, first_row);
        let features = self.features.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let (values, n_features) = match features[..] {
            [list] if use_of(list.data_type()) == Use::List => {
                lists(list, &self.features[0], self.n_features, first_row)?
            }
            _ => (self.numbers(&features, first_row)?, features.len()),
        };
        let text = |name: &String| classes(column(name)?, name, first_row);
        let weight = |name: &String| weights(column(name)?, name, first_row);
        let id = |name: &String| ids(column(name)?, name, first_row);
        Ok(Batch {
            x: Table::new(values, n_features).map_err(|e| e.to_string())?,
            y: self.label.as_ref().map(text).transpose()?,
            weights: self.weight.as_ref().map(weight).transpose()?,
            names: self.name.as_ref().map(id).transpose()?,
        })
    }

    /// The sentences of a record batch whose first row has the number `first_row`.
    pub fn sentences(&self, record: &RecordBatch, first_row: usize) -> Result<Sentences, String> {
        let columns = by_name(record);
        let column = |name: &String| column(&columns, name, first_row);
        let text = |name: &String| texts(column(name)?, name, first_row);
        let words = |name: &String| classes(column(name)?, name, first_row);
        let weight = |name: &String| weights(column(name)?, name, first_row);
        let id = |name: &String| ids(column(name)?, name, first_row);
        Ok(Sentences {
            texts: self.text.as_ref().map(text).transpose()?.unwrap_or_default(),
            y: self.label.as_ref().map(words).transpose()?,
            weights: self.weight.as_ref().map(weight).transpose()?,
            names: self.name.as_ref().map(id).transpose()?,
        })
    }

    fn numbers(&self, columns: &[&ArrayRef], first_row: usize) -> Result<Vec<f32>, String> {
        let columns: Vec<Cow<'_, [f32]>> = columns
            .iter()
            .zip(&self.features)
            .map(|(column, name)| {
                refuse_nulls(column, first_row, |row| {
                    format!("row {row}, column '{name}' is null")
                })?;
                floats(column).ok_or_else(|| format!("column '{name}' does not hold numbers"))
            })
            .collect::<Result<_, _>>()?;
        Ok(transpose(&columns))
    }
}

/// The columns of a record batch by name, since there can be thousands; the first of a name counts.
fn by_name(record: &RecordBatch) -> HashMap<&String, &ArrayRef> {
    let names = record.schema_ref().fields().iter().map(|field| field.name());
    names.zip(record.columns()).rev().collect()
}

fn column<'a>(
    columns: &HashMap<&String, &'a ArrayRef>,
    name: &String,
    first_row: usize,
) -> Result<&'a ArrayRef, String> {
    let found = columns.get(name).copied();
    found.ok_or_else(|| format!("column '{name}' is missing from row {first_row} on"))
}

/// What a stream of record batches can be turned into.
pub(super) trait Piece: Sized + Send + 'static {
    /// Reads a record batch whose first row has the number `first_row`.
    fn of(record: &Record, batch: &RecordBatch, first_row: usize) -> Result<Self, String>;
}

impl Piece for Batch {
    fn of(record: &Record, batch: &RecordBatch, first_row: usize) -> Result<Self, String> {
        record.rows(batch, first_row)
    }
}

impl Piece for Sentences {
    fn of(record: &Record, batch: &RecordBatch, first_row: usize) -> Result<Self, String> {
        record.sentences(batch, first_row)
    }
}

/// Columns to rows, a block of rows at a time, so that what is written stays in the cache.
fn transpose(columns: &[Cow<'_, [f32]>]) -> Vec<f32> {
    const ROWS: usize = 64;
    let (n_rows, n_columns) = (columns.first().map_or(0, |column| column.len()), columns.len());
    let mut values = vec![0.0; n_rows * n_columns];
    for (block, rows) in values.chunks_mut(ROWS * n_columns.max(1)).enumerate() {
        for (at, column) in columns.iter().enumerate() {
            let column = &column[block * ROWS..];
            for (row, value) in rows.chunks_exact_mut(n_columns).zip(column) {
                row[at] = *value;
            }
        }
    }
    values
}

fn refuse_nulls(column: &dyn Array, first_row: usize, what: impl Fn(usize) -> String) -> Result<(), String> {
    if column.null_count() == 0 {
        return Ok(());
    }
    match (0..column.len()).find(|&row| column.is_null(row)) {
        Some(row) => Err(format!(
            "{}: remove the row or fill the value in",
            what(first_row + row)
        )),
        None => Ok(()),
    }
}

/// Lists to rows; all must have one length.
fn lists(
    column: &ArrayRef,
    name: &str,
    expected: Option<usize>,
    first_row: usize,
) -> Result<(Vec<f32>, usize), String> {
    refuse_nulls(column, first_row, |row| {
        format!("row {row}, column '{name}' is null")
    })?;
    let (items, lengths): (ArrayRef, Vec<usize>) = match column.data_type() {
        DataType::FixedSizeList(_, n) => {
            let list = column.as_fixed_size_list();
            let n = usize::try_from(*n).unwrap_or(0);
            let first = list.offset() * n;
            // The values of a slice are those of the whole array in some versions of the format's library.
            let values = list.values();
            let values = if values.len() == list.len() * n {
                values.clone()
            } else {
                values.slice(first, list.len() * n)
            };
            (values, vec![n; list.len()])
        }
        DataType::LargeList(_) => {
            let list = column.as_list::<i64>();
            let offsets: Vec<usize> = list.offsets().iter().map(|&at| at as usize).collect();
            sliced(list.values(), &offsets)
        }
        _ => {
            let list = column.as_list::<i32>();
            let offsets: Vec<usize> = list.offsets().iter().map(|&at| at as usize).collect();
            sliced(list.values(), &offsets)
        }
    };
    let n_features = expected.or(lengths.first().copied()).unwrap_or(0);
    if let Some(row) = lengths.iter().position(|&n| n != n_features || n == 0) {
        let place = format!("row {}, column '{name}'", first_row + row);
        return Err(match lengths[row] {
            0 => format!("{place} holds an empty list: remove the row or fill the list in"),
            n => format!("{place} holds {n} numbers, other rows hold {n_features}: all rows need the same"),
        });
    }
    let place = |at: usize| format!("row {}, column '{name}'", at / n_features.max(1));
    refuse_nulls(&items, first_row * n_features, |at| {
        format!("{} holds a null", place(at))
    })?;
    let values = floats(&items).ok_or_else(|| format!("column '{name}' does not hold lists of numbers"))?;
    Ok((values.into_owned(), n_features))
}

fn sliced(items: &ArrayRef, offsets: &[usize]) -> (ArrayRef, Vec<usize>) {
    let (first, last) = (
        offsets.first().copied().unwrap_or(0),
        offsets.last().copied().unwrap_or(0),
    );
    let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    (items.slice(first, last - first), lengths)
}

fn use_of(kind: &DataType) -> Use {
    match kind {
        kind if is_number(kind) => Use::Number,
        DataType::FixedSizeList(item, _) | DataType::List(item) | DataType::LargeList(item)
            if is_number(item.data_type()) =>
        {
            Use::List
        }
        _ => Use::Other,
    }
}

fn is_number(kind: &DataType) -> bool {
    kind.is_integer()
        || matches!(
            kind,
            DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Boolean
        )
}

/// The numbers of a column without nulls; none when it holds anything else.
fn floats(column: &dyn Array) -> Option<Cow<'_, [f32]>> {
    macro_rules! converted {
        ($kind:ty) => {
            column
                .as_primitive::<$kind>()
                .values()
                .iter()
                .map(|&v| v as f32)
                .collect()
        };
    }
    Some(Cow::Owned(match column.data_type() {
        DataType::Float32 => return Some(Cow::Borrowed(column.as_primitive::<Float32Type>().values())),
        DataType::Float16 => {
            let halves = column.as_primitive::<Float16Type>().values();
            halves.iter().map(|v| v.to_f32()).collect()
        }
        DataType::Float64 => converted!(Float64Type),
        DataType::Int8 => converted!(Int8Type),
        DataType::Int16 => converted!(Int16Type),
        DataType::Int32 => converted!(Int32Type),
        DataType::Int64 => converted!(Int64Type),
        DataType::UInt8 => converted!(UInt8Type),
        DataType::UInt16 => converted!(UInt16Type),
        DataType::UInt32 => converted!(UInt32Type),
        DataType::UInt64 => converted!(UInt64Type),
        DataType::Boolean => {
            let flags = column.as_boolean().values();
            flags.iter().map(|flag| f32::from(u8::from(flag))).collect()
        }
        _ => return None,
    }))
}

/// The weights of a column, as precise as they are.
fn weights(column: &ArrayRef, name: &str, first_row: usize) -> Result<Vec<f64>, String> {
    refuse_nulls(column, first_row, |row| {
        format!("row {row}: the weight is null in column '{name}'")
    })?;
    macro_rules! converted {
        ($kind:ty) => {
            Ok(column
                .as_primitive::<$kind>()
                .values()
                .iter()
                .map(|&v| v as f64)
                .collect())
        };
    }
    match column.data_type() {
        DataType::Float64 => Ok(column.as_primitive::<Float64Type>().values().to_vec()),
        DataType::Int32 => converted!(Int32Type),
        DataType::Int64 => converted!(Int64Type),
        DataType::UInt32 => converted!(UInt32Type),
        DataType::UInt64 => converted!(UInt64Type),
        _ => {
            let found = floats(column).ok_or_else(|| format!("column '{name}' does not hold numbers"))?;
            Ok(found.iter().map(|&weight| f64::from(weight)).collect())
        }
    }
}

/// The classes of a column: text or whole numbers.
fn classes(column: &ArrayRef, name: &str, first_row: usize) -> Result<Vec<String>, String> {
    refuse_nulls(column, first_row, |row| {
        format!("row {row}: the class is null in column '{name}'")
    })?;
    claims::check_name(longest(column)).map_err(|reason| format!("column '{name}': {reason}"))?;
    names(column).ok_or_else(|| {
        format!(
            "column '{name}' holds {}: classes are text or whole numbers; choose another with --label",
            column.data_type()
        )
    })
}

/// The names of rows; a row without one has an empty name.
fn ids(column: &ArrayRef, name: &str, first_row: usize) -> Result<Vec<String>, String> {
    claims::check_name(longest(column)).map_err(|reason| format!("column '{name}': {reason}"))?;
    names(column).ok_or_else(|| {
        format!(
            "column '{name}' holds {} from row {first_row} on: names of rows are text or whole numbers; choose another with --id",
            column.data_type()
        )
    })
}

/// Bytes of the longest text of a column. Rows may share one, so that it is in memory only once before they are named.
fn longest(column: &dyn Array) -> usize {
    fn most<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> usize {
        texts.flatten().map(str::len).max().unwrap_or(0)
    }
    match column.data_type() {
        DataType::Utf8 => most(column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => most(column.as_string::<i64>().iter()),
        DataType::Utf8View => most(column.as_string_view().iter()),
        DataType::Dictionary(_, _) => longest(column.as_any_dictionary().values().as_ref()),
        _ => 0,
    }
}

/// The sentences of a column of text.
fn texts(column: &ArrayRef, name: &str, first_row: usize) -> Result<Vec<String>, String> {
    refuse_nulls(column, first_row, |row| {
        format!("row {row}, column '{name}' is null")
    })?;
    let is_text = match column.data_type() {
        DataType::Dictionary(_, words) => !is_number(words),
        kind => !is_number(kind),
    };
    let found = is_text.then(|| names(column)).flatten().ok_or_else(|| {
        let kind = column.data_type();
        format!("column '{name}' holds {kind}, not text: choose another with --text")
    })?;
    match found
        .iter()
        .enumerate()
        .find_map(|(row, text)| Some((row, check_sentence(text).err()?)))
    {
        Some((row, reason)) => Err(format!("row {}, column '{name}': {reason}", first_row + row)),
        None => Ok(found),
    }
}

fn names(column: &dyn Array) -> Option<Vec<String>> {
    macro_rules! written {
        ($kind:ty) => {
            column
                .as_primitive::<$kind>()
                .values()
                .iter()
                .map(ToString::to_string)
                .collect()
        };
    }
    let owned = |name: Option<&str>| name.unwrap_or_default().to_owned();
    Some(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().map(owned).collect(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().map(owned).collect(),
        DataType::Utf8View => column.as_string_view().iter().map(owned).collect(),
        DataType::Boolean => column
            .as_boolean()
            .values()
            .iter()
            .map(|flag| flag.to_string())
            .collect(),
        DataType::Int8 => written!(Int8Type),
        DataType::Int16 => written!(Int16Type),
        DataType::Int32 => written!(Int32Type),
        DataType::Int64 => written!(Int64Type),
        DataType::UInt8 => written!(UInt8Type),
        DataType::UInt16 => written!(UInt16Type),
        DataType::UInt32 => written!(UInt32Type),
        DataType::UInt64 => written!(UInt64Type),
        DataType::Dictionary(_, _) => {
            let dictionary = column.as_any_dictionary();
            let words = names(dictionary.values().as_ref())?;
            let keys = dictionary.normalized_keys();
            keys.into_iter()
                .map(|key| words.get(key).cloned())
                .collect::<Option<_>>()?
        }
        _ => return None,
    })
}
