//! Fetches data sets by name: [`Fetcher::get`] brings one from a mirror into a data directory.
//!
//! [`Catalogue`] says what there is and what its content must be. Bytes flow `transfer` (from a mirror) → `part` (on
//! disk, so that a cut connection costs nothing) → `verify` → `unpack`; only then does a file get its final name, and
//! only a complete data set gets the name by which [`open`](super::open) finds it.

mod catalogue;
mod error;
mod folder;
mod item;
mod listing;
mod part;
mod transfer;
mod unpack;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ureq::Agent;

pub use catalogue::{Catalogue, Entry, Item, Kind};
pub use error::Error;
pub use folder::{cache_dir, user_cache};
pub use listing::{Listed, Place, list};

use error::io;

/// What a fetch tells while it is under way.
pub trait Watcher {
    /// `done` of `of` bytes of a file are on disk; `of` is unknown when the mirror does not tell.
    fn received(&mut self, file: &str, done: u64, of: Option<u64>);

    /// Something worth a line: a mirror that failed, a connection that is tried again.
    fn note(&mut self, message: &str);

    /// Whether to stop; what has arrived is kept.
    fn interrupted(&self) -> bool;
}

/// Watches nothing.
impl Watcher for () {
    fn received(&mut self, _file: &str, _done: u64, _of: Option<u64>) {}

    fn note(&mut self, _message: &str) {}

    fn interrupted(&self) -> bool {
        false
    }
}

/// How long a mirror is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How often one file is asked for from one mirror.
    pub tries: u32,
    /// The pause before the second try; it doubles with each further one.
    pub pause: Duration,
    /// How long a connection may be silent.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            tries: 5,
            pause: Duration::from_secs(1),
            silence: Duration::from_secs(30),
        }
    }
}

/// Whether there was anything to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// Files were fetched.
    Fetched,
    /// Everything was there, with the right content.
    AlreadyHere,
}

/// Fetches over HTTP, through the proxy that the environment names.
#[derive(Debug)]
pub struct Fetcher {
    agent: Agent,
    patience: Patience,
}

impl Fetcher {
    /// A fetcher.
    pub fn new(patience: Patience) -> Self {
        Self {
            agent: transfer::agent(patience.silence),
            patience,
        }
    }

    /// Brings a data set into `folder/NAME`. Files that are there with the right content stay as they are.
    pub fn get(&self, entry: &Entry, folder: &Path, watcher: &mut dyn Watcher) -> Result<Got, Error> {
        let target = folder.join(&entry.name);
        let missing = missing(entry, &target)?;
        if missing.is_empty() {
            return Ok(Got::AlreadyHere);
        }
        let staging = prepare(entry, folder)?;
        let fetched = self.fetch_items(entry, &missing, &staging, watcher);
        if fetched.is_err() {
            // Only goes when it is empty: what has arrived is kept.
            let _ = fs::remove_dir(&staging);
        }
        fetched?;
        place(&missing, &staging, &target)?;
        Ok(Got::Fetched)
    }

    fn fetch_items(
        &self,
        entry: &Entry,
        items: &[&Item],
        staging: &Path,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        for item in items {
            if !verify::is_in(item, staging)? {
                self.fetch_item(entry, item, staging, watcher)?;
            }
        }
        Ok(())
    }

    fn fetch_item(
        &self,
        entry: &Entry,
        item: &Item,
        staging: &Path,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        let mut failures = Vec::new();
        for mirror in &entry.mirrors {
            let url = format!("{}/{}", mirror.trim_end_matches('/'), item.file);
            match item::fetch(self, &url, item, staging, watcher) {
                Err(error) if error.is_of_the_mirror() => {
                    if entry.mirrors.len() > 1 {
                        watcher.note(&error.to_string());
                    }
                    failures.push(error);
                }
                done => return done,
            }
        }
        match failures.pop() {
            Some(only) if failures.is_empty() => Err(only),
            Some(last) => Err(Error::NoMirror {
                file: item.file.clone(),
                n_mirrors: failures.len() + 1,
                last: Box::new(last),
            }),
            None => Err(Error::NoMirrors {
                name: entry.name.clone(),
            }),
        }
    }
}

/// Makes the folder in which a data set is put together. That it can be made shows that `folder` can be written to.
pub fn prepare(entry: &Entry, folder: &Path) -> Result<PathBuf, Error> {
    let staging = staging(folder, &entry.name);
    fs::create_dir_all(&staging).map_err(|cause| io(&staging, cause))?;
    Ok(staging)
}

fn staging(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

fn missing<'a>(entry: &'a Entry, target: &Path) -> Result<Vec<&'a Item>, Error> {
    let mut missing = Vec::new();
    for item in &entry.items {
        if !verify::is_in(item, target)? {
            missing.push(item);
        }
    }
    Ok(missing)
}

/// Moves verified files to where they are looked for.
fn place(items: &[&Item], staging: &Path, target: &Path) -> Result<(), Error> {
    fs::create_dir_all(target).map_err(|cause| io(target, cause))?;
    for file in items.iter().flat_map(|item| item.outputs()) {
        let path = target.join(file);
        fs::rename(staging.join(file), &path).map_err(|cause| io(&path, cause))?;
    }
    fs::remove_dir_all(staging).map_err(|cause| io(staging, cause))
}
