//! Fetches data sets and backbones by name: [`Fetcher::get`] brings one from a mirror into a data directory.
//!
//! [`Catalogue`] lists what there is and what its content must be. Bytes flow `transfer` (from a mirror) → `part` (on
//! disk, so that a cut connection costs nothing) → `verify` → `unpack`. Only then does a file get its final name, and
//! only a complete data set gets the name by which [`open`](super::open) finds it.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::path::Path;
//!
//! use autoactivator_data::dataset::fetch::{Catalogue, Fetcher, Patience};
//! use autoactivator_data::dataset;
//!
//! let catalogue = Catalogue::published();
//! let mnist = catalogue.find("mnist").ok_or("not in the catalogue")?;
//! let folder = Path::new("data");
//! Fetcher::new(Patience::default()).get(mnist, folder, &mut ())?;
//! assert_eq!(dataset::open("mnist", Some(folder))?.n_classes(), 10);
//! # Ok(())
//! # }
//! ```

mod catalogue;
mod error;
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

use crate::pin;
pub use catalogue::{Catalogue, Checksum, Entry, Item, Kind};
pub use error::Error;
pub use listing::{Listed, Place, list};

use error::io_error;
use verify::Wanted;

/// Is told how a fetch goes, and may stop it. `()` watches nothing.
pub trait Watcher {
    /// `done` of `of` bytes of a file are on disk; `of` is none when the mirror does not tell.
    fn received(&mut self, file: &str, done: u64, of: Option<u64>);

    /// A message for the user: a mirror failed, or a connection is tried again.
    fn note(&mut self, message: &str);

    /// Whether to stop; what has arrived is kept, and the next fetch goes on from there.
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

/// How often a mirror is tried, and how long each try may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How many times one file is asked for from one mirror.
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

/// What a fetch did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    /// Files were fetched.
    Fetched,
    /// Everything was there, with the right content.
    AlreadyHere,
}

/// The checksums in a folder that were pinned on first use, each with the name of its file: nobody has published them.
pub fn pinned(entry: &Entry, folder: &Path) -> Result<Vec<(String, String)>, Error> {
    let of = |item: &Item| {
        let pin = pin::of(&folder.join(&entry.name).join(&item.file));
        let pin = pin.map_err(|error| Error::Pin(Box::new(error))).transpose()?;
        Some(pin.map(|sha256| (item.file.clone(), sha256)))
    };
    entry.items.iter().filter_map(of).collect()
}

/// Fetches over HTTP, through the proxy that the environment names.
#[derive(Debug)]
pub struct Fetcher {
    agent: Agent,
    patience: Patience,
}

impl Fetcher {
    /// A fetcher that tries each mirror this often and this long.
    pub fn new(patience: Patience) -> Self {
        Self {
            agent: transfer::agent(patience.silence),
            patience,
        }
    }

    /// Brings a data set into `folder/NAME`. Files that are already there with the right content stay as they are.
    ///
    /// Mirrors are tried in their order; a path to a folder or a file here is one too. A fetch that was cut off goes on
    /// where it ended.
    pub fn get(&self, entry: &Entry, folder: &Path, watcher: &mut dyn Watcher) -> Result<Got, Error> {
        let target = folder.join(&entry.name);
        let wanted = entry.items.iter().map(|item| verify::wanted(item, &target));
        let missing: Vec<Wanted> = wanted.filter_map(Result::transpose).collect::<Result<_, _>>()?;
        if missing.is_empty() {
            return Ok(Got::AlreadyHere);
        }
        let staging = prepare(entry, folder)?;
        let fetched = self.fetch_items(entry, &missing, &staging, watcher);
        if fetched.is_err() {
            // Only an empty folder is removed: what has arrived is kept.
            let _ = fs::remove_dir(&staging);
        }
        fetched?;
        place(&missing, &staging, &target)?;
        Ok(Got::Fetched)
    }

    fn fetch_items(
        &self,
        entry: &Entry,
        missing: &[Wanted<'_>],
        staging: &Path,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        for wanted in missing {
            if !wanted.is_in(staging)? {
                self.fetch_item(entry, wanted, staging, watcher)?;
            }
        }
        Ok(())
    }

    fn fetch_item(
        &self,
        entry: &Entry,
        wanted: &Wanted<'_>,
        staging: &Path,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        let mut failures = Vec::new();
        for mirror in &entry.mirrors {
            match item::fetch(self, mirror, wanted, staging, watcher) {
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
                file: wanted.item.file.clone(),
                n_mirrors: failures.len() + 1,
                last: Box::new(last),
            }),
            None => Err(Error::NoMirrors {
                name: entry.name.clone(),
            }),
        }
    }
}

/// Makes the folder in which a data set is put together, inside `folder`.
///
/// An error means that `folder` cannot be written to; use this to find a folder that can.
pub fn prepare(entry: &Entry, folder: &Path) -> Result<PathBuf, Error> {
    let staging = staging(folder, &entry.name);
    fs::create_dir_all(&staging).map_err(|cause| io_error(&staging, cause))?;
    Ok(staging)
}

fn staging(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

/// Moves verified files to where they are looked for.
fn place(fetched: &[Wanted<'_>], staging: &Path, target: &Path) -> Result<(), Error> {
    fs::create_dir_all(target).map_err(|cause| io_error(target, cause))?;
    for wanted in fetched {
        for file in wanted.item.outputs() {
            let path = target.join(file);
            fs::rename(staging.join(file), &path).map_err(|cause| io_error(&path, cause))?;
        }
        // What nothing was known of is pinned where it now is.
        verify::wanted(wanted.item, target)?;
    }
    fs::remove_dir_all(staging).map_err(|cause| io_error(staging, cause))
}
