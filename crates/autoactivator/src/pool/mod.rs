//! The pool: candidate nodes, fixed when the first task arrives, from which consolidation recruits.
//!
//! Every kind stands behind [`Pool`]: rows in, node outputs out. [`PoolSpec`] says what to make, [`NodePool`] is
//! what was made. Whatever is taken from data comes from the first task alone, and the compact form is what is
//! stored: a patch keeps its patch, a filter shared by many nodes is kept once.

mod convolution;
mod dense;
mod patch;
mod prepare;
mod stack;

use serde::{Deserialize, Serialize};

use crate::activation::Activation;
use crate::error::Error;
use crate::params::Precision;
use crate::rng::{Random, Stream};
use crate::rows::{ImageShape, Rows, Table};

pub(crate) use convolution::cells;
pub use convolution::{Bank, Convolution, ConvolutionSpec, Reading};
pub use dense::{Dense, Read};
pub use patch::{Field, Patches};
pub use prepare::{Preparation, Prepared, Standard};
pub use stack::{Block, Member, Stack};

/// Nodes that answer rows.
pub trait Pool {
    /// Features of a row.
    fn n_inputs(&self) -> usize;

    /// Number of nodes.
    fn n_nodes(&self) -> usize;

    /// Outputs of all nodes, `(n_samples, n_nodes)`, with products in this precision.
    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Table;

    /// The pool with these nodes alone, in this order.
    fn select(&self, nodes: &[usize]) -> NodePool;

    /// Floats that are stored for it.
    fn n_floats(&self) -> usize;

    /// Multiply-adds to answer one row.
    fn multiply_adds(&self) -> usize;
}

/// A pool of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum NodePool {
    /// Fully connected nodes.
    Dense(Dense),
    /// Nodes that see one patch of an image each.
    Patches(Patches),
    /// Filters read over windows of an image.
    Convolution(Convolution),
    /// Two layers, both read.
    Stack(Box<Stack>),
}

impl NodePool {
    /// The pool behind its trait.
    pub fn as_pool(&self) -> &dyn Pool {
        match self {
            Self::Dense(pool) => pool,
            Self::Patches(pool) => pool,
            Self::Convolution(pool) => pool,
            Self::Stack(pool) => &**pool,
        }
    }
}

/// Nodes of a pool at the most: their Gram matrix takes 8 GB.
const MAX_NODES: usize = 1 << 15;

/// What pool to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PoolSpec {
    /// The paper's nodes: weights and biases uniform in [-scope, scope].
    Uniform {
        /// Number of nodes.
        nodes: usize,
        /// λ.
        scope: f32,
        /// g.
        activation: Activation,
    },
    /// Weights normal with standard deviation 1/√n_features, no bias, on prepared features.
    Gaussian {
        /// Number of nodes.
        nodes: usize,
        /// g.
        activation: Activation,
        /// What is done to the features first.
        preparation: Preparation,
    },
    /// The features themselves, prepared.
    Features {
        /// What is done to them.
        preparation: Preparation,
    },
    /// Random nodes on random rectangles of an image.
    Patches {
        /// Number of nodes.
        nodes: usize,
        /// g.
        activation: Activation,
    },
    /// Patches whose weights are the difference of two rows of different classes.
    Differences {
        /// Number of nodes.
        nodes: usize,
        /// Length of the difference after scaling.
        scale: f32,
        /// g.
        activation: Activation,
    },
    /// Filters cut from images, read over the cells of a grid.
    Convolution(ConvolutionSpec),
    /// Random nodes on the outputs of another pool, both read.
    Stack {
        /// The first layer.
        first: Box<PoolSpec>,
        /// What is done to the outputs of the first layer before the second sees them.
        #[serde(default = "standardise")]
        preparation: Preparation,
        /// Random directions of the second layer.
        directions: usize,
        /// Functions that each direction is seen through, a node each.
        activations: Vec<Activation>,
    },
}

fn standardise() -> Preparation {
    Preparation::Standardise
}

/// The first task, as far as a pool may look at it.
pub struct FirstTask<'a> {
    /// Its rows.
    pub x: Rows<'a>,
    /// Place of each row's class.
    pub places: &'a [u32],
    /// How a row forms an image, if it does.
    pub image: Option<ImageShape>,
    /// Seed of everything random.
    pub seed: u64,
}

impl FirstTask<'_> {
    /// The shape of its images, or the remedy.
    fn image(&self, kind: &'static str) -> Result<ImageShape, Error> {
        let shape = self.image.ok_or(Error::NoImages { kind })?;
        if shape.n_values() == self.x.n_features() {
            return Ok(shape);
        }
        Err(Error::ImageShape {
            shape: shape.to_string(),
            n_features: self.x.n_features(),
        })
    }
}

impl PoolSpec {
    /// Makes the pool for a first task.
    pub fn make(&self, task: &FirstTask<'_>) -> Result<NodePool, Error> {
        let n_nodes = self.n_nodes(task.x.n_features());
        if (1..=MAX_NODES).contains(&n_nodes) {
            return self.make_layer(task, 0);
        }
        Err(Error::Parameter {
            name: "pool",
            value: format!("{n_nodes} nodes"),
            allowed: "from 1 to 32,768 nodes: the memory grows with their square",
        })
    }

    /// Nodes it will have for rows of so many features.
    fn n_nodes(&self, n_features: usize) -> usize {
        match self {
            Self::Uniform { nodes, .. }
            | Self::Gaussian { nodes, .. }
            | Self::Patches { nodes, .. }
            | Self::Differences { nodes, .. } => *nodes,
            Self::Features { .. } => n_features,
            Self::Convolution(spec) => spec.n_nodes(),
            Self::Stack {
                first,
                directions,
                activations,
                ..
            } => first
                .n_nodes(n_features)
                .saturating_add(directions.saturating_mul(activations.len())),
        }
    }

    fn make_layer(&self, task: &FirstTask<'_>, layer: usize) -> Result<NodePool, Error> {
        let mut random = Random::new(task.seed, Stream::Pool { layer });
        Ok(match self {
            Self::Uniform {
                nodes,
                scope,
                activation,
            } => NodePool::Dense(Dense::uniform(
                &mut random,
                task.x.n_features(),
                *nodes,
                *scope,
                *activation,
            )),
            Self::Gaussian {
                nodes,
                activation,
                preparation,
            } => NodePool::Dense(Dense::gaussian(
                &mut random,
                task.x,
                *nodes,
                *activation,
                *preparation,
            )),
            Self::Features { preparation } => NodePool::Dense(Dense::features(task.x, *preparation)),
            Self::Patches { nodes, activation } => {
                let image = task.image("patches")?;
                NodePool::Patches(Patches::random(&mut random, image, *nodes, *activation))
            }
            Self::Differences {
                nodes,
                scale,
                activation,
            } => {
                let image = task.image("differences")?;
                NodePool::Patches(Patches::differences(
                    &mut random,
                    task,
                    image,
                    *nodes,
                    *scale,
                    *activation,
                )?)
            }
            Self::Convolution(spec) => NodePool::Convolution(Convolution::cut(
                &mut random,
                task,
                task.image("convolution")?,
                spec,
            )?),
            Self::Stack {
                first,
                preparation,
                directions,
                activations,
            } => {
                let first = first.make_layer(task, layer + 1)?;
                NodePool::Stack(Box::new(Stack::new(
                    &mut random,
                    first,
                    task.x,
                    *preparation,
                    *directions,
                    activations,
                )))
            }
        })
    }
}
