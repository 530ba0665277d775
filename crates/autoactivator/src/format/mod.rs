//! Model files at their lowest level: named tensors under a checksum, and bytes that reach the disk whole.
//!
//! [`Container`] is what every learner and every pool packs itself into; [`NewFile`] is how bytes become a
//! file. Neither knows what a model is.
//!
//! ```
//! use autoactivator::format::Container;
//! use serde_json::json;
//!
//! let mut container = Container::new("thermometer");
//! container.put_list("marks".to_owned(), &[36.5, 37.0]);
//! container.describe(&json!({ "unit": "Celsius" }));
//! let bytes = container.to_bytes()?;
//!
//! let read = Container::from_bytes(&bytes).unwrap();
//! assert_eq!(read.list("marks").unwrap(), [36.5, 37.0]);
//! # Ok::<(), autoactivator::Error>(())
//! ```

mod atomic;
mod container;
mod disk;

pub use atomic::{NewFile, write_atomically};
pub(crate) use atomic::{UNFINISHED, folder_of, hidden_beside, io_error, read};
pub use container::{Container, Numbers};
pub use disk::{Disk, System};

/// The newest format version that this crate reads. A file states the oldest one that has everything in it: since version 2,
/// sums of few rows may be a factor.
pub const FORMAT_VERSION: u32 = 2;
