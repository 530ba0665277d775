//! Opens the rows that a user names: a feature table, a folder of images, sentences, or a data set.
//!
//! [`RowSource::open`] finds out which it is; [`RowSource::batches`] streams them, with a progress bar for images.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use autoactivator::{ImageShape, Labels, Model, Source, Table, counted};
use autoactivator_data::dataset::{self, Source as Place};
use autoactivator_data::origin::{difference, runtimes_of};
use autoactivator_data::sentences::SentenceBatches;
use autoactivator_data::table::{NO_CLASSES, Reading};
use autoactivator_data::text::TextSource;
use autoactivator_data::{
    Batch, Cache, Columns, ExtractOptions, Extractor, FeatureTable, ImageFile, ImageFolder, ImageRows,
    Origin, Part, Pixels, Shard, is_image, names_images,
};
use serde::Deserialize;
use serde_json::Value;

use crate::args::RowsArgs;
use crate::backbones;
use crate::image_args::ImageArgs;
use crate::interrupt;
use crate::output::is_standard;
use crate::progress::FeaturesBar;
use crate::stdin::Spool;
use crate::texts::Texts;

/// Where rows come from.
pub struct RowSource<'a> {
    args: &'a RowsArgs,
    content: Content,
    /// Whether damaged images were reported; this happens once, however often the rows are read.
    told: Cell<bool>,
    /// The classes of all rows, once all of them have been read.
    seen: RefCell<Option<BTreeSet<String>>>,
    /// Number of rows that were there and are not learned, as far as they have been read.
    left_out: Cell<usize>,
    /// Rows from stdin lie in a temporary file.
    _spool: Option<Spool>,
}

/// What a model expects of its rows; nothing for a model that does not exist yet.
#[derive(Default)]
pub struct Expected<'a> {
    pub n_features: Option<usize>,
    pub features: Option<&'a [String]>,
    pub origin: Option<&'a Value>,
    /// The model file.
    pub file: Option<&'a Path>,
    /// The column that weighs the rows.
    pub weight: Option<&'a str>,
    /// Whether each row must be the same to the last bit as when it was learned.
    pub exact: bool,
}

impl<'a> Expected<'a> {
    pub fn of(model: Option<&'a Model>, file: &'a Path) -> Self {
        Self {
            file: Some(file),
            n_features: model.and_then(|model| model.n_features()),
            features: model.and_then(|model| model.features()),
            origin: model.and_then(|model| model.origin()),
            weight: None,
            exact: false,
        }
    }
}

/// What rows look like, to people.
pub enum Looks<'a> {
    /// Photographs, with their names and places.
    Photographs(&'a [ImageFile]),
    /// Sentences, in the order of the rows.
    Sentences(SentenceBatches),
    /// Nothing but the rows themselves, which may be images.
    Rows(Option<ImageShape>),
}

enum Content {
    Table(FeatureTable),
    Images(Box<Images>),
    Texts(Box<Texts>),
    /// Rows that are already in memory, and their image shape.
    Memory(Batch, Option<ImageShape>),
}

struct Images {
    folder: ImageFolder,
    extractor: Extractor,
    /// The name of the backbone, if nobody chose it.
    by_default: Option<&'static str>,
    cache: Option<Cache>,
}

impl<'a> RowSource<'a> {
    /// Opens rows, and refuses those that the model does not expect.
    pub fn open(args: &'a RowsArgs, part: Part, expected: &Expected<'_>) -> Result<Self> {
        let spool = is_standard(&args.rows).then(Spool::read).transpose()?;
        let path = spool.as_ref().map_or(args.rows.as_path(), Spool::path);
        let content = match (Texts::open(args, path, part, expected)?, &spool) {
            (Some(texts), _) => Content::Texts(Box::new(texts)),
            (None, Some(spool)) => open_stdin(args, spool.path(), expected)?,
            (None, None) => open(args, part, expected)?,
        };
        let left_out = match &content {
            Content::Images(images) => images.folder.n_left_out(),
            _ => 0,
        };
        let source = Self {
            args,
            content,
            told: Cell::new(false),
            seen: RefCell::new(None),
            left_out: Cell::new(left_out),
            _spool: spool,
        };
        source.check_origin(expected)?;
        source.tell_reading(expected);
        Ok(source)
    }

