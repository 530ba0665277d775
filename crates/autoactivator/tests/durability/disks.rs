//! Disks that note what is asked of them, and disks that fail.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use autoactivator::format::{Disk, System};

/// One thing that was asked of a disk.
#[derive(Clone, Debug)]
pub enum Call {
    Create(PathBuf),
    Write(PathBuf, Vec<u8>),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    SyncFolder,
}

/// The system's disk, which notes every call, and fails at the one at `fails_at`.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    pub calls: Arc<Mutex<Vec<Call>>>,
    pub fails_at: Option<usize>,
}

impl Watched {
    pub fn failing_at(call: usize) -> Self {
        Self {
            fails_at: Some(call),
            ..Self::default()
        }
    }

    /// Notes the call; one that fails is not carried out.
    fn note(&self, call: Call) -> io::Result<()> {
        let mut calls = self.calls.lock().unwrap();
        calls.push(call);
        if self.fails_at == Some(calls.len() - 1) {
            return Err(io::Error::other("made to fail"));
        }
        Ok(())
    }
}

impl Disk for Watched {
    fn create(&self, path: &Path, like: Option<&Metadata>) -> io::Result<File> {
        self.note(Call::Create(path.to_owned()))?;
        System.create(path, like)
    }

    fn write(&self, file: &File, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.note(Call::Write(path.to_owned(), bytes.to_vec()))?;
        System.write(file, path, bytes)
    }

    fn sync(&self, file: &File, path: &Path) -> io::Result<()> {
        self.note(Call::Sync(path.to_owned()))?;
        System.sync(file, path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.note(Call::Rename(from.to_owned(), to.to_owned()))?;
        System.rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.note(Call::SyncFolder)?;
        System.sync_folder(folder)
    }
}
