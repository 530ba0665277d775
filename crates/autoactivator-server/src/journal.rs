//! The journal of a model file: which file each version is, and which keys of requests it has counted.
//!
//! It lies beside the model and has one line per write, which is on disk before the model is. After a crash, the digest
//! of the model file tells which line is the last one that came true.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use autoactivator::{Error, write_atomically};
use serde::{Deserialize, Serialize};

use crate::key::Key;

/// Number of keys that are remembered, the newest.
const KEYS: usize = 1000;

/// Number of lines after which the journal is written anew.
const LINES: usize = 10_000;

/// What is known about the current model file, and what is about to be written.
pub(crate) struct Journal {
    path: PathBuf,
    now: Line,
    keys: VecDeque<Key>,
    /// Lines in the file; none if there is no file yet, [`LINES`] if its end may be damaged.
    lines: usize,
}

/// One write of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    version: u64,
    /// Digest of the model file.
    sha256: String,
    /// Digest of the model file before; none if this line says everything that is known.
    before: Option<String>,
    /// Keys of the requests that were counted.
    keys: Vec<Key>,
}

/// What is known about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Never,
    /// It came with the same request, which was counted.
    Counted,
    /// It came with another request.
    WithAnother,
}

/// What these keys say about a key.
pub(crate) fn seen<'a>(mut keys: impl Iterator<Item = &'a Key>, key: &Key) -> Seen {
    match keys.find(|known| known.key == key.key) {
        None => Seen::Never,
        Some(known) if known == key => Seen::Counted,
        Some(_) => Seen::WithAnother,
    }
}

impl Journal {
    /// Opens the journal of the model file at `model`, whose content has this digest. A file that the journal does not
    /// know, because another program has changed it, is the next version.
    pub(crate) fn open(model: &Path, sha256: &str) -> Result<Self, Error> {
        let path = beside(model);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|cause| failed(&path, cause))?,
        };
        // The last line may be cut off, or be anything after a power cut: the model was not written then.
        let lines: Vec<Line> = String::from_utf8_lossy(&bytes)
            .lines()
            .map_while(|line| serde_json::from_str(line).ok())
            .collect();
        let mut journal = Self {
            path,
            now: Line::first(sha256),
            keys: VecDeque::new(),
            lines: 0,
        };
        if !lines.is_empty() {
            journal.take_up(&lines, sha256);
            journal.write_anew(&[])?;
        }
        Ok(journal)
    }

    /// Removes the journal of a model that is gone: another one begins in its place.
    pub(crate) fn forget(model: &Path) -> Result<(), Error> {
        let path = beside(model);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&path, error)),
            _ => Ok(()),
        }
    }

    /// Number of changes so far.
    pub(crate) fn version(&self) -> u64 {
        self.now.version
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.iter()
    }

    /// Notes on disk what is about to be written.
    pub(crate) fn announce(&mut self, version: u64, sha256: String, keys: Vec<Key>) -> Result<Next, Error> {
        let line = Line {
            version,
            sha256,
            before: Some(self.now.sha256.clone()),
            keys,
        };
        if self.lines == 0 || self.lines >= LINES {
            self.write_anew(std::slice::from_ref(&line))?;
        } else if let Err(cause) = self.append(&line) {
            self.lines = LINES;
            return Err(failed(&self.path, cause));
        }
        Ok(Next(line))
    }

    /// What was announced has come true.
    pub(crate) fn came_true(&mut self, Next(line): Next) {
        self.remember(&line.keys);
        self.now = line;
    }

    /// Finds the model file among the lines, and the keys of every line that led to it.
    fn take_up(&mut self, lines: &[Line], sha256: &str) {
        let mut led = led_to(lines, sha256);
        match (led.first(), lines.last()) {
            (Some(&now), _) => self.now = now.clone(),
            (None, Some(last)) => {
                let last_version = lines.iter().map(|line| line.version).max();
                self.now.version = last_version.unwrap_or(0).saturating_add(1);
                // Nobody can tell any more whether the last line came true: its requests must not count as done.
                led = led_to(lines, last.before.as_ref().unwrap_or(&last.sha256));
            }
            (None, None) => {}
        }
        led.iter().rev().for_each(|line| self.remember(&line.keys));
    }

    fn remember(&mut self, keys: &[Key]) {
        self.keys.extend(keys.iter().cloned());
        let old = self.keys.len().saturating_sub(KEYS);
        self.keys.drain(..old);
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
        file.write_all(line.text().as_bytes())?;
        file.sync_data()?;
        self.lines += 1;
        Ok(())
    }

    /// Writes everything that is known as one line, and then these.
    fn write_anew(&mut self, next: &[Line]) -> Result<(), Error> {
        let now = Line {
            before: None,
            keys: self.keys.iter().cloned().collect(),
            ..self.now.clone()
        };
        let text: String = std::iter::once(&now).chain(next).map(Line::text).collect();
        write_atomically(&self.path, text.as_bytes())?;
        self.lines = 1 + next.len();
        Ok(())
    }
}

