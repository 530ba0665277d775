//! What comes in: rows of features, the class of each, and how a task is cut into pieces.
//!
//! [`Rows`] borrows whatever array the caller has, so that nothing is copied; [`Table`] owns its rows.
//! [`Labels`] are codes into a list of names, and a [`ClassList`] keeps the names in order of arrival.
//!
//! ```
//! use autoactivator::data::{Labels, Rows};
//!
//! let values = [0.0, 0.1, 0.9, 1.0];
//! let x = Rows::new(&values, 2)?;
//! let y = Labels::from_names(["low", "high"]);
//! assert_eq!((x.len(), x.row(1), y.name(1)), (2, &[0.9, 1.0][..], "high"));
//! # Ok::<(), autoactivator::Error>(())
//! ```

mod chunks;
mod classes;
mod labels;
mod pile;
mod rows;
mod sample;

pub(crate) use chunks::Chunks;
pub use classes::ClassList;
pub use labels::{Labels, check_weights};
pub(crate) use pile::Pile;
pub(crate) use rows::check_weighed_task;
pub use rows::{ImageShape, Rows, Table, check_rows, check_task};
pub(crate) use sample::{Sample, places, stride, weighed_places};
