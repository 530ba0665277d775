//! What can be done to a model, all or nothing: learn, unlearn, drop a class, merge.

use autoactivator::{Consolidation, Error, Labels, Learner, Model, Observer, Table};
use serde_json::{Value, json};

use crate::edition::Edition;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::tasks;

/// A change of the model.
#[derive(Debug)]
pub enum Change {
    /// One task.
    Learn(Table, Labels),
    /// Rows that were learned.
    Unlearn(Table, Labels),
    /// A class.
    DropClass(String),
    /// What another memory over the same pool has learned, without what both had in common.
    Merge(Box<Consolidation>, Option<Box<Consolidation>>),
}

impl Change {
    /// Changes the model; after an error it is as it was.
    pub fn apply(
        &self,
        model: &mut Model,
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<(), Problem> {
        match self {
            Self::Learn(x, y) => {
                check_classes(model, y, limits)?;
                model.learner_mut().learn(x.rows(), y, observer)?;
            }
            Self::Unlearn(x, y) => memory_of(model)?.unlearn(x.rows(), y)?,
            Self::DropClass(class) => memory_of(model)?.drop_class(class)?,
            Self::Merge(other, base) => {
                let mut other = other.clone();
                if let Some(base) = base {
                    other.subtract(base)?;
                }
                memory_of(model)?.merge(&other)?;
            }
        }
        Ok(())
    }

    /// Rows that it brought.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Learn(_, y) | Self::Unlearn(_, y) => y.len(),
            Self::DropClass(_) => 0,
            Self::Merge(other, _) => other.memory().n_rows().max(0.0) as usize,
        }
    }

    /// The answer once the change is on disk.
    pub fn answer(&self, edition: &Edition) -> Value {
        let learner = edition.model.learner();
        json!({
            "version": edition.version,
            "rows": self.n_rows(),
            "classes": learner.classes(),
            "nodes": learner.size().nodes,
            "growth": tasks::growth(&edition.model).pop(),
        })
    }
}

/// A model that knows ever more classes gets ever slower.
fn check_classes(model: &Model, y: &Labels, limits: &Limits) -> Result<(), Problem> {
    let known = model.learner().classes();
    let new = y.names().iter().filter(|name| !known.contains(name)).count();
    if known.len() + new <= limits.classes {
        return Ok(());
    }
    Err(Problem::too_large(format!(
        "the model would know {} classes, {} are allowed: drop some first",
        known.len() + new,
        limits.classes
    )))
}

fn memory_of(model: &mut Model) -> Result<&mut Consolidation, Problem> {
    match model {
        Model::Consolidation(learner) => Ok(learner),
        Model::Deployed(_) => Err(Error::NoMemory.into()),
        Model::Reactivation(learner) => Err(Problem::wrong_model(
            "OnlyConsolidation",
            format!(
                "the model is of the kind {}; only consolidation has a memory that can be changed so",
                learner.name()
            ),
        )),
    }
}