/// The lines that led to a file, the newest first. Others in between were announced and did not come true.
fn led_to<'a>(lines: &'a [Line], sha256: &'a str) -> Vec<&'a Line> {
    let mut wanted = Some(sha256);
    let mut led = Vec::new();
    for line in lines.iter().rev() {
        if wanted == Some(line.sha256.as_str()) {
            wanted = line.before.as_deref();
            led.push(line);
        }
    }
    led
}

/// A write that was announced.
pub(crate) struct Next(Line);

impl Line {
    fn first(sha256: &str) -> Self {
        Self {
            version: 0,
            sha256: sha256.to_owned(),
            before: None,
            keys: Vec::new(),
        }
    }

    fn text(&self) -> String {
        let line = serde_json::json!(self);
        format!("{line}\n")
    }
}

/// The path of the journal of a model file.
fn beside(model: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(model.file_name().unwrap_or_default());
    name.push(".changes");
    model.with_file_name(name)
}

fn failed(path: &Path, cause: io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: usize) -> Key {
        Key {
            key: format!("key {n}"),
            request: format!("request {n}"),
        }
    }

    fn write(journal: &mut Journal, n: usize) -> Next {
        let version = journal.version() + 1;
        journal
            .announce(version, format!("file {n}"), vec![key(n)])
            .unwrap()
    }

    fn knows(journal: &Journal, n: usize) -> bool {
        seen(journal.keys(), &key(n)) == Seen::Counted
    }

    #[test]
    fn what_did_not_come_true_is_not_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.aact");
        let mut journal = Journal::open(&model, "file 0").unwrap();
        let next = write(&mut journal, 1);
        journal.came_true(next);
        drop(write(&mut journal, 2));
        let next = write(&mut journal, 3);
        journal.came_true(next);
        drop(write(&mut journal, 4));
        for _ in 0..2 {
            let journal = Journal::open(&model, "file 3").unwrap();
            assert_eq!(journal.version(), 2);
            let known: Vec<usize> = (0..6).filter(|&n| knows(&journal, n)).collect();
            assert_eq!(known, [1, 3]);
        }
    }

    #[test]
    fn a_crash_before_or_after_the_model_is_written_is_told_by_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.aact");
        let mut journal = Journal::open(&model, "file 0").unwrap();
        drop(write(&mut journal, 1));
        let path = beside(&model);
        let text = fs::read(&path).unwrap();
        let at_start = |sha256| {
            fs::write(&path, &text).unwrap();
            let journal = Journal::open(&model, sha256).unwrap();
            (journal.version(), knows(&journal, 1))
        };
        assert_eq!(at_start("file 1"), (1, true));
        assert_eq!(at_start("file 0"), (0, false));
        assert_eq!(at_start("from elsewhere"), (2, false));
        for cut in 0..text.len() - 1 {
            fs::write(&path, &text[..cut]).unwrap();
            let journal = Journal::open(&model, "file 0").unwrap();
            assert_eq!(
                (journal.version(), knows(&journal, 1)),
                (0, false),
                "cut at {cut}"
            );
            // What was not synced may be anything.
            fs::write(&path, [&text[..cut], b"\0\xff\xfe {"].concat()).unwrap();
            assert_eq!(
                Journal::open(&model, "file 0").unwrap().version(),
                0,
                "torn at {cut}"
            );
        }
    }

    #[test]
    fn the_journal_stays_short() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.aact");
        let mut journal = Journal::open(&model, "file 0").unwrap();
        for n in 1..=20 {
            // As if there were many lines.
            journal.lines = if n == 15 { LINES } else { journal.lines };
            let keys = (100 * n..100 * (n + 1)).map(key).collect();
            let next = journal.announce(n as u64, format!("file {n}"), keys).unwrap();
            journal.came_true(next);
        }
        assert!(fs::read_to_string(beside(&model)).unwrap().lines().count() < 10);
        let again = Journal::open(&model, "file 20").unwrap();
        assert_eq!(again.version(), 20);
        let known: Vec<usize> = (0..3000).filter(|&n| knows(&again, n)).collect();
        assert_eq!(known, (2100 - KEYS..2100).collect::<Vec<_>>());
    }

    #[test]
    fn a_file_that_another_program_has_changed_is_the_next_version() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.aact");
        let mut journal = Journal::open(&model, "file 0").unwrap();
        let next = write(&mut journal, 1);
        journal.came_true(next);
        assert_eq!(Journal::open(&model, "from elsewhere").unwrap().version(), 2);
        assert_eq!(Journal::open(&model, "from elsewhere").unwrap().version(), 2);
        assert_eq!(Journal::open(&model, "again").unwrap().version(), 3);
    }
}
