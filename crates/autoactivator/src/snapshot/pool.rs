//! Pools as tensors: the compact form, under a prefix, beside a description.

use serde::{Deserialize, Serialize};

use super::container::Container;
use crate::activation::Activation;
use crate::linalg::Matrix;
use crate::node::Nodes;
use crate::pool::{
    Bank, Block, Convolution, ConvolutionSpec, Dense, Field, Member, NodePool, Patches, Preparation,
    Prepared, Read, Reading, Stack, Standard,
};
use crate::rows::ImageShape;

/// What a pool is, beside its tensors.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PoolDescription {
    Nodes {
        preparation: Preparation,
        n_inputs: usize,
        activation: Activation,
    },
    Features {
        preparation: Preparation,
        n_inputs: usize,
        features: Vec<usize>,
    },
    Patches {
        image: ImageShape,
        fields: Vec<Field>,
        activation: Activation,
    },
    Convolution {
        image: ImageShape,
        spec: ConvolutionSpec,
        sides: Vec<usize>,
        nodes: Vec<Reading>,
    },
    Stack {
        first: Box<PoolDescription>,
        preparation: Preparation,
        n_blocks: usize,
        activations: Vec<Activation>,
        members: Vec<Member>,
    },
}

/// Puts the tensors of a pool under `prefix` and returns its description.
pub fn pack(container: &mut Container, prefix: &str, pool: &NodePool) -> PoolDescription {
    match pool {
        NodePool::Dense(dense) => pack_dense(container, prefix, dense),
        NodePool::Patches(patches) => {
            container.put_list(format!("{prefix}.weights"), &patches.weights.concat());
            container.put_list(format!("{prefix}.biases"), &patches.biases);
            PoolDescription::Patches {
                image: patches.image,
                fields: patches.fields.clone(),
                activation: patches.activation,
            }
        }
        NodePool::Convolution(convolution) => {
            for (b, bank) in convolution.banks.iter().enumerate() {
                container.put_matrix(format!("{prefix}.filters.{b}"), &bank.filters);
            }
            PoolDescription::Convolution {
                image: convolution.image,
                spec: convolution.spec.clone(),
                sides: convolution.banks.iter().map(|bank| bank.side).collect(),
                nodes: convolution.nodes.clone(),
            }
        }
        NodePool::Stack(stack) => {
            let first = pack(container, &format!("{prefix}.first"), &stack.first);
            pack_prepared(container, prefix, &stack.prepared);
            for (b, block) in stack.blocks.iter().enumerate() {
                container.put_list(format!("{prefix}.outer.{b}"), &block.outer);
                container.put_list(format!("{prefix}.inner.{b}"), &block.inner);
            }
            PoolDescription::Stack {
                first: Box::new(first),
                preparation: stack.prepared.preparation,
                n_blocks: stack.blocks.len(),
                activations: stack.activations.clone(),
                members: stack.members.clone(),
            }
        }
    }
}

fn pack_dense(container: &mut Container, prefix: &str, dense: &Dense) -> PoolDescription {
    pack_prepared(container, prefix, &dense.prepared);
    let (preparation, n_inputs) = (dense.prepared.preparation, dense.n_inputs);
    match &dense.read {
        Read::Nodes(nodes) => {
            container.put_matrix(format!("{prefix}.weights"), &nodes.weights);
            container.put_list(format!("{prefix}.biases"), &nodes.biases);
            PoolDescription::Nodes {
                preparation,
                n_inputs,
                activation: nodes.activation,
            }
        }
        Read::Features(features) => PoolDescription::Features {
            preparation,
            n_inputs,
            features: features.clone(),
        },
    }
}

fn pack_prepared(container: &mut Container, prefix: &str, prepared: &Prepared) {
    put_standard(container, prefix, &prepared.standard);
}

/// Puts means and deviations under `prefix`.
pub fn put_standard(container: &mut Container, prefix: &str, standard: &Standard) {
    container.put_list(format!("{prefix}.shift"), &standard.shift);
    container.put_list(format!("{prefix}.scale"), &standard.scale);
}

/// Reads a pool back, refusing whatever does not fit together.
pub fn unpack(container: &Container, prefix: &str, description: PoolDescription) -> Result<NodePool, String> {
    let pool = match description {
        PoolDescription::Nodes {
            preparation,
            n_inputs,
            activation,
        } => {
            let weights = container.matrix(&format!("{prefix}.weights"))?;
            let biases = container.list(&format!("{prefix}.biases"))?;
            fits(
                weights.n_rows() == n_inputs && weights.n_cols() == biases.len(),
                prefix,
            )?;
            let read = Read::Nodes(Nodes {
                weights,
                biases,
                activation,
            });
            NodePool::Dense(Dense {
                prepared: unpack_prepared(container, prefix, preparation, n_inputs)?,
                n_inputs,
                read,
            })
        }
        PoolDescription::Features {
            preparation,
            n_inputs,
            features,
        } => {
            fits(features.iter().all(|&feature| feature < n_inputs), prefix)?;
            let prepared = unpack_prepared(container, prefix, preparation, n_inputs)?;
            NodePool::Dense(Dense {
                prepared,
                n_inputs,
                read: Read::Features(features),
            })
        }
        PoolDescription::Patches {
            image,
            fields,
            activation,
        } => unpack_patches(container, prefix, image, fields, activation)?,
        PoolDescription::Convolution {
            image,
            spec,
            sides,
            nodes,
        } => unpack_convolution(container, prefix, image, spec, &sides, nodes)?,
        PoolDescription::Stack {
            first,
            preparation,
            n_blocks,
            activations,
            members,
        } => {
            let first = unpack(container, &format!("{prefix}.first"), *first)?;
            {
                let prepared = unpack_prepared(container, prefix, preparation, first.as_pool().n_nodes())?;
                unpack_stack(
                    container,
                    prefix,
                    (first, prepared),
                    n_blocks,
                    activations,
                    members,
                )?
            }
        }
    };
    fits(
        pool.as_pool().n_nodes() > 0 && pool.as_pool().n_inputs() > 0,
        prefix,
    )?;
    Ok(pool)
}

