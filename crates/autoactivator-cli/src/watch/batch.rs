//! How is nothing lost and nothing done twice, whenever the process is killed? Files are taken in batches.
//!
//! A [`Batch`] is a hidden folder that files are moved into before anything is done with them. Once it is done, the whole
//! folder, with the answers if there are any, gets its final name in one step. So what a killed process leaves is a batch
//! with the same files in it. It is done again, which changes nothing if it was learned, because a model lists the content
//! of every batch that it learned.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use autoactivator::write_atomically;

use super::arrivals::{Purpose, Ready};
use super::{ANSWERED, FAILED, INBOX, LEARNED};

/// The file that says why a batch failed.
const WHY: &str = "why.txt";

/// Where the files of a batch are that has answers beside them.
const FILES: &str = "files";

/// Files that were taken together.
pub struct Batch {
    folder: PathBuf,
    pub purpose: Purpose,
}

impl Purpose {
    /// Where files are while they are worked on.
    fn working(self) -> &'static str {
        match self {
            Self::Learn => ".learning",
            Self::Answer => ".answering",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Self::Learn => LEARNED,
            Self::Answer => ANSWERED,
        }
    }
}

impl Batch {
    /// What an earlier process left unfinished.
    pub fn left_in(folder: &Path) -> Vec<Self> {
        let left = |purpose: Purpose| {
            let batch = Self {
                folder: folder.to_owned(),
                purpose,
            };
            // A process that was killed before it had moved the first file leaves empty folders, which can be removed.
            let _ = fs::remove_dir(batch.files());
            let empty = fs::remove_dir(batch.working()).is_ok();
            (!empty && batch.working().is_dir()).then_some(batch)
        };
        [Purpose::Learn, Purpose::Answer]
            .into_iter()
            .filter_map(left)
            .collect()
    }

    /// Moves files into a batch. One that has gone meanwhile is left out; none if all have.
    pub fn take(folder: &Path, ready: &Ready) -> Result<Option<Self>> {
        let batch = Self {
            folder: folder.to_owned(),
            purpose: ready.purpose,
        };
        let files = batch.files();
        let mut taken = 0;
        for file in &ready.files {
            let from = folder.join(file);
            if !from.exists() {
                continue;
            }
            let to = files.join(file.strip_prefix(INBOX).unwrap_or(file));
            let parent = to.parent().unwrap_or(&files);
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
            fs::rename(&from, &to).with_context(|| format!("cannot move {}", from.display()))?;
            taken += 1;
        }
        Ok((taken > 0).then_some(batch))
    }

    fn working(&self) -> PathBuf {
        self.folder.join(self.purpose.working())
    }

    fn files(&self) -> PathBuf {
        match self.purpose {
            Purpose::Learn => self.working(),
            Purpose::Answer => self.working().join(FILES),
        }
    }

    /// What is read: the folder, or the one table in it.
    pub fn rows(&self) -> Result<PathBuf> {
        let files = self.files();
        let entries = fs::read_dir(&files).with_context(|| files.display().to_string())?;
        let entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        match &entries[..] {
            [only] if only.is_file() => Ok(only.clone()),
            _ => Ok(files),
        }
    }

    /// Where the answers are written: they get their final name with the batch, all at once.
    pub fn answers(&self, ending: &str) -> PathBuf {
        self.working().join("answers").with_extension(ending)
    }

    /// Its name once it is done, such as `learned/7`: the first number that is free.
    pub fn name(&self) -> String {
        self.free(self.purpose.done())
    }

    fn free(&self, kind: &str) -> String {
        let numbered = fs::read_dir(self.folder.join(kind))
            .into_iter()
            .flatten()
            .flatten();
        let numbers = numbered.filter_map(|entry| entry.file_name().to_str()?.parse::<u64>().ok());
        format!("{kind}/{}", numbers.max().unwrap_or(0) + 1)
    }

    /// Puts the batch where it belongs once it is done.
    pub fn settle(self) -> Result<()> {
        let name = self.name();
        self.put(&name)
    }

    /// Puts aside a batch that cannot be read, and says why beside it; returns where it is.
    pub fn fail(self, why: &str) -> Result<String> {
        let name = self.free(FAILED);
        // Written first: a process that is killed here finds the batch again, and fails again.
        write_atomically(self.working().join(WHY), format!("{why}\n").as_bytes())?;
        self.put(&name)?;
        Ok(name)
    }

    fn put(&self, name: &str) -> Result<()> {
        let to = self.folder.join(name);
        let parent = to.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        fs::rename(self.working(), &to).with_context(|| format!("cannot create {}", to.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        folder
    }

    fn ready(purpose: Purpose, files: &[&str]) -> Ready {
        let files = files.iter().map(PathBuf::from).collect();
        Ready { purpose, files }
    }

    #[test]
    fn a_batch_keeps_its_folders_and_gets_the_next_number() {
        let folder = folder(&[
            "cat/1.png",
            "dog/1.png",
            "learned/4/old.png",
            "learned/not a number/x",
        ]);
        let at = folder.path();
        let all = ready(Purpose::Learn, &["cat/1.png", "dog/1.png", "gone/1.png"]);
        let batch = Batch::take(at, &all).unwrap().unwrap();
        assert_eq!(batch.rows().unwrap(), at.join(".learning"));
        assert_eq!(batch.name(), "learned/5");
        batch.settle().unwrap();
        assert!(at.join("learned/5/cat/1.png").is_file() && at.join("learned/5/dog/1.png").is_file());
        assert!(!at.join("cat/1.png").exists() && !at.join(".learning").exists());
        assert!(
            Batch::take(at, &ready(Purpose::Learn, &["gone/1.png"]))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn what_a_killed_process_leaves_is_found() {
        let folder = folder(&[".answering/files/rows.csv"]);
        fs::create_dir(folder.path().join(".learning")).unwrap();
        let left = Batch::left_in(folder.path());
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].purpose, Purpose::Answer);
        assert_eq!(
            left[0].rows().unwrap(),
            folder.path().join(".answering/files/rows.csv")
        );
        assert_eq!(left[0].name(), "answered/1");
    }

    #[test]
    fn a_batch_that_failed_says_why() {
        let folder = folder(&["inbox/rows.csv"]);
        let batch = Batch::take(folder.path(), &ready(Purpose::Answer, &["inbox/rows.csv"])).unwrap();
        assert_eq!(batch.unwrap().fail("it is empty").unwrap(), "failed/1");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("failed/1/why.txt"), "it is empty\n");
        assert_eq!(read("failed/1/files/rows.csv"), "inbox/rows.csv");
    }
}
