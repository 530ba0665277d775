//! Two layers, both read: a first pool, and random nodes on its outputs.
//!
//! The second layer's directions are structured: signs, a Walsh-Hadamard transform, signs again, another
//! transform. They behave like independent random directions, but each node stores two signs instead of a
//! column of weights, and evaluating them takes n log n operations instead of n².

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::prepare::{Preparation, Prepared};
use super::{
    Activation, FirstTask, OUTPUT_ROWS, Pool, PoolSpec, Recipe, described, fits, read_description, to_onnx,
    unpack as unpack_pool,
};
use crate::data::{Rows, Table};
use crate::error::Error;
use crate::format::Container;
use crate::math::{Matrix, Random, vectorised};
use crate::onnx::{Graph, Value};
use crate::params::Precision;

/// Name of this kind in a file.
pub(super) const KIND: &str = "stack";

/// Least number of inputs of directions with biases.
const DIVERSE: usize = 64;

/// Random nodes on the outputs of another pool, both read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackSpec {
    /// The first layer.
    pub first: Box<PoolSpec>,
    /// How the outputs of the first layer are prepared before the second layer sees them.
    #[serde(default = "standardise")]
    pub preparation: Preparation,
    /// Number of random directions of the second layer.
    pub directions: usize,
    /// Functions that each direction is passed through; each makes a node.
    pub activations: Vec<Activation>,
    /// Deviation of projections over prepared rows whose columns have deviation 1; 1 leaves projections as the transform
    /// makes them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub gain: f32,
    /// Deviation of the biases, which are Gaussian.
    #[serde(default, skip_serializing_if = "is_none")]
    pub bias: f32,
}

fn one() -> f32 {
    1.0
}

fn is_one(gain: &f32) -> bool {
    *gain == 1.0
}

fn is_none(bias: &f32) -> bool {
    *bias == 0.0
}

fn standardise() -> Preparation {
    Preparation::Standardise
}

impl StackSpec {
    /// A spec of `directions` random ReLU nodes on `first`. Features keep their scale and are passed through
    /// their soft roots.
    pub fn over(first: PoolSpec, directions: usize) -> Self {
        Self {
            preparation: match first {
                PoolSpec::Features(_) => Preparation::SoftRoot,
                _ => Preparation::Standardise,
            },
            first: Box::new(first),
            directions,
            activations: vec![Activation::Relu],
            gain: 1.0,
            bias: 0.0,
        }
    }
}

impl Recipe for StackSpec {
    fn n_nodes(&self, n_features: usize) -> usize {
        let second = self.directions.saturating_mul(self.activations.len());
        self.first.n_nodes(n_features).saturating_add(second)
    }

    fn set_nodes(&mut self, nodes: usize) {
        self.directions = nodes.div_ceil(self.activations.len().max(1));
    }

    fn is_private(&self) -> bool {
        self.first.is_private() && self.preparation.is_private()
    }

    fn make(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error> {
        let mut random = task.random(layer);
        let first = self.first.make_layer(task, layer + 1)?;
        Ok(Box::new(Stack::new(&mut random, first, task.x, self)))
    }
}

/// A first layer and random nodes on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// The first layer: all nodes that the second one needs.
    pub first: Box<dyn Pool>,
    /// Makes the outputs of the first layer comparable.
    pub prepared: Prepared,
    /// Random directions, a power of two per block.
    pub blocks: Vec<Block>,
    /// The functions g that each direction is passed through.
    pub activations: Vec<Activation>,
    /// The nodes of both layers that are read, in order.
    pub members: Vec<Member>,
}

/// A node of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Member {
    /// A node of the first layer.
    First(u32),
    /// One direction passed through one function.
    Second {
        /// Index of g among the activations.
        activation: u32,
        /// Index of the direction, block after block.
        direction: u32,
    },
}

/// Two rows of signs, 1 or -1, that define the directions of one transform.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Signs before the first transform.
    pub outer: Vec<f32>,
    /// Signs before the second transform; larger than 1 if projections are.
    pub inner: Vec<f32>,
    /// What is added to each projection; empty if nothing is.
    pub biases: Vec<f32>,
}

