//! Class-incremental learning that adds a class in seconds on a CPU, without old data and without forgetting.
//!
//! Two learners stand behind one trait, [`Learner`]: [`Reactivation`], the method of the ICML 2024 paper
//! "Harnessing Neural Unit Dynamics for Effective and Scalable Class-Incremental Learning", and
//! [`Consolidation`], which keeps the paper's random nodes and supervisory mechanism but uses one additive
//! memory for all tasks. Rows go in as [`Rows`], a view of whatever array the caller has; models are kept as
//! [`Model`] files.
//!
//! ```
//! use autoactivator::{Check, Consolidation, ConsolidationParams, Labels, Learner, Rows};
//!
//! let mut learner = Consolidation::new(ConsolidationParams::default().check()?);
//! // Two classes today ...
//! let x = [0.0, 0.1, 0.1, 0.0, 0.9, 1.0, 1.0, 0.9];
//! learner.learn(Rows::new(&x, 2)?, &Labels::from_names(["low", "low", "high", "high"]), &mut ())?;
//! // ... and, tomorrow, one that nobody had thought of.
//! let x = [0.0, 1.0, 0.1, 0.9];
//! learner.learn(Rows::new(&x, 2)?, &Labels::from_names(["left", "left"]), &mut ())?;
//! let predicted = learner.predict(Rows::new(&[0.95, 0.95, 0.05, 0.95], 2)?)?;
//! assert_eq!(learner.classes()[predicted[0] as usize], "high");
//! assert_eq!(learner.classes()[predicted[1] as usize], "left");
//! # Ok::<(), autoactivator::Error>(())
//! ```
//!
//! `docs/method.md` in the repository maps every name to its symbol and equation.

pub mod consolidation;
pub mod data;
pub mod discovery;
mod error;
pub mod format;
mod learner;
pub mod math;
pub mod model;
pub mod onnx;
pub mod params;
pub mod pool;
pub mod prelude;
pub mod reactivation;
mod words;

pub use consolidation::{
    Binding, Calibration, Consolidation, ConsolidationParams, Deployed, Ledger, Memory, POOL_ROWS, Partial,
    Prior, ReadoutKind, Share, Source, TaskGrowth,
};
pub use data::{ClassList, ImageShape, Labels, Rows, Table, check_rows, check_task, check_weights};
pub use discovery::{Discovery, Group, Groups};
pub use error::{Error, kind};
pub use format::{FORMAT_VERSION, write_atomically};
pub use learner::{Answer, Input, Learner, Observer, Origin, Size, Step};
pub use model::{Learned, Model, ModelFile, Receipt};
pub use params::{Check, Checked, Precision};
pub use pool::Activation;
pub use reactivation::{Awakening, GateKind, Reactivation, ReactivationParams, RepeatedClasses};
pub use words::{counted, noun_for};

/// The example of the crate's README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
