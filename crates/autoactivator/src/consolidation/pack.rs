//! Consolidation as tensors: the memory for further learning, and the deployed model on its own.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::calibration::Calibration;
use super::deployed::Deployed;
use super::gram::Gram;
use super::growth::TaskGrowth;
use super::learner::Consolidation;
use super::ledger::Ledger;
use super::memory::Memory;
use super::pack_whitening::{pack_whitening, unpack_whitening};
use super::pack_witnesses::{Kept, pack_witnesses, unpack_witnesses};
use super::params::ConsolidationParams;
use super::pending::Pending;
use super::readout::{Blend, Readout};
use super::unknown::{Unknown, Usual};
use super::witness::Witnesses;
use crate::data::ClassList;
use crate::error::Error;
use crate::format::Container;
use crate::math::Matrix;
use crate::params::Check;
use crate::pool::{self, Pool, Standard};

/// Name of a model with memory in a file.
pub const NAME: &str = "consolidation";

/// Name of a deployed model in a file.
pub const DEPLOYED: &str = "deployed";

/// G in a file, as a triangle or, of few rows, as a factor.
const TRIANGLE: &str = "memory.gram";
const FACTOR: &str = "memory.factor";

/// Largest number of nodes of a pool without sums: a small file must not request all available memory.
const BLANK_NODES: usize = 1 << 15;

#[derive(Serialize, Deserialize)]
struct Description {
    #[serde(serialize_with = "as_before", deserialize_with = "of_any_version")]
    parameters: ConsolidationParams,
    classes: Vec<String>,
    pool: Option<Value>,
    recruited: Vec<usize>,
    growth: Vec<TaskGrowth>,
    readout: Option<ReadoutDescription>,
    #[serde(default, skip_serializing_if = "Ledger::is_empty")]
    ledger: Ledger,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    witnesses: Option<Kept>,
}

/// Writes parameters that came after the first version only if they say something new: files of older models stay as
/// they are.
fn as_before<S: Serializer>(parameters: &ConsolidationParams, serializer: S) -> Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(parameters).map_err(serde::ser::Error::custom)?;
    let before = [
        ("nodes", json!(null)),
        ("prior", json!("cautious")),
        ("witnesses", json!(0)),
    ];
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, value| !before.iter().any(|(n, v)| n == name && v == value));
    }
    value.serialize(serializer)
}

/// Files name the number of witnesses unless it is 0, as it was before there were any.
fn of_any_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ConsolidationParams, D::Error> {
    let mut parameters = Value::deserialize(deserializer)?;
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.entry("witnesses").or_insert(Value::from(0));
    }
    ConsolidationParams::deserialize(parameters).map_err(serde::de::Error::custom)
}

#[derive(Serialize, Deserialize)]
struct DeployedDescription {
    pool: Value,
    readout: ReadoutDescription,
}

#[derive(Serialize, Deserialize)]
struct ReadoutDescription {
    classes: Vec<String>,
    ridge: f64,
    calibration: Calibration,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    blended: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unknown: Option<[f32; 6]>,
}

pub fn pack(learner: &Consolidation) -> Container {
    let mut container = Container::new(NAME);
    container.input = learner.input.clone();
    let memory = &learner.memory;
    // A pool that has learned nothing is sent to many workers, so its sums are left out.
    let blank = memory.classes.is_empty();
    pack_gram(
        &mut container,
        if blank {
            Gram::zeros(0)
        } else {
            memory.gram.clone()
        },
    );
    // The form of the sums says which version the file has, and so how a pool may be described.
    let pool = learner
        .pool
        .as_ref()
        .map(|pool| pool.pack(&mut container, "pool"));
    container.put_f64("memory.moments".to_owned(), memory.moments.values());
    container.put_f64("memory.counts".to_owned(), &memory.counts);
    memory.standard.pack(&mut container, "memory");
    let witnesses = pack_witnesses(&mut container, &memory.witnesses);
    let readout = learner
        .deployed
        .as_ref()
        .map(|deployed| pack_readout(&mut container, deployed));
    container.describe(&Description {
        parameters: learner.params().clone(),
        classes: memory.classes.names().to_vec(),
        pool,
        recruited: learner.recruited.clone(),
        growth: learner.growth.clone(),
        readout,
        ledger: learner.ledger.clone(),
        witnesses,
    });
    container
}

/// Puts G into a container, as a factor or a triangle. Rows that wait are never written by themselves.
fn pack_gram(container: &mut Container, mut gram: Gram) {
    gram.settle_factor();
    container.needs_version(version_of(&gram));
    container.put_numbers(name_of(&gram), gram);
}

