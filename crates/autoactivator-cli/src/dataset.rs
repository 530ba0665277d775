//! Opens the data set that a user names for `run` or `reproduce`: a table, a known name, or images or sentences with a
//! backbone.
//!
//! [`Found`] is where it is, [`Open`] what is known before features are computed. [`autoactivator_data::dataset`] reads
//! everything except images and sentences; these come through [`RowSource`], as for `learn`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use autoactivator::Table;
use autoactivator_data::dataset::{self, Dataset};
use autoactivator_data::{Batch, ImageFolder, Part};
use autoactivator_exam::admission::Outline;
use autoactivator_exam::experiment::Experiment;
use autoactivator_exam::record::Record;
use autoactivator_exam::report;
use autoactivator_exam::report::exhibit::{Exhibits, of_pixels};

use crate::args::{ColumnArgs, DataArgs, RowsArgs};
use crate::exhibits;
use crate::image_args::ImageArgs;
use crate::rows::{Expected, RowSource, refuse_backbones};
use crate::text_args::TextArgs;
use crate::texts;

/// Data that was found, before any of it is read.
pub struct Found {
    name: String,
    rows: RowsArgs,
    /// Whether features must be computed, of images or sentences.
    computed: bool,
}

impl Found {
    /// Finds a data set: a known name, a folder or table, a folder of images, or the name of one in a data directory.
    pub fn find(
        name: &str,
        images: ImageArgs,
        texts: TextArgs,
        columns: &ColumnArgs,
        data: &DataArgs,
    ) -> Result<Self> {
        let known = dataset::NAMES.contains(&name);
        let path = if known {
            PathBuf::from(name)
        } else {
            dataset::place(name, data.dir().as_deref())?
        };
        let rows = RowsArgs {
            columns: columns.clone(),
            texts,
            ..RowsArgs::of_images(path, images, data.clone())
        };
        let images = !known && !texts::is_folder(&rows.rows) && holds_images(&rows);
        let texts =
            texts::is_folder(&rows.rows) || columns.text.is_some() || dataset::text_columns(name).is_some();
        if images {
            columns.columns().refuse(&rows.rows)?;
        } else if !texts {
            refuse_backbones(&rows)?;
        }
        Ok(Self {
            name: name.to_owned(),
            rows,
            computed: images || texts,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.rows.rows
    }

    /// Reads the data, or opens its images without computing any feature.
    pub fn open(&self) -> Result<Open<'_>> {
        if self.computed {
            // A single table has no parts: it is divided once its rows are known.
            let alone = self.rows.rows.is_file();
            let test = (!alone).then(|| open_part(&self.rows, Part::Test)).transpose()?;
            return Ok(Open::Computed(Box::new(ComputedSet {
                rows: &self.rows,
                train: open_part(&self.rows, Part::Train)?,
                test,
            })));
        }
        let (dir, columns) = (self.rows.data.dir(), self.rows.columns.columns());
        let dataset = dataset::open_columns(&self.name, dir.as_deref(), &columns)?;
        Ok(Open::Read(Box::new(dataset)))
    }
}

/// Data whose classes are known.
pub enum Open<'a> {
    /// Data that has been read.
    Read(Box<Dataset>),
    /// Images or sentences whose features have not been computed.
    Computed(Box<ComputedSet<'a>>),
}

/// Both parts of a folder of images or of sentences, or one table of sentences.
pub struct ComputedSet<'a> {
    rows: &'a RowsArgs,
    train: RowSource<'a>,
    test: Option<RowSource<'a>>,
}

impl Open<'_> {
    /// What is known of the data.
    pub fn outline(&self) -> Result<Outline> {
        match self {
            Self::Read(dataset) => Ok(Outline::of(dataset)),
            Self::Computed(rows) => rows.outline(),
        }
    }

    /// The data, with all features.
    pub fn read(self) -> Result<Dataset> {
        Ok(self.read_for_report()?.0)
    }
}

