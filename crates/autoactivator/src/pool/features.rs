//! The features themselves as nodes, prepared.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::prepare::{Preparation, Prepared};
use super::{FirstTask, Pool, Recipe, described, fits, read_description};
use crate::data::{Rows, Table};
use crate::error::Error;
use crate::format::Container;
use crate::onnx::{Graph, Value};
use crate::params::Precision;

/// Name of this kind in a file.
pub(super) const KIND: &str = "features";

/// How the features are prepared when they are nodes themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeaturesSpec {
    /// How the features are prepared.
    pub preparation: Preparation,
}

impl Default for FeaturesSpec {
    fn default() -> Self {
        Self {
            preparation: Preparation::Columns,
        }
    }
}

impl Recipe for FeaturesSpec {
    fn n_nodes(&self, n_features: usize) -> usize {
        n_features
    }

    /// The number of nodes is that of the features, so there is no choice.
    fn set_nodes(&mut self, _: usize) {}

    /// Features as they are would make the sum of a class of one row that row.
    fn is_private(&self) -> bool {
        self.preparation.is_private() && self.preparation != Preparation::None
    }

    fn make(&self, task: &FirstTask<'_>, _: usize) -> Result<Box<dyn Pool>, Error> {
        let n_inputs = task.x.n_features();
        Ok(Box::new(Features {
            prepared: Prepared::learn(self.preparation, task.x),
            n_inputs,
            features: (0..n_inputs).collect(),
        }))
    }
}

/// A selection of the features.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// How the features are prepared.
    pub prepared: Prepared,
    /// Number of features of a row.
    pub n_inputs: usize,
    /// The features that are read, in order.
    pub features: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
struct Description {
    preparation: Preparation,
    n_inputs: usize,
    features: Vec<usize>,
}

impl Pool for Features {
    fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    fn n_nodes(&self) -> usize {
        self.features.len()
    }

    fn outputs(&self, x: Rows<'_>, _: Precision) -> Table {
        let prepared = self.prepared.apply(x);
        let x = prepared.as_ref().map_or(x, Table::rows);
        let values = x
            .iter()
            .flat_map(|row| self.features.iter().map(|&feature| row[feature]));
        Table::from_whole_rows(values.collect(), self.n_nodes())
    }

    fn select(&self, nodes: &[usize]) -> Box<dyn Pool> {
        Box::new(Self {
            features: nodes.iter().map(|&node| self.features[node]).collect(),
            ..self.clone()
        })
    }

    fn n_floats(&self) -> usize {
        self.prepared.n_floats()
    }

    fn multiply_adds(&self) -> usize {
        self.n_floats()
    }

    fn pack(&self, container: &mut Container, prefix: &str) -> Json {
        self.prepared.standard.pack(container, prefix);
        described(
            KIND,
            &Description {
                preparation: self.prepared.preparation,
                n_inputs: self.n_inputs,
                features: self.features.clone(),
            },
        )
    }

    fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value {
        let x = self.prepared.to_onnx(graph, x, self.n_inputs);
        graph.gather(&x, self.features.iter().copied())
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
        features,
    } = read_description(description)?;
    fits(features.iter().all(|&feature| feature < n_inputs), prefix)?;
    Ok(Box::new(Features {
        prepared: Prepared::unpack(container, prefix, preparation, n_inputs)?,
        n_inputs,
        features,
    }))
}
