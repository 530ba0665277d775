//! Export: the deployed model as a standard ONNX file, to run where this crate does not.
//!
//! Rows `x` go in; out come the `class` of each row as a place in the list of classes, and `scores` and
//! `probabilities` of every class. The names of the classes are in the file's metadata. Operators of the default
//! domain suffice, so that any ONNX runtime will do. `pools` writes the nodes of every kind of pool with the `graph`,
//! and `proto` knows the file format.

mod convolution;
mod graph;
mod pools;
mod proto;
mod stack;

use crate::deployed::Deployed;

use graph::{Graph, Value};
use proto::{Attribute, Element, Message};

/// Version of the file format; the one that came with the operator set below.
const IR_VERSION: i64 = 8;

/// Version of the operators.
const OPERATOR_SET: i64 = 17;

const NAME: &str = env!("CARGO_PKG_NAME");
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Deployed {
    /// The bytes of an ONNX file that predicts as this model does; the same model gives the same bytes.
    ///
    /// Input: `x`, `float32 (n_samples, n_features)`. Outputs: `class`, `int64 (n_samples)`, a place in the JSON list of
    /// names under `classes` in the metadata; `scores` and `probabilities`, `float32 (n_samples, n_classes)`. ONNX files
    /// end at 2 GB.
    pub fn to_onnx(&self) -> Vec<u8> {
        let operators = Message::default().int(2, OPERATOR_SET); // version; the domain is the default one
        Message::default()
            .int(1, IR_VERSION)
            .text(2, NAME) // producer_name
            .text(3, VERSION) // producer_version
            .message(7, &self.graph().into_message(NAME))
            .message(8, &operators) // opset_import
            .message(14, &metadata("classes", &json_list(self.classes.names())))
            .message(14, &metadata("producer", &format!("{NAME} {VERSION}")))
            .into_bytes()
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let n_classes = self.classes.len();
        let x = graph.input("x", self.pool.as_pool().n_inputs());
        let h = pools::outputs(&mut graph, &self.pool, &x);
        let scores = graph.linear(&h, &self.readout.weights, &self.readout.biases);
        let class = first_highest(&mut graph, &scores);
        let probabilities = softmax(&mut graph, &scores, self.calibration.scale);
        graph.output("class", &class, Element::Int, &[]);
        graph.output("scores", &scores, Element::Float, &[n_classes]);
        graph.output("probabilities", &probabilities, Element::Float, &[n_classes]);
        graph
    }
}

fn first_highest(graph: &mut Graph, scores: &Value) -> Value {
    let settings = [Attribute::Int("axis", 1), Attribute::Int("keepdims", 0)];
    graph.apply_with("ArgMax", &[scores], &settings)
}

/// softmax(scale · scores); the highest is taken away before rounding can grow with the scale.
fn softmax(graph: &mut Graph, scores: &Value, scale: f64) -> Value {
    let highest = graph.reduce("ReduceMax", scores);
    let below = graph.apply("Sub", &[scores, &highest]);
    let scaled = graph.apply_scalar("Mul", &below, scale as f32);
    graph.apply_with("Softmax", &[&scaled], &[Attribute::Int("axis", 1)])
}

fn metadata(key: &str, value: &str) -> Message {
    Message::default().text(1, key).text(2, value)
}

fn json_list(names: &[String]) -> String {
    serde_json::Value::from(names).to_string()
}
