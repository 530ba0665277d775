//! Frozen backbones: ONNX image models that turn each image into features.
//!
//! [`BackboneSpec`] is what is known about one, `resolve` fills in the rest, and [`Backbone`] runs it. Its
//! [`Identity`] tells it from others.

mod input;
mod known;
mod onnx;
mod output;
mod preset;
mod resolve;
pub(crate) mod runtime;
mod spec;

use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::error::{Error, bad, io_error};
use crate::hash::hex;
use crate::image::RgbImage;
use crate::origin::Identity;
pub use known::{Known, KnownFile, Trust};
use onnx::{Tensors, with_outputs};
pub use preset::Preset;
use resolve::{Stated, resolve};
pub use runtime::Runtime;
use runtime::{Graph, Network, Tensor, list};
pub use spec::BackboneSpec;

/// How many tensors inside a graph are shown: the useful ones are near its end.
const SHOWN: usize = 12;

/// What a backbone takes and gives, in words.
#[derive(Debug, Serialize)]
pub struct Outline {
    /// Its inputs, with their shapes.
    pub inputs: String,
    /// The outputs, with their shapes.
    pub outputs: String,
    /// The last tensors that are no outputs, and the operator that computes each; the last first.
    pub inside: Vec<String>,
}

/// An ONNX image model, ready to turn images into features.
pub struct Backbone {
    path: PathBuf,
    identity: Identity,
    network: Box<dyn Network>,
    /// Of each output, whether it holds amounts.
    are_amounts: Vec<bool>,
    /// How many images it takes at a time, when that is fixed.
    fixed_batch: Option<usize>,
    n_features: usize,
    notes: Vec<String>,
}

impl Backbone {
    /// Loads an ONNX file.
    ///
    /// Settings in `given` win over those of the TOML file beside the model, and these over the preset's. The model is
    /// run once on a black image, so that one that cannot be run is refused here.
    pub fn open(path: &Path, given: BackboneSpec, runtime: Runtime) -> Result<Self, Error> {
        let onnx = std::fs::read(path).map_err(|cause| io_error(path, cause))?;
        if onnx.is_empty() {
            return Err(bad(path, "is an empty file, not an ONNX model"));
        }
        let sha256 = sha256_of(&onnx);
        let tensors = Tensors::of(&onnx);
        let stated = Stated::new(path, given, &sha256, &tensors)?;
        let onnx = with_outputs(onnx, &stated.inner);
        let (network, fallback) = runtime::load(runtime, onnx).map_err(|reason| bad(path, reason))?;
        let graph = network.graph();
        let (settings, assumed) = resolve(path, &stated, &graph)?;
        let outputs = settings.output.names().iter();
        let are_amounts = outputs.map(|name| tensors.are_amounts(name)).collect();
        let mut backbone = Self {
            are_amounts,
            path: path.to_owned(),
            identity: Identity {
                name: path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                sha256,
                settings,
                place: None,
                runtime: Some(network.runtime()),
            },
            network,
            fixed_batch: fixed_batch(&graph),
            n_features: 0,
            notes: fallback.into_iter().chain(assumed).collect(),
        };
        let side = backbone.identity.settings.size as u32;
        backbone.n_features = backbone.features(&[&RgbImage::black(side, side)])?.len();
        Ok(backbone)
    }

    /// SHA-256 of a file, in hexadecimal, as an [`Identity`] has it.
    pub fn sha256_of(path: &Path) -> Result<String, Error> {
        let onnx = std::fs::read(path).map_err(|cause| io_error(path, cause))?;
        Ok(sha256_of(&onnx))
    }

    /// What tells it from other backbones, and where its file is.
    pub fn placed_identity(&self) -> Identity {
        let place = std::path::absolute(&self.path).ok();
        Identity {
            // A place that is not UTF-8 cannot be kept in a model file.
            place: place.and_then(|place| place.to_str().map(str::to_owned)),
            ..self.identity.clone()
        }
    }

    /// What tells it from other backbones.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How many features it computes for an image.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Notes for the user: what had to be assumed about it, and why another runtime runs it than was to be expected.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What its graph takes and returns, and the last tensors inside it, each with the operator that computes it. Only the
    /// file is read.
    pub fn outline(&self) -> Result<Outline, Error> {
        let onnx = std::fs::read(&self.path).map_err(|cause| io_error(&self.path, cause))?;
        let tensors = Tensors::of(&onnx);
        let steps = tensors.steps.iter().rev();
        let hidden = steps.flat_map(|step| step.outputs.iter().map(move |name| (name, &step.operator)));
        let hidden = hidden.filter(|(name, _)| tensors.hides(name));
        let graph = self.network.graph();
        Ok(Outline {
            inputs: list(&graph.inputs),
            outputs: list(&graph.outputs),
            inside: hidden
                .take(SHOWN)
                .map(|(name, operator)| format!("`{name}` ({operator})"))
                .collect(),
        })
    }

    /// The features of each image, one image after the other.
    pub fn features(&self, images: &[&RgbImage]) -> Result<Vec<f32>, Error> {
        let at_a_time = self.fixed_batch.unwrap_or(images.len()).max(1);
        let mut features = Vec::with_capacity(images.len() * self.n_features);
        for images in images.chunks(at_a_time) {
            let n_images = self.fixed_batch.unwrap_or(images.len());
            let rows = self.run(images, n_images)?;
            features.extend(
                rows.chunks_exact(rows.len() / n_images.max(1))
                    .take(images.len())
                    .flatten(),
            );
        }
        Ok(features)
    }

    fn run(&self, images: &[&RgbImage], n_images: usize) -> Result<Vec<f32>, Error> {
        let settings = &self.identity.settings;
        let failed = |reason: String| bad(&self.path, format!("cannot be run: {reason}"));
        let tensor = input::tensor(images, n_images, settings);
        let mirrored = settings.mirror.then(|| input::mirrored(tensor.clone(), settings));
        let mut parts = self.parts(tensor, n_images).map_err(failed)?;
        if let Some(mirrored) = mirrored {
            let others = self.parts(mirrored, n_images).map_err(failed)?;
            for (part, other) in parts.iter_mut().zip(&others) {
                let values = part.values.iter_mut().zip(&other.values);
                values.for_each(|(value, other)| *value = (*value + other) / 2.0);
            }
        }
        Ok(output::side_by_side(&parts, &self.are_amounts))
    }

    /// One row per image of each output.
    fn parts(&self, images: Tensor, n_images: usize) -> Result<Vec<Tensor>, String> {
        let settings = &self.identity.settings;
        let outputs = self.network.run(images, settings.output.names())?;
        let rows = outputs.into_iter().map(|output| {
            let rows = output::rows(output, settings)?;
            match rows.shape.first() {
                Some(&given) if given == n_images => Ok(rows),
                given => Err(format!("it returns features of {given:?} images for {n_images}")),
            }
        });
        rows.collect()
    }
}

fn sha256_of(onnx: &[u8]) -> String {
    hex(&Sha256::digest(onnx))
}

fn fixed_batch(graph: &Graph) -> Option<usize> {
    let sides = graph.inputs.first()?.shape.as_ref()?;
    sides.first().copied().flatten().filter(|&images| images > 0)
}
