//! Answers to rows, and how they are written: `predict --format jsonl` and HTTP responses use the same object.

use serde_json::{Map, Value, json};

use super::{Learned, Model};
use crate::data::Rows;
use crate::error::Error;
use crate::learner::Answer;

/// How much of each answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Only the class.
    Class,
    /// This many of the most probable classes.
    Top(usize),
    /// The probability of every class.
    All,
}

impl Model {
    /// Answers each row, judged alone, with this much detail. Refuses `reject` if the model cannot answer "unknown",
    /// or not yet.
    pub fn answer(&self, x: Rows<'_>, detail: Detail, reject: f64) -> Result<Vec<Answer>, Error> {
        self.check_reject(reject)?;
        if detail != Detail::Class || reject > 0.0 {
            return self.answers(x, reject);
        }
        Ok(self.predict(x)?.into_iter().map(Answer::sure).collect())
    }

    /// Refuses a `reject` above 0 if the model cannot answer "unknown", or not yet.
    pub fn check_reject(&self, reject: f64) -> Result<(), Error> {
        if reject > 0.0 {
            self.check_rejects()
        } else {
            Ok(())
        }
    }
}

/// The class name of an answer; none for "unknown".
pub fn class_of<'a>(classes: &'a [String], answer: &Answer) -> Option<&'a str> {
    answer.class.map(|place| classes[place as usize].as_str())
}

/// The classes to write with their probabilities; the most probable first when not all are written.
pub fn detailed<'a>(classes: &'a [String], answer: &Answer, detail: Detail) -> Vec<(&'a str, f32)> {
    let mut all: Vec<(&str, f32)> = classes
        .iter()
        .map(String::as_str)
        .zip(answer.probabilities.iter().copied())
        .collect();
    match detail {
        Detail::Class => all.clear(),
        Detail::All => {}
        Detail::Top(k) => {
            all.sort_by(|a, b| b.1.total_cmp(&a.1));
            all.truncate(k);
        }
    }
    all
}

/// An answer as a JSON object; `name` is the name of the row, if it has one.
pub fn object(classes: &[String], answer: &Answer, detail: Detail, row: usize, name: Option<&str>) -> Value {
    let mut line = Map::new();
    line.insert("row".to_owned(), json!(row));
    if let Some(name) = name {
        line.insert("name".to_owned(), json!(name));
    }
    // "None of the known classes" is null, since a class may well be called "unknown".
    line.insert("class".to_owned(), json!(class_of(classes, answer)));
    if let Some(known) = answer.known {
        line.insert("known".to_owned(), json!(known));
    }
    let probabilities = detailed(classes, answer, detail);
    match detail {
        Detail::Class => {}
        Detail::All => {
            let by_class = probabilities
                .iter()
                .map(|(class, p)| ((*class).to_owned(), json!(p)));
            line.insert("probabilities".to_owned(), Value::Object(by_class.collect()));
        }
        Detail::Top(_) => {
            let top: Vec<Value> = probabilities
                .iter()
                .map(|(class, p)| json!({ "class": class, "probability": p }))
                .collect();
            line.insert("top".to_owned(), json!(top));
        }
    }
    Value::Object(line)
}

/// The answer to one row with all probabilities, and the place of the most probable class, which is the
/// answer unless that is "unknown".
pub(super) fn judged(model: &dyn Learned, row: &[f32], reject: f64) -> Result<(Answer, usize), Error> {
    let answers = model.answers(Rows::new(row, row.len())?, reject)?;
    let answer = answers.into_iter().next().ok_or(Error::NothingLearned)?;
    let likeliest = answer
        .probabilities
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1));
    let winner = answer
        .class
        .map_or_else(|| likeliest.map_or(0, |(place, _)| place), |class| class as usize);
    Ok((answer, winner))
}
