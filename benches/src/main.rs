//! Reads one job per line from stdin and writes one answer per line to stdout, both as JSON. Ends when stdin ends.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use autoactivator_bench::Worker;
use serde_json::json;

fn main() -> anyhow::Result<()> {
    let data_dir = std::env::var_os("AUTOACTIVATOR_DATA").map(PathBuf::from);
    let mut worker = Worker::new(data_dir);
    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = worker.answer(&line?);
        // A failed job is an answer too; the next one may succeed.
        let answer = answer.unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}
