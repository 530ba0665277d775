//! The one writer: takes changes from its queue, applies them to a copy of the model, writes that to disk,
//! publishes it, and only then answers. Changes that wait together are written together.
//!
//! Learning runs on its own low-priority threads, so that predictions never wait for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use autoactivator::math::until;
use autoactivator::{Model, ModelFile, Observer, Receipt};
use rayon::ThreadPool;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::change::Change;
use crate::edition::{Current, Edition};
use crate::error::Error;
use crate::journal::{Journal, Seen, seen};
use crate::key::Key;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::threads;
use crate::wanted::Wanted;

/// Largest number of changes that are written together.
const GROUP: usize = 64;

/// The handle through which changes are submitted.
pub(crate) struct Writer {
    queue: mpsc::Sender<Job>,
    pub(crate) counts: Arc<Counts>,
}

/// Counts of what the writer has done so far.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) rows: AtomicU64,
    pub(crate) changes: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) bytes: AtomicU64,
    /// Time until files were on the disk, once their bytes were written.
    pub(crate) sync_microseconds: AtomicU64,
    pub(crate) refused: AtomicU64,
}

impl Counts {
    /// A model file of this size was written; its last bytes took this long to be on the disk.
    fn wrote(&self, bytes: u64, sync: Duration) {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let sync = u64::try_from(sync.as_micros()).unwrap_or(u64::MAX);
        self.sync_microseconds.fetch_add(sync, Ordering::Relaxed);
    }
}

/// A change, and the channel for its answer.
struct Job {
    change: Change,
    /// With a key, the change counts once, however often it is sent.
    key: Option<Key>,
    /// Whether the client still waits.
    wanted: Wanted,
    answer: oneshot::Sender<Result<Value, Problem>>,
}

impl Writer {
    /// Starts the writer of a model file. It ends once this handle is dropped and the queue is empty.
    pub(crate) fn start(
        file: ModelFile,
        journal: Journal,
        current: Arc<Current>,
        limits: Limits,
        stop: Arc<AtomicBool>,
    ) -> Result<(Self, JoinHandle<()>), Error> {
        let (queue, jobs) = mpsc::channel(limits.queue.max(1));
        let counts = Arc::new(Counts::default());
        let mut desk = Desk {
            file,
            journal,
            current,
            limits,
            threads: threads::pool("learning", threads::LEARNING, None)?,
            counts: Arc::clone(&counts),
            stop,
        };
        let thread = std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || {
                threads::step_back(threads::LEARNING);
                desk.work(jobs);
            })?;
        Ok((Self { queue, counts }, thread))
    }

    /// Submits a change and waits for its answer. If this future is dropped before the change has been computed, nothing
    /// changes.
    pub(crate) async fn change(&self, change: Change, key: Option<Key>) -> Result<Value, Problem> {
        let (answer, answered) = oneshot::channel();
        let (wanted, _waiting) = Wanted::new();
        let job = Job {
            change,
            key,
            wanted,
            answer,
        };
        self.queue.try_send(job).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => {
                self.counts.refused.fetch_add(1, Ordering::Relaxed);
                Problem::busy("the queue is full: try again later")
            }
            mpsc::error::TrySendError::Closed(_) => given_up(),
        })?;
        answered.await.unwrap_or_else(|_| Err(given_up()))
    }

    /// Number of changes in the queue.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Whether the writer still accepts changes.
    pub(crate) fn is_alive(&self) -> bool {
        !self.queue.is_closed()
    }
}

fn given_up() -> Problem {
    Problem::unavailable("Ending", "the server gave up this change: nothing was changed")
}

/// Everything the writer works with.
struct Desk {
    file: ModelFile,
    journal: Journal,
    current: Arc<Current>,
    limits: Limits,
    threads: ThreadPool,
    counts: Arc<Counts>,
    stop: Arc<AtomicBool>,
}

