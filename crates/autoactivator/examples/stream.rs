//! Learns a stream that is never in memory as a whole: rows generated chunk by chunk, and the memory that the
//! process used.
//!
//! ```text
//! cargo run --release -p autoactivator --example stream -- [ROWS] [FEATURES] [NODES]
//! ```
//!
//! Prints the size of the memory itself and the peak resident size of the process at several points of the stream.

use autoactivator::pool::{GaussianSpec, PoolSpec, Preparation};
use autoactivator::{Activation, Check, Consolidation, ConsolidationParams, Error, Labels, Table};

const CHUNK: usize = 2048;

fn main() -> Result<(), Error> {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let mut number = |default: usize| words.next().and_then(Result::ok).unwrap_or(default);
    let (n_rows, n_features, nodes) = (number(1_000_000), number(1280), number(5000));
    let params = ConsolidationParams {
        pool: Some(PoolSpec::Gaussian(GaussianSpec {
            nodes,
            activation: Activation::Relu,
            preparation: Preparation::None,
        })),
        ridge: Some(1e-3),
        ..ConsolidationParams::default()
    };
    let mut learner = Consolidation::new(params.check()?);
    let before = peak_mb();
    let mut state = 1u64;
    for (i, start) in (0..n_rows).step_by(CHUNK).enumerate() {
        let (x, y) = generate(&mut state, CHUNK.min(n_rows - start), n_features)?;
        learner.observe(x.rows(), &y)?;
        if (i + 1).is_power_of_two() || start + CHUNK >= n_rows {
            // The Gram matrix is held as a square, so that products can be added block by block.
            let own = (nodes * nodes * 8) as f64 / (1024.0 * 1024.0);
            let rows = learner.memory().n_rows();
            println!(
                "{rows:>9} rows: memory itself {own:.0} MB, process {:.0} MB at most",
                peak_mb()
            );
        }
    }
    println!("before the first row: {before:.0} MB");
    Ok(())
}

/// Rows scattered around 100 centres, one per class.
fn generate(state: &mut u64, n_rows: usize, n_features: usize) -> Result<(Table, Labels), Error> {
    let mut next = || {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 40) as f32 / (1u64 << 24) as f32
    };
    let codes: Vec<u32> = (0..n_rows).map(|_| (next() * 100.0) as u32).collect();
    let mut values = Vec::with_capacity(n_rows * n_features);
    for &code in &codes {
        values.extend((0..n_features).map(|j| next() + ((code as usize * 31 + j * 7) % 17) as f32 / 17.0));
    }
    let names: Vec<String> = (0..100).map(|class| format!("class {class}")).collect();
    Ok((Table::new(values, n_features)?, Labels::new(names, codes)?))
}

/// The peak resident size so far, as Linux reports it; 0 elsewhere.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap_or_default();
    let kilobytes: f64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(0.0);
    kilobytes / 1024.0
}