fn fits(condition: bool, prefix: &str) -> Result<(), String> {
    if condition {
        Ok(())
    } else {
        Err(format!("the parts of '{prefix}' do not fit together"))
    }
}

fn unpack_prepared(
    container: &Container,
    prefix: &str,
    preparation: Preparation,
    n_inputs: usize,
) -> Result<Prepared, String> {
    let expected = Prepared::n_columns(preparation, n_inputs);
    Ok(Prepared {
        preparation,
        standard: standard(container, prefix, expected)?,
    })
}

/// Means and deviations of `expected` columns under `prefix`.
pub fn standard(container: &Container, prefix: &str, expected: usize) -> Result<Standard, String> {
    let shift = container.list(&format!("{prefix}.shift"))?;
    let scale = container.list(&format!("{prefix}.scale"))?;
    fits(shift.len() == expected && scale.len() == expected, prefix)?;
    Ok(Standard { shift, scale })
}

fn check_image(image: ImageShape, prefix: &str) -> Result<(), String> {
    let values = image
        .height
        .checked_mul(image.width)
        .and_then(|n| n.checked_mul(image.channels));
    fits(values.is_some_and(|n| (1..1 << 30).contains(&n)), prefix)
}

fn unpack_patches(
    container: &Container,
    prefix: &str,
    image: ImageShape,
    fields: Vec<Field>,
    activation: Activation,
) -> Result<NodePool, String> {
    check_image(image, prefix)?;
    let inside = |start: usize, length: usize, side: usize| {
        length > 0 && start.checked_add(length).is_some_and(|end| end <= side)
    };
    let whole = |f: &Field| inside(f.top, f.height, image.height) && inside(f.left, f.width, image.width);
    fits(fields.iter().all(whole), prefix)?;
    let values = container.list(&format!("{prefix}.weights"))?;
    let biases = container.list(&format!("{prefix}.biases"))?;
    let sizes: Vec<usize> = fields
        .iter()
        .map(|f| f.height * f.width * image.channels)
        .collect();
    fits(
        sizes.iter().sum::<usize>() == values.len() && biases.len() == fields.len(),
        prefix,
    )?;
    let mut values = values.into_iter();
    let weights = sizes
        .iter()
        .map(|&size| values.by_ref().take(size).collect())
        .collect();
    Ok(NodePool::Patches(Patches {
        image,
        fields,
        weights,
        biases,
        activation,
    }))
}

fn unpack_convolution(
    container: &Container,
    prefix: &str,
    image: ImageShape,
    spec: ConvolutionSpec,
    sides: &[usize],
    nodes: Vec<Reading>,
) -> Result<NodePool, String> {
    check_image(image, prefix)?;
    spec.check(image).map_err(|e| e.to_string())?;
    fits(sides == spec.sides, prefix)?;
    let mut banks = Vec::new();
    for (b, &side) in sides.iter().enumerate() {
        let filters: Matrix<f32> = container.matrix(&format!("{prefix}.filters.{b}"))?;
        fits(filters.n_rows() == side * side * image.channels, prefix)?;
        banks.push(Bank { side, filters });
    }
    let signs = if spec.both_signs { 2 } else { 1 };
    let known = |node: &Reading| {
        let bank = banks.get(node.bank as usize);
        bank.is_some_and(|bank| (node.response as usize) < bank.filters.n_cols() * signs)
            && (node.cell as usize) < spec.grid * spec.grid
    };
    fits(nodes.iter().all(known), prefix)?;
    Ok(NodePool::Convolution(Convolution {
        image,
        spec,
        banks,
        nodes,
    }))
}

fn unpack_stack(
    container: &Container,
    prefix: &str,
    (first, prepared): (NodePool, Prepared),
    n_blocks: usize,
    activations: Vec<Activation>,
    members: Vec<Member>,
) -> Result<NodePool, String> {
    let n_first = first.as_pool().n_nodes();
    let size = n_first.next_power_of_two();
    let mut blocks = Vec::new();
    for b in 0..n_blocks {
        let outer = container.list(&format!("{prefix}.outer.{b}"))?;
        let inner = container.list(&format!("{prefix}.inner.{b}"))?;
        fits(outer.len() == size && inner.len() == size, prefix)?;
        blocks.push(Block { outer, inner });
    }
    let known = |member: &Member| match *member {
        Member::First(node) => (node as usize) < n_first,
        Member::Second {
            activation,
            direction,
        } => (activation as usize) < activations.len() && (direction as usize) < blocks.len() * size,
    };
    fits(members.iter().all(known), prefix)?;
    Ok(NodePool::Stack(Box::new(Stack {
        first,
        prepared,
        blocks,
        activations,
        members,
    })))
}
