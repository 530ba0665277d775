//! What learning with a pool costs, estimated before anything is made.

use super::PoolSpec;
use crate::error::Error;
use crate::math::there_is_room;

/// Largest number of nodes of a pool: their Gram matrix then takes 8 GB.
const MAX_NODES: usize = 1 << 15;

/// Number of matrices of the size of G that exist at the same time while a readout is solved.
const SQUARES: u64 = 4;

/// Number of rows whose node outputs exist at the same time.
const ROWS: usize = 4096;

/// Bytes that a lesson takes: sums and what solves them, node outputs, and the weights of nodes that see all features.
pub(super) fn bytes(spec: &PoolSpec, n_rows: usize, n_features: usize) -> u64 {
    let n_nodes = spec.n_nodes(n_features) as u64;
    let outputs = n_rows.min(ROWS) as u64 * n_nodes;
    let weights = match spec {
        PoolSpec::Uniform(_) | PoolSpec::Gaussian(_) => (n_features as u64).saturating_mul(n_nodes),
        _ => 0,
    };
    let floats = outputs.saturating_add(weights).saturating_mul(4);
    let sums = n_nodes.saturating_mul(n_nodes).saturating_mul(8 * SQUARES);
    sums.saturating_add(floats)
}

/// Refuses a pool that has no nodes, too many, or more than fit into memory.
pub(super) fn check(spec: &PoolSpec, n_rows: usize, n_features: usize) -> Result<(), Error> {
    let n_nodes = spec.n_nodes(n_features);
    let refuse = |allowed: String| {
        Err(Error::Parameter {
            name: "pool".to_owned(),
            value: format!("{n_nodes} nodes"),
            allowed,
        })
    };
    if !(1..=MAX_NODES).contains(&n_nodes) {
        return refuse(
            "must be from 1 to 32,768 nodes, since the memory grows with their square: choose fewer with --nodes, or \
             another pool"
                .to_owned(),
        );
    }
    let bytes = bytes(spec, n_rows, n_features);
    if !there_is_room(bytes) {
        return refuse(format!(
            "would take about {} GB for rows of {n_features} features, more than there is: choose fewer with --nodes, \
             or another pool",
            bytes.div_ceil(1 << 30)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(nodes: usize) -> PoolSpec {
        PoolSpec::named("gaussian").unwrap().with_nodes(nodes)
    }

    #[test]
    fn costs_grow_with_nodes_rows_and_features() {
        assert_eq!(bytes(&gaussian(1000), 10, 30), 32_000_000 + 4 * (10_000 + 30_000));
        assert_eq!(
            bytes(&gaussian(1000), 1 << 20, 30),
            32_000_000 + 4 * (4_096_000 + 30_000)
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_remedy() {
        assert!(check(&gaussian(1000), 10, 30).is_ok());
        for (nodes, n_features) in [(0, 3), (40_000, 3), (30_000, 1 << 50)] {
            let error = check(&gaussian(nodes), 10, n_features).unwrap_err().to_string();
            assert!(error.contains("--nodes") && error.contains("pool"), "{error}");
        }
    }
}
