//! The method: matrices in, model out.

pub mod activation;
pub mod calibration;
mod classes;
mod consolidation;
mod deployed;
mod error;
pub mod forward;
pub mod half;
mod learner;
pub mod least_squares;
pub mod linalg;
pub mod memory;
pub mod node;
mod onnx;
pub mod params;
pub mod pool;
mod reactivation;
pub mod readout;
mod recruit;
pub mod rng;
mod rows;
mod snapshot;
pub mod supervisor;
pub mod threshold;
pub mod unit;

pub use activation::Activation;
pub use calibration::Calibration;
pub use classes::ClassList;
pub use consolidation::{Consolidation, TaskGrowth};
pub use deployed::{Answer, Deployed};
pub use error::Error;
pub use learner::{Learner, Observer, Size, Step};
pub use memory::Memory;
pub use params::{
    Check, Checked, ConsolidationParams, Precision, ReactivationParams, ReadoutKind, RepeatedClasses,
};
pub use reactivation::{Awakening, Reactivation};
pub use rows::{ImageShape, Labels, Rows, Table, check_rows, check_task};
pub use snapshot::{FORMAT_VERSION, Model, write_atomically};
