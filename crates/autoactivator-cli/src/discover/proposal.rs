//! The folder that `discover` writes: the rows of each group under a name that can be changed, and a page.
//!
//! Images are copied into one folder per group. Sentences and other rows go into one table whose class column names the group.
//! Both can be learned as they are, or after renaming.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use autoactivator::counted;
use autoactivator::discovery::{Groups, Placed};
use autoactivator_data::Batch;
use autoactivator_data::table::TableWriter;

use super::page;
use crate::answers::quoted;
use crate::output::{NewFolder, Output, Replace, Writer};
use crate::rows::RowSource;

/// Number of rows that the page shows of each group.
const SHOWN: usize = 12;

/// Number of features that the page shows of a row.
const SHOWN_FEATURES: usize = 8;

/// The table of rows that are no images.
const TABLE: &str = "groups.csv";

/// What is written as rows are placed.
pub(super) struct Proposal<'a> {
    groups: &'a Groups<'a>,
    folder: Option<PathBuf>,
    rows: Rows,
    /// Of each group: how many rows it has, and those that are most like it.
    sizes: Vec<usize>,
    typical: Vec<Vec<Typical>>,
}

/// A row that is typical of its group.
pub(super) struct Typical {
    pub row: usize,
    pub likeness: f32,
    pub shown: Shown,
}

/// How a row is shown.
pub(super) enum Shown {
    /// A picture, by its place in the folder of the page.
    Picture(PathBuf),
    /// A sentence, or the name and the first features of a row.
    Text(String),
}

/// Where the rows of groups go.
enum Rows {
    /// Nowhere: nobody asked for a folder.
    Nowhere,
    /// Copies of images, found by name.
    Images(HashMap<String, PathBuf>),
    Sentences(Writer),
    Table(TableWriter),
}

impl<'a> Proposal<'a> {
    /// Makes the folder, if there is to be one.
    pub fn begin(folder: Option<NewFolder>, source: &RowSource<'_>, groups: &'a Groups<'a>) -> Result<Self> {
        let folder = folder.map(NewFolder::create).transpose()?;
        let rows = match &folder {
            None => Rows::Nowhere,
            Some(folder) => Rows::begin(folder, source, groups)?,
        };
        Ok(Self {
            groups,
            folder,
            rows,
            sizes: vec![0; groups.len()],
            typical: groups.iter().map(|_| Vec::new()).collect(),
        })
    }

    /// Takes the rows of a batch that are in groups; `first` is the number of its first row.
    pub fn take(
        &mut self,
        batch: &Batch,
        texts: Option<&[String]>,
        placed: &[Placed],
        first: usize,
    ) -> Result<()> {
        let grouped = placed.iter().enumerate();
        let grouped = grouped.filter_map(|(at, placed)| Some((at, placed.group?, placed.likeness)));
        let grouped: Vec<(usize, usize, f32)> = grouped.collect();
        for &(at, group, _) in &grouped {
            self.sizes[group] += 1;
            let class = &self.groups[group].name;
            match &mut self.rows {
                Rows::Images(paths) => copy(self.folder.as_deref(), class, batch, at, paths)?,
                Rows::Sentences(table) => {
                    let text = texts.map_or("", |texts| &texts[at]);
                    writeln!(table, "{},{class}", quoted(text))?;
                }
                Rows::Nowhere | Rows::Table(_) => {}
            }
        }
        if let Rows::Table(table) = &mut self.rows
            && !grouped.is_empty()
        {
            let places: Vec<usize> = grouped.iter().map(|&(at, _, _)| at).collect();
            table.write(&Batch {
                x: batch.x.rows().gather(&places),
                y: Some(
                    grouped
                        .iter()
                        .map(|&(_, group, _)| self.groups[group].name.clone())
                        .collect(),
                ),
                weights: None,
                names: None,
            })?;
        }
        for (at, group, likeness) in grouped {
            let typical = &mut self.typical[group];
            if typical.len() < SHOWN || typical.last().is_some_and(|last| likeness > last.likeness) {
                let shown = match (&self.rows, texts) {
                    (Rows::Images(_), _) => Shown::Picture(place(&self.groups[group].name, batch, at)),
                    (_, Some(texts)) => Shown::Text(texts[at].clone()),
                    _ => Shown::Text(described(batch, at)),
                };
                let row = first + at;
                let place = typical.partition_point(|other| other.likeness >= likeness);
                typical.insert(place, Typical { row, likeness, shown });
                typical.truncate(SHOWN);
            }
        }
        Ok(())
    }

