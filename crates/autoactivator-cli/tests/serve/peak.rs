//! What a server that learns takes at most follows from the size of its sums.

use serde_json::json;

use crate::common::{N_FEATURES, Workplace, clusters};
use crate::process::Held;
use crate::serving::Serving;

/// Nodes, and rows of each of four classes: enough for as many witnesses as are ever in use.
const NODES: usize = 2000;
const ROWS: usize = 1100;

/// Rows that are too many to follow.
const MANY: usize = NODES / 4;

/// A server takes at most this many times the size of its sums, and this many megabytes: the node outputs of witnesses, the
/// factor beside two copies of the sums, and what the C library keeps.
const BOUND: (f64, f64) = (2.2, 200.0);

#[test]
fn a_server_that_learns_takes_little_more_than_its_sums() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b", "c", "d"], ROWS));
    let nodes = NODES.to_string();
    place.succeed(&[
        "learn",
        "m.aact",
        "rows.csv",
        "--pool",
        "uniform",
        "--pool-nodes",
        &nodes,
    ]);
    // Once after its start, and once more when it has learned too many rows to follow, a readout is solved from nothing.
    let serving = Serving::start(&place, &["m.aact"]);
    serving.learn(&json!([vec![0.5; N_FEATURES]]), &["new"]);
    let many: Vec<Vec<f64>> = (0..MANY)
        .map(|i| {
            (0..N_FEATURES)
                .map(|j| ((i * (j + 3)) % 101) as f64 / 101.0)
                .collect()
        })
        .collect();
    serving.learn(&json!(many), &["many"; MANY]);
    let held = Held::by(&serving, &place);
    let sums = (NODES * (NODES + 1) / 2 * size_of::<f64>()) as f64 / f64::from(1 << 20);
    let (times, more) = BOUND;
    println!("{}\n{held}\n{sums:.1} MB of sums", Held::TITLES);
    assert!(held.peak <= times * sums + more, "{held}");
}
