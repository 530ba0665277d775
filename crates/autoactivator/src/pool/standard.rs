//! The standard pool: the same for everyone whose rows have the same width, such as those of one backbone, and who takes
//! the same seed. Models over it merge, though those who learned them never met.
//!
//! Nothing is taken from rows. Every node is rounded to a multiple of [`STEP`], so that sums of products are exact in
//! double precision: in whichever order rows come, and however they are divided among models, the sums are the same to
//! the last bit.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::default::on_many;
use super::{
    Activation, FeaturesSpec, FirstTask, Pool, PoolSpec, Preparation, Recipe, StackSpec, described,
    read_description, to_onnx, unpack as unpack_pool,
};
use crate::data::{Rows, Table};
use crate::error::Error;
use crate::format::Container;
use crate::onnx::{Graph, Value};
use crate::params::Precision;

/// Name of this kind in a file.
pub(super) const KIND: &str = "rounded";

/// What nodes are multiples of: a thousandth of their deviation. Sums of products are exact up to 2^33 rows of nodes near 1.
const STEP: f32 = 1.0 / 1024.0;

/// The same pool for everyone: features brought to one length, and squares of projections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StandardSpec {
    /// Number of projections; none chooses by the width of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
}

impl StandardSpec {
    fn inner(&self, n_features: usize) -> PoolSpec {
        let first = PoolSpec::Features(FeaturesSpec {
            preparation: Preparation::RowSquareRoot,
        });
        PoolSpec::Stack(StackSpec {
            preparation: Preparation::None,
            activations: vec![Activation::Square],
            ..StackSpec::over(first, self.nodes.unwrap_or(on_many(n_features)))
        })
    }
}

impl Recipe for StandardSpec {
    fn n_nodes(&self, n_features: usize) -> usize {
        self.inner(n_features).n_nodes(n_features)
    }

    fn set_nodes(&mut self, nodes: usize) {
        self.nodes = Some(nodes);
    }

    fn is_private(&self) -> bool {
        true
    }

    fn make(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error> {
        let inner = self.inner(task.x.n_features()).make_layer(task, layer)?;
        Ok(Box::new(Rounded { inner }))
    }
}

/// A pool whose outputs are rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounded {
    /// The pool.
    pub inner: Box<dyn Pool>,
}

#[derive(Serialize, Deserialize)]
struct Description {
    inner: Json,
}

impl Pool for Rounded {
    fn n_inputs(&self) -> usize {
        self.inner.n_inputs()
    }

    fn n_nodes(&self) -> usize {
        self.inner.n_nodes()
    }

    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Table {
        let mut outputs = self.inner.outputs(x, precision);
        outputs.for_each_row(|row| {
            row.iter_mut()
                .for_each(|v| *v = (*v / STEP).round_ties_even() * STEP);
        });
        outputs
    }

    fn select(&self, nodes: &[usize]) -> Box<dyn Pool> {
        Box::new(Self {
            inner: self.inner.select(nodes),
        })
    }

    fn n_floats(&self) -> usize {
        self.inner.n_floats()
    }

    fn multiply_adds(&self) -> usize {
        self.inner.multiply_adds()
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn pack(&self, container: &mut Container, prefix: &str) -> Json {
        let inner = self.inner.pack(container, &format!("{prefix}.inner"));
        described(KIND, &Description { inner })
    }

    fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value {
        let outputs = to_onnx(&*self.inner, graph, x);
        let (steps, step) = (graph.floats(&[1], &[1.0 / STEP]), graph.floats(&[1], &[STEP]));
        let whole = graph.apply("Mul", &[&outputs, &steps]);
        let whole = graph.apply("Round", &[&whole]);
        graph.apply("Mul", &[&whole, &step])
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
    let Description { inner } = read_description(description)?;
    let inner = unpack_pool(container, &format!("{prefix}.inner"), &inner)?;
    Ok(Box::new(Rounded { inner }))
}
