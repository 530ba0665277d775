//! The file of rows that were answered "unknown": one line each, the newest last, beside the model and never in it.
//!
//! A row that comes is appended. Whatever leaves - the oldest when there are too many, those that were learned or dismissed -
//! leaves when the file is written anew, as a whole. A line that was cut off by a crash ends what is read.
//!
//! Rows that are about to be learned are announced by a line with the key of the change. After a crash, the journal of
//! the model knows whether that change was made, so no row is learned twice.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autoactivator::write_atomically;
use serde::{Deserialize, Serialize};

use super::row::{Id, Kept};
use crate::error::Error;
use crate::key::Key;

/// How much is kept.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) rows: usize,
    /// Bytes of the file.
    pub(super) bytes: usize,
}

/// A line of the file; `R` is a row, or a reference to one.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line<R> {
    /// The first line: what computes the rows.
    Unknown {
        source: String,
    },
    Row(R),
    /// Rows that a change is about to learn.
    Learning(Learning),
}

/// Rows that a change is about to learn.
#[derive(Clone, Serialize, Deserialize)]
struct Learning {
    key: Key,
    ids: HashSet<Id>,
}

/// A row, and the bytes of its line.
#[derive(Clone)]
struct Row {
    kept: Arc<Kept>,
    bytes: usize,
}

/// The rows, in memory and in the file.
pub(super) struct Store {
    path: PathBuf,
    source: String,
    limit: Limit,
    /// The oldest first.
    rows: VecDeque<Row>,
    ids: HashSet<Id>,
    row_bytes: usize,
    learning: Vec<Learning>,
    /// The file, to append to; none if it has to be written anew, because its end may be damaged.
    file: Option<File>,
    file_bytes: usize,
}

impl Store {
    /// Opens the file, or makes it. `counted` says whether the change with a key was made. Refuses a file of something
    /// else, and one of rows that this model does not take.
    pub(super) fn open(
        path: &Path,
        source: String,
        n_features: Option<usize>,
        limit: Limit,
        counted: impl Fn(&Key) -> bool,
    ) -> Result<Self, Error> {
        make_private(path).map_err(|cause| failed(path, cause))?;
        let bytes = fs::read(path).map_err(|cause| failed(path, cause))?;
        let mut store = Self {
            path: path.to_owned(),
            source,
            limit,
            rows: VecDeque::new(),
            ids: HashSet::new(),
            row_bytes: 0,
            learning: Vec::new(),
            file: None,
            file_bytes: 0,
        };
        store.read(&bytes, n_features, counted)?;
        store.make_room();
        store.write_anew()?;
        Ok(store)
    }

    /// Reads lines up to the last whole one.
    fn read(
        &mut self,
        bytes: &[u8],
        n_features: Option<usize>,
        counted: impl Fn(&Key) -> bool,
    ) -> Result<(), Error> {
        let lines = bytes.split_inclusive(|&byte| byte == b'\n');
        let read = |line| serde_json::from_slice::<Line<Kept>>(line).ok();
        let mut lines = lines.map_while(|line| Some((read(line)?, line.len())));
        let path = self.path.clone();
        let refused = |reason| Err(Error::UnknownRows { path, reason });
        let is_ours = match lines.next() {
            None if bytes.is_empty() => return Ok(()),
            Some((Line::Unknown { source }, _)) => source == self.source,
            _ => return refused("it holds something else, and would be written over: move it away"),
        };
        for (line, bytes) in lines {
            match line {
                Line::Row(kept) if kept.is_whole() => {
                    if !is_ours || n_features.is_some_and(|n| n != kept.features.len()) {
                        return refused(
                            "it holds rows that this model does not take: delete it, or start without --keep-unknown",
                        );
                    }
                    self.push(Arc::new(kept), bytes);
                }
                Line::Learning(learning) if counted(&learning.key) => self.remove(&learning.ids),
                Line::Learning(_) => {}
                Line::Row(_) | Line::Unknown { .. } => break,
            }
        }
        Ok(())
    }

