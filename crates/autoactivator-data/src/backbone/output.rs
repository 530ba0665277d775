//! Which output of a backbone holds the features, and how it becomes one row per image.

use std::path::Path;

use super::runtime::{Port, Tensor, list};
use crate::error::{Error, bad};
use crate::origin::Layout;

/// The names that exporters give to features, the most likely first.
const USUAL_NAMES: [&str; 6] = [
    "features",
    "embedding",
    "embeddings",
    "image_embeds",
    "pooler_output",
    "last_hidden_state",
];

/// The name of the output to read: the one that was asked for, else the only one, else one with a usual name.
pub(super) fn choose(
    path: &Path,
    outputs: &[Port],
    asked: Option<&str>,
    preferred: Option<&str>,
) -> Result<String, Error> {
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
/// over space. Of `(images, tokens, features)` the first token stands for the image, as in a vision transformer.
pub(super) fn rows(output: Tensor, layout: Layout) -> Result<Tensor, String> {
    match (output.shape.as_slice(), layout) {
        (&[_, _], _) => Ok(output),
        (&[images, tokens, features], _) if tokens > 0 => {
            let first = |image: &[f32]| image[..features].to_vec();
            let of_image = output.values.chunks_exact((tokens * features).max(1));
            Ok(table(images, features, of_image.flat_map(first)))
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
            let means = of_image.flat_map(|image| {
                let mean = move |at| image.iter().skip(at).step_by(features).sum::<f32>() / area as f32;
                (0..features).map(mean)
            });
            Ok(table(images, features, means))
        }
        (shape, _) => Err(no_features(&format!("of shape {shape:?}"))),
    }
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
