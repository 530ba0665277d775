//! The method: matrices in, model out.

pub mod activation;
mod classes;
mod error;
mod learner;
pub mod least_squares;
pub mod linalg;
pub mod node;
pub mod params;
mod reactivation;
mod recruit;
pub mod rng;
mod rows;
mod snapshot;
pub mod supervisor;
pub mod threshold;
pub mod unit;

pub use activation::Activation;
pub use classes::ClassList;
pub use error::Error;
pub use learner::{Learner, Observer, Size, Step};
pub use params::{Check, Checked, ReactivationParams, RepeatedClasses};
pub use reactivation::{Awakening, Reactivation};
pub use rows::{Labels, Rows, Table, check_rows, check_task};
pub use snapshot::{FORMAT_VERSION, Model};
