//! Files that a command writes: can they be written, and would they destroy what was given?

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use autoactivator_data::{dataset, is_image};

/// Refuses a file that cannot be written, or that is part of what was given. Nothing is left behind.
pub fn check(path: &Path, given: &[&Path]) -> Result<()> {
    refuse_given(path, given)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        bail!("cannot write {}: its directory does not exist", path.display());
    }
    if path.is_dir() {
        bail!("cannot write {}: it is a directory", path.display());
    }
    let new = !path.exists();
    let opened = OpenOptions::new().write(true).create_new(new).open(path);
    opened.with_context(|| format!("cannot write {}", path.display()))?;
    if new {
        fs::remove_file(path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Refuses to write over a file that was given, or over a table or image in a folder that was given.
pub fn refuse_given(path: &Path, given: &[&Path]) -> Result<()> {
    let inside = |folder: &Path| path.exists() && is_data(path) && whole(path).starts_with(whole(folder));
    let destroyed = given.iter().find(|given| same(path, given) || inside(given));
    match destroyed {
        None => Ok(()),
        Some(given) => bail!(
            "{}: would overwrite what was given as {}: choose another name",
            path.display(),
            given.display()
        ),
    }
}

/// Whether two paths lead to one file, or will once it is written.
pub fn same(a: &Path, b: &Path) -> bool {
    whole(a) == whole(b)
}

/// Whether a file is a table or an image, judged by its name.
fn is_data(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    is_image(path) || name.is_some_and(|name| dataset::name_of(path) != name)
}

/// A path without links and detours; the file itself need not exist.
fn whole(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    path.canonicalize().unwrap_or_else(|_| {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        path.file_name().map_or(folder.clone(), |name| folder.join(name))
    })
}
