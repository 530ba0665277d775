//! Export: the deployed model as a standard ONNX file, to run where this crate does not.
//!
//! Rows `x` go in; out come the `class` of each row as a place in the list of classes, `scores` and
//! `probabilities` of every class, and how well `known` the row is. The names of the classes are in the file's metadata.
//! Classes are sorted here, as in Python's `classes_`: whoever runs the file need not know which one arrived first.

use super::calibration::{Calibration, Singles};
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
        let is_single = is_single(&mut graph, &class, self.calibration.singles(), n_classes);
        let (class, scores) = in_order(&mut graph, order, class, scores);
        let probabilities = probabilities(&mut graph, &scores, &self.calibration, is_single);
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

/// 1 where the answer is a class of one row, and 0 elsewhere; none if that makes no difference.
fn is_single(graph: &mut Graph, class: &Value, singles: Option<&Singles>, n_classes: usize) -> Option<Value> {
    let mut is_single = vec![0.0; n_classes];
    singles?.classes.iter().for_each(|&c| is_single[c] = 1.0);
    let is_single = graph.floats(&[n_classes, 1], &is_single);
    Some(graph.apply("Gather", &[&is_single, class]))
}

/// The mixture, or the one of classes of one row, as [`Calibration::probabilities`] has it.
fn probabilities(
    graph: &mut Graph,
    scores: &Value,
    calibration: &Calibration,
    is_single: Option<Value>,
) -> Value {
    let usual = mixture(graph, scores, &calibration.mixture());
    let (Some(singles), Some(is_single)) = (calibration.singles(), is_single) else {
        return usual;
    };
    let of_single = mixture(graph, scores, &singles.mixture);
    let apart = graph.apply("Sub", &[&of_single, &usual]);
    let apart = graph.apply("Mul", &[&apart, &is_single]);
    graph.apply("Add", &[&usual, &apart])
}

/// Σ weight · softmax(scale · scores).
fn mixture(graph: &mut Graph, scores: &Value, parts: &[(f64, f64)]) -> Value {
    if let [(scale, _)] = *parts {
        return softmax(graph, scores, scale);
    }
    let weighed = parts.iter().map(|&(scale, weight)| {
        let part = softmax(graph, scores, scale);
        graph.apply_scalar("Mul", &part, weight as f32)
    });
    let weighed: Vec<Value> = weighed.collect();
    let sum = |sum: Value, part: Value| graph.apply("Add", &[&sum, &part]);
    weighed.into_iter().reduce(sum).unwrap_or_else(|| scores.clone())
}

/// The share of known rows that are at least as strange, as [`Unknown::strangeness`] and [`Unknown::share`] have it.
fn known(graph: &mut Graph, unknown: &Unknown, h: &Value, evidence: &Value) -> Value {
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

    let apart = unknown.whitening.to_onnx(graph, h);

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
