//! How fast is it? The Rust side of every comparison: jobs in, seconds and results out.
//!
//! [`Worker`] keeps data and models between jobs, so that `compare/` can let this project and its peers take turns on
//! the same rows without timing how a program starts or how a file is read. The micro-benchmarks use [`data`] alone.

pub mod data;
mod job;
mod learn;
mod memory;
mod predict;
mod share;
mod worker;

pub use job::Job;
pub use worker::Worker;

/// The snippets of the main README are tests; this crate stands beside it and is never published.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
