//! Fills in the settings of a backbone: what was stated, what its graph tells, and what is usual.
//!
//! [`resolve`] returns settings that fit the graph, or says what does not.

use std::path::Path;

use super::output;
use super::preset::{IMAGENET, Preset};
use super::runtime::{Graph, list};
use super::spec::BackboneSpec;
use crate::error::{Error, bad};
use crate::origin::{Channels, Filter, Layout, Resize, Settings};

/// The largest size; more than this is probably a mistake.
const LARGEST: usize = 2048;

/// The size that most backbones were trained at.
const USUAL_SIZE: usize = 224;

/// What had to be assumed, for the user.
pub(super) type Note = Option<String>;

/// Fills in what `given` leaves open.
pub(super) fn resolve(path: &Path, given: BackboneSpec, graph: &Graph) -> Result<(Settings, Note), Error> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let asked = given.or(BackboneSpec::beside(path)?);
    let preset = asked.preset.or_else(|| Preset::of_file(&stem));
    let known = asked.clone().or(preset.map(Preset::spec).unwrap_or_default());

    let input = Input::of(path, graph, known.layout)?;
    if let (Some(asked), Some(fixed)) = (asked.size, input.size)
        && asked != fixed
    {
        return Err(bad(
            path,
            format!("takes images of {fixed} pixels a side, not {asked}"),
        ));
    }
    let settings = Settings {
        output: output::choose(
            path,
            &graph.outputs,
            asked.output.as_deref(),
            known.output.as_deref(),
        )?,
        // A fixed input leaves no choice, so it wins over the preset.
        size: input.size.or(known.size).unwrap_or(USUAL_SIZE),
        layout: input.layout,
        channels: known.channels.unwrap_or(Channels::Rgb),
        mean: known.mean.unwrap_or(IMAGENET.0),
        scale: known.scale.unwrap_or(IMAGENET.1),
        resize: known.resize.unwrap_or(Resize::Stretch),
        filter: known.filter.unwrap_or(Filter::Bilinear),
    };
    check(path, &settings)?;
    let assumed = known.mean.is_none() || known.scale.is_none();
    Ok((settings, assumed.then(|| assumption(path))))
}

fn check(path: &Path, settings: &Settings) -> Result<(), Error> {
    if !(1..=LARGEST).contains(&settings.size) {
        return Err(bad(
            path,
            format!("size is {}, but must be 1 to {LARGEST}", settings.size),
        ));
    }
    if !settings.mean.iter().all(|mean| mean.is_finite()) {
        return Err(bad(path, "mean must be three finite numbers"));
    }
    if !settings.scale.iter().all(|scale| scale.is_normal()) {
        return Err(bad(path, "scale must be three finite numbers, none of them 0"));
    }
    Ok(())
}
fn assumption(path: &Path) -> String {
    let beside = path.with_extension("toml");
    format!(
        "{}: no preset, `mean` or `scale` is given, so ImageNet's are assumed; if it was trained with others, \
         state them in {}",
        path.display(),
        beside.display()
    )
}

/// What the graph says about its only input.
struct Input {
    layout: Layout,
    size: Option<usize>,
}

impl Input {
    fn of(path: &Path, graph: &Graph, asked: Option<Layout>) -> Result<Self, Error> {
        let [input] = graph.inputs.as_slice() else {
            let reason = format!(
                "takes {} inputs ({}), but a backbone takes one, the images: export the image encoder alone",
                graph.inputs.len(),
                list(&graph.inputs)
            );
            return Err(bad(path, reason));
        };
        let wrong = |what: &str| Err(bad(path, format!("the input {input} {what}")));
        if !input.is_float {
            return wrong("does not take 32-bit floats: export the model without quantised inputs");
        }
        let Some(sides) = &input.shape else {
            let layout = asked.unwrap_or(Layout::Nchw);
            return Ok(Self { layout, size: None });
        };
        let &[_, second, third, fourth] = sides.as_slice() else {
            return wrong("is not a batch of images: those have four dimensions, as in N x 3 x H x W");
        };
        let nchw = asked.map_or(second == Some(3) || fourth != Some(3), |layout| {
            layout == Layout::Nchw
        });
        let (layout, colours, height, width) = if nchw {
            (Layout::Nchw, second, third, fourth)
        } else {
            (Layout::Nhwc, fourth, second, third)
        };
        if colours.is_some_and(|n| n != 3) {
            return wrong("does not take three channels in this layout");
        }
        if let (Some(height), Some(width)) = (height, width)
            && height != width
        {
            return wrong("is not square");
        }
        Ok(Self {
            layout,
            size: height.or(width),
        })
    }
}
