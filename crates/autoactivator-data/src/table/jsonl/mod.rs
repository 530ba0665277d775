//! Reads JSON lines: one object a line, whose keys are the columns of the table.
//!
//! `lines` reads the objects; [`Record`] is chosen once, from the first of them, and then applied to all.

mod lines;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use autoactivator::Table;
use serde_json::Value;

use self::lines::{Line, Lines, Object};
use super::columns::{Chosen, Columns, Records, Use, choose};
use super::reading::{ClassColumn, Reading};
use super::{Content, NO_ROWS, Opened, SENTENCES, Shape, batch_rows};
use crate::batch::{Batch, Batches, Stream};
use crate::error::{Error, bad};
use crate::sentences::{SentenceBatches, Sentences, check_sentence};

/// Opens a file, gzip or not.
pub(super) fn open(path: &Path, columns: &Columns) -> Opened {
    let first = Lines::open(path)?.next()?.ok_or_else(|| bad(path, NO_ROWS))?;
    let record = Record::new(&first.object, columns).map_err(|reason| bad(path, reason))?;
    let shape = Shape {
        n_features: record.n_features,
        n_rows: None,
        labelled: record.chosen.label.is_some(),
        image: None,
    };
    let path = path.to_owned();
    Ok((shape, Box::new(Jsonl { path, record })))
}

struct Jsonl {
    path: PathBuf,
    record: Record,
}

/// Which keys of an object are read.
#[derive(Clone)]
struct Record {
    /// The keys of the first object.
    names: Vec<String>,
    chosen: Chosen,
    /// Whether the feature is a list of numbers.
    is_list: bool,
    n_features: usize,
    /// Whether all objects need the keys of the first: all of them are read, unless some were named.
    all_keys: bool,
}

impl Record {
    fn new(first: &Object, wanted: &Columns) -> Result<Self, String> {
        let columns: Vec<(String, Use)> = first.iter().map(|(k, v)| (k.clone(), use_of(v))).collect();
        let records = Records {
            columns: &columns,
            last_is_class: false,
            index: None,
        };
        let chosen = choose(&records, wanted)?;
        let list = match chosen.features[..] {
            [at] => first.get(at).and_then(|(_, value)| value.as_array()),
            _ => None,
        };
        Ok(Self {
            n_features: list.map_or(chosen.features.len(), Vec::len),
            is_list: list.is_some(),
            all_keys: wanted.features.is_empty() && wanted.text.is_none() && list.is_none(),
            names: columns.into_iter().map(|(name, _)| name).collect(),
            chosen,
        })
    }

    fn reading(&self) -> Reading {
        let name = |at: usize| format!("column '{}'", self.names[at]);
        let has_names = !self.is_list && self.chosen.text.is_none();
        let features = || self.chosen.features.iter().map(|&at| self.names[at].clone());
        let note = |&at: &usize| format!("{} numbers the rows and is left out", name(at));
        Reading {
            features: has_names.then(|| features().collect()),
            class: self.chosen.label.map(|(at, chosen)| ClassColumn {
                name: name(at),
                chosen,
            }),
            weight: self.chosen.weight.map(name),
            notes: self.chosen.left_out.iter().map(note).collect(),
        }
    }

    /// Adds one object to the cells.
    fn push(&self, object: &Object, cells: &mut Cells) -> Result<(), String> {
        if self.all_keys && object.len() != self.names.len() {
            let (found, first) = (object.len(), self.names.len());
            return Err(format!(
                "{found} keys, the first line has {first}: all lines need the same"
            ));
        }
        let by_name: HashMap<&str, &Value> = object.iter().map(|(k, v)| (k.as_str(), v)).collect();
        let value = |at: usize| {
            let found = by_name.get(self.names[at].as_str()).copied();
            found.ok_or_else(|| format!("the key '{}' is missing", self.names[at]))
        };
        for &at in &self.chosen.features {
            let read = if self.is_list {
                self.list(value(at)?, &mut cells.values)
            } else {
                number(value(at)?).map(|number| cells.values.push(number as f32))
            };
            read.map_err(|reason| format!("'{}' {reason}", self.names[at]))?;
        }
        if let Some(at) = self.chosen.text {
            let text = value(at)?.as_str();
            let text = text.ok_or_else(|| format!("'{}' is not a text", self.names[at]))?;
            check_sentence(text).map_err(|reason| format!("'{}': {reason}", self.names[at]))?;
            cells.texts.push(text.to_owned());
        }
        if let Some((at, _)) = self.chosen.label {
            let class = class_name(value(at)?);
            cells
                .y
                .push(class.map_err(|reason| format!("'{}' {reason}", self.names[at]))?);
        }
        if let Some(at) = self.chosen.weight {
            let weight = number(value(at)?);
            cells
                .weights
                .push(weight.map_err(|reason| format!("'{}' {reason}", self.names[at]))?);
        }
        if let Some(at) = self.chosen.name {
            let name = class_name(value(at)?);
            cells
                .names
                .push(name.map_err(|reason| format!("'{}' {reason}", self.names[at]))?);
        }
        cells.n_rows += 1;
        Ok(())
    }

