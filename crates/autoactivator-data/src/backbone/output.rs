//! Which outputs of a backbone hold the features, and how they become one row per image.

use std::path::Path;

use super::runtime::{Port, Tensor, list};
use crate::error::{Error, bad};
use crate::origin::{Layout, Outputs, Settings, Tokens};

/// The names that exporters give to features, the most likely first.
const USUAL_NAMES: [&str; 6] = [
    "features",
    "embedding",
    "embeddings",
    "image_embeds",
    "pooler_output",
    "last_hidden_state",
];

/// The outputs to read: those that were asked for; else the one that [`one`] chooses, and after it the `second` one that
/// is known to help.
pub(super) fn choose(
    path: &Path,
    outputs: &[Port],
    asked: Option<&Outputs>,
    preferred: Option<&Outputs>,
    second: Option<&str>,
) -> Result<Outputs, Error> {
    let Some(asked) = asked else {
        let preferred = preferred.and_then(|preferred| preferred.names().first());
        let first = one(path, outputs, None, preferred.map(String::as_str))?;
        let second = second.filter(|&second| second != first);
        return Ok(std::iter::once(first)
            .chain(second.map(str::to_owned))
            .collect::<Vec<_>>()
            .into());
    };
    let names = asked.names();
    if names.is_empty() {
        return Err(bad(path, "`output` names no output"));
    }
    if let Some(twice) = names
        .iter()
        .enumerate()
        .find(|(at, name)| names[..*at].contains(name))
    {
        return Err(bad(path, format!("`output` names `{}` twice", twice.1)));
    }
    let named = names.iter().map(|name| one(path, outputs, Some(name), None));
    Ok(named.collect::<Result<Vec<_>, _>>()?.into())
}

/// The name of one output: the one that was asked for, else the only one, else one with a usual name.
fn one(path: &Path, outputs: &[Port], asked: Option<&str>, preferred: Option<&str>) -> Result<String, Error> {
    let named = |name: &str| outputs.iter().find(|output| output.name == name);
    let chosen = match (asked, outputs) {
        (Some(name), _) => named(name),
        (None, [only]) => Some(only),
        (None, _) => preferred.into_iter().chain(USUAL_NAMES).find_map(named),
    };
    let Some(output) = chosen else {
        let wanted = asked.map_or("no output is known to hold features".to_owned(), |name| {
            format!("there is no output `{name}`")
        });
        let reason = format!("{wanted}: state `output` as one of {}", list(outputs));
        return Err(bad(path, reason));
    };
    let fits = |sides: &Vec<Option<usize>>| (2..=4).contains(&sides.len());
    if !output.is_float || !output.shape.as_ref().is_none_or(fits) {
        return Err(bad(path, no_features(&output.to_string())));
    }
    Ok(output.name.clone())
}

/// One row of features per image.
///
/// `(images, features)` is taken as it is. A map of features, `(N, C, H, W)` or `(N, H, W, C)` like the input, is averaged
/// over space. Of `(images, tokens, features)` the first token stands for the image, or the mean of all.
pub(super) fn rows(output: Tensor, settings: &Settings) -> Result<Tensor, String> {
    match (output.shape.as_slice(), settings.layout) {
        (&[_, _], _) => Ok(output),
        (&[images, tokens, features], _) if tokens * features > 0 => {
            let of_image = output.values.chunks_exact(tokens * features);
            let row = |image: &[f32]| match settings.tokens {
                Tokens::First => image[..features].to_vec(),
                Tokens::Mean => mean_of(image, features),
            };
            Ok(table(images, features, of_image.flat_map(row)))
        }
        (&[images, features, height, width], Layout::Nchw) if height * width > 0 => {
            let area = height * width;
            let mean = |map: &[f32]| map.iter().sum::<f32>() / area as f32;
            Ok(table(
                images,
                features,
                output.values.chunks_exact(area).map(mean),
            ))
        }
        (&[images, height, width, features], Layout::Nhwc) if height * width * features > 0 => {
            let area = height * width;
            let of_image = output.values.chunks_exact(area * features);
            let means = of_image.flat_map(|image| mean_of(image, features));
            Ok(table(images, features, means))
        }
        (shape, _) => Err(no_features(&format!("of shape {shape:?}"))),
    }
}

/// The mean of rows of this many features.
fn mean_of(rows: &[f32], features: usize) -> Vec<f32> {
    let n_rows = (rows.len() / features) as f32;
    let mean = |at| rows.iter().skip(at).step_by(features).sum::<f32>() / n_rows;
    (0..features).map(mean).collect()
}

/// The rows of several outputs, side by side: each part is brought to length 1, so that none drowns out the others. Of
/// parts that hold amounts, the roots are taken first, which tames their long tails.
pub(super) fn side_by_side(parts: &[Tensor], are_amounts: &[bool]) -> Vec<f32> {
    if let [only] = parts {
        return only.values.clone();
    }
    let n_rows = parts.iter().filter_map(|part| part.shape.first()).min();
    let parts = || parts.iter().zip(are_amounts);
    let row = |at: usize| parts().flat_map(move |(part, &amounts)| part_of_row(part, at, amounts));
    (0..n_rows.copied().unwrap_or(0)).flat_map(row).collect()
}

fn part_of_row(part: &Tensor, row: usize, amounts: bool) -> Vec<f32> {
    let width = part.shape.get(1).copied().unwrap_or(0);
    let values = part
        .values
        .get(row * width..(row + 1) * width)
        .unwrap_or_default();
    let value = |value: &f32| {
        if amounts {
            value.signum() * value.abs().sqrt()
        } else {
            *value
        }
    };
    let values: Vec<f32> = values.iter().map(value).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 1.0 };
    values.into_iter().map(|value| value * scale).collect()
}

fn table(images: usize, features: usize, values: impl Iterator<Item = f32>) -> Tensor {
    Tensor {
        shape: vec![images, features],
        values: values.collect(),
    }
}

fn no_features(output: &str) -> String {
    format!(
        "the output {output} holds no features of images: those are floats of shape (images, features), \
         (images, tokens, features), or features over space"
    )
}
