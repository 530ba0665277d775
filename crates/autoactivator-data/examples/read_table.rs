//! How fast a feature table is read: `cargo run --release -p autoactivator-data --example read_table FILE`.

use std::path::Path;
use std::time::Instant;

use autoactivator_data::{Columns, Error, FeatureTable};

fn main() -> Result<(), Error> {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: read_table FILE");
        return Ok(());
    };
    let start = Instant::now();
    let table = FeatureTable::open(Path::new(&path), &Columns::default())?;
    let mut n_rows = 0;
    for batch in table.batches()? {
        n_rows += batch?.len();
    }
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = (n_rows * table.shape().n_features * 4) as f64 / 1e6;
    println!(
        "{n_rows} rows of {} features in {seconds:.3} s: {:.0} MB/s of features",
        table.shape().n_features,
        megabytes / seconds
    );
    Ok(())
}
