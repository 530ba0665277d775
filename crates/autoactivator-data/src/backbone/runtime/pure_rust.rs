//! Backbones on `rten`, a runtime written in Rust: nothing to install.

use std::sync::Arc;

use rten::{
    DataType, Dimension, LoadError, LoadErrorKind, Model, ModelOptions, NodeId, RunOptions, ThreadPool,
    Value, ValueType,
};
use rten_tensor::Layout;

use super::{Graph, Network, Port, Tensor, Tokens};

/// The version of `rten`, as far as `Cargo.toml` states it.
const VERSION: &str = "0.27";

/// A model in `rten`.
pub(super) struct PureRust {
    model: Model,
}

impl PureRust {
    pub(super) fn load(onnx: Vec<u8>) -> Result<Self, String> {
        let model = ModelOptions::with_all_ops()
            .prepack_weights(true)
            .load(onnx)
            .map_err(|error| reason(&error))?;
        Ok(Self { model })
    }

    fn ports(&self, ids: &[NodeId]) -> Vec<Port> {
        ids.iter().filter_map(|&id| self.port(id)).collect()
    }

    fn port(&self, id: NodeId) -> Option<Port> {
        let node = self.model.node_info(id)?;
        let fixed = |side: Dimension| match side {
            Dimension::Fixed(n) => Some(n),
            Dimension::Symbolic(_) => None,
        };
        Some(Port {
            name: node.name().unwrap_or_default().to_owned(),
            // When the type is not stated, it shows when the model runs.
            is_float: node
                .dtype()
                .is_none_or(|kind| kind == ValueType::Tensor(DataType::Float)),
            is_integer: node
                .dtype()
                .is_none_or(|kind| kind == ValueType::Tensor(DataType::Int32)),
            shape: node.shape().map(|sides| sides.into_iter().map(fixed).collect()),
        })
    }
}

impl Network for PureRust {
    fn runtime(&self) -> String {
        format!("rten {VERSION}")
    }

    fn graph(&self) -> Graph {
        Graph {
            inputs: self.ports(self.model.input_ids()),
            outputs: self.ports(self.model.output_ids()),
        }
    }

    fn run(&self, input: Tensor, outputs: &[String]) -> Result<Vec<Tensor>, String> {
        let &[from] = self.model.input_ids() else {
            return Err("it takes several inputs".to_owned());
        };
        let input =
            Value::from_shape(input.shape.as_slice(), input.values).map_err(|error| error.to_string())?;
        self.run_on(vec![(from, input)], outputs)
    }

    fn run_on_tokens(&self, inputs: &[(&str, Tokens)], output: &str) -> Result<Tensor, String> {
        let mut named = Vec::with_capacity(inputs.len());
        for (name, tokens) in inputs {
            let from = self.model.node_id(name).map_err(|error| error.to_string())?;
            let input = Value::from_shape(tokens.shape.as_slice(), tokens.values.clone());
            named.push((from, input.map_err(|error| error.to_string())?));
        }
        let values = self.run_on(named, &[output.to_owned()])?;
        values
            .into_iter()
            .next()
            .ok_or_else(|| format!("there is no output `{output}`"))
    }
}

impl PureRust {
    fn run_on(&self, inputs: Vec<(NodeId, Value)>, outputs: &[String]) -> Result<Vec<Tensor>, String> {
        // Several threads run the model at once, each with rows of its own, so each run keeps to one thread.
        thread_local! {
            static THREAD: Arc<ThreadPool> = Arc::new(ThreadPool::with_num_threads(1));
        }
        let options = RunOptions::default().with_thread_pool(Some(THREAD.with(Arc::clone)));
        let to = outputs.iter().map(|name| self.model.node_id(name));
        let to = to
            .collect::<Result<Vec<NodeId>, _>>()
            .map_err(|error| error.to_string())?;
        let inputs = inputs.into_iter().map(|(from, input)| (from, input.into()));
        let values = self
            .model
            .run(inputs.collect(), &to, Some(options))
            .map_err(|error| error.to_string())?;
        let floats = |(value, name): (Value, &String)| {
            let tensor = value.into_tensor::<f32>();
            let tensor = tensor.ok_or_else(|| format!("the output `{name}` does not hold 32-bit floats"))?;
            Ok(Tensor {
                shape: tensor.shape().to_vec(),
                values: tensor.into_data(),
            })
        };
        values.into_iter().zip(outputs).map(floats).collect()
    }
}

fn reason(error: &LoadError) -> String {
    match error.kind() {
        LoadErrorKind::ParseError | LoadErrorKind::UnknownFileType => {
            format!("is not an ONNX file, or a damaged one: {error}")
        }
        LoadErrorKind::ExternalDataError => {
            format!("keeps its weights in another file: export it as one ONNX file ({error})")
        }
        _ => format!("cannot be run: {error}"),
    }
}
