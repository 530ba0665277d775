//! Several readers at work, their results in order: [`in_order`] decodes the parts of a file on threads of their own.
//!
//! The libraries that decode Parquet and Arrow may give up on a damaged file in the middle of it, so whatever they do is
//! done on threads of that name, and what is left of such a thread is an error.

use std::collections::VecDeque;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use crate::batch::{Batch, Batches};
use crate::error::{Error, bad, io_error};

/// Batches that a part may be ahead of its reader: about 256 MB for all parts at work together.
const AHEAD: usize = 32;

/// The name of the threads that read tables; when one of them panics, the file is damaged, and that is reported.
pub const READER: &str = "table reader";

/// What a thread reads.
pub(super) type ReadPart = Arc<dyn Fn(usize) -> Result<Batches, Error> + Send + Sync>;

/// The batches of all parts, part after part; as many parts are read at a time as there are cores.
pub(super) fn in_order(path: &Path, n_parts: usize, read: ReadPart) -> Batches {
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get);
    Box::new(InOrder {
        path: path.to_owned(),
        read,
        n_parts,
        started: 0,
        n_threads,
        parts: VecDeque::new(),
    })
}

/// Does something with a file on a thread of its own.
pub(super) fn guarded<T: Send + 'static>(
    path: &Path,
    read: impl FnOnce(&Path) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let file = path.to_owned();
    let thread = thread::Builder::new()
        .name(READER.to_owned())
        .spawn(move || read(&file));
    let thread = thread.map_err(|cause| io_error(path, cause))?;
    thread.join().unwrap_or_else(|_| Err(damaged(path)))
}

fn damaged(path: &Path) -> Error {
    bad(path, "damaged: its reader had to give up; write it again")
}

struct InOrder {
    path: PathBuf,
    read: ReadPart,
    n_parts: usize,
    started: usize,
    n_threads: usize,
    parts: VecDeque<Receiver<Message>>,
}

enum Message {
    Batch(Result<Batch, Error>),
    /// Without this a part did not come to its end: its thread has died.
    End,
}

impl InOrder {
    fn start(&mut self) {
        let (sender, receiver) = sync_channel(AHEAD);
        let (read, part) = (self.read.clone(), self.started);
        // Without its thread the part is found unread, which is an error like any other.
        let _ = thread::Builder::new().name(READER.to_owned()).spawn(move || {
            // A send fails when nobody listens any more: then there is nothing left to do.
            match read(part) {
                Ok(batches) => {
                    for batch in batches {
                        let failed = batch.is_err();
                        if sender.send(Message::Batch(batch)).is_err() || failed {
                            return;
                        }
                    }
                    let _ = sender.send(Message::End);
                }
                Err(error) => {
                    let _ = sender.send(Message::Batch(Err(error)));
                }
            }
        });
        self.parts.push_back(receiver);
        self.started += 1;
    }
}

impl Iterator for InOrder {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.parts.len() < self.n_threads && self.started < self.n_parts {
                self.start();
            }
            match self.parts.front()?.recv() {
                Ok(Message::Batch(batch)) => {
                    if batch.is_err() {
                        self.stop();
                    }
                    return Some(batch);
                }
                Ok(Message::End) => {
                    self.parts.pop_front();
                }
                Err(_) => {
                    self.stop();
                    return Some(Err(damaged(&self.path)));
                }
            }
        }
    }
}

impl InOrder {
    fn stop(&mut self) {
        self.parts.clear();
        self.started = self.n_parts;
    }
}
