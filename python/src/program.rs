//! The program `autoactivator`, which the package brings along.

use std::ffi::OsString;
use std::process;

use pyo3::prelude::*;

/// Runs the program with these words, of which the first is its own name, and ends the process with its exit code.
#[pyfunction]
pub fn program(py: Python<'_>, words: Vec<OsString>) {
    py.detach(|| process::exit(i32::from(autoactivator_cli::main(words))));
}
