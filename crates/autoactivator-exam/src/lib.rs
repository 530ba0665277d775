//! How well does a class-incremental learner do? The exam: scenarios, protocols, metrics, baselines and reports.
//!
//! Data flows one way: [`autoactivator_data::dataset`] → [`scenario`] → learner → [`protocol`] → [`metrics`] →
//! [`record`] → [`report`]; an [`experiment`] is all of it written down. Learners are known through
//! [`autoactivator::Learner`] alone; [`baselines`] stand behind the same trait.
//!
//! ```
//! use autoactivator_data::dataset;
//! use autoactivator_exam::experiment::Experiment;
//! use autoactivator_exam::report;
//!
//! let experiment = Experiment::parse("learners = ['streaming-lda']\nseeds = 1", &[])?;
//! let digits = dataset::open("digits", None)?;
//! let record = experiment.exam(&digits)?.run(&mut ())?;
//! println!("{}", report::table(&record));
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

pub mod ablation;
pub mod admission;
pub mod baselines;
pub mod contender;
mod error;
pub mod evaluation;
pub mod experiment;
pub mod given;
pub mod kind;
pub mod marks;
pub mod metrics;
pub mod paper;
pub mod prepared;
pub mod protocol;
pub mod record;
pub mod report;
pub mod rival;
pub mod run;
pub mod scenario;
pub mod sitting;
pub mod stream;
pub mod supply;
pub mod t_sne;
pub mod tally;

pub use error::Error;

/// The example of the crate's README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
