//! What single rows look like on a page: a picture, a sentence, or the first of their values.

use std::collections::HashMap;

use anyhow::Result;
use autoactivator_data::{drawn, thumbnail};

use crate::rows::RowSource;

/// Values of a row that are shown.
const VALUES: usize = 8;

/// Characters of a sentence that are shown.
const CHARACTERS: usize = 400;

/// What a row looks like.
pub enum Shown {
    /// The address of a picture.
    Picture(String),
    Sentence(String),
    /// Some values.
    Values(String),
}

/// What the rows with these numbers and names look like, by number; nothing of a row that cannot be shown.
pub fn shown<'a>(
    source: &RowSource<'_>,
    rows: impl Iterator<Item = (usize, Option<&'a str>)>,
) -> Result<HashMap<usize, Shown>> {
    let rows: HashMap<usize, Option<&str>> = rows.collect();
    if let Some(sentences) = source.sentences()? {
        return of_sentences(sentences.map(|some| some.map(|some| some.texts)), &rows);
    }
    if source.are_computed() {
        let picture = |(&row, name): (&usize, &Option<&str>)| {
            let file = source.image_file((*name)?)?;
            Some((row, Shown::Picture(thumbnail(file).ok()?)))
        };
        return Ok(rows.iter().filter_map(picture).collect());
    }
    of_values(source, &rows)
}

fn of_sentences<E: Into<anyhow::Error>>(
    batches: impl Iterator<Item = Result<Vec<String>, E>>,
    rows: &HashMap<usize, Option<&str>>,
) -> Result<HashMap<usize, Shown>> {
    let (mut found, mut first) = (HashMap::new(), 0);
    for batch in batches {
        let texts = batch.map_err(Into::into)?;
        for (row, text) in texts.iter().enumerate().map(|(at, text)| (first + at, text)) {
            if rows.contains_key(&row) {
                found.insert(row, Shown::Sentence(text.chars().take(CHARACTERS).collect()));
            }
        }
        first += texts.len();
    }
    Ok(found)
}

fn of_values(source: &RowSource<'_>, rows: &HashMap<usize, Option<&str>>) -> Result<HashMap<usize, Shown>> {
    let (mut found, mut first) = (HashMap::new(), 0);
    let (image, names) = (source.image(), source.features().unwrap_or_default());
    for batch in source.batches()? {
        let batch = batch?;
        for (row, values) in batch
            .x
            .rows()
            .iter()
            .enumerate()
            .map(|(at, row)| (first + at, row))
        {
            if rows.contains_key(&row) {
                let picture = image.and_then(|shape| drawn(values, shape));
                let text = || Shown::Values(written(values, &names));
                found.insert(row, picture.map_or_else(text, Shown::Picture));
            }
        }
        first += batch.len();
    }
    Ok(found)
}

/// The first values, with the names of their columns.
fn written(values: &[f32], names: &[String]) -> String {
    let value = |(at, v): (usize, &f32)| match names.get(at) {
        Some(name) => format!("{name} {v}"),
        None => v.to_string(),
    };
    let first: Vec<String> = values.iter().take(VALUES).enumerate().map(value).collect();
    let rest = if values.len() > VALUES { ", …" } else { "" };
    first.join(", ") + rest
}
