//! A table with a column of text: its sentences, before an encoder makes rows of them.
//!
//! It is read by the same readers as a [`FeatureTable`](super::FeatureTable), and checked in the same way.

use std::path::{Path, PathBuf};

use autoactivator::check_weights;

use super::reading::Reading;
use super::{Columns, Content, open_content};
use crate::error::{Error, NO_ROWS, bad};
use crate::sentences::{SentenceBatches, Sentences};

/// The reason to refuse text where only features are taken.
pub(super) const NEEDS_ENCODER: &str =
    "features are needed here: make them of the text with `autoactivator features --text COLUMN`";

/// A table with a column of text.
pub struct TextTable {
    path: PathBuf,
    column: String,
    n_rows: Option<u64>,
    content: Box<dyn Content>,
}

impl TextTable {
    /// Opens a file whose column of text `columns` names.
    ///
    /// Only the start of the file is read here. What is wrong with a row shows in [`sentences`](Self::sentences).
    pub fn open(path: &Path, columns: &Columns) -> Result<Self, Error> {
        let Some(column) = &columns.text else {
            return Err(bad(path, "no column of text is named: name it with --text"));
        };
        let (shape, content) = open_content(path, columns)?;
        if shape.n_rows == Some(0) {
            return Err(bad(path, NO_ROWS));
        }
        Ok(Self {
            path: path.to_owned(),
            column: column.clone(),
            n_rows: shape.n_rows,
            content,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The column of text, as it was named.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Number of rows, where the file tells.
    pub fn n_rows(&self) -> Option<u64> {
        self.n_rows
    }

    /// How the table was read.
    pub fn reading(&self) -> Reading {
        self.content.reading()
    }

    /// Streams all sentences; every call begins with the first. After an error the stream ends.
    pub fn sentences(&self) -> Result<SentenceBatches, Error> {
        let path = self.path.clone();
        let mut pieces = self.content.sentences()?;
        let (mut first_row, mut ended) = (0, false);
        Ok(Box::new(std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let piece = match pieces.next() {
                Some(piece) => piece.and_then(|piece| {
                    check(&piece, first_row).map_err(|reason| bad(&path, reason))?;
                    first_row += piece.len();
                    Ok(piece)
                }),
                None if first_row == 0 => Err(bad(&path, NO_ROWS)),
                None => return None,
            };
            ended = piece.is_err();
            Some(piece)
        })))
    }
}

/// Checks what must hold for every row, whatever the format; `first_row` is the number of the first one.
fn check(piece: &Sentences, first_row: usize) -> Result<(), String> {
    if let Some(weights) = &piece.weights {
        check_weights(weights, first_row).map_err(|error| error.to_string())?;
    }
    match piece.y.iter().flatten().position(String::is_empty) {
        Some(row) => Err(format!("row {}: the class is missing", first_row + row)),
        None => Ok(()),
    }
}
