//! `[[entrants]]` of an experiment file: learners whose parameters differ from those of the file.

use anyhow::{Context, Result};
use autoactivator::pool::Preparation;
use autoactivator_exam::ablation::Waking;
use autoactivator_exam::contender::{Contender, LearnerKind};
use autoactivator_exam::paper::Quotes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Table;

use crate::experiment::lay_over;

/// One of them, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntrantSection {
    /// Its kind.
    learner: LearnerKind,
    /// Its name in tables; that of its kind when it has none.
    #[serde(default)]
    name: Option<String>,
    /// What is done with features before it sees them.
    #[serde(default)]
    preparation: Preparation,
    /// Another way to wake its units.
    #[serde(default)]
    waking: Option<Waking>,
    /// Parameters, over those of the file.
    #[serde(default)]
    reactivation: Table,
    #[serde(default)]
    consolidation: Table,
    /// What the paper prints about it.
    #[serde(default)]
    paper: Quotes,
    /// Roughly what one run takes.
    #[serde(default)]
    seconds: Option<f64>,
}

impl EntrantSection {
    /// A learner without anything of its own.
    pub fn plain(learner: LearnerKind) -> Self {
        Self {
            learner,
            name: None,
            preparation: Preparation::None,
            waking: None,
            reactivation: Table::new(),
            consolidation: Table::new(),
            paper: Quotes::new(),
            seconds: None,
        }
    }

    /// The learner it comes to; `file` holds the parameters of all.
    pub fn contender(self, file: &Table, seconds: f64) -> Result<Contender> {
        let name = self.name.unwrap_or_else(|| self.learner.name().to_owned());
        let place = || format!("entrant '{name}'");
        Ok(Contender {
            reactivation: params(file, "reactivation", self.reactivation).with_context(place)?,
            consolidation: params(file, "consolidation", self.consolidation).with_context(place)?,
            name,
            learner: self.learner,
            quotes: self.paper,
            seconds: self.seconds.unwrap_or(seconds),
            preparation: self.preparation,
            waking: self.waking,
        })
    }
}

/// The parameters of the file under a key, with those of an entrant laid over them.
fn params<P: DeserializeOwned>(file: &Table, key: &str, own: Table) -> Result<P> {
    let mut all = match file.get(key) {
        Some(toml::Value::Table(all)) => all.clone(),
        _ => Table::new(),
    };
    lay_over(&mut all, own);
    all.try_into().with_context(|| format!("parameters of {key}"))
}
