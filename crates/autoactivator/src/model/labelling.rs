//! Labels that a model doubts, and rows that it asks about, and how both are written: every face uses the same objects.

use serde_json::{Map, Value, json};

use super::Model;
use crate::consolidation::{Consolidation, Membership, Question, Suspect, Suspects};
use crate::data::{Labels, Table};
use crate::error::Error;
use crate::learner::Observer;

impl Model {
    /// Ranks labelled rows by how improbable the model finds their labels: see [`Consolidation::suspect`].
    pub fn suspect<E, B>(
        &self,
        batches: impl FnMut() -> Result<B, E>,
        learned: Membership,
        count: Option<usize>,
        observer: &mut dyn Observer,
    ) -> Result<Suspects, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        self.memory_to("judge labels")?
            .suspect(batches, learned, count, observer)
    }

    /// The rows that are most worth a label: see [`Consolidation::ask`].
    pub fn ask<E, B>(&self, batches: B, count: usize, observer: &mut dyn Observer) -> Result<Vec<Question>, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<Table, E>>,
    {
        self.memory_to("ask for labels")?.ask(batches, count, observer)
    }

    /// The additive memory, or that this kind cannot do `what` takes one.
    fn memory_to(&self, what: &str) -> Result<&Consolidation, Error> {
        self.consolidation().map_err(|_| self.cannot(what))
    }
}

/// A doubted row as a JSON object; `name` is the name of the row, if it has one.
pub fn suspect_object(classes: &[String], suspect: &Suspect, name: Option<&str>) -> Value {
    let mut line = begun(suspect.row, name);
    line.extend([
        ("label".to_owned(), json!(classes[suspect.label as usize])),
        ("class".to_owned(), json!(classes[suspect.other as usize])),
        ("label_probability".to_owned(), json!(suspect.of_label)),
        ("class_probability".to_owned(), json!(suspect.of_other)),
        ("wrong".to_owned(), json!(suspect.wrong)),
    ]);
    Value::Object(line)
}

/// A row that is asked about as a JSON object; `name` is the name of the row, if it has one.
pub fn question_object(classes: &[String], question: &Question, name: Option<&str>) -> Value {
    let mut line = begun(question.row, name);
    line.extend([
        ("class".to_owned(), json!(classes[question.class as usize])),
        ("probability".to_owned(), json!(question.probability)),
        ("uncertainty".to_owned(), json!(question.uncertainty)),
    ]);
    if let Some(known) = question.known {
        line.insert("known".to_owned(), json!(known));
    }
    Value::Object(line)
}

fn begun(row: usize, name: Option<&str>) -> Map<String, Value> {
    let mut line = Map::new();
    line.insert("row".to_owned(), json!(row));
    if let Some(name) = name {
        line.insert("name".to_owned(), json!(name));
    }
    line
}
