//! Nodes whose weights no longer change, laid out for products. Pools of fully connected nodes answer with them.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Activation, Nodes};
use crate::data::Rows;
use crate::math::{Matrix, Panels, product};
use crate::params::Precision;

/// A collection of fixed nodes over the same inputs. Copies share the weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    weights: Arc<Panels>,
    biases: Vec<f32>,
    activation: Activation,
}

impl From<Nodes> for Layer {
    fn from(nodes: Nodes) -> Self {
        Self::new(Panels::from(&nodes.weights), nodes.biases, nodes.activation)
    }
}

impl Layer {
    /// Takes weights, with a bias for each node.
    pub fn new(weights: Panels, biases: Vec<f32>, activation: Activation) -> Self {
        debug_assert_eq!(weights.n_nodes(), biases.len());
        Self {
            weights: Arc::new(weights),
            biases,
            activation,
        }
    }

    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.weights.n_inputs()
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.biases.len()
    }

    /// g.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The same nodes, their weights in columns.
    pub fn nodes(&self) -> Nodes {
        Nodes {
            weights: self.weights.to_matrix(),
            biases: self.biases.clone(),
            activation: self.activation,
        }
    }

    /// The layer reduced to these nodes, in this order.
    pub fn select(&self, nodes: &[usize]) -> Self {
        let biases = nodes.iter().map(|&node| self.biases[node]).collect();
        Self::new(self.weights.gather(nodes), biases, self.activation)
    }

    /// g(xW + b) row after row: `(n_samples, n_nodes)`.
    pub fn outputs(&self, x: Rows<'_>, precision: Precision) -> Vec<f32> {
        let activate = |first: usize, of_row: &mut [f32]| {
            let biases = &self.biases[first..first + of_row.len()];
            self.activation.apply_in_turn(of_row, biases);
        };
        match precision {
            Precision::F32 => self.weights.product(x, activate),
            Precision::F64 => {
                let x = Matrix::from_fn(x.n_features(), x.len(), |j, i| f64::from(x.row(i)[j]));
                let weights = self.weights.to_matrix().to_f64();
                let mut h = product(weights.t(), x.view()).to_f32();
                let rows = h.values_mut().par_chunks_mut(self.n_nodes().max(1));
                rows.for_each(|row| activate(0, row));
                h.into_values()
            }
        }
    }
}