/// The name of the form of G in a file. G of no nodes has that of a triangle, as before there were factors.
pub fn name_of(gram: &Gram) -> &'static str {
    if gram.is_factor() && gram.n_nodes() > 0 {
        FACTOR
    } else {
        TRIANGLE
    }
}

/// The version of the format that has this form of G.
pub fn version_of(gram: &Gram) -> u32 {
    if name_of(gram) == FACTOR { 2 } else { 1 }
}

/// G of a file.
pub fn unpack_gram(container: &Container, n_nodes: usize) -> Result<Gram, String> {
    let of_other_pool = || "its memory does not fit its pool".to_owned();
    if container.has(FACTOR) {
        let rows = container.list_f64(FACTOR)?;
        return Gram::from_factor(&rows, n_nodes).ok_or_else(of_other_pool);
    }
    let triangle = container.list_f64(TRIANGLE)?;
    let expected = n_nodes.checked_add(1).and_then(|n| n.checked_mul(n_nodes));
    if expected.is_none_or(|n| n / 2 != triangle.len()) {
        return Err(of_other_pool());
    }
    Ok(Gram::from_triangle(triangle, n_nodes))
}

pub fn pack_deployed(deployed: &Deployed, half: bool) -> Container {
    let mut container = if half {
        Container::half(DEPLOYED)
    } else {
        Container::new(DEPLOYED)
    };
    container.input = deployed.input.clone();
    let pool = deployed.pool.pack(&mut container, "pool");
    let readout = pack_readout(&mut container, deployed);
    container.describe(&DeployedDescription { pool, readout });
    container
}

impl Deployed {
    /// The bytes of a model file, in half precision if `half`. They are read again before they are returned: a number
    /// that half precision rounds away may leave a file that nobody can load.
    pub fn to_bytes(&self, half: bool) -> Result<Vec<u8>, Error> {
        let bytes = pack_deployed(self, half).to_bytes()?;
        // What was rounded may be no model any more, such as a width of 0.
        let read = Container::from_bytes(&bytes).and_then(|container| unpack_deployed(&container));
        match read {
            Ok(_) => Ok(bytes),
            Err(reason) => Err(Error::NotStorable {
                reason: if half {
                    format!(
                        "in half precision it could not be read again ({reason}): store it in single precision"
                    )
                } else {
                    format!("it could not be read again ({reason})")
                },
            }),
        }
    }
}

fn pack_readout(container: &mut Container, deployed: &Deployed) -> ReadoutDescription {
    container.put_matrix("readout.weights".to_owned(), &deployed.readout.weights);
    container.put_single("readout.biases", &deployed.readout.biases);
    if let Some(blend) = &deployed.readout.blend {
        container.put_single("blend.weights", blend.weights.values());
        container.put_single("blend.biases", &blend.biases);
    }
    ReadoutDescription {
        classes: deployed.classes.names().to_vec(),
        ridge: deployed.readout.ridge,
        calibration: deployed.calibration.clone(),
        blended: deployed.readout.blend.is_some(),
        unknown: deployed
            .unknown
            .as_ref()
            .map(|unknown| pack_unknown(container, unknown)),
    }
}

pub fn unpack(container: &Container) -> Result<Consolidation, String> {
    let description: Description = container.description()?;
    let params = description.parameters.check().map_err(|e| e.to_string())?;
    let mut learner = Consolidation::new(params);
    learner.input = container.input.clone();
    learner.ledger = description.ledger;
    let Some(pool) = description.pool else {
        return Ok(learner);
    };
    let pool = pool::unpack(container, "pool", &pool)?;
    let n_nodes = pool.n_nodes();
    let standard = Standard::unpack(container, "memory", n_nodes)?;
    let n_inputs = pool.n_inputs();
    learner.memory = if description.classes.is_empty() {
        blank(n_nodes, standard)?
    } else {
        unpack_memory(container, description.classes, n_nodes, standard)?
    };
    if let Some(kept) = description.witnesses {
        learner.memory.witnesses =
            unpack_witnesses(container, &kept, n_inputs, learner.memory.classes.len())?;
    }
    if description.recruited.iter().any(|&node| node >= n_nodes) {
        return Err("it recruited nodes that its pool does not have".to_owned());
    }
    learner.recruited = description.recruited;
    learner.growth = description.growth;
    learner.deployed = match description.readout {
        Some(readout) => Some(unpack_deployed_parts(
            container,
            learner.recruited_pool(&*pool),
            readout,
        )?),
        None => None,
    };
    learner.pool = Some(pool);
    Ok(learner)
}

pub fn unpack_deployed(container: &Container) -> Result<Deployed, String> {
    let description: DeployedDescription = container.description()?;
    let pool = pool::unpack(container, "pool", &description.pool)?;
    unpack_deployed_parts(container, pool, description.readout)
}

