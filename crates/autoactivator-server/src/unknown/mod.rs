//! Rows that were answered "unknown", kept for the operator to look at and to name, if that is switched on.
//!
//! A `row` comes with its answer, is handed to a thread of its own, and goes to the `file` beside the model; no answer waits
//! for that. `groups` says what the rows might be, and `routes` shows them. To name a group is a [`Naming`]: it goes through
//! the one writer like every change, and its rows leave the file once the change is on disk.

mod file;
mod groups;
pub(crate) mod routes;
mod row;

use std::collections::HashSet;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::{fmt, io};

use autoactivator::{Labels, Model, Table};
use serde_json::{Value, json};

use crate::describe::shown_origin;
use crate::digest::sha256;
use crate::error::Error;
use crate::journal::{Journal, Seen, seen};
use crate::key::Key;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::threads;
use file::{Limit, Store};
use groups::Judged;
pub(crate) use row::Looks;
use row::{Id, Kept, Offered};

/// Questions whose rows may wait to be kept.
const WAITING: usize = 256;

/// Bytes of rows, sentences and images that may wait to be kept.
const WAITING_BYTES: usize = 32 << 20;

/// Keeps rows that were answered "unknown".
pub(crate) struct Keeper {
    store: Arc<Mutex<Store>>,
    queue: SyncSender<Batch>,
    waiting: Arc<AtomicUsize>,
    dropped: Arc<AtomicU64>,
    judged: Mutex<Judged>,
    limits: Limits,
}

/// Rows of one question, on their way.
struct Batch {
    rows: Vec<Offered>,
    _waiting: Waiting,
}

/// Bytes that wait to be kept, until this is dropped.
struct Waiting {
    all: Arc<AtomicUsize>,
    own: usize,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

/// The file of the rows that the model at a path called unknown.
fn beside(model: &Path) -> PathBuf {
    let mut name: OsString = model.file_name().unwrap_or_default().into();
    name.push(".unknown");
    model.with_file_name(name)
}

impl Keeper {
    /// Opens the file beside the model at `path` and starts the thread that writes it, which ends once this is dropped and
    /// everything is written.
    pub(crate) fn start(
        path: &Path,
        model: &Model,
        journal: &Journal,
        limits: Limits,
    ) -> Result<(Arc<Self>, JoinHandle<()>), Error> {
        let origin = json!(shown_origin(&**model)).to_string();
        let limit = Limit {
            rows: limits.unknown_rows,
            bytes: limits.unknown_bytes,
        };
        let counted = |key: &Key| seen(journal.keys(), key) == Seen::Counted;
        let source = sha256(&[origin.as_bytes()]);
        let store = Store::open(&beside(path), source, model.n_features(), limit, counted)?;
        let store = Arc::new(Mutex::new(store));
        let (queue, offered) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let thread = keep_all(offered, Arc::clone(&store), Arc::clone(&dropped), limits)?;
        let keeper = Self {
            store,
            queue,
            waiting: Arc::default(),
            dropped,
            judged: Mutex::default(),
            limits,
        };
        Ok((Arc::new(keeper), thread))
    }

    /// Hands over those rows that were answered "unknown", without waiting for anything: rows for which there is no room are
    /// counted and dropped.
    pub(crate) fn offer(&self, x: &Table, unknown: &[usize], reject: f64, looks: &Looks<'_>) {
        // Of more rows than can be kept, the last would take the places of the others.
        let (over, last) = unknown.split_at(unknown.len().saturating_sub(self.limits.unknown_rows));
        let mut batch = Batch {
            rows: Vec::new(),
            _waiting: Waiting {
                all: Arc::clone(&self.waiting),
                own: 0,
            },
        };
        for &place in last {
            let offered = Offered {
                features: x.rows().row(place).to_vec(),
                reject,
                look: looks.of(place),
            };
            let size = offered.size();
            let before = self.waiting.fetch_add(size, Ordering::Relaxed);
            batch._waiting.own += size;
            if before + size > WAITING_BYTES {
                break;
            }
            batch.rows.push(offered);
        }
        let left = last.len() - batch.rows.len();
        let n_rows = batch.rows.len();
        let refused = n_rows > 0 && self.queue.try_send(batch).is_err();
        self.drop_rows(over.len() + left + if refused { n_rows } else { 0 });
    }

