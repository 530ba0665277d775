//! A file that is still arriving: `FILE.part`, with `FILE.part.from` beside it, which tells where it comes from.
//!
//! Both stay on disk after a failure, so that the next fetch goes on where this one ended.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::error::{Error, io_error};

/// The beginning of a file.
pub(super) struct Part {
    path: PathBuf,
    from: PathBuf,
    file: Option<File>,
    len: u64,
}

/// Where a beginning came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The address.
    pub url: String,
    /// What tells one version of the file from another: an entity tag, or else a date; empty when there is neither.
    pub version: String,
}

impl Part {
    /// The beginning of `file` in a folder, empty when there is none yet.
    pub fn open(folder: &Path, file: &str) -> Self {
        let path = folder.join(format!("{file}.part"));
        Self {
            len: fs::metadata(&path).map_or(0, |found| found.len()),
            from: folder.join(format!("{file}.part.from")),
            path,
            file: None,
        }
    }

    /// The file on disk.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes on disk.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Where it came from, when it can be continued from this address: two mirrors may pack the same content
    /// differently.
    pub fn origin(&self, url: &str) -> Option<Origin> {
        let text = fs::read_to_string(&self.from).ok()?;
        let (known, version) = text.split_once('\n')?;
        let origin = Origin {
            url: known.to_owned(),
            version: version.trim_end().to_owned(),
        };
        (self.len > 0 && origin.url == url).then_some(origin)
    }

    /// Starts again with an empty file.
    pub fn begin(&mut self, origin: &Origin) -> Result<(), Error> {
        self.file = None;
        self.len = 0;
        let text = format!("{}\n{}\n", origin.url, origin.version);
        // Emptied before the origin is written: a crash in between leaves no mixture of two files.
        let file = File::create(&self.path).map_err(|cause| io_error(&self.path, cause))?;
        fs::write(&self.from, text).map_err(|cause| io_error(&self.from, cause))?;
        self.file = Some(file);
        Ok(())
    }

    /// Appends what has arrived.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let file = match self.file.take() {
            Some(file) => Ok(file),
            None => OpenOptions::new().append(true).open(&self.path),
        };
        let written = file.and_then(|mut file| {
            file.write_all(bytes)?;
            Ok(file)
        });
        self.file = Some(written.map_err(|cause| io_error(&self.path, cause))?);
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Gives the whole file its name.
    pub fn finish(mut self, name: &Path) -> Result<(), Error> {
        if let Some(file) = self.file.take() {
            // After a power failure, a file with this name must have its content.
            file.sync_all().map_err(|cause| io_error(&self.path, cause))?;
        }
        fs::rename(&self.path, name).map_err(|cause| io_error(name, cause))?;
        remove(&self.from)
    }

    /// Deletes it.
    pub fn remove(&mut self) -> Result<(), Error> {
        self.file = None;
        self.len = 0;
        remove(&self.path)?;
        remove(&self.from)
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(io_error(path, cause)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str) -> Origin {
        Origin {
            url: url.to_owned(),
            version: "\"v1\"".to_owned(),
        }
    }

    #[test]
    fn a_beginning_is_found_again_with_its_origin() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = Part::open(folder.path(), "file");
        part.begin(&origin("here")).unwrap();
        part.write(b"abc").unwrap();
        drop(part);
        let mut part = Part::open(folder.path(), "file");
        assert_eq!(part.len(), 3);
        assert_eq!(part.origin("here"), Some(origin("here")));
        assert_eq!(part.origin("elsewhere"), None);
        part.write(b"de").unwrap();
        assert_eq!(part.len(), 5);
        part.finish(&folder.path().join("file")).unwrap();
        assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"abcde");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_removed_one_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = Part::open(folder.path(), "file");
        part.remove().unwrap();
        part.begin(&origin("here")).unwrap();
        part.write(b"abc").unwrap();
        part.remove().unwrap();
        assert_eq!(part.origin("here"), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
