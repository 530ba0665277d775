//! Random hidden nodes g(xW + b): how they are drawn, and what they output.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Activation;
use crate::math::{Matrix, Random, View, product};
use crate::onnx::{Graph, Value};

/// A collection of nodes over the same inputs; each has one column of weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes {
    /// W, `(n_inputs, n_nodes)`.
    pub weights: Matrix<f32>,
    /// b, one per node.
    pub biases: Vec<f32>,
    /// g.
    pub activation: Activation,
}

/// Identity of a node of an earlier or of the same unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeId {
    /// Unit that owns the node, from 0.
    pub unit: u32,
    /// Place of the node among the unit's own nodes of the first layer, from 0.
    pub node: u32,
}

impl Nodes {
    /// An empty collection.
    pub fn none(n_inputs: usize, activation: Activation) -> Self {
        Self {
            weights: Matrix::zeros(n_inputs, 0),
            biases: Vec::new(),
            activation,
        }
    }

    /// Draws nodes with weights and biases uniform in `[-scope, scope)`.
    pub fn draw(random: &mut Random, n_inputs: usize, n_nodes: usize, scope: f32, g: Activation) -> Self {
        let mut weights = Matrix::zeros(n_inputs, n_nodes);
        random.fill_symmetric(weights.values_mut(), scope);
        let biases = (0..n_nodes).map(|_| random.symmetric(scope)).collect();
        Self {
            weights,
            biases,
            activation: g,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.biases.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.biases.is_empty()
    }

    /// g(XW + b), `(n_samples, n_nodes)`.
    pub fn outputs(&self, x: View<'_, f32>) -> Matrix<f32> {
        let mut h = product(x, self.weights.view());
        let n_samples = h.n_rows().max(1);
        for (column, &bias) in h.values_mut().chunks_mut(n_samples).zip(&self.biases) {
            self.activation.apply(column, bias);
        }
        h
    }

    /// The transposed outputs of the nodes in `range`, `(range.len(), n_samples)`.
    ///
    /// For few nodes and many rows this is faster: the product then reads rows as they lie in memory.
    pub fn outputs_by_row(&self, range: Range<usize>, x: View<'_, f32>) -> Matrix<f32> {
        let mut h = product(self.weights.columns(range.start, range.end).t(), x.t());
        self.activation.apply_in_turn(h.values_mut(), &self.biases[range]);
        h
    }

    /// The nodes of some batches of `l`, batch after batch.
    pub fn batches(&self, batches: &[usize], l: usize) -> Self {
        let columns = || batches.iter().flat_map(|batch| batch * l..(batch + 1) * l);
        Self {
            weights: self.weights.gather(columns()),
            biases: columns().map(|j| self.biases[j]).collect(),
            activation: self.activation,
        }
    }

    /// The same nodes reduced to `inputs`, for rows on which all other inputs are zero.
    pub fn over(&self, inputs: &[usize]) -> Self {
        Self {
            weights: self.weights.gather_rows(inputs),
            biases: self.biases.clone(),
            activation: self.activation,
        }
    }

    /// The nodes from `start` up to, not including, `end`.
    pub fn slice(&self, start: usize, end: usize) -> Self {
        Self {
            weights: self.weights.gather(start..end),
            biases: self.biases[start..end].to_vec(),
            activation: self.activation,
        }
    }

    /// Appends the nodes of `other`.
    pub fn append(&mut self, other: &Self) {
        self.weights.append(&other.weights);
        self.biases.extend_from_slice(&other.biases);
    }

    /// Adds g(xW + b) to an ONNX graph.
    pub fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value {
        let sums = graph.linear(x, &self.weights, &self.biases);
        self.activation.to_onnx(graph, &sums)
    }

    /// Keeps the first `n_nodes` nodes.
    pub fn truncate(&mut self, n_nodes: usize) {
        self.weights.truncate(n_nodes);
        self.biases.truncate(n_nodes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Stream;

    #[test]
    fn inputs_that_are_zero_on_all_rows_can_be_left_out() {
        let mut random = Random::new(6, Stream::Pool { layer: 0 });
        let live = [1, 2, 5];
        let x = Matrix::from_fn(20, 7, |_, j| {
            if live.contains(&j) {
                random.symmetric(1.0)
            } else {
                0.0
            }
        });
        let nodes = Nodes::draw(&mut random, 7, 11, 1.0, Activation::Tanh);
        let whole = nodes.outputs(x.view());
        let part = nodes.over(&live).outputs(x.gather(live).view());
        let close = whole
            .values()
            .iter()
            .zip(part.values())
            .all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close && whole.n_cols() == part.n_cols());
    }
}
