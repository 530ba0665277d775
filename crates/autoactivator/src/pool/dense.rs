//! Fully connected nodes on prepared features: the paper's uniform ones, and Gaussian ones.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::prepare::{Preparation, Prepared};
use super::{
    Activation, FirstTask, Layer, Nodes, Pool, Recipe, USUAL_NODES, described, fits, read_description,
};
use crate::data::{Rows, Table};
use crate::error::Error;
use crate::format::Container;
use crate::math::Matrix;
use crate::onnx::{Graph, Value};
use crate::params::Precision;

/// Name of this kind in a file.
pub(super) const KIND: &str = "nodes";

/// The paper's nodes: weights and biases uniform in [-scope, scope].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UniformSpec {
    /// Number of nodes.
    pub nodes: usize,
    /// λ.
    pub scope: f32,
    /// g.
    pub activation: Activation,
}

impl Default for UniformSpec {
    fn default() -> Self {
        Self {
            nodes: USUAL_NODES,
            scope: 0.5,
            activation: Activation::Sigmoid,
        }
    }
}

impl Recipe for UniformSpec {
    fn n_nodes(&self, _: usize) -> usize {
        self.nodes
    }

    fn set_nodes(&mut self, nodes: usize) {
        self.nodes = nodes;
    }

    fn is_private(&self) -> bool {
        true
    }

    fn make(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error> {
        let (n_inputs, g) = (task.x.n_features(), self.activation);
        Ok(Box::new(Dense {
            prepared: Prepared::nothing(),
            layer: Nodes::draw(&mut task.random(layer), n_inputs, self.nodes, self.scope, g).into(),
        }))
    }
}

/// Weights of mean 0 and standard deviation 1/√n_features, no bias, on prepared features. Each weight is a sum of
/// twelve uniform numbers, which is close to Gaussian and the same to the last bit on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GaussianSpec {
    /// Number of nodes.
    pub nodes: usize,
    /// g.
    pub activation: Activation,
    /// How the features are prepared.
    pub preparation: Preparation,
}

impl Default for GaussianSpec {
    fn default() -> Self {
        Self {
            nodes: USUAL_NODES,
            activation: Activation::Relu,
            preparation: Preparation::Standardise,
        }
    }
}

impl Recipe for GaussianSpec {
    fn n_nodes(&self, _: usize) -> usize {
        self.nodes
    }

    fn set_nodes(&mut self, nodes: usize) {
        self.nodes = nodes;
    }

    fn is_private(&self) -> bool {
        self.preparation.is_private()
    }

    fn make(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error> {
        let mut random = task.random(layer);
        let n_inputs = task.x.n_features();
        let deviation = 1.0 / (n_inputs as f32).sqrt();
        let nodes = Nodes {
            weights: Matrix::from_fn(n_inputs, self.nodes, |_, _| deviation * random.normal()),
            biases: vec![0.0; self.nodes],
            activation: self.activation,
        };
        Ok(Box::new(Dense {
            prepared: Prepared::learn(self.preparation, task.x),
            layer: nodes.into(),
        }))
    }
}

/// Fully connected nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// How the features are prepared.
    pub prepared: Prepared,
    /// The nodes.
    pub layer: Layer,
}

#[derive(Serialize, Deserialize)]
struct Description {
    preparation: Preparation,
    n_inputs: usize,
    activation: Activation,
}

impl Pool for Dense {
    fn n_inputs(&self) -> usize {
        self.layer.n_inputs()
    }

    fn n_nodes(&self) -> usize {
        self.layer.n_nodes()
    }

    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Table {
        let prepared = self.prepared.apply(x);
        let x = prepared.as_ref().map_or(x, Table::rows);
        Table::from_whole_rows(self.layer.outputs(x, precision), self.n_nodes())
    }

    fn select(&self, nodes: &[usize]) -> Box<dyn Pool> {
        Box::new(Self {
            prepared: self.prepared.clone(),
            layer: self.layer.select(nodes),
        })
    }

    fn n_floats(&self) -> usize {
        self.prepared.n_floats() + (self.n_inputs() + 1) * self.n_nodes()
    }

    fn multiply_adds(&self) -> usize {
        self.n_floats()
    }

    fn pack(&self, container: &mut Container, prefix: &str) -> Json {
        self.prepared.standard.pack(container, prefix);
        let nodes = self.layer.nodes();
        container.put_matrix(format!("{prefix}.weights"), &nodes.weights);
        container.put_list(format!("{prefix}.biases"), &nodes.biases);
        described(
            KIND,
            &Description {
                preparation: self.prepared.preparation,
                n_inputs: self.n_inputs(),
                activation: nodes.activation,
            },
        )
    }

    fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value {
        let x = self.prepared.to_onnx(graph, x, self.n_inputs());
        self.layer.nodes().to_onnx(graph, &x)
    }

    fn boxed(&self) -> Box<dyn Pool> {
        Box::new(self.clone())
    }
}

pub(super) fn unpack(
    container: &Container,
    prefix: &str,
    description: &Json,
) -> Result<Box<dyn Pool>, String> {
    let Description {
        preparation,
        n_inputs,
        activation,
    } = read_description(description)?;
    let weights = container.matrix(&format!("{prefix}.weights"))?;
    let biases = container.list(&format!("{prefix}.biases"))?;
    fits(
        weights.n_rows() == n_inputs && weights.n_cols() == biases.len(),
        prefix,
    )?;
    let nodes = Nodes {
        weights,
        biases,
        activation,
    };
    Ok(Box::new(Dense {
        prepared: Prepared::unpack(container, prefix, preparation, n_inputs)?,
        layer: nodes.into(),
    }))
}