    /// How a table was read; rows that are no table have no names and no columns.
    fn reading(&self) -> Reading {
        match &self.content {
            Content::Table(table) => table.reading(),
            Content::Texts(texts) => texts.source.reading(),
            _ => Reading::default(),
        }
    }

    /// Names of the features, if there are any.
    pub fn features(&self) -> Option<Vec<String>> {
        self.reading().features
    }

    /// Where the classes come from.
    pub fn classes_from(&self) -> Option<String> {
        match &self.content {
            Content::Images(_) if self.args.class.is_some() => Some("--class".to_owned()),
            Content::Images(_) => Some("the folders".to_owned()),
            Content::Texts(texts) if matches!(texts.source, TextSource::Folder(_)) => {
                Some("the folders".to_owned())
            }
            _ => self.reading().class.map(|class| class.to_string()),
        }
    }

    /// What the rows are weighed by.
    pub fn weighed_by(&self) -> Option<String> {
        self.reading().weight
    }

    /// Number of rows that were there and were not learned.
    pub fn left_out(&self) -> usize {
        self.left_out.get()
    }

    /// Says what was left out or assumed.
    fn tell_reading(&self, expected: &Expected<'_>) {
        if let Content::Images(images) = &self.content {
            for note in images.folder.notes() {
                say!("note: {}: {note}", self.args.name());
            }
        }
        let reading = self.reading();
        for note in &reading.notes {
            say!("note: {}: {note}", self.args.name());
        }
        let by_position = reading.features.is_none() && expected.features.is_some();
        if by_position && matches!(self.content, Content::Table(_)) {
            say!(
                "note: {}: the columns have no names: they are taken in the order of the model's features",
                self.args.name()
            );
        }
    }

    /// The rows by their content; none for a model that keeps no list of what it learned.
    pub fn source(&self, model: &Model) -> Result<Option<Source>> {
        if !model.keeps_sources() {
            return Ok(None);
        }
        let sha256 = match &self.content {
            Content::Table(table) => Shard::find(table.path())?.sha256().to_owned(),
            Content::Images(images) => images.folder.sha256()?,
            Content::Texts(texts) => texts.source.sha256()?,
            Content::Memory(rows, _) => rows.sha256(),
        };
        let name = self.args.name();
        Ok(Some(Source { sha256, name }))
    }

    /// Number of rows, if it is known.
    pub fn n_rows(&self) -> Option<usize> {
        match &self.content {
            Content::Table(table) => table.shape().n_rows.and_then(|n| usize::try_from(n).ok()),
            Content::Images(images) => Some(images.folder.images().len()),
            Content::Texts(texts) => texts.source.n_rows(),
            Content::Memory(rows, _) => Some(rows.len()),
        }
    }

    /// Number of features of a row.
    pub fn n_features(&self) -> usize {
        match &self.content {
            Content::Table(table) => table.shape().n_features,
            Content::Memory(rows, _) => rows.x.rows().n_features(),
            Content::Images(images) => images.extractor.n_features(),
            Content::Texts(texts) => texts.encoder.n_features(),
        }
    }

    /// The shape of each row, if rows are known to be images.
    pub fn image(&self) -> Option<ImageShape> {
        match &self.content {
            Content::Table(table) => table.shape().image,
            Content::Memory(_, image) => *image,
            Content::Images(images) => match &images.extractor {
                Extractor::Pixels(pixels) => Some(pixels.shape),
                Extractor::Backbones(_) => None,
            },
            Content::Texts(_) => None,
        }
    }

