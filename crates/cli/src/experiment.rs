//! Experiment files: one exam written down, so that a figure names the file that prints it.

use std::path::Path;

use anyhow::{Context, Result};
use autoactivator::{ConsolidationParams, ReactivationParams};
use cil::protocol::Protocol;
use cil::scenario::Scenario;
use serde::Deserialize;

use crate::args::{LearnerKind, RunArgs};

/// What is examined, and how: an experiment file, or the defaults, with the options of the command line on top.
#[derive(Debug, Deserialize)]
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
    /// The experiment that a command line asks for.
    pub fn new(args: &RunArgs) -> Result<Self> {
        let mut experiment = if Path::new(&args.dataset).extension().is_some_and(|e| e == "toml") {
            Self::read(Path::new(&args.dataset))?
        } else {
            Self {
                dataset: args.dataset.clone(),
                ..Self::default()
            }
        };
        experiment.online |= args.online;
        experiment.seeds = args.seeds.unwrap_or(experiment.seeds);
        if !args.learners.is_empty() {
            experiment.learners.clone_from(&args.learners);
        }
        experiment.reactivation = args.reactivation.params(&args.shared, experiment.reactivation);
        experiment.consolidation = args.consolidation.params(&args.shared, experiment.consolidation);
        Ok(experiment)
    }

    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// How classes become tasks, if anybody said.
    pub fn scenario(&self, args: &RunArgs) -> Result<Option<Scenario>> {
        match (&args.tasks, &self.tasks) {
            (Some(scenario), _) => Ok(Some(scenario.clone())),
            (None, Some(text)) => Ok(Some(text.parse()?)),
            (None, None) => Ok(None),
        }
    }

    /// The protocols, if anybody said.
    pub fn protocols(&self, args: &RunArgs) -> Result<Vec<Protocol>> {
        if !args.protocols.is_empty() {
            return Ok(args.protocols.clone());
        }
        self.protocols.iter().map(|text| Ok(text.parse()?)).collect()
    }
}
