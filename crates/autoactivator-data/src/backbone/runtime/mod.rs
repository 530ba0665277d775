//! What computes a backbone: a pure Rust runtime, or ONNX Runtime where that was compiled in.
//!
//! [`load`] makes a [`Runtime`] of the bytes of an ONNX file.

#[cfg(feature = "ort")]
mod onnxruntime;
#[cfg(feature = "backbones")]
mod pure_rust;
#[cfg(not(feature = "backbones"))]
#[path = "no_rten.rs"]
mod pure_rust;

use std::fmt;
use std::str::FromStr;

/// Which runtime computes a backbone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// `rten`, written in Rust; in builds with the feature `backbones`.
    #[default]
    Rten,
    /// ONNX Runtime, a shared library that `ORT_DYLIB_PATH` names; in builds with the feature `ort`.
    #[cfg(feature = "ort")]
    Ort,
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "rten" => Ok(Self::Rten),
            #[cfg(feature = "ort")]
            "ort" => Ok(Self::Ort),
            #[cfg(not(feature = "ort"))]
            "ort" => Err("the runtime ort was not compiled in: build with the feature `ort`".to_owned()),
            _ => Err(format!("runtime is '{text}', but must be rten or ort")),
        }
    }
}

/// A model that is ready to run. Its errors leave the name of the file to the caller.
pub(super) trait Runtime: Send + Sync {
    /// The inputs and outputs of the model.
    fn graph(&self) -> Graph;

    /// Runs the model on its only input, and returns the output of this name.
    fn run(&self, input: Tensor, output: &str) -> Result<Tensor, String>;
}

/// Loads the bytes of an ONNX file.
pub(super) fn load(engine: Engine, onnx: Vec<u8>) -> Result<Box<dyn Runtime>, String> {
    match engine {
        Engine::Rten => Ok(Box::new(pure_rust::PureRust::load(onnx)?)),
        #[cfg(feature = "ort")]
        Engine::Ort => Ok(Box::new(onnxruntime::OnnxRuntime::load(&onnx)?)),
    }
}

/// The inputs and outputs of a model.
pub(super) struct Graph {
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
}

/// An input or output.
#[derive(Clone)]
pub(super) struct Port {
    pub(super) name: String,
    /// Whether its values are 32-bit floats.
    pub(super) is_float: bool,
    /// Its dimensions, as far as they are fixed; none when not even their number is known.
    pub(super) shape: Option<Vec<Option<usize>>>,
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sides = self.shape.as_deref().map(|sides| {
            let side = |side: &Option<usize>| side.map_or("?".to_owned(), |n| n.to_string());
            sides.iter().map(side).collect::<Vec<_>>().join(" x ")
        });
        write!(
            f,
            "`{}` of {}",
            self.name,
            sides.as_deref().unwrap_or("unknown shape")
        )
    }
}

/// Several inputs or outputs, for a message.
pub(super) fn list(ports: &[Port]) -> String {
    ports.iter().map(Port::to_string).collect::<Vec<_>>().join(", ")
}

/// Values in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
}
