//! Who is examined: a learner with its parameters, from an experiment file and the command line.
//!
//! [`Contender`] is what an [`EntrantSection`] of a file comes to; [`Contender::entrant`] hands it to the exam.

use anyhow::{Context, Result};
use autoactivator::pool::Preparation;
use autoactivator::{
    Check, Consolidation, ConsolidationParams, ImageShape, Learner, Reactivation, ReactivationParams,
};
use cil::ablation::{Ablated, Waking};
use cil::baselines::{JointRidge, NearestMean, SequentialSgd, StreamingLda};
use cil::paper::Quotes;
use cil::prepared::PreparedLearner;
use cil::run::{Entrant, Make};
use clap::ValueEnum;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use toml::Table;

use crate::args::{LearnerKind, RunArgs};
use crate::experiment::lay_over;

/// `[[entrants]]` of an experiment file: a learner whose parameters differ from those of the file.
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
}

/// A learner ready for an exam.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Its name in tables.
    pub name: String,
    /// Its kind.
    pub learner: LearnerKind,
    /// Parameters of reactivation.
    pub reactivation: ReactivationParams,
    /// Parameters of consolidation.
    pub consolidation: ConsolidationParams,
    /// What the paper prints about it.
    pub quotes: Quotes,
    /// Roughly what one run takes.
    pub seconds: f64,
    preparation: Preparation,
    waking: Option<Waking>,
}

impl Contender {
    /// One that an experiment file names; `file` holds the parameters of all.
    pub fn new(section: EntrantSection, file: &Table, seconds: f64) -> Result<Self> {
        let name = section.name.clone().unwrap_or_else(|| name_of(section.learner));
        let place = || format!("entrant '{name}'");
        Ok(Self {
            reactivation: params(file, "reactivation", section.reactivation).with_context(place)?,
            consolidation: params(file, "consolidation", section.consolidation).with_context(place)?,
            name,
            learner: section.learner,
            quotes: section.paper,
            seconds: section.seconds.unwrap_or(seconds),
            preparation: section.preparation,
            waking: section.waking,
        })
    }

    /// Lets the options of the command line hold.
    pub fn apply(&mut self, args: &RunArgs) {
        self.reactivation = args.reactivation.params(&args.shared, self.reactivation.clone());
        self.consolidation = args
            .consolidation
            .params(&args.shared, self.consolidation.clone());
        self.reactivation.seed = args.seed;
        self.consolidation.seed = args.seed;
    }

    /// A parameter out of range is said before any data is read.
    pub fn check(&self) -> Result<()> {
        self.reactivation.clone().check()?;
        self.consolidation.clone().check()?;
        Ok(())
    }

    /// Whether it is a learner of the method, not a baseline.
    pub fn is_method(&self) -> bool {
        matches!(
            self.learner,
            LearnerKind::Reactivation | LearnerKind::Consolidation
        )
    }

    /// It at the exam, for rows that are images or not.
    pub fn entrant(&self, image: Option<ImageShape>) -> Entrant<'_> {
        let consolidation = ConsolidationParams {
            image: self.consolidation.image.or(image),
            ..self.consolidation.clone()
        };
        let scope = self.reactivation.scopes[0];
        let mut parameters = match self.learner {
            LearnerKind::Reactivation => json!(self.reactivation),
            LearnerKind::Consolidation => json!(consolidation),
            LearnerKind::JointRidge => json!({ "scope": scope }),
            _ => json!({}),
        };
        if self.preparation != Preparation::None {
            parameters["preparation"] = json!(self.preparation);
        }
        if let Some(waking) = self.waking {
            parameters["waking"] = json!(waking);
        }
        let make: Make<'_> = Box::new(move |seed| {
            let learner = self.make(seed, &consolidation, scope)?;
            Ok(match self.preparation {
                Preparation::None => learner,
                preparation => Box::new(PreparedLearner::new(preparation, learner)),
            })
        });
        Entrant {
            name: self.name.clone(),
            parameters,
            make,
        }
    }

    fn make(
        &self,
        seed: u64,
        consolidation: &ConsolidationParams,
        scope: f32,
    ) -> Result<Box<dyn Learner>, autoactivator::Error> {
        Ok(match self.learner {
            LearnerKind::Reactivation => {
                let mut params = self.reactivation.clone();
                params.seed = seed;
                let learner = Reactivation::new(params.check()?);
                match self.waking {
                    Some(waking) => Box::new(Ablated::new(learner, waking)),
                    None => Box::new(learner),
                }
            }
            LearnerKind::Consolidation => {
                let mut params = consolidation.clone();
                params.seed = seed;
                Box::new(Consolidation::new(params.check()?))
            }
            LearnerKind::NearestMean => Box::new(NearestMean::default()),
            LearnerKind::StreamingLda => Box::new(StreamingLda::default()),
            LearnerKind::JointRidge => Box::new(JointRidge::new(seed, scope)),
            LearnerKind::SequentialSgd => Box::new(SequentialSgd::new(seed)),
        })
    }
}

/// The name of a kind of learner on the command line.
fn name_of(learner: LearnerKind) -> String {
    let value = learner.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
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