    fn list(&self, value: &Value, values: &mut Vec<f32>) -> Result<(), String> {
        let Some(list) = value.as_array() else {
            return Err("is not a list of numbers, as in the first line".to_owned());
        };
        if list.len() != self.n_features {
            let (found, first) = (list.len(), self.n_features);
            return Err(format!(
                "holds {found} numbers, the first line has {first}: all rows need the same"
            ));
        }
        for value in list {
            values.push(number(value)? as f32);
        }
        Ok(())
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

impl Cells {
    fn batch(self, record: &Record) -> Result<Batch, Error> {
        let chosen = &record.chosen;
        Ok(Batch {
            x: Table::new(self.values, record.n_features)?,
            y: chosen.label.map(|_| self.y),
            weights: chosen.weight.map(|_| self.weights),
            names: chosen.name.map(|_| self.names),
        })
    }

    fn sentences(self, record: &Record) -> Sentences {
        let chosen = &record.chosen;
        Sentences {
            texts: self.texts,
            y: chosen.label.map(|_| self.y),
            weights: chosen.weight.map(|_| self.weights),
            names: chosen.name.map(|_| self.names),
        }
    }
}

impl Content for Jsonl {
    fn reading(&self) -> Reading {
        self.record.reading()
    }

    fn batches(&self) -> Result<Batches, Error> {
        self.stream(batch_rows(self.record.n_features), Cells::batch)
    }

    fn sentences(&self) -> Result<SentenceBatches, Error> {
        self.stream(SENTENCES, |cells, record| Ok(cells.sentences(record)))
    }
}

impl Jsonl {
    /// What `made` of `rows` lines at a time.
    fn stream<T: Send + 'static>(
        &self,
        rows: usize,
        made: fn(Cells, &Record) -> Result<T, Error>,
    ) -> Result<Stream<T>, Error> {
        let (path, record) = (self.path.clone(), self.record.clone());
        let mut lines = Lines::open(&path)?;
        let mut ended = false;
        let mut next = move || -> Result<Option<T>, Error> {
            let mut cells = Cells::default();
            while cells.n_rows < rows
                && let Some(Line { number, object }) = lines.next()?
            {
                let pushed = record.push(&object, &mut cells);
                pushed.map_err(|reason| bad(&path, format!("line {number}: {reason}")))?;
            }
            if cells.n_rows == 0 {
                Ok(None)
            } else {
                made(cells, &record).map(Some)
            }
        };
        Ok(Box::new(std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let piece = next();
            ended = !matches!(piece, Ok(Some(_)));
            piece.transpose()
        })))
    }
}

fn use_of(value: &Value) -> Use {
    match value {
        Value::Number(_) | Value::Bool(_) => Use::Number,
        Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_number) => Use::List,
        _ => Use::Other,
    }
}

fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Null => Err("is null: remove the row or fill the value in".to_owned()),
        _ => value.as_f64().ok_or_else(|| "is not a number".to_owned()),
    }
}