    fn drop_rows(&self, n_rows: usize) {
        self.dropped.fetch_add(n_rows as u64, Ordering::Relaxed);
    }

    /// How much there is, for metrics and for everybody who may ask.
    pub(crate) fn counts(&self) -> Counts {
        let store = self.store();
        Counts {
            rows: store.len(),
            bytes: store.bytes(),
            dropped: self.dropped.load(Ordering::Relaxed),
            limit: self.limits.unknown_rows,
        }
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many rows are kept.
pub(crate) struct Counts {
    pub(crate) rows: usize,
    /// Bytes of the file.
    pub(crate) bytes: usize,
    /// Rows that were not kept, or had to go, for lack of room.
    pub(crate) dropped: u64,
    /// The largest number of rows.
    pub(crate) limit: usize,
}

impl Counts {
    pub(crate) fn as_json(&self) -> Value {
        json!({ "rows": self.rows, "limit": self.limit, "bytes": self.bytes, "dropped": self.dropped })
    }
}

/// Starts the thread that keeps what is offered.
fn keep_all(
    offered: Receiver<Batch>,
    store: Arc<Mutex<Store>>,
    dropped: Arc<AtomicU64>,
    limits: Limits,
) -> io::Result<JoinHandle<()>> {
    Builder::new().name("keeping".to_owned()).spawn(move || {
        threads::step_back(threads::LEARNING);
        for batch in offered {
            // Images come from strangers: whatever one of them does, the next ones are kept.
            let kept = catch_unwind(AssertUnwindSafe(|| keep(batch, &store, limits)));
            dropped.fetch_add(kept.unwrap_or(0) as u64, Ordering::Relaxed);
        }
    })
}

/// Keeps rows, and returns how many went for them.
fn keep(batch: Batch, store: &Mutex<Store>, limits: Limits) -> usize {
    let lock = || store.lock().unwrap_or_else(PoisonError::into_inner);
    let mut gone = 0;
    for offered in batch.rows {
        let id = Id::of(&offered.features);
        if !lock().has(id) {
            let kept = offered.kept(id, limits.decoded_bytes());
            gone += lock().add(kept);
        }
    }
    gone
}

/// A name for rows that are kept: a change of the model.
pub struct Naming {
    keeper: Arc<Keeper>,
    key: Key,
    ids: HashSet<Id>,
    class: String,
    /// The rows, once it is their turn.
    taken: OnceLock<Vec<Arc<Kept>>>,
}

impl Naming {
    pub(crate) fn new(keeper: Arc<Keeper>, key: Key, ids: HashSet<Id>, class: String) -> Self {
        Self {
            keeper,
            key,
            ids,
            class,
            taken: OnceLock::new(),
        }
    }

    /// The rows under their name. From here on nobody else can name them, unless the change is given up. Rows that are no
    /// longer kept are left out; if none is left, there is nothing to name.
    pub(crate) fn lesson(&self) -> Result<(Table, Labels), Problem> {
        let rows = self
            .keeper
            .store()
            .take(&self.ids, &self.key)
            .map_err(Problem::from)?;
        let taken = self.taken.get_or_init(|| rows);
        let first = taken.first().ok_or_else(gone)?;
        let values = taken.iter().flat_map(|kept| &kept.features).copied();
        let x = Table::new(values.collect(), first.features.len())?;
        Ok((x, Labels::from_names(taken.iter().map(|_| self.class.as_str()))))
    }

    /// The change is on disk: the rows are kept no longer.
    pub(crate) fn is_done(&self) {
        self.keeper.store().learned(&self.key);
    }

    /// Number of rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.taken.get().map_or(self.ids.len(), Vec::len)
    }
}

impl Drop for Naming {
    fn drop(&mut self) {
        // Unless it is done, its rows are there again.
        if self.taken.get().is_some_and(|rows| !rows.is_empty()) {
            self.keeper.store().give_back(&self.key);
        }
    }
}

impl fmt::Debug for Naming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Naming")
            .field("class", &self.class)
            .finish_non_exhaustive()
    }
}

/// None of the rows is there.
fn gone() -> Problem {
    let message = "none of these rows is kept any more: they were named or dismissed, or newer ones have taken their \
                   places: ask for the groups again";
    Problem::wrong_model("NotKept", message)
}
