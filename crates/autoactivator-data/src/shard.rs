//! Shards: feature tables that are learned as files, each known by the hash of what it holds.
//!
//! [`Shard::find`] reads a file to know it, [`Shard::add_to`] sums its rows into a worker's [`Share`]; a shard that the
//! model or the share knows already adds nothing. [`labelled`] streams the rows of a table for a model, or for one to be.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use autoactivator::{Consolidation, Labels, Learner, Observer, Share, Table};
use sha2::{Digest, Sha256};

use crate::error::{Error, bad, io_error};
use crate::origin;
use crate::table::{Columns, FeatureTable, NO_CLASSES};

/// A file with rows, and the hash of what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    path: PathBuf,
    sha256: String,
}

impl Shard {
    /// Reads a file to know what it holds.
    pub fn find(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            sha256: sha256(path)?,
        })
    }

    /// SHA-256 of the content, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Adds its rows to a share, under `name`, and says whether it did: not when its content is known already.
    pub fn add_to(
        &self,
        share: &mut Share,
        name: &str,
        columns: &Columns,
        observer: &mut dyn Observer,
    ) -> Result<bool, Error> {
        if !share.enter(&self.sha256, name) {
            return Ok(false);
        }
        add_rows(share, &self.path, columns, observer)?;
        Ok(true)
    }
}

/// Adds the rows of a table that is no file to be remembered.
pub fn add_rows(
    share: &mut Share,
    path: &Path,
    columns: &Columns,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    for batch in labelled(path, columns, share.pool())? {
        let (x, y) = batch?;
        share
            .add(x.rows(), &y)
            .map_err(|error| bad(path, error.to_string()))?;
        observer.observed(share.n_rows(), None);
        if observer.interrupted() {
            return Err(autoactivator::Error::Interrupted.into());
        }
    }
    Ok(())
}

/// Rows with their classes.
pub type LabelledRows = Box<dyn Iterator<Item = Result<(Table, Labels), Error>>>;

/// Streams the rows of a table with their classes, as `model` expects them.
pub fn labelled(path: &Path, columns: &Columns, model: &Consolidation) -> Result<LabelledRows, Error> {
    let columns = Columns {
        width: model.n_features(),
        ..columns.clone()
    };
    let table = FeatureTable::open(path, &columns)?;
    if let Some(reason) = origin::difference(model.origin(), table.origin().as_ref()) {
        return Err(bad(path, reason));
    }
    if !table.shape().labelled {
        return Err(bad(path, NO_CLASSES));
    }
    let path = path.to_owned();
    Ok(Box::new(table.batches()?.map(move |batch| {
        let batch = batch?;
        let y = batch.y.ok_or_else(|| bad(&path, NO_CLASSES))?;
        Ok((batch.x, Labels::from_names(y)))
    })))
}

/// Makes the pool of `model` from rows of a sample, whose origin is the model's from then on; nothing is learned yet.
pub fn begin(
    model: &mut Consolidation,
    sample: &[PathBuf],
    columns: &Columns,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let mut next = model.clone();
    for path in sample {
        let origin = FeatureTable::open(path, columns)?.origin();
        next.set_origin(next.origin().cloned().or(origin));
    }
    let rows = all_labelled(sample, columns, &next)?;
    next.begin::<Error, _>(rows, observer)?;
    *model = next;
    Ok(())
}

/// The rows of several tables, one after the other; all of them are opened first.
pub fn all_labelled(
    paths: &[PathBuf],
    columns: &Columns,
    model: &Consolidation,
) -> Result<LabelledRows, Error> {
    let tables = paths.iter().map(|path| labelled(path, columns, model));
    let tables: Vec<LabelledRows> = tables.collect::<Result<_, _>>()?;
    Ok(Box::new(tables.into_iter().flatten()))
}

fn sha256(path: &Path) -> Result<String, Error> {
    let read = |path: &Path| -> io::Result<String> {
        let mut hasher = Hasher(Sha256::new());
        io::copy(&mut File::open(path)?, &mut hasher)?;
        let digest = hasher.0.finalize();
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    };
    read(path).map_err(|cause| io_error(path, cause))
}

/// A hash that can be written to.
struct Hasher(Sha256);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