/// The name of a class: text, a whole number, true or false.
fn class_name(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null => Err("is null: remove the row or fill the class in".to_owned()),
        _ => Err("is neither text nor a whole number: choose another class with --label".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::gzip;
    use super::super::{FeatureTable, TextTable};
    use super::*;

    fn read(bytes: &[u8], columns: &Columns) -> Result<Batch, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("things.jsonl");
        std::fs::write(&path, bytes).unwrap();
        let read = || {
            let table = FeatureTable::open(&path, columns)?;
            Batch::collect(table.batches()?)?.ok_or_else(|| bad(&path, NO_ROWS))
        };
        read().map_err(|error: Error| error.to_string())
    }

    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error = read(text.as_bytes(), &Columns::default()).unwrap_err();
        assert!(
            error.contains("things.jsonl") && error.contains(expected),
            "{error}"
        );
    }

    #[test]
    fn keys_are_columns_in_the_order_of_the_first_line() {
        let text = "{\"w\": 1, \"label\": \"a\", \"h\": 2.5}\n\n{\"h\": true, \"w\": -3e1, \"label\": 7}\n";
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            let rows = read(&bytes, &Columns::default()).unwrap();
            assert_eq!(rows.x.rows().values(), [1.0, 2.5, -30.0, 1.0]);
            assert_eq!(rows.y.unwrap(), ["a", "7"]);
        }
    }

    #[test]
    fn a_list_of_numbers_holds_the_features() {
        let text = b"{\"embedding\": [1, 2], \"class\": \"a\"}\n{\"class\": \"b\", \"embedding\": [3, 4], \"more\": 1}";
        let rows = read(text, &Columns::default()).unwrap();
        assert_eq!(rows.x, Table::new(vec![1.0, 2.0, 3.0, 4.0], 2).unwrap());
        assert_eq!(rows.y.unwrap(), ["a", "b"]);
    }

    #[test]
    fn sentences_come_with_their_classes_and_weights() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("things.jsonl");
        std::fs::write(
            &path,
            "{\"text\": \"one\\ntwo\", \"intent\": \"a\", \"n\": 2}\n{\"text\": \"three\", \"intent\": \"b\", \"n\": 1}",
        )
        .unwrap();
        let columns = Columns {
            text: Some("text".to_owned()),
            weight: Some("n".to_owned()),
            ..Columns::default()
        };
        let table = TextTable::open(&path, &columns).unwrap();
        let pieces: Result<Vec<Sentences>, Error> = table.sentences().unwrap().collect();
        let [piece] = &pieces.unwrap()[..] else {
            panic!("one piece")
        };
        assert_eq!(piece.texts, ["one\ntwo", "three"]);
        assert_eq!(piece.y.as_deref().unwrap(), ["a", "b"]);
        assert_eq!(piece.weights.as_deref().unwrap(), [2.0, 1.0]);
        // Features are asked for where there is only text.
        let error = FeatureTable::open(&path, &columns).err().unwrap().to_string();
        assert!(error.contains("autoactivator features"), "{error}");
    }

    #[test]
    fn what_is_wrong_is_named_by_line_and_key() {
        refused("{\"w\": 1}\n{\"w\": \"x\"}\n", "line 2: 'w' is not a number");
        refused("{\"w\": 1}\n{\"w\": null}\n", "line 2: 'w' is null");
        refused(
            "{\"w\": 1, \"h\": 2}\n{\"w\": 1}\n",
            "line 2: 1 keys, the first line has 2",
        );
        refused(
            "{\"w\": 1, \"h\": 2}\n{\"w\": 1, \"x\": 2}\n",
            "line 2: the key 'h' is missing",
        );
        refused("{\"w\": 1, \"w\": 2}\n", "the key 'w' comes twice");
        refused("{\"w\": 1}\n[1]\n", "line 2: ");
        refused("{\n\"w\": 1}\n", "line 1: ");
        refused("{\"w\": 1e99}\n", "row 0, feature 0 is inf");
        refused(
            "{\"w\": 1, \"label\": 1.5}\n",
            "'label' is neither text nor a whole number",
        );
        refused(
            "{\"e\": [1, 2]}\n{\"e\": [1]}\n",
            "line 2: 'e' holds 1 numbers, the first line has 2",
        );
        refused("{\"text\": \"a b c\", \"label\": \"x\"}\n", "--text text");
        refused("{}\n", "no column holds numbers");
        assert!(
            read(b"{\"w\": \"\xff\"}", &Columns::default())
                .unwrap_err()
                .contains("line 1: ")
        );
        let deep = format!("{{\"w\": {}", "[".repeat(100_000));
        refused(&deep, "line 1: ");
    }
}