impl Stack {
    /// Random directions over the outputs of `first`, each passed through every function.
    pub fn new(random: &mut Random, first: Box<dyn Pool>, x: Rows<'_>, spec: &StackSpec) -> Self {
        let (directions, activations) = (spec.directions, &spec.activations);
        let step = x.len().div_ceil(OUTPUT_ROWS).max(1);
        let sample: Vec<usize> = (0..x.len()).step_by(step).collect();
        let outputs = first.outputs(x.gather(&sample).rows(), Precision::F32);
        let n_first = first.n_nodes();
        // Few inputs have too few signs for many different directions, so they are padded.
        let least = if spec.bias > 0.0 { DIVERSE } else { 1 };
        let size = n_first.next_power_of_two().max(least);
        // A direction has length 1 over all `size` places, of which only the first are filled.
        let gain = spec.gain
            * if spec.gain == 1.0 {
                1.0
            } else {
                (size as f32 / n_first as f32).sqrt()
            };
        let mut signs = |gain: f32| (0..size).map(|_| gain * random.symmetric(1.0).signum()).collect();
        let mut signed: Vec<Block> = (0..directions.div_ceil(size))
            .map(|_| Block {
                outer: signs(1.0),
                inner: signs(gain),
                biases: Vec::new(),
            })
            .collect();
        if spec.bias > 0.0 {
            for block in &mut signed {
                block.biases = (0..size).map(|_| spec.bias * random.normal()).collect();
            }
        }
        let through = |activation: usize| {
            (0..directions as u32).map(move |direction| Member::Second {
                activation: activation as u32,
                direction,
            })
        };
        let own = (0..n_first as u32).map(Member::First);
        Self {
            prepared: Prepared::learn(spec.preparation, outputs.rows()),
            blocks: signed,
            members: own.chain((0..activations.len()).flat_map(through)).collect(),
            activations: activations.clone(),
            first,
        }
    }

    /// Number of directions of a block.
    fn size(&self) -> usize {
        let own = self.first.n_nodes().next_power_of_two();
        self.blocks.first().map_or(own, |block| block.outer.len())
    }
}

impl Block {
    /// Projects `row`, padded with zeros, onto the directions of this block.
    #[inline(always)]
    fn project(&self, row: &[f32], z: &mut [f32]) {
        z[row.len()..].fill(0.0);
        let outer = z.iter_mut().zip(&self.outer).zip(row);
        outer.for_each(|((v, s), of_row)| *v = s * of_row);
        hadamard(z);
        z.iter_mut().zip(&self.inner).for_each(|(v, s)| *v *= s);
        hadamard(z);
        z.iter_mut().zip(&self.biases).for_each(|(v, bias)| *v += bias);
    }
}

