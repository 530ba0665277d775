//! One exam written down: which data, tasks, learners, protocols, runs and parameters, so that a figure names the file
//! that prints it and every face takes the same exam.
//!
//! [`Experiment::exam`] turns it into an [`Exam`] on a data set.

use autoactivator::{Check, ConsolidationParams, ReactivationParams};
use serde::Deserialize;

use crate::contender::{Contender, LearnerKind};
use crate::error::Error;
use crate::protocol::{GroupSize, Protocol};
use crate::run::Exam;
use crate::scenario::Scenario;
use autoactivator_data::dataset::Dataset;

/// What is examined, and how; what is not said has its default.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Experiment {
    /// What it shows.
    pub title: String,
    /// Data set by name or path.
    pub dataset: String,
    /// How classes become tasks.
    pub tasks: Option<String>,
    /// One pass over all rows in random order.
    pub online: bool,
    /// Learners; all when none is named.
    pub learners: Vec<LearnerKind>,
    /// Protocols; `instance` and `task-batch=all` when none is named.
    pub protocols: Vec<String>,
    /// Number of runs.
    pub seeds: u64,
    /// Parameters of reactivation.
    pub reactivation: ReactivationParams,
    /// Parameters of consolidation.
    pub consolidation: ConsolidationParams,
}

impl Default for Experiment {
    fn default() -> Self {
        Self {
            title: String::new(),
            dataset: "digits".to_owned(),
            tasks: None,
            online: false,
            learners: Vec::new(),
            protocols: Vec::new(),
            seeds: 5,
            reactivation: ReactivationParams::default(),
            consolidation: ConsolidationParams::default(),
        }
    }
}

impl Experiment {
    /// Everything that can be wrong with it, said before any data is read; `seed` is that of the first run.
    pub fn check(&self, seed: u64) -> Result<(), Error> {
        self.reactivation.clone().check()?;
        self.consolidation.clone().check()?;
        seeds(seed, self.seeds)?;
        self.scenario()?;
        protocols(&self.protocols).map(|_| ())
    }

    /// The exam on a data set, whose first run has this seed.
    pub fn exam<'a>(&self, dataset: &'a Dataset, seed: u64) -> Result<Exam<'a>, Error> {
        let reactivation = ReactivationParams {
            seed,
            ..self.reactivation.clone()
        };
        let consolidation = ConsolidationParams {
            seed,
            ..self.consolidation.clone()
        };
        let contender = |kind| Contender::plain(kind, reactivation.clone(), consolidation.clone());
        Ok(Exam {
            dataset,
            scenario: self
                .scenario()?
                .map_or_else(|| scenario_for(dataset.n_classes()), Ok)?,
            online: self.online,
            entrants: entered(&self.learners)
                .into_iter()
                .map(|kind| contender(kind).entrant(dataset.image))
                .collect(),
            protocols: protocols(&self.protocols)?,
            seeds: seeds(seed, self.seeds)?,
        })
    }

    /// How classes become tasks, if anybody said.
    fn scenario(&self) -> Result<Option<Scenario>, Error> {
        self.tasks.as_deref().map(str::parse).transpose()
    }
}

/// The seeds of `n` runs from the first one on.
pub fn seeds(first: u64, n: u64) -> Result<Vec<u64>, Error> {
    if n == 0 {
        return Err(Error::Scenario("parameter `seeds` is 0: at least 1".to_owned()));
    }
    match first.checked_add(n - 1) {
        Some(last) => Ok((first..=last).collect()),
        None => Err(Error::Scenario(format!(
            "parameter `seed` is {first}: {n} runs need as many seeds from there on"
        ))),
    }
}

/// Protocols by name; `instance` and `task-batch=all` when none is named.
pub fn protocols(texts: &[String]) -> Result<Vec<Protocol>, Error> {
    if texts.is_empty() {
        return Ok(vec![Protocol::Instance, Protocol::TaskBatch(GroupSize::All)]);
    }
    texts.iter().map(|text| text.parse()).collect()
}

/// The learners that are named, each once; all when none is.
pub fn entered(named: &[LearnerKind]) -> Vec<LearnerKind> {
    let named = if named.is_empty() {
        &LearnerKind::ALL
    } else {
        named
    };
    let first = |&i: &usize| !named[..i].contains(&named[i]);
    (0..named.len()).filter(first).map(|i| named[i]).collect()
}

/// How classes become tasks when nobody said.
pub fn scenario_for(n_classes: usize) -> Result<Scenario, Error> {
    let tasks = if n_classes >= 20 {
        10
    } else {
        (n_classes / 2).clamp(1, 5)
    };
    tasks.to_string().parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learner_that_is_named_twice_is_examined_once() {
        let (mean, lda) = (LearnerKind::NearestMean, LearnerKind::StreamingLda);
        assert_eq!(entered(&[mean, lda, mean]), [mean, lda]);
        assert_eq!(entered(&[]), LearnerKind::ALL);
    }

    #[test]
    fn runs_need_seeds() {
        let experiment = |seeds| Experiment {
            seeds,
            ..Experiment::default()
        };
        assert_eq!(seeds(7, 3).unwrap(), [7, 8, 9]);
        let none = experiment(0).check(0).unwrap_err().to_string();
        assert!(none.contains("`seeds` is 0"), "{none}");
        let beyond = experiment(2).check(u64::MAX).unwrap_err().to_string();
        assert!(beyond.contains("2 runs need as many seeds"), "{beyond}");
    }
}
