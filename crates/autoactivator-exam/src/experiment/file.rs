//! What may stand in an experiment file? The keys of [`File`], and sections that are laid over the rest.
//!
//! [`File::parse`] is the one parser; [`Experiment`](super::Experiment) is what it comes to.

use std::num::NonZeroUsize;
use std::str::FromStr;

use autoactivator::{ConsolidationParams, ReactivationParams};
use serde::Deserialize;
use toml::{Table, Value};

use super::entrant::EntrantSection;
use crate::error::Error;
use crate::kind::LearnerKind;
use crate::paper::Paper;
use crate::protocol::Protocol;
use crate::rival::RivalParams;
use crate::scenario::Scenario;
use crate::supply::Order;

/// A section of an experiment file that is laid over the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overlay {
    /// `[quick]`: for a quick look.
    Quick,
    /// `[stand_in]`: the built-in data in place of data that is not here.
    StandIn,
}

impl Overlay {
    /// The name of the section.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::StandIn => "stand_in",
        }
    }
}

impl FromStr for Overlay {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let all = [Self::Quick, Self::StandIn];
        all.into_iter()
            .find(|overlay| overlay.name() == text)
            .ok_or_else(|| {
                let reason =
                    format!("section '{text}' cannot be laid over the rest: only quick and stand_in can");
                Error::experiment("", &reason)
            })
    }
}

/// An experiment file as it is written.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct File {
    pub title: String,
    pub dataset: String,
    pub backbones: Vec<String>,
    pub how_to_get: String,
    pub tasks: Option<Scenario>,
    pub online: bool,
    pub stream: Option<NonZeroUsize>,
    pub order: Order,
    pub imbalance: Option<f64>,
    pub shots: Option<NonZeroUsize>,
    pub learners: Vec<LearnerKind>,
    pub entrants: Vec<EntrantSection>,
    pub protocols: Vec<Protocol>,
    pub seeds: u64,
    /// Roughly how many seconds one run of one learner takes, to estimate the time left.
    pub seconds: f64,
    pub pictures: Option<usize>,
    pub given_thresholds: Option<usize>,
    /// Read again for each learner; they stand here so that errors name the line.
    reactivation: ReactivationParams,
    consolidation: ConsolidationParams,
    rivals: RivalParams,
    pub paper: Paper,
    /// Only read when they are asked for.
    quick: Table,
    stand_in: Table,
}

impl Default for File {
    fn default() -> Self {
        Self {
            title: String::new(),
            dataset: "digits".to_owned(),
            backbones: Vec::new(),
            how_to_get: String::new(),
            tasks: None,
            online: false,
            stream: None,
            order: Order::Shuffled,
            imbalance: None,
            shots: None,
            learners: Vec::new(),
            entrants: Vec::new(),
            protocols: Vec::new(),
            seeds: 5,
            seconds: 5.0,
            pictures: None,
            given_thresholds: None,
            reactivation: ReactivationParams::default(),
            consolidation: ConsolidationParams::default(),
            rivals: RivalParams::default(),
            paper: Paper::default(),
            quick: Table::new(),
            stand_in: Table::new(),
        }
    }
}

impl File {
    /// The file with sections laid over it, the last one on top; also as a plain table.
    pub(super) fn parse(text: &str, overlays: &[Overlay]) -> Result<(Self, Table), Error> {
        let unreadable = |reason: toml::de::Error| Error::experiment("", &reason);
        // Read twice: errors of the first reading name the line, the second one is what sections are laid over.
        let mut file: Self = toml::from_str(text).map_err(unreadable)?;
        let mut table: Table = toml::from_str(text).map_err(unreadable)?;
        for overlay in overlays {
            if let Some(Value::Table(over)) = table.get(overlay.name()).cloned() {
                lay_over(&mut table, over);
                let read = table.clone().try_into();
                let place = format!("section `{}`", overlay.name());
                file = read.map_err(|reason: toml::de::Error| Error::experiment(place, &reason))?;
            }
        }
        Ok((file, table))
    }
}

/// Lays one table over another: tables are laid over each other, everything else is replaced.
pub(super) fn lay_over(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => lay_over(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
