//! Fills in the settings of a backbone: what was stated, what its graph tells, and what is usual.
//!
//! [`resolve`] returns settings that fit the graph, or says what does not.

use std::path::Path;

use super::known::Known;
use super::onnx::Tensors;
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

/// What was stated about a backbone, and what is known of its kind.
pub(super) struct Stated {
    /// By the caller and in the file beside it.
    asked: BackboneSpec,
    /// The same, completed by the preset.
    known: BackboneSpec,
    /// The tensor that the preset reads too where no output was asked for.
    second: Option<String>,
    /// The tensors in the middle of the graph that are to be read.
    pub(super) inner: Vec<String>,
}

impl Stated {
    /// Collects it. The preset is the one that was asked for, that of a file whose content is known, or the one that the
    /// file is called after.
    pub(super) fn new(
        path: &Path,
        given: BackboneSpec,
        sha256: &str,
        tensors: &Tensors,
    ) -> Result<Self, Error> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let asked = given.or(BackboneSpec::beside(path)?);
        let of_file =
            || Known::of_content(sha256).map_or_else(|| Preset::of_file(&stem), |known| known.preset);
        let preset = asked.preset.or_else(of_file);
        let known = asked.clone().or(preset.map(Preset::spec).unwrap_or_default());
        let reads_more = asked.output.is_none() && preset.is_some_and(Preset::reads_before_last_convolution);
        let second = tensors.before_last_convolution().filter(|_| reads_more);
        let names = asked.output.iter().flat_map(|output| output.names());
        let names = names.map(String::as_str).chain(second);
        Ok(Self {
            inner: names
                .filter(|name| tensors.hides(name))
                .map(str::to_owned)
                .collect(),
            second: second.map(str::to_owned),
            asked,
            known,
        })
    }
}

/// Fills in what was left open.
pub(super) fn resolve(path: &Path, stated: &Stated, graph: &Graph) -> Result<(Settings, Note), Error> {
    let Stated {
        asked, known, second, ..
    } = stated;
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
            asked.output.as_ref(),
            known.output.as_ref(),
            second.as_deref(),
        )?,
        // A fixed input leaves no choice, so it wins over the preset.
        size: input.size.or(known.size).unwrap_or(USUAL_SIZE),
        layout: input.layout,
        channels: known.channels.unwrap_or(Channels::Rgb),
        mean: known.mean.unwrap_or(IMAGENET.0),
        scale: known.scale.unwrap_or(IMAGENET.1),
        resize: known.resize.unwrap_or(Resize::Stretch),
        filter: known.filter.unwrap_or(Filter::Bilinear),
        tokens: known.tokens.unwrap_or_default(),
        mirror: known.mirror.unwrap_or(false),
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
