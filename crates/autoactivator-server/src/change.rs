//! The changes of a model, each all or nothing: learn, unlearn, drop or rename a class, merge.

use autoactivator::model::growth;
use autoactivator::{Labels, Model, Receipt, Table};
use serde_json::{Value, json};

use crate::body::check_class;
use crate::edition::Edition;
use crate::limits::Limits;
use crate::problem::Problem;
use crate::unknown::Naming;

/// A change of the model.
#[derive(Debug)]
pub enum Change {
    /// Learn one task; the names are those of its features, where they have any.
    Learn(Table, Labels, Option<Vec<String>>),
    /// Learn rows that were kept, under a name.
    Name(Naming),
    /// Unlearn rows that were learned.
    Unlearn(Table, Labels),
    /// Drop a class.
    DropClass(String),
    /// Rename a class.
    RenameClass(String, String),
    /// Merge in what another model over the same pool has learned, except what both have from their common base.
    Merge(Model, Option<Model>),
}

impl Change {
    /// Changes the model, and returns what was understood of a task; an error leaves the model as it was.
    pub fn apply(&self, model: &mut Model, limits: &Limits) -> Result<Option<Receipt>, Problem> {
        match self {
            Self::Learn(x, y, features) => {
                return learn(model, x, y, features.as_ref(), limits).map(Some);
            }
            Self::Name(naming) => {
                let (x, y) = naming.lesson()?;
                return learn(model, &x, &y, None, limits).map(Some);
            }
            Self::Unlearn(x, y) => model.unlearn(x.rows(), y)?,
            Self::DropClass(class) => model.drop_class(class)?,
            Self::RenameClass(from, to) => model.rename_class(from, to)?,
            Self::Merge(other, base) => {
                let brought = other.consolidation()?.memory().classes().names();
                check_classes(model, brought, limits)?;
                let mut new = brought.iter().filter(|class| !model.classes().contains(class));
                new.try_for_each(|class| check_class(class, limits))?;
                model.merge(&[other], base.as_ref())?;
            }
        }
        Ok(None)
    }

    /// Number of rows that the change brought.
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Learn(_, y, _) | Self::Unlearn(_, y) => y.len(),
            Self::Name(naming) => naming.n_rows(),
            Self::DropClass(_) | Self::RenameClass(..) => 0,
            Self::Merge(other, _) => {
                let rows = other.consolidation().map(|learner| learner.memory().n_rows());
                rows.unwrap_or(0.0).max(0.0) as usize
            }
        }
    }

    /// To be called once the change is on disk.
    pub(crate) fn is_done(&self) {
        if let Self::Name(naming) = self {
            naming.is_done();
        }
    }

    /// The answer to the request, once the change is on disk.
    pub fn answer(&self, edition: &Edition, receipt: Option<Receipt>) -> Value {
        let model = &edition.model;
        let mut answer = json!({
            "version": edition.version,
            "sha256": edition.sha256,
            "rows": self.n_rows(),
            "classes": model.classes(),
            "nodes": model.size().nodes,
            "growth": growth(&**model).pop(),
        });
        if let Some(mut receipt) = receipt {
            receipt.file_bytes = Some(edition.file_bytes);
            answer["summary"] = json!(receipt.to_string());
            answer["learned"] = json!(receipt);
        }
        answer
    }
}

/// Learns one task.
fn learn(
    model: &mut Model,
    x: &Table,
    y: &Labels,
    features: Option<&Vec<String>>,
    limits: &Limits,
) -> Result<Receipt, Problem> {
    check_classes(model, y.names(), limits)?;
    let mut receipt = if model.n_features().is_none() {
        // A model that has learned nothing takes the names, unless its first task is refused.
        let mut next = model.clone();
        next.input_mut().features = features.cloned();
        let receipt = next.teach(x.rows(), y, &mut ())?;
        *model = next;
        receipt
    } else {
        model.teach(x.rows(), y, &mut ())?
    };
    receipt.weighed_by = y.weights().map(|_| "weights".to_owned());
    Ok(receipt)
}

/// Refuses more classes than allowed: the more classes a model knows, the slower it gets.
fn check_classes(model: &Model, brought: &[String], limits: &Limits) -> Result<(), Problem> {
    let known = model.classes();
    let new = brought.iter().filter(|name| !known.contains(name)).count();
    if known.len() + new <= limits.classes {
        return Ok(());
    }
    Err(Problem::too_large(format!(
        "the model would know {} classes, but only {} are allowed: drop some first",
        known.len() + new,
        limits.classes
    )))
}
