//! How large partial memories are: `cargo run --release -p autoactivator --example partial_sizes`.
//!
//! One triangle of G, Q and n, by the same formula that sizes the files.

use autoactivator::Partial;

const N_CLASSES: usize = 1000;

fn main() {
    println!("nodes   f64 MB   f32 MB   ({N_CLASSES} classes)");
    for n_nodes in [2816, 5000, 10_000, 20_000] {
        let megabytes =
            |float: usize| (Partial::n_floats(n_nodes, N_CLASSES) * float) as f64 / (1024.0 * 1024.0);
        println!("{n_nodes:>6}  {:>6.0}  {:>7.0}", megabytes(8), megabytes(4));
    }
}
