//! Export: the deployed model as a standard ONNX file, to run where this crate does not.
//!
//! Rows `x` go in; out come the `class` of each row as a place in the list of classes, `scores` and
//! `probabilities` of every class, and how well `known` the row is. The names of the classes are in the file's metadata.
//! Classes are sorted here, as in Python's `classes_`: whoever runs the file need not know which one arrived first.

use super::calibration::Calibration;
use super::deployed::Deployed;
use super::unknown::{Unknown, WEIGHTS};
use crate::onnx::{Attribute, Element, Graph, Value};
use crate::pool;

const NAME: &str = env!("CARGO_PKG_NAME");
const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Deployed {
    /// The bytes of an ONNX file that predicts as this model does; the same model gives the same bytes.
    ///
    /// Input: `x`, `float32 (n_samples, n_features)`. Outputs: `class`, `int64 (n_samples)`, a place in the JSON list of
    /// names under `classes` in the metadata; `scores` and `probabilities`, `float32 (n_samples, n_classes)`; and
    /// `known`, `float32 (n_samples, 1)`, the share of known rows that are at least as strange, if the model can tell:
    /// below 0.05, a row is stranger than 95 % of them. The classes are sorted, as in [`Input::sorted`]. An ONNX file
    /// cannot be larger than 2 GB.
    ///
    /// [`Input::sorted`]: crate::Input::sorted
    pub fn to_onnx(&self) -> Vec<u8> {
        let order = self.input.sorted(self.classes.names());
        let names: Vec<&str> = order
            .iter()
            .map(|&at| self.classes.names()[at].as_str())
            .collect();
        let classes = serde_json::Value::from(names).to_string();
        let producer = format!("{NAME} {VERSION}");
        let metadata = [("classes", classes.as_str()), ("producer", producer.as_str())];
        self.graph(&order).into_file(NAME, &metadata)
    }

    /// The graph; `order` has the place of each class among those of the model.
    fn graph(&self, order: &[usize]) -> Graph {
        let mut graph = Graph::default();
        let n_classes = self.classes.len();
        let x = graph.input("x", self.pool.n_inputs());
        let h = pool::to_onnx(&*self.pool, &mut graph, &x);
        let evidence = graph.linear(&h, &self.readout.weights, &self.readout.biases);
        let scores = match &self.readout.blend {
            Some(blend) => graph.linear(&evidence, &blend.weights, &blend.biases),
            None => evidence.clone(),
        };
        let class = first_highest(&mut graph, &scores);
        let (class, scores) = in_order(&mut graph, order, class, scores);
        let probabilities = mixture(&mut graph, &scores, &self.calibration);
        graph.output("class", &class, Element::Int, &[]);
        graph.output("scores", &scores, Element::Float, &[n_classes]);
        graph.output("probabilities", &probabilities, Element::Float, &[n_classes]);
        if let Some(unknown) = &self.unknown {
            let known = known(&mut graph, unknown, &h, &evidence);
            graph.output("known", &known, Element::Float, &[1]);
        }
        graph
    }
}

fn first_highest(graph: &mut Graph, scores: &Value) -> Value {
    let settings = [Attribute::Int("axis", 1), Attribute::Int("keepdims", 0)];
    graph.apply_with("ArgMax", &[scores], &settings)
}

/// The class and the scores in this order. The class was found before, so that of equal scores the same one is chosen.
fn in_order(graph: &mut Graph, order: &[usize], class: Value, scores: Value) -> (Value, Value) {
    if order.is_sorted() {
        return (class, scores);
    }
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&at, place)| places[at] = place);
    let places = graph.ints(&places);
    let class = graph.apply("Gather", &[&places, &class]);
    (class, graph.gather(&scores, order.iter().copied()))
}