/// An empty memory.
fn blank(n_nodes: usize, standard: Standard) -> Result<Memory, String> {
    if n_nodes > BLANK_NODES {
        return Err(format!(
            "it has {n_nodes} nodes and no sums: begin with at most {BLANK_NODES} nodes"
        ));
    }
    Ok(Memory::new(n_nodes, standard))
}

/// The sums of a file.
pub fn unpack_memory(
    container: &Container,
    classes: Vec<String>,
    n_nodes: usize,
    standard: Standard,
) -> Result<Memory, String> {
    let classes: ClassList = classes.into_iter().collect();
    let moments = Matrix::from_columns(container.list_f64("memory.moments")?, n_nodes, classes.len());
    let counts = container.list_f64("memory.counts")?;
    let (Some(moments), true) = (moments, counts.len() == classes.len()) else {
        return Err("its memory does not fit its classes".to_owned());
    };
    Ok(Memory {
        gram: unpack_gram(container, n_nodes)?,
        moments,
        counts,
        classes,
        standard,
        witnesses: Witnesses::new(0),
        // The readout of a file is that of its sums.
        pending: Pending::none(),
    })
}

fn unpack_deployed_parts(
    container: &Container,
    pool: Box<dyn Pool>,
    readout: ReadoutDescription,
) -> Result<Deployed, String> {
    let weights = container.matrix("readout.weights")?;
    let biases = container.list("readout.biases")?;
    let classes: ClassList = readout.classes.into_iter().collect();
    if weights.n_rows() != pool.n_nodes()
        || weights.n_cols() != classes.len()
        || biases.len() != classes.len()
    {
        return Err("its readout does not fit its nodes and classes".to_owned());
    }
    if classes.is_empty() || !readout.calibration.is_sound(classes.len()) {
        return Err("its readout has no classes or no scale".to_owned());
    }
    let blend = if readout.blended {
        Some(unpack_blend(container, classes.len())?)
    } else {
        None
    };
    let unknown = match readout.unknown {
        Some(usual) => Some(unpack_unknown(container, usual, classes.len(), pool.n_nodes())?),
        None => None,
    };
    Ok(Deployed {
        pool,
        readout: Readout {
            weights,
            biases,
            blend,
            ridge: readout.ridge,
        },
        calibration: readout.calibration,
        unknown,
        classes,
        input: container.input.clone(),
    })
}

fn unpack_blend(container: &Container, n_classes: usize) -> Result<Blend, String> {
    let weights = square(container, "blend.weights", n_classes)?;
    let biases = container.list("blend.biases")?;
    if biases.len() != n_classes {
        return Err("its readout does not fit its classes".to_owned());
    }
    Ok(Blend { weights, biases })
}

/// Puts what tells "unknown" into a container, and returns its six single numbers.
fn pack_unknown(container: &mut Container, unknown: &Unknown) -> [f32; 6] {
    container.put_single("unknown.lengths", &unknown.lengths);
    container.put_single("unknown.shares", &unknown.shares);
    container.put_single("unknown.offsets", &unknown.offsets);
    container.put_single("unknown.shared", unknown.shared.values());
    pack_whitening(container, &unknown.whitening);
    container.put_single("unknown.known", &unknown.known);
    let [relative, likely, apart] = unknown.usual.map(|usual| [usual.middle, usual.spread]);
    [relative[0], relative[1], likely[0], likely[1], apart[0], apart[1]]
}

fn unpack_unknown(
    container: &Container,
    usual: [f32; 6],
    n_classes: usize,
    n_nodes: usize,
) -> Result<Unknown, String> {
    let unknown = Unknown {
        lengths: container.list("unknown.lengths")?,
        shares: container.list("unknown.shares")?,
        offsets: container.list("unknown.offsets")?,
        shared: square(container, "unknown.shared", n_classes)?,
        whitening: unpack_whitening(container)?,
        usual: [0, 2, 4].map(|k| Usual {
            middle: usual[k],
            spread: usual[k + 1],
        }),
        known: container.list("unknown.known")?,
    };
    let fits = unknown.whitening.n_nodes() <= n_nodes
        && [&unknown.lengths, &unknown.shares, &unknown.offsets]
            .iter()
            .all(|list| list.len() == n_classes)
        && unknown.known.is_sorted()
        && unknown.is_sound();
    if !fits {
        return Err("what tells \"unknown\" does not fit its nodes and classes".to_owned());
    }
    Ok(unknown)
}

/// A square matrix that is stored as a list.
fn square(container: &Container, name: &str, n: usize) -> Result<Matrix<f32>, String> {
    let values = container.list(name)?;
    Matrix::from_columns(values, n, n).ok_or_else(|| format!("tensor '{name}' has the wrong size"))
}
