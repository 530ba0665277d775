//! Where a command writes: a file that is whole or not there at all, or stdout for `-`.
//!
//! Every command asks [`Output::new`] before it opens anything. An output that is one of the inputs, however it is
//! spelled, is refused there, and so is one that would destroy a model.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use autoactivator::format::NewFile;

use crate::terminal;

/// The name of stdin and stdout.
pub const STANDARD: &str = "-";

/// Whether a path means stdin or stdout.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD)
}

/// A place to write to.
pub struct Output {
    /// The file behind all links; none for stdout.
    file: Option<PathBuf>,
}

/// What may be replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// A file of the same kind, but never a model.
    Files,
    /// Nothing.
    Nothing,
    /// A model, because the user said so.
    Forced,
}

impl Replace {
    /// For outputs that are models: nothing, unless forced.
    pub fn models(force: bool) -> Self {
        if force { Self::Forced } else { Self::Nothing }
    }
}

impl Output {
    /// Checks a place to write to.
    pub fn new(path: &Path, inputs: &[&Path], replace: Replace) -> Result<Self> {
        if is_standard(path) {
            return Ok(Self { file: None });
        }
        let name = path.display();
        if let Some(input) = inputs.iter().find(|input| is_part_of(path, input)) {
            let input = input.display();
            bail!("cannot write {name}: it would overwrite the input {input}; choose another name");
        }
        if path.is_dir() {
            bail!("cannot write {name}: it is a directory");
        }
        if path.file_name().is_none() {
            bail!("cannot write {name}: it is not the name of a file");
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) {
            bail!("cannot write {name}: its directory does not exist");
        }
        if path.is_file() && replace == Replace::Nothing {
            bail!("cannot write {name}: it exists already; choose another name, or replace it with --force");
        }
        if replace == Replace::Files && is_model(path) {
            bail!("cannot write {name}: it is a model, which would be lost; choose another name");
        }
        // A link stays a link: the file that it points to is replaced.
        let file = if path.is_symlink() {
            fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
        } else {
            path.to_owned()
        };
        Ok(Self { file: Some(file) })
    }

    /// Whether this is the same file as another output, or both are stdout.
    pub fn is_same(&self, other: &Self) -> bool {
        self.file.as_deref().map(resolved) == other.file.as_deref().map(resolved)
    }

    /// The file; none for stdout.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Refuses a folder that cannot be written to, and leaves nothing behind.
    pub fn check_writable(&self) -> Result<()> {
        match &self.file {
            Some(path) if path.is_file() || !path.exists() => Ok(NewFile::create(path).map(drop)?),
            _ => Ok(()),
        }
    }

    /// Begins to write.
    pub fn create(&self) -> Result<Writer> {
        let Some(path) = &self.file else {
            let to = Box::new(BufWriter::new(terminal::stdout()));
            return Ok(Writer { to, file: None });
        };
        // A device or a pipe has no place beside it: what is written to it is gone.
        if path.exists() && !path.is_file() {
            let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
            let to = Box::new(BufWriter::new(file));
            return Ok(Writer { to, file: None });
        }
        let file = NewFile::create(path)?;
        let to = Box::new(BufWriter::new(file.open()?));
        Ok(Writer { to, file: Some(file) })
    }

    /// Checks a place for what a command writes when its work is done, before it begins.
    pub fn checked(path: &Path, endings: &[&str], inputs: &[&Path]) -> Result<Self> {
        check_ending(path, endings)?;
        let output = Self::new(path, inputs, Replace::Files)?;
        output.check_writable()?;
        Ok(output)
    }

    /// Writes a report, and says where it is.
    pub fn deliver(&self, report: &str) -> Result<()> {
        self.write(report.as_bytes())?;
        if let Some(file) = self.file() {
            say!("report: {}", file.display());
        }
        Ok(())
    }

    /// Writes everything at once.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut writer = self.create()?;
        writer.write_all(bytes)?;
        writer.finish()
    }
}

/// A folder that does not exist yet.
pub struct NewFolder(PathBuf);

