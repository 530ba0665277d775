//! Fully connected nodes on prepared features: the paper's uniform ones, Gaussian ones, and the features themselves.

use rayon::prelude::*;

use super::prepare::{Preparation, Prepared};
use super::{NodePool, Pool};
use crate::activation::Activation;
use crate::linalg::{Matrix, View, product};
use crate::node::Nodes;
use crate::params::Precision;
use crate::rng::Random;
use crate::rows::{Rows, Table};

/// Rows of which one thread makes short work.
const FEW_ROWS: usize = 16;

/// Fully connected nodes, or a selection of the features themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// What is done to the features first.
    pub prepared: Prepared,
    /// Features of a row.
    pub n_inputs: usize,
    /// What is read.
    pub read: Read,
}

/// What a dense pool reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// Random nodes.
    Nodes(Nodes),
    /// These features.
    Features(Vec<usize>),
}

impl Dense {
    /// The paper's nodes.
    pub fn uniform(random: &mut Random, n_inputs: usize, n_nodes: usize, scope: f32, g: Activation) -> Self {
        Self {
            prepared: Prepared::nothing(),
            n_inputs,
            read: Read::Nodes(Nodes::draw(random, n_inputs, n_nodes, scope, g)),
        }
    }

    /// Normal weights of deviation 1/√n_features, no bias.
    pub fn gaussian(
        random: &mut Random,
        x: Rows<'_>,
        n_nodes: usize,
        g: Activation,
        preparation: Preparation,
    ) -> Self {
        let n_inputs = x.n_features();
        let deviation = 1.0 / (n_inputs as f32).sqrt();
        let nodes = Nodes {
            weights: Matrix::from_fn(n_inputs, n_nodes, |_, _| deviation * random.normal()),
            biases: vec![0.0; n_nodes],
            activation: g,
        };
        Self {
            prepared: Prepared::learn(preparation, x),
            n_inputs,
            read: Read::Nodes(nodes),
        }
    }

    /// The features themselves.
    pub fn features(x: Rows<'_>, preparation: Preparation) -> Self {
        Self {
            prepared: Prepared::learn(preparation, x),
            n_inputs: x.n_features(),
            read: Read::Features((0..x.n_features()).collect()),
        }
    }
}

/// g(xW + b) row after row: `(n_samples, n_nodes)`.
pub fn outputs_by_row(nodes: &Nodes, x: Rows<'_>, precision: Precision) -> Vec<f32> {
    let mut h = match precision {
        Precision::F32 => {
            let x: View<'_, f32> = x.into();
            product(nodes.weights.t(), x.t())
        }
        // How single precision rounds depends on how many rows are multiplied at a time; this does not, but for ties.
        Precision::F64 => {
            let x = Matrix::from_fn(x.n_features(), x.len(), |j, i| f64::from(x.row(i)[j]));
            product(nodes.weights.to_f64().t(), x.view()).to_f32()
        }
    };
    let activate = |row: &mut [f32]| nodes.activation.apply_in_turn(row, &nodes.biases);
    let n_nodes = nodes.len().max(1);
    // Waking a second thread takes longer than a few rows.
    if x.len() < FEW_ROWS {
        h.values_mut().chunks_mut(n_nodes).for_each(activate);
    } else {
        h.values_mut().par_chunks_mut(n_nodes).for_each(activate);
    }
    h.into_values()
}

impl Pool for Dense {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_nodes(&self) -> usize {
        match &self.read {
            Read::Nodes(nodes) => nodes.len(),
            Read::Features(features) => features.len(),
        }
    }

    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Table {
        let prepared = self.prepared.apply(x);
        let x = prepared.as_ref().map_or(x, Table::rows);
        let values = match &self.read {
            Read::Nodes(nodes) => outputs_by_row(nodes, x, precision),
            Read::Features(features) => x
                .iter()
                .flat_map(|row| features.iter().map(|&feature| row[feature]))
                .collect(),
        };
        Table::from_whole_rows(values, self.n_nodes())
    }

    fn select(&self, nodes: &[usize]) -> NodePool {
        let read = match &self.read {
            Read::Nodes(all) => Read::Nodes(Nodes {
                weights: all.weights.gather(nodes.iter().copied()),
                biases: nodes.iter().map(|&node| all.biases[node]).collect(),
                activation: all.activation,
            }),
            Read::Features(all) => Read::Features(nodes.iter().map(|&node| all[node]).collect()),
        };
        NodePool::Dense(Self {
            prepared: self.prepared.clone(),
            n_inputs: self.n_inputs,
            read,
        })
    }

    fn n_floats(&self) -> usize {
        let nodes = match &self.read {
            Read::Nodes(nodes) => nodes.weights.values().len() + nodes.len(),
            Read::Features(_) => 0,
        };
        self.prepared.n_floats() + nodes
    }

    fn multiply_adds(&self) -> usize {
        self.n_floats()
    }
}
