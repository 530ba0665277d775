//! Two layers, both read: a first pool, and random nodes on its outputs.
//!
//! The second layer's directions are structured: signs, a Walsh-Hadamard transform, signs again, another transform.
//! They behave like independent random directions, but cost two signs a node to store instead of a column of weights,
//! and n log n operations to evaluate instead of n².

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::prepare::{Preparation, Prepared};
use super::{NodePool, Pool};
use crate::activation::Activation;
use crate::params::Precision;
use crate::rng::Random;
use crate::rows::{Rows, Table};
use crate::simd::vectorised;

/// A first layer and random nodes on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// The first layer, all nodes that the second one needs.
    pub first: NodePool,
    /// Makes outputs of the first layer comparable.
    pub prepared: Prepared,
    /// Random directions, a power of two in each block.
    pub blocks: Vec<Block>,
    /// The functions g that each direction is seen through.
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
    /// One direction seen through one function.
    Second {
        /// Place of g among the activations.
        activation: u32,
        /// The direction, block after block.
        direction: u32,
    },
}

/// Two rows of signs, 1 or -1, that make the directions of one transform.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Before the first transform.
    pub outer: Vec<f32>,
    /// Before the second one.
    pub inner: Vec<f32>,
}

impl Stack {
    /// Random directions over the outputs of `first`, each seen through every function.
    pub fn new(
        random: &mut Random,
        first: NodePool,
        x: Rows<'_>,
        preparation: Preparation,
        directions: usize,
        activations: &[Activation],
    ) -> Self {
        let step = x.len().div_ceil(4096).max(1);
        let sample: Vec<usize> = (0..x.len()).step_by(step).collect();
        let outputs = first.as_pool().outputs(x.gather(&sample).rows(), Precision::F32);
        let n_first = first.as_pool().n_nodes();
        let size = n_first.next_power_of_two();
        let mut signs = || (0..size).map(|_| random.symmetric(1.0).signum()).collect();
        let through = |activation: usize| {
            (0..directions as u32).map(move |direction| Member::Second {
                activation: activation as u32,
                direction,
            })
        };
        let own = (0..n_first as u32).map(Member::First);
        Self {
            prepared: Prepared::learn(preparation, outputs.rows()),
            blocks: (0..directions.div_ceil(size))
                .map(|_| Block {
                    outer: signs(),
                    inner: signs(),
                })
                .collect(),
            members: own.chain((0..activations.len()).flat_map(through)).collect(),
            activations: activations.to_vec(),
            first,
        }
    }

    /// Directions of a block.
    fn size(&self) -> usize {
        self.first.as_pool().n_nodes().next_power_of_two()
    }
}

impl Block {
    /// Projects `row`, padded with zeros, on the directions of this block.
    #[inline(always)]
    fn project(&self, row: &[f32], z: &mut [f32]) {
        z[row.len()..].fill(0.0);
        let outer = z.iter_mut().zip(&self.outer).zip(row);
        outer.for_each(|((v, s), of_row)| *v = s * of_row);
        hadamard(z);
        z.iter_mut().zip(&self.inner).for_each(|(v, s)| *v *= s);
        hadamard(z);
    }
}

/// The orthonormal Walsh-Hadamard transform, in place; the length is a power of two.
#[inline(always)]
fn hadamard(z: &mut [f32]) {
    let mut half = 1;
    // The first steps reach within a few values: eight at a time stay in one register.
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
        self.first.as_pool().n_inputs()
    }

    fn n_nodes(&self) -> usize {
        self.members.len()
    }

    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Table {
        let first = self.first.as_pool().outputs(x, precision);
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

    /// The first layer stays whole as long as a node of the second one, which reads all of it, is kept.
    fn select(&self, nodes: &[usize]) -> NodePool {
        let members: Vec<Member> = nodes.iter().map(|&node| self.members[node]).collect();
        let first = |member: &Member| match member {
            Member::First(node) => Some(*node as usize),
            Member::Second { .. } => None,
        };
        match members.iter().map(first).collect::<Option<Vec<usize>>>() {
            Some(first_alone) => self.first.as_pool().select(&first_alone),
            None => NodePool::Stack(Box::new(Self {
                members,
                ..self.clone()
            })),
        }
    }

    fn n_floats(&self) -> usize {
        let signs = self.blocks.len() * 2 * self.size();
        self.first.as_pool().n_floats() + self.prepared.n_floats() + signs
    }

    fn multiply_adds(&self) -> usize {
        let size = self.size();
        self.first.as_pool().multiply_adds() + self.blocks.len() * 2 * size * size.ilog2() as usize
    }
}

#[cfg(test)]
mod tests {
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
}
