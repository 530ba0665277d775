//! A stack as operators: the Walsh-Hadamard transform becomes two small products instead of one huge one.

use super::graph::{Graph, Value};
use super::pools::{activate, outputs, prepare};
use crate::activation::Activation;
use crate::linalg::Matrix;
use crate::pool::{Block, Member, Stack};

/// Both layers side by side, and the nodes that are read taken from them.
pub fn stack(graph: &mut Graph, pool: &Stack, x: &Value) -> Value {
    let first = outputs(graph, &pool.first, x);
    let n_first = pool.first.as_pool().n_nodes();
    let size = n_first.next_power_of_two();
    let prepared = prepare(graph, &pool.prepared, &first, n_first);
    let padded = graph.pad(&prepared, n_first, size);
    let projected = project(graph, &pool.blocks, size, &padded);

    let through = |&g: &Activation| activate(graph, g, &projected);
    let seen: Vec<Value> = pool.activations.iter().map(through).collect();
    let layers: Vec<&Value> = std::iter::once(&first).chain(&seen).collect();
    let both = graph.concat(&layers);
    let n_directions = pool.blocks.len() * size;
    let place = |member: &Member| match *member {
        Member::First(node) => node as usize,
        Member::Second {
            activation,
            direction,
        } => n_first + activation as usize * n_directions + direction as usize,
    };
    graph.gather(&both, pool.members.iter().map(place))
}

/// Projections on the directions of all blocks, `(n_samples, n_blocks · size)`.
fn project(graph: &mut Graph, blocks: &[Block], size: usize, x: &Value) -> Value {
    let (a, b) = factors(size);
    let (h_a, h_b) = (hadamard(graph, a), hadamard(graph, b));
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
    graph.reshape(&z, &[blocks.len() * size])
}

/// Two powers of two, as equal as can be, whose product is `size`.
fn factors(size: usize) -> (usize, usize) {
    let a = 1 << (size.trailing_zeros() / 2);
    (a, size / a)
}

/// The orthonormal Walsh-Hadamard matrix.
fn hadamard(graph: &mut Graph, n: usize) -> Value {
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
