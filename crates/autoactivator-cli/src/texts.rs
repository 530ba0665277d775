//! Which rows are sentences, and where are they? A table with a column of text, a folder of `.txt` files, or lines.
//!
//! [`find`] tells by the options, the model and the content; [`Texts`] has the encoder that turns them into rows.

use std::path::Path;

use anyhow::{Result, bail};
use autoactivator_data::dataset::{self, Source as Place};
use autoactivator_data::origin::encoder_of;
use autoactivator_data::table::TextTable;
use autoactivator_data::text::{TextFolder, TextLines, TextOptions, TextRows, TextSource};
use autoactivator_data::{Cache, Columns, Encoder, Origin, Part};

use crate::args::RowsArgs;
use crate::encoders;
use crate::interrupt;
use crate::progress::FeaturesBar;
use crate::rows::{Expected, cache, wanted};

/// Sentences, and what turns them into rows.
pub struct Texts {
    pub source: TextSource,
    pub encoder: Encoder,
    cache: Option<Cache>,
}

impl Texts {
    /// Opens the sentences that the arguments name; none if the rows are something else.
    pub fn open(args: &RowsArgs, path: &Path, part: Part, expected: &Expected<'_>) -> Result<Option<Self>> {
        let Some(source) = find(args, path, part, expected)? else {
            return match args.texts.about_sentences() {
                Some(option) => bail!(
                    "{}: {option} needs sentences: name a column of them with --text",
                    args.rows.display()
                ),
                None => Ok(None),
            };
        };
        encoders::refuse_others(&args.rows, expected)?;
        Ok(Some(Self {
            source,
            encoder: encoders::open(&args.images, &args.texts, &args.data, expected)?,
            cache: cache(&args.images),
        }))
    }

    /// Where the rows come from, for a model to find the encoder and the column again.
    pub fn placed_origin(&self) -> Origin {
        let mut identity = self.encoder.placed_identity();
        identity.column = self.source.column().map(str::to_owned);
        Origin::Text(identity)
    }

    /// Streams the rows of all sentences, with a progress bar.
    pub fn rows(&self) -> Result<TextRows<'_>> {
        let bar = FeaturesBar::of_sentences(self.source.n_rows());
        let options = TextOptions {
            cache: self.cache.as_ref(),
            progress: Some(Box::new(move |done| bar.show(done))),
            interrupted: Some(&interrupt::requested),
        };
        Ok(self.encoder.rows(self.source.sentences()?, options))
    }
}

/// The sentences that the arguments name; none if the rows are something else. `path` is the file of stdin, or that of
/// the arguments.
fn find(args: &RowsArgs, path: &Path, part: Part, expected: &Expected<'_>) -> Result<Option<TextSource>> {
    let known = expected.origin.and_then(encoder_of);
    let standard = path != args.rows;
    let columns = wanted(args, expected);
    let lines = standard || path.extension().is_some_and(|ending| ending == "txt");
    if lines && known.is_some() && columns.text.is_none() && !path.is_dir() {
        columns.refuse(path)?;
        return Ok(Some(TextSource::Lines(TextLines::new(path))));
    }
    if !standard && is_folder(path) {
        columns.refuse(path)?;
        return Ok(Some(TextSource::Folder(folder(args, path, part)?)));
    }
    let named = args
        .rows
        .to_str()
        .filter(|_| !standard)
        .and_then(dataset::text_columns);
    if let Some((text, label)) = named {
        let columns = Columns {
            text: columns.text.or(Some(text.to_owned())),
            label: columns
                .label
                .or(Some(label.to_owned()).filter(|_| !columns.no_label)),
            ..columns
        };
        return table(args, path, part, &columns).map(Some);
    }
    if columns.text.is_some() {
        return table(args, path, part, &columns).map(Some);
    }
    // A model of sentences remembers their column; a table without it holds features.
    let Some(column) = known.and_then(|known| known.column) else {
        return Ok(None);
    };
    let columns = Columns {
        text: Some(column),
        ..columns
    };
    Ok(table(args, path, part, &columns).ok())
}

/// Whether a path is a folder of texts and no data set.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() && !dataset::is_dataset(path) && TextFolder::is_one(path)
}

fn folder(args: &RowsArgs, path: &Path, part: Part) -> Result<TextFolder> {
    if TextFolder::has_parts(path) {
        return Ok(TextFolder::open_part(path, part)?);
    }
    let whole = TextFolder::open(path)?;
    Ok(match (args.split, part) {
        (Some(seed), Part::Train) => whole.split(seed)?.0,
        (Some(seed), Part::Test) => whole.split(seed)?.1,
        (None, _) => whole,
    })
}

fn table(args: &RowsArgs, path: &Path, part: Part, columns: &Columns) -> Result<TextSource> {
    let named = path.to_str().filter(|_| path == args.rows);
    let found = named.map(|name| dataset::find(name, args.data.dir().as_deref(), part));
    match found.unwrap_or_else(|| Ok(Place::Table(path.to_owned())))? {
        Place::Table(path) => Ok(TextSource::Table(TextTable::open(&path, columns)?)),
        Place::Memory => {
            columns.refuse(path)?;
            bail!("{}: holds no text", path.display())
        }
    }
}
