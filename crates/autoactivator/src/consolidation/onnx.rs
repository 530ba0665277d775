//! Export: the deployed model as a standard ONNX file, to run where this crate does not.
//!
//! Rows `x` go in; out come the `class` of each row as a place in the list of classes, and `scores` and
//! `probabilities` of every class. The names of the classes are in the file's metadata.

use super::deployed::Deployed;
use crate::onnx::{Attribute, Element, Graph, Value};
use crate::pool;

const NAME: &str = env!("CARGO_PKG_NAME");
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Deployed {
    /// The bytes of an ONNX file that predicts as this model does; the same model gives the same bytes.
    ///
    /// Input: `x`, `float32 (n_samples, n_features)`. Outputs: `class`, `int64 (n_samples)`, a place in the JSON list of
    /// names under `classes` in the metadata; `scores` and `probabilities`, `float32 (n_samples, n_classes)`. An ONNX
    /// file cannot be larger than 2 GB.
    pub fn to_onnx(&self) -> Vec<u8> {
        let classes = serde_json::Value::from(self.classes.names()).to_string();
        let producer = format!("{NAME} {VERSION}");
        let metadata = [("classes", classes.as_str()), ("producer", producer.as_str())];
        self.graph().into_file(NAME, &metadata)
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let n_classes = self.classes.len();
        let x = graph.input("x", self.pool.n_inputs());
        let h = pool::to_onnx(&*self.pool, &mut graph, &x);
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

/// softmax(scale · scores); the highest score is subtracted first, so that rounding does not grow with the scale.
fn softmax(graph: &mut Graph, scores: &Value, scale: f64) -> Value {
    let highest = graph.reduce("ReduceMax", scores);
    let below = graph.apply("Sub", &[scores, &highest]);
    let scaled = graph.apply_scalar("Mul", &below, scale as f32);
    graph.apply_with("Softmax", &[&scaled], &[Attribute::Int("axis", 1)])
}
