//! What computes a backbone: ONNX Runtime where it is installed, or a runtime written in Rust.
//!
//! [`load`] makes a [`Network`] of the bytes of an ONNX file.

#[cfg(feature = "ort")]
mod installed;
#[cfg(feature = "ort")]
mod library;
#[cfg(feature = "ort")]
mod onnxruntime;
#[cfg(not(feature = "ort"))]
#[path = "no_ort.rs"]
mod onnxruntime;
#[cfg(feature = "backbones")]
mod pure_rust;
#[cfg(not(feature = "backbones"))]
#[path = "no_rten.rs"]
mod pure_rust;

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use onnxruntime::OnnxRuntime;
use pure_rust::PureRust;

/// Which runtime computes a backbone. Features are the same within rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Runtime {
    /// ONNX Runtime where it is installed, else `rten`.
    #[default]
    Auto,
    /// `rten`, written in Rust; in builds with the feature `backbones`.
    Rten,
    /// ONNX Runtime, a shared library that is found where Python packages and libraries are installed, or through
    /// `ORT_DYLIB_PATH`; in builds with the feature `ort`.
    OnnxRuntime,
}

impl FromStr for Runtime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "rten" => Ok(Self::Rten),
            "onnxruntime" => Ok(Self::OnnxRuntime),
            _ => Err(format!(
                "runtime is '{text}', but must be auto, rten or onnxruntime"
            )),
        }
    }
}

impl Runtime {
    /// The runtime that computed features, by the name that an [`Identity`](crate::Identity) keeps of it.
    pub fn of_name(name: &str) -> Option<Self> {
        name.split(' ').next()?.parse().ok()
    }

    /// The version of the ONNX Runtime that is installed here, or why none is used.
    pub fn installed() -> Result<String, String> {
        onnxruntime::installed().map_err(|refusal| refusal.to_string())
    }
}

/// A model that is ready to run. Its errors leave the name of the file to the caller.
pub(crate) trait Network: Send + Sync {
    /// Name and version of the runtime.
    fn runtime(&self) -> String;

    /// The inputs and outputs of the model.
    fn graph(&self) -> Graph;

    /// Runs the model on its only input, and returns the outputs of these names, in their order.
    fn run(&self, input: Tensor, outputs: &[String]) -> Result<Vec<Tensor>, String>;

    /// Runs the model on matrices of whole numbers, each for the input of this name, and returns the output of this name.
    fn run_on_tokens(&self, inputs: &[(&str, Tokens)], output: &str) -> Result<Tensor, String>;
}

/// Why ONNX Runtime does not run a model.
#[cfg_attr(
    not(feature = "ort"),
    allow(dead_code, reason = "without the feature it is never found")
)]
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// It is not installed.
    Absent(String),
    /// It is installed, but cannot be used.
    Unusable(String),
    /// It cannot run this model.
    Model(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Absent(reason) | Self::Unusable(reason) | Self::Model(reason)) = self;
        f.write_str(reason)
    }
}

/// Loads the bytes of an ONNX file. With a note for the user if another runtime runs it than was to be expected.
pub(crate) fn load(runtime: Runtime, onnx: Vec<u8>) -> Result<(Box<dyn Network>, Option<String>), String> {
    let refusal = match runtime {
        Runtime::Rten => None,
        Runtime::OnnxRuntime | Runtime::Auto => match OnnxRuntime::load(&onnx) {
            Ok(network) => return Ok((Box::new(network), None)),
            Err(refusal) if runtime == Runtime::OnnxRuntime => return Err(refusal.to_string()),
            Err(refusal) => Some(refusal),
        },
    };
    let network = Box::new(PureRust::load(onnx)?);
    Ok((network, refusal.as_ref().and_then(note)))
}

/// What a user is told when `rten` takes the place of ONNX Runtime. That a library cannot be used is told once.
fn note(refusal: &Refusal) -> Option<String> {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let tell = match refusal {
        Refusal::Absent(_) => false,
        Refusal::Unusable(_) => !TOLD.swap(true, Ordering::Relaxed),
        Refusal::Model(_) => true,
    };
    tell.then(|| format!("rten computes features: {refusal}"))
}

/// The inputs and outputs of a model.
#[derive(Clone)]
pub(crate) struct Graph {
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
}

/// An input or output.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) name: String,
    /// Whether its values are 32-bit floats.
    pub(crate) is_float: bool,
    /// Whether its values are whole numbers of 32 or 64 bits.
    pub(crate) is_integer: bool,
    /// Its dimensions, as far as they are fixed; none when not even their number is known.
    pub(crate) shape: Option<Vec<Option<usize>>>,
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
pub(crate) fn list(ports: &[Port]) -> String {
    ports.iter().map(Port::to_string).collect::<Vec<_>>().join(", ")
}

/// Values in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// A matrix of whole numbers in row-major order, such as the tokens of some sentences.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tokens {
    pub(crate) shape: [usize; 2],
    pub(crate) values: Vec<i32>,
}
