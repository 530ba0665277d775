//! The pool: candidate nodes, fixed when the first task arrives, from which consolidation recruits.
//!
//! Every kind is one file (or folder) that implements [`Pool`]: rows in, node outputs out, plus its place in
//! a model file and its steps in an ONNX graph. [`PoolSpec`] says what to make; each of its kinds is a
//! [`Recipe`]. A pool takes data only from the first task, and it is stored in compact form: a patch keeps
//! only its rectangle, and a filter that many nodes share is kept once.
//!
//! ```
//! use autoactivator::data::Rows;
//! use autoactivator::pool::{FirstTask, PoolSpec};
//! use autoactivator::Precision;
//!
//! let spec = PoolSpec::named("gaussian").unwrap().with_nodes(5);
//! let values = [0.0, 0.1, 0.9, 1.0];
//! let task = FirstTask { x: Rows::new(&values, 2)?, places: &[0, 1], image: None, seed: 7 };
//! let pool = spec.make(&task)?;
//! assert_eq!(pool.outputs(task.x, Precision::F32).rows().n_features(), 5);
//! # Ok::<(), autoactivator::Error>(())
//! ```

mod activation;
mod convolution;
mod cost;
mod default;
mod dense;
mod features;
mod layer;
mod node;
mod patch;
mod prepare;
mod stack;
mod standard;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::data::{ImageShape, Rows, Table};
use crate::error::Error;
use crate::format::Container;
use crate::math::{Random, Stream};
use crate::onnx::{Graph, Value};
use crate::params::Precision;

pub use activation::Activation;
pub use convolution::{Bank, Convolution, ConvolutionSpec, Reading};
pub(crate) use default::{default_pool, is_too_wide, private_pool};
pub use dense::{Dense, GaussianSpec, UniformSpec};
pub use features::{Features, FeaturesSpec};
pub use layer::Layer;
pub use node::{NodeId, Nodes};
pub use patch::{DifferencesSpec, Field, Patches, PatchesSpec};
pub use prepare::{Preparation, Prepared, Standard};
pub use stack::{Block, Member, Stack, StackSpec};
pub use standard::{Rounded, StandardSpec};

/// A collection of nodes that answer rows.
///
/// Another crate may bring its own kind: implement this trait, tell [`register`] how the pool is read from a
/// model file, and create a learner over it with [`Consolidation::over`](crate::Consolidation::over).
pub trait Pool: fmt::Debug + Send + Sync {
    /// Number of features of a row.
    fn n_inputs(&self) -> usize;

    /// Number of nodes.
    fn n_nodes(&self) -> usize;

    /// Number of nodes, the first ones, that see rows themselves and not other nodes.
    fn n_plain(&self) -> usize {
        self.n_nodes()
    }

    /// Outputs of all nodes, `(n_samples, n_nodes)`, computed in this precision.
    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Table;

    /// The pool reduced to these nodes, in this order.
    fn select(&self, nodes: &[usize]) -> Box<dyn Pool>;

    /// Number of floats that are stored for the pool.
    fn n_floats(&self) -> usize;

    /// Number of multiply-adds to answer one row.
    fn multiply_adds(&self) -> usize;

    /// Whether all outputs are multiples of one step, so that sums of their products in double precision are exact.
    fn is_exact(&self) -> bool {
        false
    }

    /// Puts the tensors into a container, their names beginning with `prefix`, and returns everything else
    /// about the pool: a JSON object made by [`described`], with the `kind` that it is read by.
    fn pack(&self, container: &mut Container, prefix: &str) -> Json;

    /// Adds the steps of [`outputs`](Self::outputs) to an ONNX graph: `(n_samples, n_nodes)` from rows `x`.
    fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value;

    /// A copy of the pool.
    fn boxed(&self) -> Box<dyn Pool>;
}

impl Clone for Box<dyn Pool> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// Two pools are equal when their files would be.
impl PartialEq for dyn Pool + '_ {
    fn eq(&self, other: &Self) -> bool {
        let packed = |pool: &Self| {
            let mut container = Container::new("pool");
            let description = pool.pack(&mut container, "pool");
            (description, container)
        };
        (self.n_inputs(), self.n_nodes()) == (other.n_inputs(), other.n_nodes())
            && packed(self) == packed(other)
    }
}

/// `#[derive(PartialEq)]` on a type that holds a pool compares by reference.
impl PartialEq<&Self> for Box<dyn Pool> {
    fn eq(&self, other: &&Self) -> bool {
        **self == ***other
    }
}

/// What a pool may see of the first task.
pub struct FirstTask<'a> {
    /// The rows.
    pub x: Rows<'a>,
    /// Place of each row's class.
    pub places: &'a [u32],
    /// How a row forms an image, if it does.
    pub image: Option<ImageShape>,
    /// Seed of everything random.
    pub seed: u64,
}

