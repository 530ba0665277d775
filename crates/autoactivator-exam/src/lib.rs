//! The exam of class-incremental learning.
//!
//! Data flows one way: [`autoactivator_data::dataset`] → [`scenario`] → learner → [`protocol`] → [`metrics`] → [`record`] → report;
//! an [`experiment`] is all of it written down.
//! Learners are known through [`autoactivator::Learner`] alone; [`baselines`] stand behind the same trait.

pub mod ablation;
pub mod baselines;
pub mod contender;
mod error;
pub mod experiment;
pub mod metrics;
pub mod paper;
pub mod prepared;
pub mod protocol;
pub mod record;
pub mod report;
pub mod run;
pub mod scenario;
pub mod sitting;
pub mod t_sne;

pub use error::Error;
