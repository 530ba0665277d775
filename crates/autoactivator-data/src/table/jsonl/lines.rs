//! The objects of a JSON lines file, one after the other, with the number of their line.

use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::Value;

use crate::error::{Error, bad};
use crate::table::source::Source;

/// The most bytes of a line: more is not a row, and would have to fit into memory.
const LONGEST: u64 = 256 << 20;

/// The keys and values of an object, in its order.
pub(super) type Object = Vec<(String, Value)>;

/// One line that holds something.
pub(super) struct Line {
    /// Counted from 1.
    pub number: u64,
    pub object: Object,
}

/// The lines of a file.
pub(super) struct Lines {
    path: PathBuf,
    reader: BufReader<Source>,
    number: u64,
}

impl Lines {
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            reader: BufReader::new(Source::open(path)?),
            number: 0,
        })
    }

    /// The next object; lines that are blank are passed over.
    pub fn next(&mut self) -> Result<Option<Line>, Error> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            self.number += 1;
            let number = self.number;
            let wrong = |reason: String| bad(&self.path, format!("line {number}: {reason}"));
            let read = self
                .reader
                .by_ref()
                .take(LONGEST + 1)
                .read_until(b'\n', &mut bytes);
            read.map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => {
                    wrong("the gzip stream ends here; fetch the file again".to_owned())
                }
                _ => wrong(format!("cannot be read: {error}")),
            })?;
            if bytes.is_empty() {
                return Ok(None);
            }
            if bytes.len() as u64 > LONGEST {
                return Err(wrong("longer than 256 MB: a table has one row a line".to_owned()));
            }
            if !bytes.trim_ascii().is_empty() {
                let object = object(&bytes).map_err(wrong)?;
                return Ok(Some(Line { number, object }));
            }
        }
    }
}

fn object(bytes: &[u8]) -> Result<Object, String> {
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let read = parser.deserialize_map(Keys);
    read.and_then(|object| parser.end().map(|()| object))
        .map_err(|error| format!("not a JSON object on one line: {error}"))
}

/// Collects an object, and refuses a key that comes twice: either value could be meant.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object, as in {{\"width\": 1.5, \"class\": \"nut\"}}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut object = Object::new();
        let mut seen = std::collections::HashSet::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key '{key}' comes twice")));
            }
            object.push((key, value));
        }
        Ok(object)
    }
}
