//! The settings of one backbone, all of them known and fit for its graph.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::output;
use super::preset::{IMAGENET, Preset};
use super::runtime::{Graph, list};
use super::spec::{BackboneSpec, Channels, Layout};
use crate::error::{Error, bad};
use crate::image::{Filter, Resize};

/// Sizes beyond this would rather be a mistake.
const LARGEST: usize = 2048;

/// How images are shown to a backbone, and which output is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Name of the output that holds the features.
    pub output: String,
    /// Height and width of the input, in pixels.
    pub size: usize,
    /// Order of the sides of the input.
    pub layout: Layout,
    /// Order of the colours.
    pub channels: Channels,
    /// Subtracted from the values 0 to 255.
    pub mean: [f32; 3],
    /// What they are divided by then.
    pub scale: [f32; 3],
    /// What happens to images that are not square.
    pub resize: Resize,
    /// How pixels between pixels are found.
    pub filter: Filter,
}

/// The size that most backbones were trained at.
const USUAL_SIZE: usize = 224;

/// What had to be assumed, for the caller to print.
pub(super) type Note = Option<String>;

impl Settings {
    /// Fills in what `given` leaves open.
    pub(super) fn resolve(path: &Path, given: BackboneSpec, graph: &Graph) -> Result<(Self, Note), Error> {
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
        let settings = Self {
            output: output::choose(
                path,
                &graph.outputs,
                asked.output.as_deref(),
                known.output.as_deref(),
            )?,
            // A fixed input leaves no choice, so it goes before what the preset likes best.
            size: input.size.or(known.size).unwrap_or(USUAL_SIZE),
            layout: input.layout,
            channels: known.channels.unwrap_or(Channels::Rgb),
            mean: known.mean.unwrap_or(IMAGENET.0),
            scale: known.scale.unwrap_or(IMAGENET.1),
            resize: known.resize.unwrap_or(Resize::Stretch),
            filter: known.filter.unwrap_or(Filter::Bilinear),
        };
        settings.check(path)?;
        let assumed = known.mean.is_none() || known.scale.is_none();
        Ok((settings, assumed.then(|| assumption(path))))
    }

    fn check(&self, path: &Path) -> Result<(), Error> {
        if !(1..=LARGEST).contains(&self.size) {
            return Err(bad(
                path,
                format!("size is {}, but must be 1 to {LARGEST}", self.size),
            ));
        }
        if !self.mean.iter().all(|mean| mean.is_finite()) {
            return Err(bad(path, "mean must be three finite numbers"));
        }
        if !self.scale.iter().all(|scale| scale.is_normal()) {
            return Err(bad(path, "scale must be three finite numbers, none of them 0"));
        }
        Ok(())
    }
}

fn assumption(path: &Path) -> String {
    let beside = path.with_extension("toml");
    format!(
        "{}: no preset and no `mean` and `scale` given, so ImageNet's are assumed; if it was trained with others, \
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
            return wrong("is no batch of images: that has four sides, as in N x 3 x H x W");
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