    /// All rows but those that are being learned, the oldest first.
    pub(super) fn rows(&self) -> Vec<Arc<Kept>> {
        let rows = self.rows.iter().map(|row| &row.kept);
        rows.filter(|kept| !self.is_taken(kept.id)).cloned().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of the file.
    pub(super) fn bytes(&self) -> usize {
        self.file_bytes
    }

    pub(super) fn has(&self, id: Id) -> bool {
        self.ids.contains(&id)
    }

    /// Adds a row, unless it is there, and returns how many went for it. What cannot be written now is written with the
    /// next row.
    pub(super) fn add(&mut self, kept: Kept) -> usize {
        if self.has(kept.id) {
            return 0;
        }
        let line = Line::Row(&kept).text();
        self.push(Arc::new(kept), line.len());
        let gone = self.make_room();
        // As much may be left of rows that are gone as there is of others, so writing anew is rare.
        let _ = if self.file.is_some() && self.file_bytes + line.len() <= 2 * self.row_bytes {
            self.append(&line)
        } else {
            self.write_anew()
        };
        gone
    }

    /// Takes those of these rows that are kept and not taken yet, to be learned by the change with this key.
    pub(super) fn take(&mut self, ids: &HashSet<Id>, key: &Key) -> Result<Vec<Arc<Kept>>, Error> {
        let mut rows = self.rows();
        rows.retain(|kept| ids.contains(&kept.id));
        if rows.is_empty() {
            return Ok(rows);
        }
        let learning = Learning {
            key: key.clone(),
            ids: rows.iter().map(|kept| kept.id).collect(),
        };
        self.append(&Line::Learning(learning.clone()).text())?;
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_data);
        synced.map_err(|cause| failed(&self.path, cause))?;
        self.learning.push(learning);
        Ok(rows)
    }

    /// The change with this key was not made: its rows are there again.
    pub(super) fn give_back(&mut self, key: &Key) {
        self.learning.retain(|learning| learning.key != *key);
    }

    /// The change with this key is on disk: its rows go.
    pub(super) fn learned(&mut self, key: &Key) {
        let taken = self.learning.iter().find(|learning| learning.key == *key);
        let Some(Learning { ids, .. }) = taken.cloned() else {
            return;
        };
        self.give_back(key);
        self.remove(&ids);
        // If this fails, the next write takes them out, or the next start, which the journal tells.
        let _ = self.write_anew();
    }

    /// Removes those of these rows that are kept and not being learned, and returns how many that were; all of them, if none
    /// are named.
    pub(super) fn dismiss(&mut self, ids: Option<&HashSet<Id>>) -> Result<usize, Error> {
        let rows = self.rows().into_iter().map(|kept| kept.id);
        let going: HashSet<Id> = rows.filter(|id| ids.is_none_or(|ids| ids.contains(id))).collect();
        if going.is_empty() {
            return Ok(0);
        }
        let before = self.rows.clone();
        self.remove(&going);
        if let Err(error) = self.write_anew() {
            self.rows.clear();
            self.ids.clear();
            self.row_bytes = 0;
            before.into_iter().for_each(|row| self.push(row.kept, row.bytes));
            return Err(error);
        }
        Ok(going.len())
    }

    fn is_taken(&self, id: Id) -> bool {
        self.learning.iter().any(|learning| learning.ids.contains(&id))
    }

    fn push(&mut self, kept: Arc<Kept>, bytes: usize) {
        if self.ids.insert(kept.id) {
            self.row_bytes += bytes;
            self.rows.push_back(Row { kept, bytes });
        }
    }

    fn remove(&mut self, ids: &HashSet<Id>) {
        self.rows.retain(|row| !ids.contains(&row.kept.id));
        self.ids.retain(|id| !ids.contains(id));
        self.row_bytes = self.rows.iter().map(|row| row.bytes).sum();
    }

