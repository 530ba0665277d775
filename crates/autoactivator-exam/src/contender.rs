//! Who is examined? A [`Contender`]: a learner by its kind, with its parameters.
//!
//! An [`experiment`](crate::experiment) names them; [`Contender::entrant`] hands one to the exam.
//!
//! ```
//! use autoactivator_exam::kind::LearnerKind;
//! use autoactivator_exam::experiment::Experiment;
//!
//! let text = "[[entrants]]\nlearner = 'reactivation'\nname = 'one by one'\nreactivation.step_size = 1";
//! let contender = &Experiment::parse(text, &[])?.contenders[0];
//! assert_eq!((contender.name.as_str(), contender.learner), ("one by one", LearnerKind::Reactivation));
//! assert_eq!(contender.reactivation.step_size, 1);
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use autoactivator::pool::Preparation;
use autoactivator::{
    Check, Consolidation, ConsolidationParams, ImageShape, Learner, Reactivation, ReactivationParams,
};
use serde_json::json;

use crate::ablation::{Ablated, Waking};
use crate::baselines::{JointRidge, NearestMean, SequentialSgd, StreamingLda};
use crate::error::Error;
use crate::kind::LearnerKind;
use crate::paper::Quotes;
use crate::prepared::PreparedLearner;
use crate::rival::{self, RivalParams};
use crate::run::Entrant;

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
    /// Parameters of rivals.
    pub rivals: RivalParams,
    /// What the paper prints about it.
    pub quotes: Quotes,
    /// Roughly how many seconds one run takes.
    pub seconds: f64,
    /// What is done with features before it sees them.
    pub preparation: Preparation,
    /// Another way to wake its units.
    pub waking: Option<Waking>,
}

impl Contender {
    /// Refuses a parameter that is out of range.
    pub fn check(&self) -> Result<(), Error> {
        self.reactivation.clone().check()?;
        self.consolidation.clone().check()?;
        self.rivals.clone().check()?;
        Ok(())
    }

    /// Whether it is a learner of the method, not a baseline.
    pub fn is_method(&self) -> bool {
        matches!(
            self.learner,
            LearnerKind::Reactivation | LearnerKind::Consolidation
        )
    }

    /// Its entrant in the exam; `image` is the shape of the rows, if they are images.
    pub fn entrant<'a>(mut self, image: Option<ImageShape>) -> Entrant<'a> {
        self.consolidation.image = self.consolidation.image.or(image);
        if self.reactivation.filters > 0 {
            self.reactivation.image = self.reactivation.image.or(image);
        }
        let mut parameters = match self.learner {
            LearnerKind::Reactivation => json!(self.reactivation),
            LearnerKind::Consolidation => json!(self.consolidation),
            LearnerKind::JointRidge => json!({ "scope": self.scope() }),
            kind => rival::used(kind, &self.rivals, image),
        };
        if self.preparation != Preparation::None {
            parameters["preparation"] = json!(self.preparation);
        }
        if let Some(waking) = self.waking {
            parameters["waking"] = json!(waking);
        }
        Entrant {
            name: self.name.clone(),
            parameters,
            make: Box::new(move |seed| {
                let learner = self.make(seed, image)?;
                Ok(match self.preparation {
                    Preparation::None => learner,
                    preparation => Box::new(PreparedLearner::new(preparation, learner)),
                })
            }),
        }
    }

    /// λ of a baseline's random nodes.
    fn scope(&self) -> f32 {
        self.reactivation.scopes[0]
    }

    fn make(&self, seed: u64, image: Option<ImageShape>) -> Result<Box<dyn Learner>, autoactivator::Error> {
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
                let mut params = self.consolidation.clone();
                params.seed = seed;
                Box::new(Consolidation::new(params.check()?))
            }
            LearnerKind::NearestMean => Box::new(NearestMean::default()),
            LearnerKind::StreamingLda => Box::new(StreamingLda::default()),
            LearnerKind::JointRidge => Box::new(JointRidge::new(seed, self.scope())),
            LearnerKind::SequentialSgd => Box::new(SequentialSgd::new(seed)),
            kind => {
                let params = self.rivals.clone().check()?;
                rival::make(kind, &params, image, seed).ok_or(autoactivator::Error::NothingLearned)?
            }
        })
    }
}