    /// Ends all files, and writes the page; `n_rows` were placed.
    pub fn finish(self, n_rows: usize) -> Result<()> {
        let are_images = matches!(self.rows, Rows::Images(_));
        match self.rows {
            Rows::Sentences(table) => table.finish()?,
            Rows::Table(table) if self.sizes.iter().any(|&size| size > 0) => table.finish()?,
            _ => {}
        }
        for (group, size) in self.groups.iter().zip(&self.sizes) {
            let (name, nearest) = (&group.name, &group.nearest.class);
            say!(
                "{name}: {}, tightness {:.2}, nearest class {nearest}",
                counted(*size, "row"),
                group.tightness
            );
        }
        let Some(folder) = self.folder else {
            return Ok(());
        };
        let shown = page::Groups {
            groups: self.groups,
            sizes: &self.sizes,
            typical: &self.typical,
            n_rows,
        };
        let path = folder.join("index.html");
        Output::new(&path, &[], Replace::Nothing)?.write(page::html(&shown, &folder).as_bytes())?;
        let learned = if are_images { folder } else { folder.join(TABLE) };
        say!(
            "{}: look at it, rename what is a class, and learn {}",
            path.display(),
            learned.display()
        );
        Ok(())
    }
}

impl Rows {
    fn begin(folder: &Path, source: &RowSource<'_>, groups: &Groups<'_>) -> Result<Self> {
        let images: HashMap<String, PathBuf> = source.images().collect();
        if !images.is_empty() {
            for group in groups.iter() {
                let folder = folder.join(&group.name);
                fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            }
            return Ok(Self::Images(images));
        }
        let path = folder.join(TABLE);
        if source.sentences()?.is_some() {
            let mut table = Output::new(&path, &[], Replace::Nothing)?.create()?;
            let column = source.text_column().unwrap_or("text");
            writeln!(table, "{},class", quoted(column))?;
            return Ok(Self::Sentences(table));
        }
        let writer = TableWriter::create(&path, source.features(), source.origin())?;
        Ok(Self::Table(writer))
    }
}

/// Copies an image into the folder of its group.
fn copy(
    folder: Option<&Path>,
    class: &str,
    batch: &Batch,
    at: usize,
    paths: &HashMap<String, PathBuf>,
) -> Result<()> {
    let from = batch.names.as_ref().and_then(|names| paths.get(&names[at]));
    if let (Some(folder), Some(from)) = (folder, from) {
        let to = folder.join(place(class, batch, at));
        fs::copy(from, &to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    }
    Ok(())
}

/// Where an image goes in the folder: images of one name in different folders must not replace each other.
fn place(class: &str, batch: &Batch, at: usize) -> PathBuf {
    let name = batch.names.as_ref().map_or("", |names| &names[at]);
    Path::new(class).join(name.replace(['/', '\\'], "-"))
}

/// The name of a row, and its first features.
fn described(batch: &Batch, at: usize) -> String {
    let row = batch.x.rows().row(at);
    let values = row.iter().take(SHOWN_FEATURES).map(ToString::to_string);
    let mut text = values.collect::<Vec<String>>().join("  ");
    if row.len() > SHOWN_FEATURES {
        text += "  …";
    }
    match &batch.names {
        Some(names) => format!("{}: {text}", names[at]),
        None => text,
    }
}
