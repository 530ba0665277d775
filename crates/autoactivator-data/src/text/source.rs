//! Every source of sentences behind one type: a table with a column of text, a folder of texts, or lines.

use std::collections::BTreeSet;

use super::folder::TextFolder;
use super::lines::TextLines;
use crate::error::Error;
use crate::sentences::SentenceBatches;
use crate::shard::Shard;
use crate::table::{Reading, TextTable};

/// Where sentences come from.
pub enum TextSource {
    /// A table with a column of text.
    Table(TextTable),
    /// A folder of texts.
    Folder(TextFolder),
    /// A file with one sentence a line.
    Lines(TextLines),
}

impl TextSource {
    /// Streams all sentences from the start.
    pub fn sentences(&self) -> Result<SentenceBatches, Error> {
        match self {
            Self::Table(table) => table.sentences(),
            Self::Folder(folder) => Ok(folder.sentences()),
            Self::Lines(lines) => lines.sentences(),
        }
    }

    /// Number of sentences, if it is known.
    pub fn n_rows(&self) -> Option<usize> {
        match self {
            Self::Table(table) => table.n_rows().and_then(|n| usize::try_from(n).ok()),
            Self::Folder(folder) => Some(folder.len()),
            Self::Lines(_) => None,
        }
    }

    /// How it was read; only tables have columns.
    pub fn reading(&self) -> Reading {
        match self {
            Self::Table(table) => table.reading(),
            Self::Folder(_) | Self::Lines(_) => Reading::default(),
        }
    }

    /// The column of the sentences.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Table(table) => Some(table.column()),
            Self::Folder(_) | Self::Lines(_) => None,
        }
    }

    /// Whether each sentence carries its class.
    pub fn labelled(&self) -> bool {
        match self {
            Self::Table(table) => table.reading().class.is_some(),
            Self::Folder(folder) => folder.has_classes(),
            Self::Lines(_) => false,
        }
    }

    /// SHA-256 of its content, in hexadecimal.
    pub fn sha256(&self) -> Result<String, Error> {
        match self {
            Self::Table(table) => Ok(Shard::find(table.path())?.sha256().to_owned()),
            Self::Folder(folder) => folder.sha256(),
            Self::Lines(lines) => Ok(Shard::find(lines.path())?.sha256().to_owned()),
        }
    }

    /// The class of each sentence, before any feature is computed.
    pub fn classes(&self) -> Result<Vec<String>, Error> {
        let mut classes = Vec::new();
        for piece in self.sentences()? {
            classes.extend(piece?.y.unwrap_or_default());
        }
        Ok(classes)
    }

    /// The distinct classes, before any feature is computed.
    pub fn distinct_classes(&self) -> Result<BTreeSet<String>, Error> {
        Ok(self.classes()?.into_iter().collect())
    }
}