/// Σ weight · softmax(scale · scores).
fn mixture(graph: &mut Graph, scores: &Value, calibration: &Calibration) -> Value {
    let parts = calibration.mixture();
    if let [(scale, _)] = parts[..] {
        return softmax(graph, scores, scale);
    }
    let weighed = parts.into_iter().map(|(scale, weight)| {
        let part = softmax(graph, scores, scale);
        graph.apply_scalar("Mul", &part, weight as f32)
    });
    let weighed: Vec<Value> = weighed.collect();
    let sum = |sum: Value, part: Value| graph.apply("Add", &[&sum, &part]);
    weighed.into_iter().reduce(sum).unwrap_or_else(|| scores.clone())
}

/// The share of known rows that are at least as strange, as [`Unknown::strangeness`] and [`Unknown::share`] have it.
fn known(graph: &mut Graph, unknown: &Unknown, h: &Value, evidence: &Value) -> Value {
    let n = unknown.n_nodes();
    let n_classes = unknown.lengths.len();
    let lengths = graph.floats(&[n_classes], &unknown.lengths);
    let twice = graph.apply_scalar("Mul", evidence, 2.0);
    let distances = graph.apply("Sub", &[&lengths, &twice]);
    let closest = graph.reduce("ReduceMin", &distances);
    let shared = graph.linear(evidence, &unknown.shared, &vec![0.0; n_classes]);
    let explained = graph.apply("Mul", &[&shared, evidence]);
    let explained = graph.sum(&explained);
    let relative = graph.apply("Add", &[&closest, &explained]);

    let shares = graph.floats(&[n_classes], &unknown.shares);
    let offsets = graph.floats(&[n_classes], &unknown.offsets);
    let likely = graph.apply("Mul", &[evidence, &shares]);
    let unlikely = graph.apply("Sub", &[&offsets, &likely]);
    let unlikely = graph.reduce("ReduceMin", &unlikely);

    let first = graph.gather(h, 0..n);
    let shift = graph.floats(&[n], &unknown.standard.shift);
    let scale = graph.floats(&[n], &unknown.standard.scale);
    let deviation = graph.apply("Sub", &[&first, &shift]);
    let deviation = graph.apply("Mul", &[&deviation, &scale]);
    let white = graph.linear(&deviation, &unknown.whitening, &vec![0.0; n]);
    let squares = graph.apply("Mul", &[&white, &white]);
    let apart = graph.sum(&squares);

    let units: Vec<Value> = [relative, unlikely, apart]
        .iter()
        .zip(unknown.usual)
        .zip(WEIGHTS)
        .map(|((distance, usual), weight)| {
            let from_middle = graph.apply_scalar("Sub", distance, usual.middle);
            let units = graph.apply_scalar("Div", &from_middle, usual.spread);
            let large = graph.apply("Softplus", &[&units]);
            graph.apply_scalar("Mul", &large, weight)
        })
        .collect();
    let strange = graph.apply("Add", &[&units[0], &units[1]]);
    let strange = graph.apply("Add", &[&strange, &units[2]]);
    let known = graph.floats(&[unknown.known.len()], &unknown.known);
    let less = graph.apply("Less", &[&known, &strange]);
    let less = graph.apply_with("Cast", &[&less], &[Attribute::Int("to", 1)]);
    let less = graph.sum(&less);
    let all = graph.floats(&[], &[1.0 + unknown.known.len() as f32]);
    let not_less = graph.apply("Sub", &[&all, &less]);
    graph.apply("Div", &[&not_less, &all])
}

/// softmax(scale · scores); the highest score is subtracted first, so that rounding does not grow with the scale.
fn softmax(graph: &mut Graph, scores: &Value, scale: f64) -> Value {
    let highest = graph.reduce("ReduceMax", scores);
    let below = graph.apply("Sub", &[scores, &highest]);
    let scaled = graph.apply_scalar("Mul", &below, scale as f32);
    graph.apply_with("Softmax", &[&scaled], &[Attribute::Int("axis", 1)])
}