impl FirstTask<'_> {
    /// Randomness for one layer of a pool, the outermost layer being 0.
    pub fn random(&self, layer: usize) -> Random {
        Random::new(self.seed, Stream::Pool { layer })
    }

    /// The shape of the images; refused, with the remedy, if the rows are not images.
    pub fn image(&self, kind: &'static str) -> Result<ImageShape, Error> {
        checked_image(self.image, self.x.n_features(), kind)
    }
}

/// The shape of images of `n_features` values; refused, with the remedy, if it is not known or does not fit.
pub(crate) fn checked_image(
    image: Option<ImageShape>,
    n_features: usize,
    kind: &'static str,
) -> Result<ImageShape, Error> {
    let shape = image.ok_or(Error::NoImages { kind })?;
    if shape.n_values() == n_features {
        return Ok(shape);
    }
    Err(Error::ImageShape {
        shape: shape.to_string(),
        n_features,
    })
}

/// How a pool of one kind is made.
pub trait Recipe {
    /// Number of nodes for rows of `n_features`.
    fn n_nodes(&self, n_features: usize) -> usize;

    /// Sets the number of nodes, if the kind has a choice.
    fn set_nodes(&mut self, nodes: usize);

    /// Whether the pool takes nothing from the rows of the first task: it then depends on the seed alone.
    fn is_private(&self) -> bool;

    /// Makes the pool for a first task; `layer` is its place in a stack of pools, 0 when it stands alone.
    fn make(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error>;
}

/// Largest number of rows of the first task from which the scale of node outputs is taken.
pub(crate) const OUTPUT_ROWS: usize = 4096;

/// Number of nodes of a pool by default.
const USUAL_NODES: usize = 2000;

/// What pool to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PoolSpec {
    /// The paper's nodes: weights and biases uniform in [-scope, scope].
    Uniform(UniformSpec),
    /// Gaussian weights, no bias, on prepared features.
    Gaussian(GaussianSpec),
    /// The features themselves, prepared.
    Features(FeaturesSpec),
    /// Random nodes on random rectangles of an image.
    Patches(PatchesSpec),
    /// Patches whose weights are the difference of two rows of different classes.
    Differences(DifferencesSpec),
    /// Filters cut from images, read over the cells of a grid.
    Convolution(ConvolutionSpec),
    /// Random nodes on the outputs of another pool, both read.
    Stack(StackSpec),
    /// The same for everyone whose rows have the same width.
    Standard(StandardSpec),
}

impl PoolSpec {
    /// The kinds that a user can name, each with a description.
    pub const KINDS: [(&'static str, &'static str); 7] = [
        ("uniform", "The paper's nodes"),
        ("gaussian", "Gaussian weights and ReLU on standardised features"),
        ("features", "The features themselves, standardised"),
        ("patches", "Random nodes on random rectangles of an image"),
        (
            "differences",
            "Differences of two rows of different classes, on random rectangles",
        ),
        (
            "convolution",
            "Filters cut from images, read over the cells of a grid",
        ),
        (
            "standard",
            "The same for everyone with this backbone and seed; models over it merge",
        ),
    ];

    /// The kind of this name with its default settings; none when there is no such kind.
    pub fn named(kind: &str) -> Option<Self> {
        Some(match kind {
            "uniform" => Self::Uniform(UniformSpec::default()),
            "gaussian" => Self::Gaussian(GaussianSpec::default()),
            "features" => Self::Features(FeaturesSpec::default()),
            "patches" => Self::Patches(PatchesSpec::default()),
            "differences" => Self::Differences(DifferencesSpec::default()),
            "convolution" => Self::Convolution(ConvolutionSpec::default()),
            "standard" => Self::Standard(StandardSpec::default()),
            _ => return None,
        })
    }

    /// The same spec with this many nodes, or filters of a convolution, if its kind has a choice.
    #[must_use]
    pub fn with_nodes(mut self, nodes: usize) -> Self {
        self.recipe_mut().set_nodes(nodes);
        self
    }

    /// The same spec under a second layer of `directions` random nodes; both layers are read.
    #[must_use]
    pub fn under_second_layer(self, directions: usize) -> Self {
        Self::Stack(StackSpec::over(self, directions))
    }

