//! Shards: feature tables that are learned as files, each identified by the hash of its content.
//!
//! [`Shard::find`] hashes a file, and [`Shard::add_to`] sums its rows into a worker's [`Share`]. A shard that the model
//! or the share already knows adds nothing. [`labelled`] streams the rows of a table as a model expects them.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use autoactivator_data::Shard;
//!
//! let folder = std::env::temp_dir().join(format!("shard-example-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! let (first, copy) = (folder.join("first.csv"), folder.join("copy.csv"));
//! std::fs::write(&first, "5.1,3.5,setosa\n")?;
//! std::fs::copy(&first, &copy)?;
//! assert_eq!(Shard::find(&first)?.sha256(), Shard::find(&copy)?.sha256());
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```

use std::path::{Path, PathBuf};

use autoactivator::{Consolidation, Labels, Learner, Observer, Share, Table};

use crate::error::{Error, bad};
use crate::hash::sha256_of_file;
use crate::origin;
use crate::table::{Columns, FeatureTable, NO_CLASSES};

/// A file with rows, and the hash of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    path: PathBuf,
    sha256: String,
}

impl Shard {
    /// Reads a file and hashes its content.
    pub fn find(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            sha256: sha256_of_file(path)?,
        })
    }

    /// SHA-256 of the content, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Adds its rows to a share under `name`. Returns whether it did: a shard whose content is already known adds
    /// nothing.
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

/// Adds the rows of a table to a share without remembering the file: the same rows can be added again.
///
/// The observer is told about every batch, and can interrupt.
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

/// A stream of rows with their classes.
pub type LabelledRows = Box<dyn Iterator<Item = Result<(Table, Labels), Error>>>;

/// Streams the rows of a table with their classes, as `model` expects them.
///
/// A table without classes, or of another origin than the model's, is refused.
pub fn labelled(path: &Path, columns: &Columns, model: &Consolidation) -> Result<LabelledRows, Error> {
    let columns = Columns {
        width: model.n_features(),
        names: model.input().features.clone(),
        ..columns.clone()
    };
    let table = FeatureTable::open(path, &columns)?;
    if let Some(reason) = origin::difference(model.input().origin.as_ref(), table.origin().as_ref()) {
        return Err(bad(path, reason));
    }
    if !table.shape().labelled {
        return Err(bad(path, NO_CLASSES));
    }
    let path = path.to_owned();
    Ok(Box::new(table.batches()?.map(move |batch| {
        let batch = batch?;
        batch.labelled().ok_or_else(|| bad(&path, NO_CLASSES))?
    })))
}

/// Makes the pool of `model` from the rows of a sample, without learning them.
///
/// The model takes over the origin of the sample. When anything fails, it stays as it was.
pub fn begin(
    model: &mut Consolidation,
    sample: &[PathBuf],
    columns: &Columns,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let mut next = model.clone();
    for path in sample {
        let table = FeatureTable::open(path, columns)?;
        let input = next.input_mut();
        input.origin = input.origin.take().or(table.origin());
        input.features = input.features.take().or(table.reading().features);
    }
    let rows = all_labelled(sample, columns, &next)?;
    next.begin::<Error, _>(rows, observer)?;
    *model = next;
    Ok(())
}

/// Streams the rows of several tables, one after the other. All tables are opened first, so that a bad one is found early.
pub fn all_labelled(
    paths: &[PathBuf],
    columns: &Columns,
    model: &Consolidation,
) -> Result<LabelledRows, Error> {
    let tables = paths.iter().map(|path| labelled(path, columns, model));
    let tables: Vec<LabelledRows> = tables.collect::<Result<_, _>>()?;
    Ok(Box::new(tables.into_iter().flatten()))
}
