//! Backbones on ONNX Runtime: one session per core, each on one thread.
//!
//! Runs of one thread each, beside each other, are faster than runs that divide every operator among the cores: see
//! "Feature extraction" in `docs/performance.md`.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use ort::session::Session;
use ort::value::{Outlet, Tensor as OrtTensor, TensorElementType, ValueType};

use super::library::{Library, library};
use super::{Graph, Network, Port, Refusal, Tensor};

/// Each session has its own copy of the weights: all copies together take about this many bytes at most, and large
/// models make do with fewer sessions.
const MOST_BYTES: usize = 1 << 30;

/// Where weights outside of the model file would be looked for. There is no such folder: they are not part of a
/// backbone's identity, so a model that needs them is refused, as by `rten`.
const NO_FOLDER: (&str, &str) = (
    "session.model_external_initializers_file_folder_path",
    "/no folder: weights are part of the model file",
);

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
    let of_name = |name: &String| {
        let value = outputs
            .get(name)
            .ok_or_else(|| format!("there is no output `{name}`"))?;
        let (shape, values) = value
            .try_extract_tensor::<f32>()
            .map_err(|error| error.to_string())?;
        Ok(Tensor {
            shape: shape.iter().map(|&side| side as usize).collect(),
            values: values.to_vec(),
        })
    };
    names.iter().map(of_name).collect()
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
