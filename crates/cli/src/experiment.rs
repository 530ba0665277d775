//! The experiment that a command line asks for: an experiment file, or the defaults, with the options on top.

use std::path::Path;

use anyhow::{Context, Result};
use cil::experiment::Experiment;

use crate::args::RunArgs;

pub fn asked(args: &RunArgs) -> Result<Experiment> {
    let mut experiment = if Path::new(&args.dataset).extension().is_some_and(|e| e == "toml") {
        read(Path::new(&args.dataset))?
    } else {
        Experiment {
            dataset: args.dataset.clone(),
            ..Experiment::default()
        }
    };
    experiment.online |= args.online;
    experiment.seeds = args.seeds.unwrap_or(experiment.seeds);
    if !args.learners.is_empty() {
        experiment.learners.clone_from(&args.learners);
    }
    if let Some(scenario) = &args.tasks {
        experiment.tasks = Some(scenario.to_string());
    }
    if !args.protocols.is_empty() {
        experiment.protocols = args.protocols.iter().map(ToString::to_string).collect();
    }
    experiment.reactivation = args.reactivation.params(&args.shared, experiment.reactivation);
    experiment.consolidation = args.consolidation.params(&args.shared, experiment.consolidation);
    Ok(experiment)
}

fn read(path: &Path) -> Result<Experiment> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    toml::from_str(&text).with_context(|| path.display().to_string())
}
