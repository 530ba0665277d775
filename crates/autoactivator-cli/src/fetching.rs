//! What fetching data sets and backbones have in common: where they go, from where, and a progress bar.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use autoactivator_data::dataset;
use autoactivator_data::dataset::fetch::{self, Entry, Fetcher, Got, Patience, Watcher};
use indicatif::ProgressBar;

use crate::args::named_data_dir;
use crate::interrupt;
use crate::progress;

/// Takes an entry from a mirror, a folder or a file of the user instead of its publisher.
pub fn from(mut entry: Entry, source: Option<&str>) -> Result<Entry> {
    let Some(source) = source else {
        return Ok(entry);
    };
    if entry.items.len() > 1 && Path::new(source).is_file() {
        let files: Vec<&str> = entry.items.iter().map(|item| item.file.as_str()).collect();
        bail!(
            "--from {source}: {} has {} files ({}): give the folder that they are in",
            entry.name,
            files.len(),
            files.join(", ")
        );
    }
    entry.mirrors = vec![source.to_owned()];
    for item in &mut entry.items {
        item.path.clone_from(&item.file);
    }
    Ok(entry)
}

/// Fetches an entry into a folder, with a progress bar.
pub fn get(entry: &Entry, folder: &Path) -> Result<Got> {
    let mut bar = FetchBar::new();
    let got = Fetcher::new(Patience::default()).get(entry, folder, &mut bar);
    bar.finish();
    Ok(got?)
}

/// The given folder, or else the data folder that already has the entry `below` it, or else the first writable one; in
/// each the folder `below`.
pub fn destination(entry: &Entry, given: Option<&Path>, below: &str) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.join(below));
    }
    let folders = dataset::folders(named_data_dir().as_deref());
    let mut folders: Vec<PathBuf> = folders.into_iter().map(|folder| folder.join(below)).collect();
    if let Some(found) = folders
        .iter()
        .position(|folder| folder.join(&entry.name).is_dir())
    {
        return Ok(folders.swap_remove(found));
    }
    let mut last = None;
    for folder in folders {
        match fetch::prepare(entry, &folder) {
            Ok(_) => return Ok(folder),
            Err(error) => {
                if let Some(error) = last.replace(error) {
                    say!("{error}");
                }
            }
        }
    }
    match last {
        Some(error) => Err(error.into()),
        None => bail!("no folder to put it into: give one with --data-dir"),
    }
}

/// A progress bar over the bytes of a file.
struct FetchBar {
    bar: ProgressBar,
    file: String,
}

impl FetchBar {
    fn new() -> Self {
        Self {
            bar: progress::begin(
                0,
                "{bytes}/{total_bytes} [{bytes_per_sec}, {left} left] {wide_msg}",
            ),
            file: String::new(),
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for FetchBar {
    fn received(&mut self, file: &str, done: u64, of: Option<u64>) {
        self.bar.set_length(of.unwrap_or(done));
        self.bar.set_position(done);
        if self.file != file {
            // What an earlier command fetched says nothing about the speed of this one.
            self.bar.reset_eta();
            self.file = file.to_owned();
            self.bar.set_message(file.to_owned());
            // The bar appears with the first byte; before that there is no progress to show.
            self.bar.enable_steady_tick(Duration::from_millis(200));
        }
    }

    fn note(&mut self, message: &str) {
        self.bar.suspend(|| say!("{message}"));
    }

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
}