/// The orthonormal Walsh-Hadamard transform, in place; the length is a power of two.
#[inline(always)]
fn hadamard(z: &mut [f32]) {
    let mut half = 1;
    // The first steps combine values close to each other: eight at a time stay in one register.
    for eight in z.chunks_exact_mut(8) {
        for half in [1, 2, 4] {
            for pair in eight.chunks_exact_mut(2 * half) {
                let (a, b) = pair.split_at_mut(half);
                for (a, b) in a.iter_mut().zip(b) {
                    (*a, *b) = (*a + *b, *a - *b);
                }
            }
        }
        half = 8;
    }
    while half < z.len() {
        for pair in z.chunks_exact_mut(2 * half) {
            let (a, b) = pair.split_at_mut(half);
            for (a, b) in a.iter_mut().zip(b) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
    let scale = 1.0 / (z.len() as f32).sqrt();
    z.iter_mut().for_each(|v| *v *= scale);
}

impl Pool for Stack {
    fn n_inputs(&self) -> usize {
        self.first.n_inputs()
    }

    fn n_nodes(&self) -> usize {
        self.members.len()
    }

    fn n_plain(&self) -> usize {
        let first = |member: &&Member| matches!(member, Member::First(_));
        self.members.iter().take_while(first).count()
    }

    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Table {
        let first = self.first.outputs(x, precision);
        let prepared = self.prepared.apply(first.rows());
        let prepared = prepared.as_ref().map_or(first.rows(), Table::rows);
        let n_nodes = self.n_nodes();
        let mut values = vec![0.0; x.len() * n_nodes];
        let n_directions = self.blocks.len() * self.size();
        let room = || {
            (
                vec![0.0; n_directions],
                vec![0.0; n_directions * self.activations.len()],
            )
        };
        values.par_chunks_mut(n_nodes.max(1)).enumerate().for_each_init(
            room,
            |(projected, seen), (i, out)| {
                vectorised(
                    #[inline(always)]
                    || {
                        let places = projected.chunks_exact_mut(self.size());
                        places
                            .zip(&self.blocks)
                            .for_each(|(z, block)| block.project(prepared.row(i), z));
                    },
                );
                for (g, seen) in self
                    .activations
                    .iter()
                    .zip(seen.chunks_exact_mut(n_directions.max(1)))
                {
                    seen.copy_from_slice(projected);
                    g.apply(seen, 0.0);
                }
                let first = first.rows().row(i);
                for (value, member) in out.iter_mut().zip(&self.members) {
                    *value = match *member {
                        Member::First(node) => first[node as usize],
                        Member::Second {
                            activation,
                            direction,
                        } => seen[activation as usize * n_directions + direction as usize],
                    };
                }
            },
        );
        Table::from_whole_rows(values, n_nodes)
    }

    /// Keeps the first layer whole as long as any node of the second layer, which reads all of it, is kept.
    fn select(&self, nodes: &[usize]) -> Box<dyn Pool> {
        let members: Vec<Member> = nodes.iter().map(|&node| self.members[node]).collect();
        let first = |member: &Member| match member {
            Member::First(node) => Some(*node as usize),
            Member::Second { .. } => None,
        };
        match members.iter().map(first).collect::<Option<Vec<usize>>>() {
            Some(first_alone) => self.first.select(&first_alone),
            None => Box::new(Self {
                members,
                ..self.clone()
            }),
        }
    }

    fn n_floats(&self) -> usize {
        let signs = self.blocks.len() * 2 * self.size();
        let biases: usize = self.blocks.iter().map(|block| block.biases.len()).sum();
        self.first.n_floats() + self.prepared.n_floats() + signs + biases
    }

    fn multiply_adds(&self) -> usize {
        let size = self.size();
        self.first.multiply_adds() + self.blocks.len() * 2 * size * size.ilog2() as usize
    }

    fn pack(&self, container: &mut Container, prefix: &str) -> Json {
        let first = self.first.pack(container, &format!("{prefix}.first"));
        self.prepared.standard.pack(container, prefix);
        for (b, block) in self.blocks.iter().enumerate() {
            container.put_list(format!("{prefix}.outer.{b}"), &block.outer);
            container.put_list(format!("{prefix}.inner.{b}"), &block.inner);
            if !block.biases.is_empty() {
                container.put_list(format!("{prefix}.biases.{b}"), &block.biases);
            }
        }
        described(
            KIND,
            &Description {
                first,
                preparation: self.prepared.preparation,
                n_blocks: self.blocks.len(),
                biased: self.blocks.iter().any(|block| !block.biases.is_empty()),
                activations: self.activations.clone(),
                members: Listed::of(&self.members, container.version()),
            },
        )
    }

    /// Puts both layers side by side and takes the nodes that are read.
    fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value {
        let first = to_onnx(&*self.first, graph, x);
        let (n_first, size) = (self.first.n_nodes(), self.size());
        let prepared = self.prepared.to_onnx(graph, &first, n_first);
        let padded = graph.pad(&prepared, n_first, size);
        let projected = project_onnx(graph, &self.blocks, size, &padded);

        let through = |&g: &Activation| g.to_onnx(graph, &projected);
        let seen: Vec<Value> = self.activations.iter().map(through).collect();
        let layers: Vec<&Value> = std::iter::once(&first).chain(&seen).collect();
        let both = graph.concat(&layers);
        let n_directions = self.blocks.len() * size;
        let place = |member: &Member| match *member {
            Member::First(node) => node as usize,
            Member::Second {
                activation,
                direction,
            } => n_first + activation as usize * n_directions + direction as usize,
        };
        graph.gather(&both, self.members.iter().map(place))
    }

    fn boxed(&self) -> Box<dyn Pool> {
        Box::new(self.clone())
    }
}

/// Projections onto the directions of all blocks, `(n_samples, n_blocks · size)`. In a graph the
/// Walsh-Hadamard transform becomes two small products instead of one huge one.
fn project_onnx(graph: &mut Graph, blocks: &[Block], size: usize, x: &Value) -> Value {
    let (a, b) = factors(size);
    let (h_a, h_b) = (hadamard_onnx(graph, a), hadamard_onnx(graph, b));
    let outer: Vec<f32> = blocks.iter().flat_map(|block| &block.outer).copied().collect();
    let inner: Vec<f32> = blocks.iter().flat_map(|block| &block.inner).copied().collect();
    let mut z = graph.reshape(x, &[1, a, b]);
    for signs in [outer, inner] {
        let signs = graph.floats(&[blocks.len(), a, b], &signs);
        z = graph.apply("Mul", &[&z, &signs]);
        // H_ab = H_a ⊗ H_b: on a row as an (a, b) matrix Z that is H_a Z H_b.
        z = graph.apply("MatMul", &[&h_a, &z]);
        z = graph.apply("MatMul", &[&z, &h_b]);
    }
    let z = graph.reshape(&z, &[blocks.len() * size]);
    let biases: Vec<f32> = blocks.iter().flat_map(|block| &block.biases).copied().collect();
    if biases.is_empty() {
        return z;
    }
    let biases = graph.floats(&[blocks.len() * size], &biases);
    graph.apply("Add", &[&z, &biases])
}

/// Two powers of two, as nearly equal as possible, whose product is `size`.
fn factors(size: usize) -> (usize, usize) {
    let a = 1 << (size.trailing_zeros() / 2);
    (a, size / a)
}

/// The orthonormal Walsh-Hadamard matrix as a constant.
fn hadamard_onnx(graph: &mut Graph, n: usize) -> Value {
    let scale = 1.0 / (n as f32).sqrt();
    let entry = |i: usize, j: usize| {
        if (i & j).count_ones().is_multiple_of(2) {
            scale
        } else {
            -scale
        }
    };
    graph.floats(&[n, n], Matrix::from_fn(n, n, entry).values())
}

#[derive(Serialize, Deserialize)]
struct Description {
    first: Json,
    preparation: Preparation,
    n_blocks: usize,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    biased: bool,
    activations: Vec<Activation>,
    members: Listed,
}

/// The nodes of a stack, as a file lists them.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Listed {
    /// Runs of neighbours: a whole layer is one. Files have them since version 2.
    Runs(Vec<Run>),
    /// One by one.
    Each(Vec<Member>),
}

/// Some neighbours in one layer.
#[derive(Serialize, Deserialize)]
struct Run {
    from: Member,
    count: u32,
}

impl Listed {
    fn of(members: &[Member], version: u32) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        for &member in members {
            match runs.last_mut() {
                Some(run) if run.member(run.count) == Some(member) => run.count += 1,
                _ => runs.push(Run {
                    from: member,
                    count: 1,
                }),
            }
        }
        if version > 1 && 2 * runs.len() <= members.len() {
            Self::Runs(runs)
        } else {
            Self::Each(members.to_vec())
        }
    }

    /// The nodes one by one; `None` if they are more than there are, `n_nodes`.
    fn members(self, n_nodes: usize) -> Option<Vec<Member>> {
        match self {
            Self::Each(members) => Some(members),
            Self::Runs(runs) => {
                let total = runs.iter().map(|run| u64::from(run.count)).sum::<u64>();
                let members = runs.iter().flat_map(|run| (0..run.count).map(|k| run.member(k)));
                (total <= n_nodes as u64).then(|| members.collect())?
            }
        }
    }
}

