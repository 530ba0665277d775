//! Every kind of pool as operators: the same steps as in [`pool`](crate::pool), whole batches at a time.

use super::convolution::convolution;
use super::graph::{Graph, Value};
use super::stack::stack;
use crate::activation::Activation;
use crate::node::Nodes;
use crate::pool::{Dense, NodePool, Preparation, Prepared, Read, Standard};

/// Outputs of all nodes, `(n_samples, n_nodes)`.
pub fn outputs(graph: &mut Graph, pool: &NodePool, x: &Value) -> Value {
    if pool.as_pool().n_nodes() == 0 {
        return graph.gather(x, []);
    }
    match pool {
        NodePool::Dense(pool) => dense(graph, pool, x),
        NodePool::Patches(pool) => nodes(graph, &pool.spread(), x),
        NodePool::Convolution(pool) => convolution(graph, pool, x),
        NodePool::Stack(pool) => stack(graph, pool, x),
    }
}

fn dense(graph: &mut Graph, pool: &Dense, x: &Value) -> Value {
    let x = prepare(graph, &pool.prepared, x, pool.n_inputs);
    match &pool.read {
        Read::Nodes(read) => nodes(graph, read, &x),
        Read::Features(features) => graph.gather(&x, features.iter().copied()),
    }
}

/// g(xW + b).
fn nodes(graph: &mut Graph, nodes: &Nodes, x: &Value) -> Value {
    let sums = graph.linear(x, &nodes.weights, &nodes.biases);
    activate(graph, nodes.activation, &sums)
}

/// g of every value.
pub fn activate(graph: &mut Graph, g: Activation, x: &Value) -> Value {
    match g {
        Activation::Sigmoid => graph.apply("Sigmoid", &[x]),
        Activation::Tanh => graph.apply("Tanh", &[x]),
        Activation::Relu => graph.apply("Relu", &[x]),
        Activation::Square => graph.apply("Mul", &[x, x]),
    }
}

/// Features made comparable, as the first task taught.
pub fn prepare(graph: &mut Graph, prepared: &Prepared, x: &Value, n_features: usize) -> Value {
    let comparable = match prepared.preparation {
        Preparation::None => return x.clone(),
        Preparation::SoftRoot => soft_root(graph, x),
        Preparation::Columns | Preparation::Standardise => {
            standardise(graph, &prepared.standard, x, n_features)
        }
        Preparation::SquareRoot => {
            let root = signed_root(graph, x);
            standardise(graph, &prepared.standard, &root, n_features)
        }
        Preparation::RowSquareRoot => {
            let root = signed_root(graph, x);
            let mean = graph.reduce("ReduceMean", &root);
            graph.apply("Sub", &[&root, &mean])
        }
    };
    if !prepared.preparation.has_rows_of_one_length() {
        return comparable;
    }
    let factor = length_factor(graph, &comparable, n_features);
    graph.apply("Mul", &[&comparable, &factor])
}

fn standardise(graph: &mut Graph, standard: &Standard, x: &Value, n_features: usize) -> Value {
    let shift = graph.floats(&[n_features], &standard.shift);
    let scale = graph.floats(&[n_features], &standard.scale);
    let centred = graph.apply("Sub", &[x, &shift]);
    graph.apply("Mul", &[&centred, &scale])
}

fn signed_root(graph: &mut Graph, x: &Value) -> Value {
    let size = graph.apply("Abs", &[x]);
    let root = graph.apply("Sqrt", &[&size]);
    let sign = graph.apply("Sign", &[x]);
    graph.apply("Mul", &[&sign, &root])
}

fn soft_root(graph: &mut Graph, x: &Value) -> Value {
    let one = graph.floats(&[], &[1.0]);
    let size = graph.apply("Abs", &[x]);
    let more = graph.apply("Add", &[&size, &one]);
    let root = graph.apply("Sqrt", &[&more]);
    graph.apply("Div", &[x, &root])
}

/// What brings each row to length √n_features; 0 for rows without length.
fn length_factor(graph: &mut Graph, x: &Value, n_features: usize) -> Value {
    let zero = graph.floats(&[], &[0.0]);
    let length = graph.floats(&[], &[(n_features as f32).sqrt()]);
    let norm = graph.reduce("ReduceL2", x);
    let some = graph.apply("Greater", &[&norm, &zero]);
    let factor = graph.apply("Div", &[&length, &norm]);
    graph.apply("Where", &[&some, &factor, &zero])
}