impl<'a> Open<'a> {
    /// The data, with all features, and what a report needs to show its test rows.
    pub fn read_for_report(self) -> Result<(Dataset, TestRows<'a>)> {
        match self {
            Self::Read(dataset) => Ok((*dataset, TestRows::default())),
            Self::Computed(rows) => rows.read(),
        }
    }
}

/// Where test rows come from, if they were computed from images or sentences.
#[derive(Default)]
pub struct TestRows<'a> {
    source: Option<RowSource<'a>>,
    names: Option<Vec<String>>,
}

impl TestRows<'_> {
    /// What the mistakes that a report shows look like; their rows get their names.
    pub fn exhibits(&self, dataset: &Dataset, record: &mut Record) -> Result<Exhibits> {
        if let Some(names) = &self.names {
            record.name_rows(names);
        }
        let mistakes = report::mistakes_shown(record);
        match &self.source {
            Some(source) => exhibits::of(source, mistakes),
            None => Ok(of_pixels(dataset, mistakes)),
        }
    }
}

impl<'a> ComputedSet<'a> {
    fn outline(&self) -> Result<Outline> {
        let train = self.train.listed_classes()?;
        let test = self.test.as_ref().map(RowSource::listed_classes).transpose()?;
        let test = test.as_ref().unwrap_or(&train);
        let mut outline =
            Outline::of_classes(train.iter().map(String::as_str), test.iter().map(String::as_str));
        if let [only] = &outline.classes[..] {
            let (path, class) = (self.rows.name(), &only.name);
            bail!("{path}: there is only one class ('{class}'): at least two are needed");
        }
        outline.n_features = self.train.computed_features();
        outline.image = self.train.image();
        Ok(outline)
    }

    fn read(self) -> Result<(Dataset, TestRows<'a>)> {
        let folder: &Path = &self.rows.rows;
        let (x, y, _) = read(self.rows, &self.train)?;
        let Some(source) = self.test else {
            // Which rows are test rows is decided later, so that they cannot be shown.
            let dataset = Dataset::from_table(dataset::name_of(folder), folder, (x, y))?;
            return Ok((dataset, TestRows::default()));
        };
        let (test_x, test_y, names) = read(self.rows, &source)?;
        let dataset = Dataset::from_rows(
            dataset::name_of(folder),
            folder,
            (x, y),
            (test_x, test_y),
            self.train.image(),
        )?;
        let source = Some(source);
        Ok((dataset, TestRows { source, names }))
    }
}

/// Opens a data set and reads it.
pub fn open(name: &str, images: &ImageArgs, data: &DataArgs) -> Result<Dataset> {
    Found::find(
        name,
        images.clone(),
        TextArgs::default(),
        &ColumnArgs::default(),
        data,
    )?
    .open()?
    .read()
}

/// Whether this is a folder of images and not a data set. A given backbone is taken to mean that it holds images.
fn holds_images(rows: &RowsArgs) -> bool {
    let folder = rows.rows.as_path();
    let has_images = || ImageFolder::has_parts(folder) || ImageFolder::open(folder).is_ok();
    folder.is_dir() && !dataset::is_dataset(folder) && (!rows.images.backbones.is_empty() || has_images())
}

fn open_part(rows: &RowsArgs, part: Part) -> Result<RowSource<'_>> {
    let source = RowSource::open(rows, part, &Expected::default())?;
    source.require_classes()?;
    Ok(source)
}

/// All rows of a part, with their classes and names.
fn read(rows: &RowsArgs, source: &RowSource<'_>) -> Result<(Table, Vec<String>, Option<Vec<String>>)> {
    let batch = Batch::collect(source.batches()?.map(|batch| batch.with_context(|| rows.name())));
    let none = || format!("{}: no rows found", rows.name());
    let batch = batch?.with_context(none)?;
    Ok((batch.x, batch.y.unwrap_or_default(), batch.names))
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
