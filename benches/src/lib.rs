//! How fast is it? The Rust side of every comparison: jobs in, seconds and results out.
//!
//! [`Worker`] keeps data and models between jobs. `compare/` can then let this project and its peers take turns on the
//! same rows, without timing program starts or file reads. The micro-benchmarks use only [`data`].

pub mod data;
mod extract;
mod job;
mod learn;
mod memory;
mod network;
mod predict;
mod share;
mod teach;
mod worker;

pub use job::Job;
pub use worker::Worker;

/// Runs the snippets of the main README as tests. They are here because this crate is never published.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
