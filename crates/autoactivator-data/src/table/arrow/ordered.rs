//! Several readers at work, their results in order: [`in_order`] decodes the parts of a file on threads of their own.
//!
//! The libraries that decode Parquet and Arrow may panic on a damaged file. So they only ever run on threads called
//! [`READER`], and a thread that panics becomes an error.

use std::collections::VecDeque;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use crate::batch::Stream;
use crate::error::{Error, bad, io_error};
use crate::table::READER;

/// How many batches a part may be ahead of its reader: about 256 MB for all parts together.
const AHEAD: usize = 32;

/// Reads one part of a file.
pub(super) type ReadPart<T> = Arc<dyn Fn(usize) -> Result<Stream<T>, Error> + Send + Sync>;

/// The batches of all parts, part after part. Each core reads one part at a time.
pub(super) fn in_order<T: Send + 'static>(path: &Path, n_parts: usize, read: ReadPart<T>) -> Stream<T> {
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

/// Does something with a file on a thread of its own, so that a panic becomes an error.
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
    bad(path, "damaged: it cannot be read to its end; write it again")
}

struct InOrder<T> {
    path: PathBuf,
    read: ReadPart<T>,
    n_parts: usize,
    started: usize,
    n_threads: usize,
    parts: VecDeque<Receiver<Message<T>>>,
}

enum Message<T> {
    Batch(Result<T, Error>),
    /// The part is complete; without this message its thread has died.
    End,
}

impl<T: Send + 'static> InOrder<T> {
    fn start(&mut self) {
        let (sender, receiver) = sync_channel(AHEAD);
        let (read, part) = (self.read.clone(), self.started);
        // When no thread can be started, the part has no end, which is reported as damage.
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

impl<T: Send + 'static> Iterator for InOrder<T> {
    type Item = Result<T, Error>;

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

impl<T> InOrder<T> {
    fn stop(&mut self) {
        self.parts.clear();
        self.started = self.n_parts;
    }
}
