//! One exam written down: which data, tasks, learners, protocols, runs and parameters, so that a figure names the file
//! that prints it and every face takes the same exam.
//!
//! [`Experiment::exam`] turns it into an [`Exam`] on a data set.

use autoactivator::{Check, Consolidation, ConsolidationParams, Reactivation, ReactivationParams};
use serde::Deserialize;
use serde_json::json;

use crate::baselines::{JointRidge, NearestMean, SequentialSgd, StreamingLda};
use crate::data::Dataset;
use crate::error::Error;
use crate::protocol::{GroupSize, Protocol};
use crate::run::{Entrant, Exam, Make};
use crate::scenario::Scenario;

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

/// Learners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnerKind {
    /// One memory for all tasks.
    Consolidation,
    /// The paper's: one neural unit per task.
    Reactivation,
    /// Nearest class mean.
    NearestMean,
    /// Streaming linear discriminant analysis.
    StreamingLda,
    /// Random nodes fitted to all rows at once: upper bound of its kind.
    JointRidge,
    /// Softmax regression by gradient descent, task after task: lower bound.
    SequentialSgd,
}

impl LearnerKind {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::Consolidation,
        Self::Reactivation,
        Self::NearestMean,
        Self::StreamingLda,
        Self::JointRidge,
        Self::SequentialSgd,
    ];

    /// The name in records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Consolidation => "consolidation",
            Self::Reactivation => "reactivation",
            Self::NearestMean => "nearest-mean",
            Self::StreamingLda => "streaming-lda",
            Self::JointRidge => "joint-ridge",
            Self::SequentialSgd => "sequential-sgd",
        }
    }

    /// What it is, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Consolidation => "One memory for all tasks",
            Self::Reactivation => "The paper's: one neural unit per task",
            Self::NearestMean => "Nearest class mean",
            Self::StreamingLda => "Streaming linear discriminant analysis",
            Self::JointRidge => "Random nodes fitted to all rows at once: upper bound of its kind",
            Self::SequentialSgd => "Softmax regression by gradient descent, task after task: lower bound",
        }
    }
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
        self.run_seeds(seed)?;
        self.scenario()?;
        self.exam_protocols().map(|_| ())
    }

    /// The exam on a data set, whose first run has this seed.
    pub fn exam<'a>(&self, dataset: &'a Dataset, seed: u64) -> Result<Exam<'a>, Error> {
        let scenario = match self.scenario()? {
            Some(scenario) => scenario,
            None => default_scenario(dataset.n_classes())?,
        };
        let reactivation = ReactivationParams {
            seed,
            ..self.reactivation.clone()
        };
        let consolidation = ConsolidationParams {
            seed,
            image: self.consolidation.image.or(dataset.image),
            ..self.consolidation.clone()
        };
        Ok(Exam {
            dataset,
            scenario,
            online: self.online,
            entrants: self
                .entered()
                .into_iter()
                .map(|kind| entrant(kind, &reactivation, &consolidation))
                .collect(),
            protocols: self.exam_protocols()?,
            seeds: self.run_seeds(seed)?,
        })
    }

    fn run_seeds(&self, first: u64) -> Result<Vec<u64>, Error> {
        let n = self.seeds;
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

    /// How classes become tasks, if anybody said.
    fn scenario(&self) -> Result<Option<Scenario>, Error> {
        self.tasks.as_deref().map(str::parse).transpose()
    }

    fn exam_protocols(&self) -> Result<Vec<Protocol>, Error> {
        if self.protocols.is_empty() {
            return Ok(vec![Protocol::Instance, Protocol::TaskBatch(GroupSize::All)]);
        }
        self.protocols.iter().map(|text| text.parse()).collect()
    }

    /// The learners, each once, however often it is named.
    fn entered(&self) -> Vec<LearnerKind> {
        let named: &[LearnerKind] = match self.learners[..] {
            [] => &LearnerKind::ALL,
            _ => &self.learners,
        };
        let first = |&i: &usize| !named[..i].contains(&named[i]);
        (0..named.len()).filter(first).map(|i| named[i]).collect()
    }
}

fn default_scenario(n_classes: usize) -> Result<Scenario, Error> {
    let tasks = if n_classes >= 20 {
        10
    } else {
        (n_classes / 2).clamp(1, 5)
    };
    tasks.to_string().parse()
}

/// A learner of this kind, ready for the exam.
fn entrant<'a>(
    kind: LearnerKind,
    reactivation: &ReactivationParams,
    consolidation: &ConsolidationParams,
) -> Entrant<'a> {
    let scope = reactivation.scopes[0];
    let (parameters, make): (_, Make<'a>) = match kind {
        LearnerKind::Reactivation => {
            let base = reactivation.clone();
            let make = move |seed| {
                let params = ReactivationParams { seed, ..base.clone() };
                Ok(Box::new(Reactivation::new(params.check()?)) as _)
            };
            (json!(reactivation), Box::new(make))
        }
        LearnerKind::Consolidation => {
            let base = consolidation.clone();
            let make = move |seed| {
                let params = ConsolidationParams { seed, ..base.clone() };
                Ok(Box::new(Consolidation::new(params.check()?)) as _)
            };
            (json!(consolidation), Box::new(make))
        }
        LearnerKind::NearestMean => (json!({}), Box::new(|_| Ok(Box::new(NearestMean::default())))),
        LearnerKind::StreamingLda => (json!({}), Box::new(|_| Ok(Box::new(StreamingLda::default())))),
        LearnerKind::JointRidge => (
            json!({ "scope": scope }),
            Box::new(move |seed| Ok(Box::new(JointRidge::new(seed, scope)))),
        ),
        LearnerKind::SequentialSgd => (json!({}), Box::new(|seed| Ok(Box::new(SequentialSgd::new(seed))))),
    };
    Entrant {
        name: kind.name().to_owned(),
        parameters,
        make,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_files_use() {
        for kind in LearnerKind::ALL {
            let read: LearnerKind = serde_json::from_value(json!(kind.name())).unwrap();
            assert_eq!(read, kind);
        }
    }

    #[test]
    fn a_learner_that_is_named_twice_is_examined_once() {
        let (mean, lda) = (LearnerKind::NearestMean, LearnerKind::StreamingLda);
        let experiment = Experiment {
            learners: vec![mean, lda, mean],
            ..Experiment::default()
        };
        assert_eq!(experiment.entered(), [mean, lda]);
        assert_eq!(Experiment::default().entered(), LearnerKind::ALL);
    }

    #[test]
    fn runs_need_seeds() {
        let experiment = |seeds| Experiment {
            seeds,
            ..Experiment::default()
        };
        assert_eq!(experiment(3).run_seeds(7).unwrap(), [7, 8, 9]);
        let none = experiment(0).check(0).unwrap_err().to_string();
        assert!(none.contains("`seeds` is 0"), "{none}");
        let beyond = experiment(2).check(u64::MAX).unwrap_err().to_string();
        assert!(beyond.contains("2 runs need as many seeds"), "{beyond}");
    }
}
