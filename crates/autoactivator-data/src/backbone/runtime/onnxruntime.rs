//! Backbones on ONNX Runtime: one session per core, each on one thread.
//!
//! Runs of one thread each, beside each other, are faster than runs that divide every operator among the cores: see
//! "Feature extraction" in `docs/performance.md`.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use ort::session::{Session, SessionInputValue, SessionOutputs};
use ort::value::{Outlet, Tensor as OrtTensor, TensorElementType, ValueType};

use super::library::{Library, library};
use super::{Graph, Network, Port, Refusal, Tensor, Tokens};

/// Each session has its own copy of the weights: all copies together take about this many bytes at most, and large
/// models make do with fewer sessions.
const MOST_BYTES: usize = 1 << 30;

/// Where weights outside of the model file would be looked for. There is no such folder: they are not part of a
/// backbone's identity, so a model that needs them is refused, as by `rten`.
const NO_FOLDER: (&str, &str) = (
    "session.model_external_initializers_file_folder_path",
    "/no folder: weights are part of the model file",
);

/// The version of the library.
pub(super) fn installed() -> Result<String, Refusal> {
    library().map(|library| library.version.clone())
}

/// A model in ONNX Runtime.
pub(super) struct OnnxRuntime {
    library: &'static Library,
    onnx: Vec<u8>,
    most_sessions: usize,
    threads: usize,
    graph: Graph,
    sessions: Mutex<Sessions>,
    returned: Condvar,
}

/// The sessions of a model.
struct Sessions {
    idle: Vec<Session>,
    n_made: usize,
}

impl OnnxRuntime {
    pub(super) fn load(onnx: &[u8]) -> Result<Self, Refusal> {
        let library = library()?;
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let most_sessions = (MOST_BYTES / onnx.len().max(1)).clamp(1, cores);
        let threads = cores / most_sessions;
        let first = session(library, onnx, threads).map_err(|reason| {
            let version = &library.version;
            Refusal::Model(format!("cannot be run by ONNX Runtime {version}: {reason}"))
        })?;
        Ok(Self {
            library,
            onnx: onnx.to_vec(),
            most_sessions,
            threads,
            graph: Graph {
                inputs: first.inputs().iter().map(port).collect(),
                outputs: first.outputs().iter().map(port).collect(),
            },
            sessions: Mutex::new(Sessions {
                idle: vec![first],
                n_made: 1,
            }),
            returned: Condvar::new(),
        })
    }

    /// A session that nobody uses: an idle one, a new one, or the next that is given back.
    fn take(&self) -> Result<Session, String> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let none_yet =
            |sessions: &mut Sessions| sessions.idle.is_empty() && sessions.n_made >= self.most_sessions;
        let waited = self.returned.wait_while(sessions, none_yet);
        let mut sessions = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(idle) = sessions.idle.pop() {
            return Ok(idle);
        }
        // Made under the lock: it happens once per core, and a session that fails is not counted.
        let made = session(self.library, &self.onnx, self.threads)?;
        sessions.n_made += 1;
        Ok(made)
    }

    fn give_back(&self, session: Session) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.idle.push(session);
        self.returned.notify_one();
    }
}

impl Network for OnnxRuntime {
    fn runtime(&self) -> String {
        format!("onnxruntime {}", self.library.version)
    }

    fn graph(&self) -> Graph {
        self.graph.clone()
    }

    fn run(&self, input: Tensor, outputs: &[String]) -> Result<Vec<Tensor>, String> {
        let mut session = self.take()?;
        let result = run(&mut session, input, outputs);
        self.give_back(session);
        result
    }

    fn run_on_tokens(&self, inputs: &[(&str, Tokens)], output: &str) -> Result<Tensor, String> {
        let mut session = self.take()?;
        let result = run_on_tokens(&mut session, inputs, output);
        self.give_back(session);
        result
    }
}

fn session(library: &Library, onnx: &[u8], threads: usize) -> Result<Session, String> {
    let builder = Session::builder(&library.environment).map_err(|error| error.to_string())?;
    let builder = builder
        .with_intra_threads(threads)
        .map_err(|error| error.to_string())?;
    let (key, value) = NO_FOLDER;
    let mut builder = builder
        .with_config_entry(key, value)
        .map_err(|error| error.to_string())?;
    builder
        .commit_from_memory(onnx)
        .map_err(|error| error.to_string())
}

fn run(session: &mut Session, input: Tensor, names: &[String]) -> Result<Vec<Tensor>, String> {
    let input = OrtTensor::from_array((input.shape, input.values)).map_err(|error| error.to_string())?;
    let outputs = session
        .run(ort::inputs![input])
        .map_err(|error| error.to_string())?;
    names.iter().map(|name| floats(&outputs, name)).collect()
}

fn run_on_tokens(session: &mut Session, inputs: &[(&str, Tokens)], output: &str) -> Result<Tensor, String> {
    let short: Vec<String> = session
        .inputs()
        .iter()
        .filter(|input| element(input) == Some(TensorElementType::Int32))
        .map(|input| input.name().to_owned())
        .collect();
    let mut named = Vec::with_capacity(inputs.len());
    for (name, tokens) in inputs {
        let shape = tokens.shape.to_vec();
        let value: SessionInputValue<'_> = if short.iter().any(|other| other == name) {
            let made = OrtTensor::from_array((shape, tokens.values.clone()));
            made.map_err(|error| error.to_string())?.into()
        } else {
            let wide: Vec<i64> = tokens.values.iter().map(|&value| i64::from(value)).collect();
            let made = OrtTensor::from_array((shape, wide));
            made.map_err(|error| error.to_string())?.into()
        };
        named.push(((*name).to_owned(), value));
    }
    let outputs = session.run(named).map_err(|error| error.to_string())?;
    floats(&outputs, output)
}

/// The values of the output of this name.
fn floats(outputs: &SessionOutputs<'_>, output: &str) -> Result<Tensor, String> {
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

/// The kind of the values of an input; none if it is not a tensor.
fn element(outlet: &Outlet) -> Option<TensorElementType> {
    match outlet.dtype() {
        ValueType::Tensor { ty, .. } => Some(*ty),
        _ => None,
    }
}

fn port(outlet: &Outlet) -> Port {
    let (is_float, shape) = match outlet.dtype() {
        ValueType::Tensor { ty, shape, .. } => {
            let sides = shape.iter().map(|&side| usize::try_from(side).ok()).collect();
            (*ty == TensorElementType::Float32, Some(sides))
        }
        _ => (false, None),
    };
    let integers = [TensorElementType::Int32, TensorElementType::Int64];
    Port {
        name: outlet.name().to_owned(),
        is_float,
        is_integer: element(outlet).is_some_and(|kind| integers.contains(&kind)),
        shape,
    }
}
