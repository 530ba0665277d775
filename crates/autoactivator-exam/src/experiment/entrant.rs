//! How does a learner of an experiment file get its parameters? Those of the file, with its own laid over them.
//!
//! [`EntrantSection`] is one of `[[entrants]]`; [`EntrantSection::contender`] makes the [`Contender`] of it.

use autoactivator::pool::Preparation;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::file::lay_over;
use crate::ablation::Waking;
use crate::contender::Contender;
use crate::error::Error;
use crate::kind::LearnerKind;
use crate::paper::Quotes;

/// One of `[[entrants]]`, as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntrantSection {
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
    /// Parameters of reactivation, over those of the file.
    #[serde(default)]
    reactivation: Table,
    /// Parameters of consolidation, over those of the file.
    #[serde(default)]
    consolidation: Table,
    /// Parameters of rivals, over those of the file.
    #[serde(default)]
    rivals: Table,
    /// What the paper prints about it.
    #[serde(default)]
    paper: Quotes,
    /// Roughly how many seconds one run takes.
    #[serde(default)]
    seconds: Option<f64>,
}

impl EntrantSection {
    /// A learner that has only the parameters of the file.
    pub(super) fn plain(learner: LearnerKind) -> Self {
        Self {
            learner,
            name: None,
            preparation: Preparation::None,
            waking: None,
            reactivation: Table::new(),
            consolidation: Table::new(),
            rivals: Table::new(),
            paper: Quotes::new(),
            seconds: None,
        }
    }

    /// The learner with its parameters; `file` holds those of all learners, and `seconds` is what one run takes if the
    /// section does not say.
    pub(super) fn contender(self, file: &Table, seconds: f64) -> Result<Contender, Error> {
        let name = self.name.unwrap_or_else(|| self.learner.name().to_owned());
        let place = |error: Error| error.within(&format!("entrant '{name}'"));
        Ok(Contender {
            reactivation: params(file, "reactivation", self.reactivation).map_err(place)?,
            consolidation: params(file, "consolidation", self.consolidation).map_err(place)?,
            rivals: params(file, "rivals", self.rivals).map_err(place)?,
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
fn params<P: DeserializeOwned>(file: &Table, key: &str, own: Table) -> Result<P, Error> {
    let mut all = match file.get(key) {
        Some(Value::Table(all)) => all.clone(),
        _ => Table::new(),
    };
    lay_over(&mut all, own);
    let place = format!("parameters of {key}");
    all.try_into()
        .map_err(|reason: toml::de::Error| Error::experiment(place, &reason))
}