impl Desk {
    fn work(&mut self, mut jobs: mpsc::Receiver<Job>) {
        let first = self.current.read();
        let stop = Arc::clone(&self.stop);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let stopped = move || stop.load(Ordering::Relaxed);
            self.threads.install(|| until(stopped, || first.model.warm_up()));
        }));
        drop(first);
        while let Some(first) = jobs.blocking_recv() {
            let mut group = vec![first];
            while group.len() < GROUP
                && let Ok(job) = jobs.try_recv()
            {
                group.push(job);
            }
            // A change that panics takes its group with it, and nothing else.
            let _ = catch_unwind(AssertUnwindSafe(|| self.work_on(group)));
        }
    }

    /// Applies a group of changes, each to the result of the one before, and writes once.
    fn work_on(&mut self, group: Vec<Job>) {
        let before = self.current.read();
        let mut model = before.model.clone();
        let (mut applied, mut repeated) = (Vec::new(), Vec::new());
        for job in group {
            // A client that gave up waiting does not expect the change to happen any more.
            if job.wanted.check().is_err() {
                continue;
            }
            match self.seen(&job, &applied) {
                Seen::Never => {}
                Seen::Counted => {
                    repeated.push(job);
                    continue;
                }
                Seen::WithAnother => {
                    drop(job.answer.send(Err(Problem::key_reused())));
                    continue;
                }
            }
            match self.apply(&job, &mut model) {
                Ok(receipt) => applied.push((job, receipt)),
                Err(problem) => drop(job.answer.send(Err(problem))),
            }
        }
        let written = if applied.is_empty() {
            Ok(before)
        } else {
            let keys = applied.iter().filter_map(|(job, _)| job.key.clone());
            let version = before.version + applied.len() as u64;
            self.write(model, version, keys.collect())
        };
        match written {
            Ok(edition) => self.answer(&edition, applied, repeated),
            Err(problem) => {
                let jobs = applied.into_iter().map(|(job, _)| job).chain(repeated);
                jobs.for_each(|job| drop(job.answer.send(Err(problem.clone()))));
            }
        }
    }

    /// Whether the key of a job was counted before, or just now.
    fn seen(&self, job: &Job, applied: &[(Job, Option<Receipt>)]) -> Seen {
        let Some(key) = &job.key else {
            return Seen::Never;
        };
        let just_now = applied.iter().filter_map(|(job, _)| job.key.as_ref());
        seen(self.journal.keys().chain(just_now), key)
    }

    /// Applies a change for as long as the client waits and the server runs.
    fn apply(&self, job: &Job, model: &mut Model) -> Result<Option<Receipt>, Problem> {
        let (wanted, stop) = (job.wanted.clone(), Arc::clone(&self.stop));
        let given_up = move || wanted.interrupted() || stop.load(Ordering::Relaxed);
        let (change, limits) = (&job.change, &self.limits);
        self.threads
            .install(|| until(given_up, || change.apply(model, limits)))
    }

    /// Writes a model and publishes it.
    fn write(&mut self, model: Model, version: u64, keys: Vec<Key>) -> Result<Arc<Edition>, Problem> {
        let mut announced = None;
        let written = self.file.write_announced(&model, |sha256| {
            let next = self.journal.announce(version, sha256.to_owned(), keys)?;
            announced = Some((next, Instant::now()));
            Ok::<(), Problem>(())
        })?;
        if let Some((next, announced)) = announced {
            self.journal.came_true(next);
            self.counts.wrote(written.n_bytes, announced.elapsed());
        }
        let edition = Arc::new(Edition::new(model, version, written.n_bytes, written.sha256));
        self.current.publish(Arc::clone(&edition));
        Ok(edition)
    }

    fn answer(&self, edition: &Edition, applied: Vec<(Job, Option<Receipt>)>, repeated: Vec<Job>) {
        for (job, receipt) in applied {
            self.counts.changes.fetch_add(1, Ordering::Relaxed);
            let rows = job.change.n_rows() as u64;
            self.counts.rows.fetch_add(rows, Ordering::Relaxed);
            job.change.is_done();
            drop(job.answer.send(Ok(job.change.answer(edition, receipt))));
        }
        for job in repeated {
            let mut answer = job.change.answer(edition, None);
            answer["repeated"] = json!(true);
            drop(job.answer.send(Ok(answer)));
        }
    }
}
