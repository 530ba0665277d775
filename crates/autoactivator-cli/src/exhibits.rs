//! What the rows of mistakes look like, for reports: thumbnails of photographs, pictures of pixels, sentences, numbers.

use std::collections::HashMap;
use std::fs;

use anyhow::Result;
use autoactivator_exam::report::exhibit::{Exhibit, Exhibits, pictures};
use autoactivator_exam::tally::Mistake;

use crate::rows::{Looks, RowSource};

/// The longer side of a thumbnail.
const SIDE: u32 = 96;

/// How many features of a row are shown.
const NUMBERS: usize = 8;

/// What the rows of these mistakes look like. A photograph that cannot be read any more is left out.
pub fn of(rows: &RowSource<'_>, mistakes: &[Mistake]) -> Result<Exhibits> {
    if mistakes.is_empty() {
        return Ok(Exhibits::new());
    }
    Ok(match rows.looks()? {
        Looks::Photographs(images) => {
            let by_name: HashMap<&str, _> = images
                .iter()
                .map(|image| (image.name.as_str(), &image.path))
                .collect();
            let thumbnail = |mistake: &Mistake| {
                let path = by_name.get(mistake.name.as_deref()?)?;
                let image = autoactivator_data::decode(path, &fs::read(path).ok()?).ok()?;
                let small = image.thumbnail(SIDE);
                let (width, height, rgb) = (small.width(), small.height(), small.as_raw().to_vec());
                Some((mistake.row, Exhibit::Picture { width, height, rgb }))
            };
            mistakes.iter().filter_map(thumbnail).collect()
        }
        Looks::Sentences(sentences) => {
            let mut found = Exhibits::new();
            let mut row = 0;
            for sentences in sentences {
                for text in sentences?.texts {
                    if mistakes.iter().any(|mistake| mistake.row == row) {
                        found.insert(row, Exhibit::Sentence(text));
                    }
                    row += 1;
                }
            }
            found
        }
        Looks::Rows(image) => {
            let picked = picked(rows, mistakes)?;
            match image {
                Some(shape) => {
                    let rows: Vec<(usize, &[f32])> =
                        picked.iter().map(|(row, x)| (*row, x.as_slice())).collect();
                    pictures(shape, &rows)
                }
                None => numbers(rows.features().as_deref(), picked),
            }
        }
    })
}

/// The rows of the mistakes, read once more.
fn picked(rows: &RowSource<'_>, mistakes: &[Mistake]) -> Result<Vec<(usize, Vec<f32>)>> {
    let mut picked = Vec::new();
    let mut first = 0;
    for batch in rows.batches()? {
        let x = batch?.x;
        let here = first..first + x.rows().len();
        let of_batch = mistakes.iter().filter(|mistake| here.contains(&mistake.row));
        picked.extend(of_batch.map(|m| (m.row, x.rows().row(m.row - here.start).to_vec())));
        if picked.len() == mistakes.len() {
            break;
        }
        first = here.end;
    }
    Ok(picked)
}

/// The first features of each row, by name or by number.
fn numbers(names: Option<&[String]>, rows: Vec<(usize, Vec<f32>)>) -> Exhibits {
    let name = |at: usize| {
        names
            .and_then(|names| names.get(at))
            .cloned()
            .unwrap_or_else(|| (at + 1).to_string())
    };
    let pairs = |values: Vec<f32>| values.into_iter().take(NUMBERS).enumerate();
    let numbers = |values| Exhibit::Numbers(pairs(values).map(|(at, value)| (name(at), value)).collect());
    rows.into_iter()
        .map(|(row, values)| (row, numbers(values)))
        .collect()
}
