//! Backbones on ONNX Runtime, a shared library that is loaded once.

use std::sync::{Mutex, OnceLock, PoisonError};

use ort::environment::Environment;
use ort::session::Session;
use ort::value::{Outlet, Tensor as OrtTensor, TensorElementType, ValueType};

use super::{Graph, Port, Runtime, Tensor};

/// The variable that names the shared library.
const LIBRARY: &str = "ORT_DYLIB_PATH";

/// A model in ONNX Runtime. One batch runs at a time, on all cores.
pub(super) struct OnnxRuntime {
    session: Mutex<Session>,
}

impl OnnxRuntime {
    pub(super) fn load(onnx: &[u8]) -> Result<Self, String> {
        let session = Session::builder(environment()?)
            .and_then(|mut builder| builder.commit_from_memory(onnx))
            .map_err(|error| format!("cannot be run: {error}"))?;
        Ok(Self {
            session: Mutex::new(session),
        })
    }
}

impl Runtime for OnnxRuntime {
    fn graph(&self) -> Graph {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        Graph {
            inputs: session.inputs().iter().map(port).collect(),
            outputs: session.outputs().iter().map(port).collect(),
        }
    }

    fn run(&self, input: Tensor, output: &str) -> Result<Tensor, String> {
        let input = OrtTensor::from_array((input.shape, input.values)).map_err(|error| error.to_string())?;
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let outputs = session
            .run(ort::inputs![input])
            .map_err(|error| error.to_string())?;
        let value = outputs
            .get(output)
            .ok_or_else(|| format!("there is no output `{output}`"))?;
        let (shape, values) = value
            .try_extract_tensor::<f32>()
            .map_err(|error| error.to_string())?;
        Ok(Tensor {
            shape: shape.iter().map(|&side| side as usize).collect(),
            values: values.to_vec(),
        })
    }
}

/// The library, loaded once. Without a path `ort` would panic, so the path is checked first.
fn environment() -> Result<&'static Environment, String> {
    static ENVIRONMENT: OnceLock<Result<Environment, String>> = OnceLock::new();
    let loaded = ENVIRONMENT.get_or_init(|| {
        let path = std::env::var_os(LIBRARY)
            .ok_or_else(|| format!("set {LIBRARY} to the shared library of ONNX Runtime"))?;
        let builder = ort::init_from(path).map_err(|error| format!("{LIBRARY}: {error}"))?;
        builder.build().map_err(|error| error.to_string())
    });
    loaded.as_ref().map_err(Clone::clone)
}

fn port(outlet: &Outlet) -> Port {
    let (is_float, shape) = match outlet.dtype() {
        ValueType::Tensor { ty, shape, .. } => {
            let sides = shape.iter().map(|&side| usize::try_from(side).ok()).collect();
            (*ty == TensorElementType::Float32, Some(sides))
        }
        _ => (false, None),
    };
    Port {
        name: outlet.name().to_owned(),
        is_float,
        shape,
    }
}