    /// Lets the oldest rows go while there are too many, and returns how many went. The file may hold as much again of rows
    /// that are gone.
    fn make_room(&mut self) -> usize {
        let before = self.rows.len();
        while self.rows.len() > self.limit.rows || self.row_bytes > self.limit.bytes / 2 {
            let Some(oldest) = self.rows.pop_front() else {
                break;
            };
            self.ids.remove(&oldest.kept.id);
            self.row_bytes -= oldest.bytes;
        }
        before - self.rows.len()
    }

    fn append(&mut self, line: &str) -> Result<(), Error> {
        let Some(file) = &mut self.file else {
            self.write_anew()?;
            return self.append(line);
        };
        if let Err(cause) = file.write_all(line.as_bytes()) {
            self.file = None;
            return Err(failed(&self.path, cause));
        }
        self.file_bytes += line.len();
        Ok(())
    }

    /// Writes what is kept, and nothing else.
    fn write_anew(&mut self) -> Result<(), Error> {
        self.file = None;
        let source = self.source.clone();
        let rows = self.rows.iter().map(|row| Line::Row(&*row.kept));
        let learning = self.learning.iter().cloned().map(Line::Learning);
        let lines = std::iter::once(Line::Unknown { source })
            .chain(rows)
            .chain(learning);
        let text: String = lines.map(|line| line.text()).collect();
        write_atomically(&self.path, text.as_bytes())?;
        let opened = OpenOptions::new().append(true).open(&self.path);
        self.file = Some(opened.map_err(|cause| failed(&self.path, cause))?);
        self.file_bytes = text.len();
        Ok(())
    }
}

impl Line<&Kept> {
    fn text(&self) -> String {
        let line = serde_json::json!(self);
        format!("{line}\n")
    }
}

/// Sees to it that the file is there, and that only its owner can read it: rows come from clients. What is written over it
/// has the same mode.
fn make_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(0o600).open(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
    }
    #[cfg(not(unix))]
    options.open(path).map(drop)
}