    /// The kind of its nodes that are made from images; none if rows of any kind will do.
    pub fn needs_images(&self) -> Option<&'static str> {
        match self {
            Self::Patches(_) => Some("patches"),
            Self::Differences(_) => Some("differences"),
            Self::Convolution(_) => Some("convolution"),
            Self::Stack(spec) => spec.first.needs_images(),
            Self::Uniform(_) | Self::Gaussian(_) | Self::Features(_) | Self::Standard(_) => None,
        }
    }

    /// Makes the pool for a first task; refuses one that would take more memory than there is.
    pub fn make(&self, task: &FirstTask<'_>) -> Result<Box<dyn Pool>, Error> {
        cost::check(self, task.x.len(), task.x.n_features())?;
        self.make_layer(task, 0)
    }

    /// Number of nodes for rows of `n_features`.
    pub fn n_nodes(&self, n_features: usize) -> usize {
        self.recipe().n_nodes(n_features)
    }

    /// Whether the pool takes nothing from the rows of the first task.
    pub fn is_private(&self) -> bool {
        self.recipe().is_private()
    }

    fn make_layer(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error> {
        self.recipe().make(task, layer)
    }

    fn recipe(&self) -> &dyn Recipe {
        match self {
            Self::Uniform(spec) => spec,
            Self::Gaussian(spec) => spec,
            Self::Features(spec) => spec,
            Self::Patches(spec) => spec,
            Self::Differences(spec) => spec,
            Self::Convolution(spec) => spec,
            Self::Stack(spec) => spec,
            Self::Standard(spec) => spec,
        }
    }

    fn recipe_mut(&mut self) -> &mut dyn Recipe {
        match self {
            Self::Uniform(spec) => spec,
            Self::Gaussian(spec) => spec,
            Self::Features(spec) => spec,
            Self::Patches(spec) => spec,
            Self::Differences(spec) => spec,
            Self::Convolution(spec) => spec,
            Self::Stack(spec) => spec,
            Self::Standard(spec) => spec,
        }
    }
}

/// Reads a pool back from a container: the names of its tensors begin with the prefix, and the JSON is what
/// [`Pool::pack`] returned. The error says what does not fit.
pub type Unpack = fn(&Container, &str, &Json) -> Result<Box<dyn Pool>, String>;

/// How each kind of pool is read from a file.
const UNPACK: [(&str, Unpack); 6] = [
    (dense::KIND, dense::unpack),
    (features::KIND, features::unpack),
    (patch::KIND, patch::unpack),
    (convolution::KIND, convolution::unpack),
    (stack::KIND, stack::unpack),
    (standard::KIND, standard::unpack),
];

/// Kinds that other crates have registered.
static REGISTERED: RwLock<BTreeMap<String, Unpack>> = RwLock::new(BTreeMap::new());

/// Lets this process read model files with pools of another crate's kind. The kinds of this crate cannot be replaced.
pub fn register(kind: &str, unpack: Unpack) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.insert(kind.to_owned(), unpack);
}

/// Reads a pool back; refuses parts that do not fit together.
pub(crate) fn unpack(
    container: &Container,
    prefix: &str,
    description: &Json,
) -> Result<Box<dyn Pool>, String> {
    let kind = description["kind"].as_str().unwrap_or_default();
    let own = UNPACK
        .iter()
        .find(|(name, _)| *name == kind)
        .map(|(_, unpack)| *unpack);
    let registered = || {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        registered.get(kind).copied()
    };
    let unpack = own
        .or_else(registered)
        .ok_or_else(|| format!("its pool is of the unknown kind '{kind}'"))?;
    let pool = unpack(container, prefix, description)?;
    fits(pool.n_nodes() > 0 && pool.n_inputs() > 0, prefix)?;
    Ok(pool)
}

/// A description of a pool: the kind, and the fields of `rest`.
pub fn described(kind: &str, rest: &impl Serialize) -> Json {
    let mut fields = Map::new();
    fields.insert("kind".to_owned(), Json::from(kind));
    if let Ok(Json::Object(rest)) = serde_json::to_value(rest) {
        fields.extend(rest);
    }
    Json::Object(fields)
}

/// Reads the fields of a description into a `T`.
fn read_description<T: for<'de> Deserialize<'de>>(description: &Json) -> Result<T, String> {
    T::deserialize(description).map_err(|e| format!("its description is damaged ({e})"))
}

/// Refuses parts that do not fit together.
fn fits(condition: bool, prefix: &str) -> Result<(), String> {
    if condition {
        Ok(())
    } else {
        Err(format!("the parts of '{prefix}' do not fit together"))
    }
}

/// Refuses images larger than any file could hold.
fn check_image(image: ImageShape, prefix: &str) -> Result<(), String> {
    let values = image
        .height
        .checked_mul(image.width)
        .and_then(|n| n.checked_mul(image.channels));
    fits(values.is_some_and(|n| (1..1 << 30).contains(&n)), prefix)
}

/// Adds the outputs of all nodes to an ONNX graph; also works for a pool without nodes.
pub(crate) fn to_onnx(pool: &dyn Pool, graph: &mut Graph, x: &Value) -> Value {
    if pool.n_nodes() == 0 {
        return graph.gather(x, []);
    }
    pool.to_onnx(graph, x)
}
