//! A graph under construction: constants and operators, each yielding a [`Value`] that later operators take.
//!
//! The first axis of every value except constants is the rows of the batch.

use super::proto::{Attribute, Element, Message, batch, node, tensor};
use crate::math::Matrix;

/// Version of the file format: the one released with the operator set below.
const IR_VERSION: i64 = 8;

/// Version of the operators.
const OPERATOR_SET: i64 = 17;

/// A tensor of the graph, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value(String);

/// The graph so far.
#[derive(Default)]
pub struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
}

impl Graph {
    /// Adds an input: a batch of rows from the caller.
    pub fn input(&mut self, name: &str, n_features: usize) -> Value {
        self.inputs.push(batch(name, Element::Float, &[n_features]));
        Value(name.to_owned())
    }

    /// Adds an output: `value` under `name`, a batch of items of this shape.
    pub fn output(&mut self, name: &str, value: &Value, element: Element, item: &[usize]) {
        self.nodes.push(node("Identity", [value.0.as_str()], name, &[]));
        self.outputs.push(batch(name, element, item));
    }

    /// Adds a constant of this shape, given its values row after row.
    pub fn floats(&mut self, shape: &[usize], values: &[f32]) -> Value {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(Element::Float, shape, &bytes)
    }

    /// Adds a constant list of whole numbers.
    pub fn ints(&mut self, values: &[i64]) -> Value {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(Element::Int, &[values.len()], &bytes)
    }

    fn constant(&mut self, element: Element, shape: &[usize], bytes: &[u8]) -> Value {
        let name = format!("constant_{}", self.constants.len());
        self.constants.push(tensor(&name, element, shape, bytes));
        Value(name)
    }

    /// Applies an operator and returns its result.
    pub fn apply(&mut self, operator: &str, inputs: &[&Value]) -> Value {
        self.apply_with(operator, inputs, &[])
    }

    /// Applies an operator with these attributes.
    pub fn apply_with(&mut self, operator: &str, inputs: &[&Value], attributes: &[Attribute]) -> Value {
        let name = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        let inputs = inputs.iter().map(|value| value.0.as_str());
        self.nodes.push(node(operator, inputs, &name, attributes));
        Value(name)
    }

    /// Applies an operator to a value and one number.
    pub fn apply_scalar(&mut self, operator: &str, value: &Value, scalar: f32) -> Value {
        let scalar = self.floats(&[], &[scalar]);
        self.apply(operator, &[value, &scalar])
    }

    /// x W + b, `(n_samples, n_outputs)`.
    pub fn linear(&mut self, x: &Value, weights: &Matrix<f32>, biases: &[f32]) -> Value {
        // Column after column is the transpose row after row.
        let transposed = self.floats(&[weights.n_cols(), weights.n_rows()], weights.values());
        let biases = self.floats(&[biases.len()], biases);
        self.apply_with("Gemm", &[x, &transposed, &biases], &[Attribute::Int("transB", 1)])
    }

    /// Selects the columns at `indices`, in that order.
    pub fn gather(&mut self, x: &Value, indices: impl IntoIterator<Item = usize>) -> Value {
        let indices: Vec<i64> = indices.into_iter().map(|i| i as i64).collect();
        let indices = self.ints(&indices);
        self.apply_with("Gather", &[x, &indices], &[Attribute::Int("axis", 1)])
    }

    /// Concatenates the values along the axis after the rows.
    pub fn concat(&mut self, values: &[&Value]) -> Value {
        self.apply_with("Concat", values, &[Attribute::Int("axis", 1)])
    }

    /// Gives each row this shape; the numbers stay the same.
    pub fn reshape(&mut self, x: &Value, item: &[usize]) -> Value {
        // A 0 keeps the axis as it is, which here is the rows.
        let shape: Vec<i64> = std::iter::once(0).chain(item.iter().map(|&n| n as i64)).collect();
        let shape = self.ints(&shape);
        self.apply("Reshape", &[x, &shape])
    }

    /// Pads rows of `from` columns with zeros up to `to` columns.
    pub fn pad(&mut self, x: &Value, from: usize, to: usize) -> Value {
        let pads = self.ints(&[0, 0, 0, to.saturating_sub(from) as i64]);
        self.apply("Pad", &[x, &pads])
    }

    /// Reduces each row to one column with this operator.
    pub fn reduce(&mut self, operator: &str, x: &Value) -> Value {
        // Keeping the reduced axis is the default.
        self.apply_with(operator, &[x], &[Attribute::Ints("axes", vec![1])])
    }

    /// The sum of each row, as one column. In this operator set, only this reduction takes its axes as an input.
    pub fn sum(&mut self, x: &Value) -> Value {
        let axes = self.ints(&[1]);
        self.apply("ReduceSum", &[x, &axes])
    }

    /// The bytes of an ONNX file with this graph and this metadata; the same graph gives the same bytes.
    pub fn into_file(self, name: &str, metadata: &[(&str, &str)]) -> Vec<u8> {
        let operators = Message::default().int(2, OPERATOR_SET); // version; the domain is the default one
        let file = Message::default()
            .int(1, IR_VERSION)
            .text(2, env!("CARGO_PKG_NAME")) // producer_name
            .text(3, env!("CARGO_PKG_VERSION")) // producer_version
            .message(7, &self.into_message(name))
            .message(8, &operators); // opset_import
        let with_entries = metadata.iter().fold(file, |file, (key, value)| {
            file.message(14, &Message::default().text(1, key).text(2, value)) // metadata_props
        });
        with_entries.into_bytes()
    }

    fn into_message(self, name: &str) -> Message {
        Message::default()
            .messages(1, &self.nodes)
            .text(2, name)
            .messages(5, &self.constants) // initializer
            .messages(11, &self.inputs)
            .messages(12, &self.outputs)
    }
}