fn failed(path: &Path, cause: io::Error) -> Error {
    Error::Method(autoactivator::Error::Io {
        path: path.to_owned(),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::super::row::{Look, Offered};
    use super::*;

    const PLENTY: Limit = Limit {
        rows: 100,
        bytes: 1 << 20,
    };

    fn row(n: usize) -> Kept {
        let features = vec![n as f32, 1.0];
        let id = Id::of(&features);
        let offered = Offered {
            features,
            reject: 0.05,
            look: Look::Row,
        };
        offered.kept(id, 0)
    }

    fn fill(store: &mut Store, n: usize) {
        for n in 0..n {
            store.add(row(n));
        }
    }

    fn ids(rows: &[usize]) -> HashSet<Id> {
        rows.iter().map(|&n| row(n).id).collect()
    }

    fn key(n: usize) -> Key {
        Key::made(&n.to_string())
    }

    fn opened(path: &Path, limit: Limit) -> Store {
        Store::open(path, "here".to_owned(), Some(2), limit, |_| false).unwrap()
    }

    fn there(store: &Store) -> Vec<usize> {
        store
            .rows()
            .iter()
            .map(|kept| kept.features[0] as usize)
            .collect()
    }

    #[test]
    fn rows_outlive_the_process_once_each_and_only_their_owner_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.aact.unknown");
        let mut store = opened(&path, PLENTY);
        for n in [3, 1, 3, 2, 1] {
            store.add(row(n));
        }
        assert_eq!(there(&opened(&path, PLENTY)), [3, 1, 2]);
        assert_eq!(store.dismiss(Some(&ids(&[1, 9]))).unwrap(), 1);
        assert_eq!(there(&opened(&path, PLENTY)), [3, 2]);
        assert_eq!(store.dismiss(None).unwrap(), 2);
        assert_eq!(there(&opened(&path, PLENTY)), [0; 0]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(), 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            drop(opened(&path, PLENTY));
            assert_eq!(mode(), 0o600);
        }
    }

    #[test]
    fn the_oldest_rows_go_and_the_file_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.aact.unknown");
        let few = Limit { rows: 5, ..PLENTY };
        let mut store = opened(&path, few);
        let gone: usize = (0..500).map(|n| store.add(row(n))).sum();
        assert_eq!((gone, there(&store)), (495, vec![495, 496, 497, 498, 499]));
        assert!(fs::read_to_string(&path).unwrap().lines().count() <= 11);
        assert_eq!(there(&opened(&path, few)), [495, 496, 497, 498, 499]);
        let small = Limit {
            bytes: 1000,
            ..PLENTY
        };
        let mut store = opened(&path, small);
        fill(&mut store, 500);
        assert!(!there(&store).is_empty() && fs::metadata(&path).unwrap().len() <= 1000);
    }

    #[test]
    fn a_tail_that_was_cut_off_costs_only_its_own_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.aact.unknown");
        let mut store = opened(&path, PLENTY);
        fill(&mut store, 3);
        let text = fs::read(&path).unwrap();
        let ends: Vec<usize> = (0..text.len()).filter(|&at| text[at] == b'\n').collect();
        for cut in ends[0]..text.len() {
            fs::write(&path, &text[..cut]).unwrap();
            let whole = ends.iter().filter(|&&end| end <= cut).count();
            let mut store = opened(&path, PLENTY);
            assert_eq!(there(&store), (0..whole - 1).collect::<Vec<_>>(), "cut at {cut}");
            store.add(row(7));
            assert_eq!(there(&opened(&path, PLENTY)).last(), Some(&7));
        }
        // Blocks that a power cut left empty.
        fs::write(&path, [&text[..], &[0; 100]].concat()).unwrap();
        assert_eq!(there(&opened(&path, PLENTY)), [0, 1, 2]);
    }

    #[test]
    fn rows_are_learned_once_whenever_it_crashes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.aact.unknown");
        let mut store = opened(&path, PLENTY);
        fill(&mut store, 4);
        assert_eq!(store.take(&ids(&[0, 1, 9]), &key(1)).unwrap().len(), 2);
        assert_eq!(there(&store), [2, 3], "nobody else can take them meanwhile");
        assert!(store.take(&ids(&[0]), &key(2)).unwrap().is_empty());
        assert_eq!(store.dismiss(None).unwrap(), 2, "or dismiss them");
        // It crashes now: the journal knows.
        let again = |made: bool| {
            let store = Store::open(&path, "here".to_owned(), Some(2), PLENTY, |known| {
                made && *known == key(1)
            });
            there(&store.unwrap())
        };
        let text = fs::read(&path).unwrap();
        assert_eq!(again(false), [0, 1]);
        fs::write(&path, &text).unwrap();
        assert_eq!(again(true), [0; 0]);
        fs::write(&path, &text).unwrap();
        // It does not crash.
        store.give_back(&key(1));
        assert_eq!(there(&store), [0, 1]);
        store.take(&ids(&[0]), &key(3)).unwrap();
        store.learned(&key(3));
        assert_eq!((there(&store), there(&opened(&path, PLENTY))), (vec![1], vec![1]));
    }

    #[test]
    fn files_of_something_else_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.aact.unknown");
        fs::write(&path, "a diary\n").unwrap();
        let refused = |source: &str, n_features| {
            let opened = Store::open(&path, source.to_owned(), Some(n_features), PLENTY, |_| false);
            opened.err().unwrap().to_string()
        };
        assert!(refused("here", 2).contains("move it away"));
        assert_eq!(fs::read(&path).unwrap(), b"a diary\n");
        fs::remove_file(&path).unwrap();
        opened(&path, PLENTY).add(row(1));
        let text = fs::read(&path).unwrap();
        assert!(refused("elsewhere", 2).contains("delete it"));
        assert!(refused("here", 3).contains("delete it"));
        assert_eq!(fs::read(&path).unwrap(), text);
        assert_eq!(there(&opened(&path, PLENTY)), [1]);
    }
}