impl Run {
    /// The member at place `k` from the first one on; `None` if no layer is that large.
    fn member(&self, k: u32) -> Option<Member> {
        match self.from {
            Member::First(node) => Some(Member::First(node.checked_add(k)?)),
            Member::Second {
                activation,
                direction,
            } => Some(Member::Second {
                activation,
                direction: direction.checked_add(k)?,
            }),
        }
    }
}

pub(super) fn unpack(
    container: &Container,
    prefix: &str,
    description: &Json,
) -> Result<Box<dyn Pool>, String> {
    let Description {
        first,
        preparation,
        n_blocks,
        biased,
        activations,
        members,
    } = read_description(description)?;
    let first = unpack_pool(container, &format!("{prefix}.first"), &first)?;
    let prepared = Prepared::unpack(container, prefix, preparation, first.n_nodes())?;
    let n_first = first.n_nodes();
    let size = n_first.next_power_of_two().max(if biased { DIVERSE } else { 1 });
    let mut blocks = Vec::new();
    for b in 0..n_blocks {
        let outer = container.list(&format!("{prefix}.outer.{b}"))?;
        let inner = container.list(&format!("{prefix}.inner.{b}"))?;
        let biases = if biased {
            container.list(&format!("{prefix}.biases.{b}"))?
        } else {
            Vec::new()
        };
        fits(outer.len() == size && inner.len() == size, prefix)?;
        fits(!biased || biases.len() == size, prefix)?;
        blocks.push(Block { outer, inner, biases });
    }
    let n_nodes = n_first + activations.len() * blocks.len() * size;
    let members = members.members(n_nodes).unwrap_or_default();
    let known = |member: &Member| match *member {
        Member::First(node) => (node as usize) < n_first,
        Member::Second {
            activation,
            direction,
        } => (activation as usize) < activations.len() && (direction as usize) < blocks.len() * size,
    };
    fits(!members.is_empty() && members.iter().all(known), prefix)?;
    Ok(Box::new(Stack {
        first,
        prepared,
        blocks,
        activations,
        members,
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail loudly.

    use super::*;

    #[test]
    fn the_fast_transform_is_the_matrix_of_signs() {
        for n in [1usize, 2, 4, 8, 16, 64] {
            let z: Vec<f32> = (0..n).map(|i| ((i * 37 + 11) % 17) as f32 - 8.0).collect();
            let mut fast = z.clone();
            hadamard(&mut fast);
            for (i, &fast) in fast.iter().enumerate() {
                let sign = |j: usize| {
                    if (i & j).count_ones().is_multiple_of(2) {
                        1.0
                    } else {
                        -1.0
                    }
                };
                let slow: f32 = z.iter().enumerate().map(|(j, v)| sign(j) * v).sum();
                assert!((fast - slow / (n as f32).sqrt()).abs() < 1e-4, "{i} of {n}");
            }
        }
    }

    #[test]
    fn runs_of_nodes_are_these_nodes() {
        let second = |activation: u32, direction: u32| Member::Second {
            activation,
            direction,
        };
        let layers: Vec<Member> = (0..40)
            .map(Member::First)
            .chain((5..30).map(|direction| second(0, direction)))
            .chain((0..8).map(|direction| second(1, direction)))
            .collect();
        let scattered: Vec<Member> = (0..20).map(|k| second(0, 3 * k)).collect();
        for (members, in_runs) in [(layers, true), (scattered, false)] {
            for version in [1, 2] {
                let text = serde_json::to_string(&Listed::of(&members, version)).unwrap();
                assert_eq!(text.contains("count"), in_runs && version == 2, "{text}");
                let read = |n_nodes: usize| {
                    let listed: Listed = serde_json::from_str(&text).unwrap();
                    listed.members(n_nodes)
                };
                assert_eq!(read(members.len()), Some(members.clone()));
                assert!(!text.contains("count") || read(members.len() - 1).is_none());
            }
        }
        let beyond = r#"[{"from": 1, "count": 4294967295}]"#;
        let listed: Listed = serde_json::from_str(beyond).unwrap();
        assert_eq!(
            listed.members(100),
            None,
            "a file claims more nodes than there are"
        );
    }
}
