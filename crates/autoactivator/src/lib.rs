//! Class-incremental learning that adds a class in seconds on a CPU, without old data and without forgetting.
//!
//! Two learners stand behind one trait, [`Learner`]: [`Reactivation`], the method of the ICML 2024 paper "Harnessing
//! Neural Unit Dynamics for Effective and Scalable Class-Incremental Learning", and [`Consolidation`], which keeps its
//! random nodes and its supervisory mechanism but one additive memory for all tasks. Rows go in as [`Rows`], a view of
//! whatever array the caller has; models are kept as [`Model`] files.
//!
//! ```
//! use autoactivator::{Check, Consolidation, ConsolidationParams, Labels, Learner, Rows};
//!
//! let mut learner = Consolidation::new(ConsolidationParams::default().check()?);
//! // Two classes today ...
//! let x = [0.0, 0.1, 0.1, 0.0, 0.9, 1.0, 1.0, 0.9];
//! learner.learn(Rows::new(&x, 2)?, &Labels::from_names(["low", "low", "high", "high"]), &mut ())?;
//! // ... and one that nobody had thought of, tomorrow.
//! let x = [0.0, 1.0, 0.1, 0.9];
//! learner.learn(Rows::new(&x, 2)?, &Labels::from_names(["left", "left"]), &mut ())?;
//! let predicted = learner.predict(Rows::new(&[0.95, 0.95, 0.05, 0.95], 2)?)?;
//! assert_eq!(learner.classes()[predicted[0] as usize], "high");
//! assert_eq!(learner.classes()[predicted[1] as usize], "left");
//! # Ok::<(), autoactivator::Error>(())
//! ```
//!
//! `docs/method.md` in the repository maps every name to its symbol and equation.

pub mod activation;
mod binding;
pub mod calibration;
mod chunks;
mod classes;
mod consolidation;
mod deployed;
mod error;
pub mod forward;
pub mod half;
pub mod judge;
mod learner;
pub mod least_squares;
mod ledger;
pub mod linalg;
pub mod memory;
pub mod node;
mod onnx;
pub mod params;
mod partial;
pub mod pool;
mod reactivation;
pub mod readout;
mod recruit;
pub mod rng;
mod rows;
mod sample;
mod screen;
mod simd;
mod snapshot;
pub mod supervisor;
pub mod threshold;
pub mod unit;

pub use activation::Activation;
pub use binding::Binding;
pub use calibration::Calibration;
pub use classes::ClassList;
pub use consolidation::{Consolidation, POOL_ROWS, SCORED, TaskGrowth};
pub use deployed::{Answer, Contributions, Deployed, Origin};
pub use error::{Error, kind};
pub use learner::{Learner, Observer, Size, Step};
pub use ledger::Ledger;
pub use memory::Memory;
pub use params::{
    Check, Checked, ConsolidationParams, Precision, ReactivationParams, ReadoutKind, RepeatedClasses,
};
pub use partial::{Partial, Share};
pub use reactivation::{Awakening, Reactivation};
pub use rows::{ImageShape, Labels, Rows, Table, check_rows, check_task};
pub use snapshot::{FORMAT_VERSION, Model, WriteLock, write_atomically};

/// The README's snippets are tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