impl NewFolder {
    /// Checks the name of a folder to make.
    pub fn new(path: &Path, inputs: &[&Path]) -> Result<Self> {
        let name = path.display();
        if is_standard(path) {
            bail!("a folder is written here: {name} cannot be one");
        }
        if path.symlink_metadata().is_ok() {
            bail!("cannot write {name}: it exists already; choose another name");
        }
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            bail!("cannot write {name}: its directory does not exist");
        }
        if let Some(input) = inputs.iter().find(|input| is_part_of(parent, input)) {
            let input = input.display();
            bail!("cannot write {name}: it would become part of the input {input}; choose another name");
        }
        Ok(Self(path.to_owned()))
    }

    /// Makes the folder.
    pub fn create(self) -> Result<PathBuf> {
        fs::create_dir(&self.0).with_context(|| format!("cannot make {}", self.0.display()))?;
        Ok(self.0)
    }
}

/// What a command writes to; a file gets its name when [`finish`](Self::finish) is called.
pub struct Writer {
    to: Box<dyn Write>,
    file: Option<NewFile<'static>>,
}

impl Writer {
    /// Ends the output.
    pub fn finish(self) -> Result<()> {
        let Self { mut to, file } = self;
        let place = || {
            file.as_ref()
                .map_or_else(|| "stdout".to_owned(), |file| file.path().display().to_string())
        };
        to.flush().with_context(|| format!("cannot write {}", place()))?;
        drop(to);
        match file {
            Some(file) => Ok(file.give_name()?),
            None => Ok(()),
        }
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.to.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

/// Refuses a name for a model that is `-` or says that it is something else.
pub fn check_model_name(path: &Path) -> Result<()> {
    let name = path.display();
    if is_standard(path) {
        bail!("a model is a file that is read and written: {name} cannot be one");
    }
    match ending(path) {
        Some(ending) if OTHER_KINDS.contains(&ending.as_str()) => {
            bail!(
                "{name}: a model is written here, and the name ends in .{ending}: choose one like model.aact"
            )
        }
        _ => Ok(()),
    }
}

/// Endings of files that are no models.
const OTHER_KINDS: [&str; 16] = [
    "arrow", "csv", "feather", "gz", "html", "ipc", "jpg", "json", "jsonl", "npy", "npz", "onnx", "parquet",
    "png", "tsv", "txt",
];

/// The ending of a name, in small letters.
pub fn ending(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?;
    Some(ending.to_ascii_lowercase())
}

/// Refuses a name whose ending is none of these.
pub fn check_ending(path: &Path, allowed: &[&str]) -> Result<()> {
    match ending(path) {
        Some(found) if !is_standard(path) && !allowed.contains(&found.as_str()) => {
            let name = path.display();
            let allowed: Vec<String> = allowed.iter().map(|ending| format!(".{ending}")).collect();
            bail!(
                "{name}: the name ends in .{found}, but what is written here ends in {}",
                allowed.join(" or ")
            )
        }
        _ => Ok(()),
    }
}

/// A path without links and detours; the file itself need not exist.
fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Whether a file is an input, or lies in a folder that is one.
fn is_part_of(path: &Path, input: &Path) -> bool {
    if let (Ok(path), Ok(input)) = (fs::metadata(path), fs::metadata(input))
        && same_file(&path, &input)
    {
        return true;
    }
    match (fs::canonicalize(path), fs::canonicalize(input)) {
        (Ok(path), Ok(input)) => path == input || (input.is_dir() && path.starts_with(&input)),
        _ => false,
    }
}

/// Whether two names are of one file, as hard links are.
#[cfg(unix)]
fn same_file(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere only the resolved paths are compared.
#[cfg(not(unix))]
fn same_file(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    false
}

/// Whether a file begins as models and partial memories do.
fn is_model(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    let mark = b"{\"__metadata__\":{\"autoactivator\":";
    path.is_file() && read.is_ok() && start.get(8..8 + mark.len()) == Some(mark.as_slice())
}
