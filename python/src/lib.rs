//! The compiled half of the Python package: arrays in, a call to the method or the exam, arrays out.
//!
//! [`model::Model`] is the base of the estimators in `autoactivator/`; `exam` is behind `autoactivator.cil`, `partial`
//! behind `autoactivator.distributed`, and `program` is the command line. Nothing is decided here: defaults, checks and
//! messages come from the crates.

mod arrays;
mod encoder;
mod error;
mod exam;
mod model;
mod parameters;
mod partial;
mod program;
mod threads;
mod work;

use pyo3::prelude::*;

/// The compiled half of the package.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::encoder::Encoder;
    #[pymodule_export]
    use crate::exam::{accuracy, data, deal, metrics, protocol, run, task_sizes};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::partial::{Share, add_up, sha256};
    #[pymodule_export]
    use crate::program::program;

    /// Maximum number of rows of a task that the pool is made from.
    #[pymodule_export]
    const POOL_ROWS: usize = autoactivator::POOL_ROWS;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
