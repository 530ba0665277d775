//! A file with one sentence a line, without classes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, bad, io_error};
use crate::sentences::{SentenceBatches, Sentences, check_sentence};

/// How many sentences are handed over together.
const TOGETHER: usize = 2048;

/// The most bytes of a line; what a sentence may have is decided elsewhere.
const LONGEST: u64 = 16 << 20;

/// A file with one sentence a line.
#[derive(Clone, Debug)]
pub struct TextLines {
    path: PathBuf,
}

impl TextLines {
    /// Takes the lines of a file for sentences.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Streams the sentences, each under its own words as its name. After an error the stream ends.
    pub fn sentences(&self) -> Result<SentenceBatches, Error> {
        let path = self.path.clone();
        let file = File::open(&path).map_err(|cause| io_error(&path, cause))?;
        let (mut reader, mut line, mut ended) = (BufReader::new(file), 0, false);
        Ok(Box::new(std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let piece = read(&path, &mut reader, &mut line);
            ended = piece.as_ref().map_or(true, Option::is_none);
            let none_at_all = ended && line == 0 && piece.is_ok();
            if none_at_all {
                return Some(Err(bad(&path, "there are no sentences in this file")));
            }
            piece.transpose()
        })))
    }
}

/// The next sentences; none at the end.
fn read(path: &Path, reader: &mut impl BufRead, line: &mut usize) -> Result<Option<Sentences>, Error> {
    let mut found = Sentences::default();
    while found.len() < TOGETHER {
        let mut bytes = Vec::new();
        let read = reader.take(LONGEST + 1).read_until(b'\n', &mut bytes);
        if read.map_err(|cause| io_error(path, cause))? == 0 {
            break;
        }
        *line += 1;
        let wrong = |reason: &str| bad(path, format!("line {line}: {reason}"));
        if bytes.len() as u64 > LONGEST {
            return Err(wrong("longer than 16 MB: one line is one sentence"));
        }
        let text = str::from_utf8(&bytes).map_err(|_| wrong("not UTF-8 text; save the file as UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        check_sentence(text).map_err(|reason| wrong(&reason))?;
        found.texts.push(text.to_owned());
    }
    found.names = Some(found.texts.clone());
    Ok(Some(found).filter(|found| !found.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(bytes: &[u8]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, bytes).unwrap();
        let pieces: Result<Vec<Sentences>, Error> = TextLines::new(&path).sentences().unwrap().collect();
        let pieces = pieces.map_err(|error| error.to_string())?;
        Ok(pieces.into_iter().flat_map(|piece| piece.texts).collect())
    }

    #[test]
    fn every_line_is_a_sentence() {
        let lines = sentences("\u{feff}how are you?\r\n \"quoted\", with 1 comma\nlast".as_bytes());
        assert_eq!(
            lines.unwrap(),
            ["how are you?", "\"quoted\", with 1 comma", "last"]
        );
        assert_eq!(sentences("x\n".repeat(5000).as_bytes()).unwrap().len(), 5000);
    }

    #[test]
    fn what_is_no_sentence_is_named_by_its_line() {
        for (bytes, expected) in [
            (&b"one\n\ntwo\n"[..], "line 2: the sentence is empty"),
            (b"one\n\xff\xfe\n", "line 2: not UTF-8"),
            (b"", "no sentences"),
        ] {
            let error = sentences(bytes).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let huge = "word ".repeat(300_000);
        assert!(
            sentences(huge.as_bytes())
                .unwrap_err()
                .contains("line 1: the sentence has 1499999 bytes")
        );
        assert!(sentences(&vec![b'a'; 17 << 20]).unwrap_err().contains("16 MB"));
    }
}
