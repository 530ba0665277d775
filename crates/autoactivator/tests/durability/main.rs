//! What a model file survives: power cuts at every step, every call to the system failing, and other writers.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod crash;
mod disks;
mod failure;
mod history;
#[cfg(unix)]
mod others;
