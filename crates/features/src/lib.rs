//! Where rows come from: feature tables of all common formats, and image folders behind frozen backbones.
//!
//! Whatever the source, rows arrive as a stream of [`Batch`]es, so that data larger than memory can be learned from.

mod batch;
mod error;

pub use batch::Batch;
pub use error::{Error, bad, io_error};
