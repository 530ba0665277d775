//! Opens the data set that a user names for `run` or `reproduce`: a table, a known name, or images with a backbone.
//!
//! [`autoactivator_data::dataset`] opens everything except images; images come through [`RowSource`], as for `learn`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use autoactivator::{ImageShape, Table};
use autoactivator_data::dataset::{self, Dataset};
use autoactivator_data::{Batch, ImageFolder, Part};
use autoactivator_exam::experiment::Experiment;

use crate::args::{DataArgs, RowsArgs};
use crate::image_args::ImageArgs;
use crate::rows::{Expected, RowSource, refuse_backbones};

/// Opens a data set: a known name, a folder or table, a folder of images, or the name of one in a data directory.
pub fn open(name: &str, images: &ImageArgs, data: &DataArgs) -> Result<Dataset> {
    let dir = data.dir();
    let known = dataset::NAMES.contains(&name);
    let path = if known {
        PathBuf::from(name)
    } else {
        dataset::place(name, dir.as_deref())?
    };
    let rows = RowsArgs::of_images(path, images.clone(), data.clone());
    if !known && holds_images(&rows) {
        return from_images(&rows);
    }
    refuse_backbones(&rows)?;
    Ok(dataset::open(name, dir.as_deref())?)
}

/// Whether this is a folder of images and not a data set. A given backbone is taken to mean that it holds images.
fn holds_images(rows: &RowsArgs) -> bool {
    let folder = rows.rows.as_path();
    let has_images = || ImageFolder::has_parts(folder) || ImageFolder::open(folder).is_ok();
    folder.is_dir() && !dataset::is_dataset(folder) && (!rows.images.backbones.is_empty() || has_images())
}

fn from_images(rows: &RowsArgs) -> Result<Dataset> {
    let (train, image) = read(rows, Part::Train)?;
    let (test, _) = read(rows, Part::Test)?;
    let folder: &Path = &rows.rows;
    Ok(Dataset::from_rows(
        dataset::name_of(folder),
        folder,
        train,
        test,
        image,
    )?)
}

/// Rows with their classes, and their image shape if they are images.
type NamedRows = ((Table, Vec<String>), Option<ImageShape>);

fn read(rows: &RowsArgs, part: Part) -> Result<NamedRows> {
    let source = RowSource::open(rows, part, &Expected::default())?;
    source.require_classes()?;
    let batch = Batch::collect(source.batches()?.map(|batch| batch.with_context(|| rows.name())));
    let none = || format!("{}: no images found", rows.name());
    let batch = batch?.with_context(none)?;
    Ok(((batch.x, batch.y.unwrap_or_default()), source.image()))
}

/// Finds the backbone files of an experiment.
pub fn backbones(experiment: &Experiment, data: &DataArgs) -> Result<Vec<PathBuf>> {
    let dir = data.dir();
    let find = |name: &String| {
        let hint = || format!("backbone of {}", experiment.dataset);
        dataset::place(name, dir.as_deref()).with_context(hint)
    };
    experiment.backbones.iter().map(find).collect()
}

/// What an experiment needs that is missing here, and how to get it.
pub fn missing(experiment: &Experiment, data: &DataArgs) -> Option<String> {
    let dir = data.dir();
    let built_in = experiment.dataset == "digits";
    let found = dataset::place(&experiment.dataset, dir.as_deref()).map_err(anyhow::Error::from);
    let error = match found.and_then(|_| backbones(experiment, data)) {
        Err(error) if !built_in => error,
        _ => return None,
    };
    let how = match experiment.how_to_get.as_str() {
        "" => String::new(),
        how => format!("; {how}"),
    };
    Some(format!("{error:#}{how}"))
}
