//! One file from one mirror: ask, go on where the last try ended, verify, give it its name.
//!
//! A [`Journey`] tries as often as the patience allows; `transfer` talks to the mirror, `part` keeps what arrives.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::catalogue::{Item, Kind};
use super::error::{Error, io_error};
use super::part::{Origin, Part};
use super::transfer::{self, Event, Head};
use super::verify::Wanted;
use super::{Fetcher, Watcher, unpack};

/// How often the watcher is asked whether to stop while nothing arrives.
const TICK: Duration = Duration::from_millis(100);

/// How one try ended, when not with the whole file.
enum Failure {
    /// Another try may succeed.
    Passing {
        cause: String,
        of: Option<u64>,
    },
    Final(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// One file on its way.
struct Journey<'a> {
    fetcher: &'a Fetcher,
    url: &'a str,
    wanted: &'a Wanted<'a>,
    part: Part,
    watcher: &'a mut dyn Watcher,
}

/// Fetches one file from one mirror into a folder, where it gets its name when its content is right.
pub(super) fn fetch(
    fetcher: &Fetcher,
    mirror: &str,
    wanted: &Wanted<'_>,
    folder: &Path,
    watcher: &mut dyn Watcher,
) -> Result<(), Error> {
    let item = wanted.item;
    let here = here(mirror, item);
    let url = match &here {
        Some(path) => path.display().to_string(),
        None => format!("{}/{}", mirror.trim_end_matches('/'), item.path),
    };
    let part = Part::open(folder, &item.file);
    let mut journey = Journey {
        fetcher,
        url: &url,
        wanted,
        part,
        watcher,
    };
    match here {
        Some(path) => journey.copy(&path)?,
        None => journey.arrive()?,
    }
    let mut part = journey.part;
    match &item.kind {
        Kind::Packed => part.finish(&folder.join(&item.file)),
        Kind::Archive { members } => {
            unpack::unpack(part.path(), members, folder, &|| watcher.interrupted())?;
            part.remove()
        }
    }
}

/// The file of a mirror that is a path on this machine: a folder, or the file itself.
fn here(mirror: &str, item: &Item) -> Option<PathBuf> {
    let path = Path::new(mirror);
    if path.is_dir() {
        return Some(path.join(&item.file));
    }
    path.is_file().then(|| path.to_owned())
}

impl Journey<'_> {
    /// Tries until the whole file is there and its content is right.
    fn arrive(&mut self) -> Result<(), Error> {
        let mut pause = self.fetcher.patience.pause;
        let mut tries = 0;
        loop {
            match self.attempt() {
                Ok(resumed) => match self.verified() {
                    // Two versions of the file may have been joined: only a whole fetch shows what the mirror has.
                    Err(Error::WrongContent { .. }) if resumed => {}
                    verdict => return verdict,
                },
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing { cause, of }) => {
                    tries += 1;
                    let (url, got) = (self.url.to_owned(), self.part.len());
                    if tries >= self.fetcher.patience.tries {
                        return Err(Error::Cut { url, cause, got, of });
                    }
                    let seconds = pause.as_secs_f64();
                    self.watcher
                        .note(&format!("{url}: {cause}; trying again in {seconds} s"));
                    self.sleep(pause, of)?;
                    pause *= 2;
                }
            }
        }
    }

    /// Copies a file of this machine.
    fn copy(&mut self, path: &Path) -> Result<(), Error> {
        let unread = |cause| io_error(path, cause);
        let mut file = File::open(path).map_err(unread)?;
        let of = file.metadata().map_err(unread)?.len();
        self.part.begin(&Origin {
            url: self.url.to_owned(),
            version: String::new(),
        })?;
        let mut chunk = vec![0; 1 << 20];
        loop {
            if self.watcher.interrupted() {
                return Err(self.interrupted(Some(of)));
            }
            let n = file.read(&mut chunk).map_err(unread)?;
            if n == 0 {
                return self.verified();
            }
            self.check_length(self.part.len() + n as u64)?;
            self.part.write(&chunk[..n])?;
            self.watcher
                .received(&self.wanted.item.file, self.part.len(), Some(of));
        }
    }

    fn verified(&mut self) -> Result<(), Error> {
        let Err(found) = self.wanted.verdict(self.part.path())? else {
            return Ok(());
        };
        self.part.remove()?;
        let expected = match &self.wanted.accepted[..] {
            [] => "any".to_owned(),
            accepted => accepted.join(" or "),
        };
        Err(Error::WrongContent {
            url: self.url.to_owned(),
            expected,
            found,
        })
    }

    /// Asks once and writes down what arrives. Returns whether it went on where an earlier try had ended.
    fn attempt(&mut self) -> Result<bool, Failure> {
        let known = self.part.origin(self.url);
        let events = transfer::start(&self.fetcher.agent, self.url, self.part.len(), known);
        let (mut of, mut resumed) = (None, false);
        loop {
            match self.next(&events, of)? {
                Event::Head(head) => {
                    resumed = self.answered(&head)?;
                    if head.status == 416 {
                        return Ok(true);
                    }
                    of = head.length.map(|length| self.part.len() + length);
                    self.check_length(of.unwrap_or(0))?;
                }
                Event::Bytes(bytes) => {
                    self.check_length(self.part.len() + bytes.len() as u64)?;
                    self.part.write(&bytes)?;
                    self.watcher.received(&self.wanted.item.file, self.part.len(), of);
                }
                Event::End if of.is_some_and(|of| self.part.len() < of) => {
                    let cause = "the connection was cut".to_owned();
                    return Err(Failure::Passing { cause, of });
                }
                Event::End => return Ok(resumed),
                Event::Failed(cause) => return Err(Failure::Passing { cause, of }),
                Event::BadAddress(cause) => {
                    let url = self.url.to_owned();
                    return Err(Error::BadAddress { url, cause }.into());
                }
            }
        }
    }

    fn next(&self, events: &Receiver<Event>, of: Option<u64>) -> Result<Event, Failure> {
        loop {
            if self.watcher.interrupted() {
                return Err(self.interrupted(of).into());
            }
            match events.recv_timeout(TICK) {
                Ok(event) => return Ok(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let cause = "the transfer stopped".to_owned();
                    return Err(Failure::Passing { cause, of });
                }
            }
        }
    }

    /// Prepares for what the server is about to send. Returns whether it goes on where an earlier try had ended.
    fn answered(&mut self, head: &Head) -> Result<bool, Failure> {
        match head.status {
            206 if head.start == Some(self.part.len()) => Ok(true),
            // The server does not know ranges, or its file has changed.
            200 => {
                self.part.begin(&Origin {
                    url: self.url.to_owned(),
                    version: head.version.clone(),
                })?;
                Ok(false)
            }
            // The file is whole: there is nothing after its end.
            416 if self.part.len() > 0 && head.whole == Some(self.part.len()) => Ok(true),
            206 | 416 => {
                self.part.remove()?;
                let cause = "the server has no such part of the file".to_owned();
                Err(Failure::Passing { cause, of: None })
            }
            408 | 425 | 429 | 500..=599 => {
                let cause = format!("the server answers with status {}", head.status);
                Err(Failure::Passing { cause, of: None })
            }
            status => {
                let url = self.url.to_owned();
                Err(Error::Refused { url, status }.into())
            }
        }
    }

    /// Refuses a file that is longer than the right one.
    fn check_length(&mut self, length: u64) -> Result<(), Error> {
        let max = self.wanted.item.max_bytes();
        if length <= max {
            return Ok(());
        }
        self.part.remove()?;
        let url = self.url.to_owned();
        Err(Error::TooLong { url, max })
    }

    fn sleep(&self, pause: Duration, of: Option<u64>) -> Result<(), Error> {
        let end = Instant::now() + pause;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            if self.watcher.interrupted() {
                return Err(self.interrupted(of));
            }
            thread::sleep(left.min(TICK));
        }
        Ok(())
    }

    fn interrupted(&self, of: Option<u64>) -> Error {
        Error::Interrupted {
            got: self.part.len(),
            of,
        }
    }
}