    /// What the rows look like, to people.
    pub fn looks(&self) -> Result<Looks<'_>> {
        Ok(match &self.content {
            Content::Images(images) => Looks::Photographs(images.folder.images()),
            Content::Texts(texts) => Looks::Sentences(texts.source.sentences()?),
            Content::Table(_) | Content::Memory(..) => Looks::Rows(self.image()),
        })
    }

    /// The file of the image with this name; none for rows that are not images.
    pub fn image_file(&self, name: &str) -> Option<&Path> {
        let Content::Images(images) = &self.content else {
            return None;
        };
        let mut files = images.folder.images().iter();
        files
            .find(|file| file.name == name)
            .map(|file| file.path.as_path())
    }

    /// The name and the file of each image; nothing for rows that are not images.
    pub fn images(&self) -> impl Iterator<Item = (String, PathBuf)> {
        let images = match &self.content {
            Content::Images(images) => images.folder.images(),
            _ => &[],
        };
        images
            .iter()
            .map(|image| (image.name.clone(), image.path.clone()))
    }

    /// Streams the sentences behind the rows, in batches of the same sizes; none for rows that are not sentences.
    pub fn sentences(&self) -> Result<Option<SentenceBatches>> {
        Ok(match &self.content {
            Content::Texts(texts) => Some(texts.source.sentences()?),
            _ => None,
        })
    }

    /// Whether rows are computed from images or sentences.
    pub fn are_computed(&self) -> bool {
        matches!(self.content, Content::Images(_) | Content::Texts(_))
    }

    /// The column of sentences, if they come from a table.
    pub fn text_column(&self) -> Option<&str> {
        match &self.content {
            Content::Texts(texts) => texts.source.column(),
            _ => None,
        }
    }

    /// The class of each image or sentence, before any feature is computed; nothing for rows that are neither.
    pub fn listed_classes(&self) -> Result<Vec<String>> {
        Ok(match &self.content {
            Content::Images(images) => {
                let images = images.folder.images().iter();
                images.filter_map(|image| image.class.clone()).collect()
            }
            Content::Texts(texts) => texts.source.classes()?,
            _ => Vec::new(),
        })
    }

    /// How many features an image or sentence has; none for rows that are neither.
    pub fn computed_features(&self) -> Option<usize> {
        match &self.content {
            Content::Images(images) => Some(images.extractor.n_features()),
            Content::Texts(texts) => Some(texts.encoder.n_features()),
            _ => None,
        }
    }

    /// What computed the rows, if that is known.
    pub fn origin(&self) -> Option<Value> {
        match &self.content {
            Content::Table(table) => table.origin(),
            Content::Images(images) => serde_json::to_value(images.extractor.origin()).ok(),
            Content::Texts(texts) => serde_json::to_value(texts.encoder.origin()).ok(),
            Content::Memory(..) => None,
        }
    }

    /// Says what ran the backbones, if there are any, and which one nobody had chosen.
    pub fn tell_runtime(&self) {
        if let (Content::Images(_) | Content::Texts(_), Some(origin)) = (&self.content, self.origin())
            && let Some(runtimes) = runtimes_of(&origin)
        {
            let by_default = match &self.content {
                Content::Images(images) => images.by_default,
                _ => None,
            };
            let chosen = by_default.map(|known| {
                format!(", from {known}: the default for photographs, --backbone none takes their pixels")
            });
            say!(
                "{}: features by {runtimes}{}",
                self.args.name(),
                chosen.unwrap_or_default()
            );
        }
    }

    /// Lets a model remember where its rows come from, and where its backbones are.
    pub fn remember(&self, model: &mut Model) {
        let origin = match &self.content {
            Content::Images(images) => serde_json::to_value(images.extractor.placed_origin()).ok(),
            Content::Texts(texts) => serde_json::to_value(texts.placed_origin()).ok(),
            _ => model.origin().cloned().or_else(|| self.origin()),
        };
        model.set_origin(origin);
    }

    /// Refuses rows whose origin differs from the model's.
    fn check_origin(&self, expected: &Expected<'_>) -> Result<()> {
        match difference(expected.origin, self.origin().as_ref()) {
            Some(reason) => bail!("{}: {reason}", self.args.rows.display()),
            None => Ok(()),
        }
    }

    /// Streams all rows from the start.
    pub fn batches(&self) -> Result<Box<dyn Iterator<Item = Result<Batch>> + '_>> {
        Ok(match &self.content {
            Content::Table(table) => Box::new(table.batches()?.map(|batch| batch.map_err(Into::into))),
            Content::Memory(rows, _) => Box::new(std::iter::once(Ok(rows.clone()))),
            Content::Images(images) => Box::new(self.image_batches(images)),
            Content::Texts(texts) => Box::new(self.text_batches(texts)?),
        })
    }

    fn image_batches<'b>(&'b self, images: &'b Images) -> impl Iterator<Item = Result<Batch>> + 'b {
        let bar = FeaturesBar::of_images(images.folder.images().len());
        let options = ExtractOptions {
            cache: images.cache.as_ref(),
            strict: self.args.images.strict,
            progress: Some(Box::new(move |done, _| bar.show(done))),
            interrupted: Some(&interrupt::requested),
            ..ExtractOptions::default()
        };
        let mut rows = images.extractor.rows(&images.folder, options);
        std::iter::from_fn(move || {
            let batch = rows.next();
            if batch.is_none() && !self.told.replace(true) {
                tell(&rows);
                self.left_out.set(self.left_out.get() + rows.skipped().len());
            }
            batch.map(|batch| batch.map_err(Into::into))
        })
    }

    fn text_batches<'b>(&'b self, texts: &'b Texts) -> Result<impl Iterator<Item = Result<Batch>> + 'b> {
        let mut rows = texts.rows()?;
        Ok(std::iter::from_fn(move || {
            let batch = rows.next();
            if batch.is_none() && !self.told.replace(true) {
                for warning in rows.warnings() {
                    warn!("warning: {warning}");
                }
            }
            batch.map(|batch| batch.map_err(Into::into))
        }))
    }

    /// Streams rows with their classes: the rows of the classes in `only`, or all rows if it is empty.
    pub fn labelled<'b>(
        &'b self,
        only: &'b [String],
    ) -> Result<impl Iterator<Item = Result<(Table, Labels)>> + 'b> {
        self.require_classes()?;
        self.check_listed(only)?;
        let mut batches = self.batches()?;
        let mut seen = BTreeSet::new();
        let mut passed_over = 0;
        let selected = std::iter::from_fn(move || {
            let Some(batch) = batches.next() else {
                if self
                    .seen
                    .borrow_mut()
                    .replace(std::mem::take(&mut seen))
                    .is_none()
                {
                    self.left_out.set(self.left_out.get() + passed_over);
                }
                return None;
            };
            let labelled = batch.and_then(with_classes);
            if let Ok((_, y)) = &labelled {
                seen.extend(y.names().iter().filter(|_| !only.is_empty()).cloned());
            }
            Some(labelled.map(|(x, y)| {
                let n_rows = y.len();
                let selected = select(x, y, only);
                passed_over += n_rows - selected.1.len();
                selected
            }))
        });
        Ok(selected.filter(|batch| batch.as_ref().map_or(true, |(_, y)| !y.is_empty())))
    }

    /// Refuses rows without classes, before anything is computed.
    pub fn require_classes(&self) -> Result<()> {
        match &self.content {
            Content::Table(table) if !table.shape().labelled => bail!(NO_CLASSES),
            Content::Images(images) if images.folder.classes().is_none() => {
                bail!(
                    "the images carry no classes: put them into one folder per class, or name theirs with --class"
                )
            }
            Content::Texts(texts) if !texts.source.labelled() => bail!(match texts.source {
                TextSource::Table(_) => NO_CLASSES,
                _ =>
                    "the sentences carry no classes: give a table with a column of them, or one folder per class",
            }),
            _ => Ok(()),
        }
    }

    /// Refuses classes that no image or sentence has, before any feature is computed.
    fn check_listed(&self, only: &[String]) -> Result<()> {
        if let Content::Images(images) = &self.content {
            let listed = images.folder.classes().unwrap_or_default();
            check_among(only, &listed)?;
        }
        if let Content::Texts(texts) = &self.content
            && !only.is_empty()
        {
            let listed = texts.source.distinct_classes()?;
            check_among(only, &listed.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Refuses classes that no row has, once all rows have been read.
    pub fn check_seen(&self, only: &[String]) -> Result<()> {
        let seen = self.seen.borrow();
        let Some(seen) = seen.as_ref() else {
            return Ok(());
        };
        let there: Vec<&str> = seen.iter().map(String::as_str).collect();
        check_among(only, &there)
    }

    /// Reads all rows at once, with their classes.
    pub fn collect(&self, only: &[String]) -> Result<(Table, Labels)> {
        let (mut values, mut n_features) = (Vec::new(), 1);
        let (mut names, mut weights) = (Vec::new(), Vec::new());
        for batch in self.labelled(only)? {
            let (x, y) = batch?;
            n_features = x.rows().n_features();
            values.extend_from_slice(x.rows().values());
            names.extend((0..y.len()).map(|row| y.name(row).to_owned()));
            weights.extend((0..y.len()).map(|row| y.weight(row)));
        }
        self.check_seen(only)?;
        let y = Labels::from_names(names).weighed(weights)?;
        Ok((Table::new(values, n_features)?, y))
    }
}

/// Refuses a class that is not there.
fn check_among(only: &[String], there: &[&str]) -> Result<()> {
    match only.iter().find(|class| !there.contains(&class.as_str())) {
        None => Ok(()),
        Some(class) => bail!("class '{class}' is not in the data; it has {}", there.join(", ")),
    }
}

/// The rows of a batch and their classes; refused if they have none.
pub fn with_classes(batch: Batch) -> Result<(Table, Labels)> {
    match batch.labelled() {
        Some(labelled) => Ok(labelled?),
        None => bail!(NO_CLASSES),
    }
}

/// The rows of some classes; all of them if none is named.
fn select(x: Table, y: Labels, only: &[String]) -> (Table, Labels) {
    if only.is_empty() {
        return (x, y);
    }
    let chosen: Vec<bool> = y.names().iter().map(|name| only.contains(name)).collect();
    let rows: Vec<usize> = (0..y.len()).filter(|&i| chosen[y.codes()[i] as usize]).collect();
    (x.rows().gather(&rows), y.gather(&rows))
}

/// What stdin held: a list of image files, or a table.
fn open_stdin(args: &RowsArgs, text: &Path, expected: &Expected<'_>) -> Result<Content> {
    if names_images(text)? {
        refuse_weight(&args.rows, expected)?;
        let listed = ImageFolder::listed(text, &args.rows)?;
        return Ok(Content::Images(Box::new(open_images(args, listed, expected)?)));
    }
    refuse_class(args)?;
    open_table(args, text, expected)
}

fn open(args: &RowsArgs, part: Part, expected: &Expected<'_>) -> Result<Content> {
    let data_dir = args.data.dir();
    let path = args.rows.as_path();
    let known = args.rows.to_str().filter(|name| dataset::NAMES.contains(name));
    if known.is_none() && is_images(path) {
        refuse_weight(path, expected)?;
        let folder = open_folder(args, path, part)?;
        return Ok(Content::Images(Box::new(open_images(args, folder, expected)?)));
    }
    refuse_class(args)?;
    refuse_backbones(args)?;
    // Only a path can be something other than text, and only tables are left at this point.
    let found = args
        .rows
        .to_str()
        .map(|name| dataset::find(name, data_dir.as_deref(), part));
    match found.unwrap_or_else(|| Ok(Place::Table(path.to_owned())))? {
        Place::Table(path) => open_table(args, &path, expected),
        Place::Memory => {
            refuse_weight(path, expected)?;
            let (split, image) = dataset::read_part(&path.to_string_lossy(), data_dir.as_deref(), part)?;
            let y = (0..split.y.len())
                .map(|row| split.y.name(row).to_owned())
                .collect();
            let rows = Batch {
                x: split.x,
                y: Some(y),
                weights: None,
                names: None,
            };
            Ok(Content::Memory(rows, image))
        }
    }
}

fn open_table(args: &RowsArgs, path: &Path, expected: &Expected<'_>) -> Result<Content> {
    Ok(Content::Table(FeatureTable::open(path, &wanted(args, expected))?))
}

/// The columns that are asked for, and those that the model expects.
pub fn wanted(args: &RowsArgs, expected: &Expected<'_>) -> Columns {
    Columns {
        width: expected.n_features,
        names: expected.features.map(<[String]>::to_vec),
        weight: expected.weight.map(str::to_owned),
        ..args.columns.columns()
    }
}

/// Refuses a column of weights for rows that are no table.
fn refuse_weight(path: &Path, expected: &Expected<'_>) -> Result<()> {
    let columns = Columns {
        weight: expected.weight.map(str::to_owned),
        ..Columns::default()
    };
    Ok(columns.refuse_weight(path)?)
}

/// Refuses a backbone for rows that are neither images nor sentences.
pub fn refuse_backbones(args: &RowsArgs) -> Result<()> {
    match args.images.about_backbone() {
        None => Ok(()),
        Some(option) => bail!(
            "{}: {option} needs images or sentences, and this is a feature table: name a column of sentences with --text",
            args.rows.display()
        ),
    }
}

/// Refuses a class for rows that are not images: a table has a column of classes.
fn refuse_class(args: &RowsArgs) -> Result<()> {
    match args.class {
        None => Ok(()),
        Some(_) => bail!(
            "{}: --class needs images, and this is a feature table: its classes are in a column, see --label",
            args.rows.display()
        ),
    }
}

/// Whether a path is a folder of images, or an image.
fn is_images(path: &Path) -> bool {
    (path.is_dir() && !dataset::is_dataset(path)) || (path.is_file() && is_image(path))
}

fn open_folder(args: &RowsArgs, path: &Path, part: Part) -> Result<ImageFolder> {
    if ImageFolder::has_parts(path) {
        return Ok(ImageFolder::open_part(path, part)?);
    }
    let whole = ImageFolder::open(path)?;
    Ok(match (args.split, part) {
        (Some(seed), Part::Train) => whole.split(seed)?.0,
        (Some(seed), Part::Test) => whole.split(seed)?.1,
        (None, _) => whole,
    })
}

fn open_images(args: &RowsArgs, folder: ImageFolder, expected: &Expected<'_>) -> Result<Images> {
    let folder = match &args.class {
        Some(class) => folder.of_class(class)?,
        None => folder,
    };
    if let Some(note) = folder.notes().first().filter(|_| args.images.strict) {
        bail!("{}: {note}", args.rows.display());
    }
    let (extractor, by_default) = open_extractor(args, &folder, expected)?;
    Ok(Images {
        folder,
        extractor,
        by_default,
        cache: cache(&args.images),
    })
}

/// Where computed features are kept; none if they are not.
pub fn cache(args: &ImageArgs) -> Option<Cache> {
    let folder = match (&args.cache, args.no_cache) {
        (_, true) => None,
        (Some(folder), _) => Some(folder.clone()),
        (None, _) => default_cache(),
    };
    folder.map(|folder| Cache::new(&folder))
}

/// The backbones that were chosen or that the model remembers; for the photographs of a new model, the one that is here;
/// or else pixels. With the name of the backbone if nobody chose it.
fn open_extractor(
    args: &RowsArgs,
    folder: &ImageFolder,
    expected: &Expected<'_>,
) -> Result<(Extractor, Option<&'static str>)> {
    if let Some(backbones) = backbones::open(&args.images, &args.data, expected)? {
        return Ok((backbones, None));
    }
    let is_free = expected.n_features.is_none() && expected.origin.is_none();
    if is_free && args.images.backbones.is_empty() && Pixels::are_too_small_for(folder) {
        if let Some((backbone, name)) = backbones::open_default(&args.images, &args.data)? {
            return Ok((backbone, Some(name)));
        }
        say!(
            "note: {}: photographs become small pixels, because no backbone is here: see `autoactivator backbone list`",
            args.rows.display()
        );
    }
    backbones::refuse_settings(&args.images)?;
    let origin = expected
        .origin
        .and_then(|origin| Origin::deserialize(origin).ok());
    let pixels = match origin {
        Some(Origin::Pixels(shape)) => Pixels::new(shape)?,
        _ => Pixels::like(folder)?,
    };
    Ok((Extractor::Pixels(pixels), None))
}

/// The default folder for computed features: the user's cache.
pub fn default_cache() -> Option<PathBuf> {
    dataset::user_cache().map(|folder| folder.join("features"))
}

/// Reports warnings and skipped images, once all images have been read.
fn tell(rows: &ImageRows<'_>) {
    for warning in rows.warnings() {
        warn!("warning: {warning}");
    }
    let skipped = rows.skipped();
    for image in skipped {
        warn!("skipped: {}", image.reason);
    }
    if !skipped.is_empty() {
        let (images, was) = (
            counted(skipped.len(), "image"),
            if skipped.len() == 1 { "was" } else { "were" },
        );
        warn!("{images} could not be read and {was} skipped");
    }
}
