//! Answers to rows, and how they are written: the same line in `predict --format jsonl` and in a response.

use autoactivator::{Answer, Error, Learner, Model, Rows};
use serde_json::{Map, Value, json};

/// What is written of each answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The class alone.
    Class,
    /// The most probable classes, so many.
    Top(usize),
    /// The probability of every class.
    All,
}

/// Answers each row, judged alone; with probabilities where they are wanted. Only a model that rejects may be asked
/// to: see [`rejects`].
pub fn answers(model: &Model, x: Rows<'_>, detail: Detail, reject: f64) -> Result<Vec<Answer>, Error> {
    let deployed = match model {
        Model::Consolidation(learner) => Some(learner.deployed().ok_or(Error::NothingLearned)?),
        Model::Deployed(deployed) => Some(deployed),
        Model::Reactivation(_) => None,
    };
    let wanted = detail != Detail::Class || reject > 0.0;
    match (deployed, model) {
        (Some(deployed), _) if wanted => deployed.answers(x, reject),
        (_, Model::Reactivation(learner)) if wanted => {
            let classes = learner.predict(x)?;
            let probabilities = learner.probabilities(x)?;
            let row = |i: usize| (0..probabilities.n_cols()).map(move |c| (i, c));
            let answer = |(i, class)| Answer {
                class: Some(class),
                probabilities: row(i).map(|at| probabilities[at] as f32).collect(),
            };
            Ok(classes.into_iter().enumerate().map(answer).collect())
        }
        _ => Ok(model.learner().predict(x)?.into_iter().map(sure).collect()),
    }
}

/// Whether a model can answer "unknown".
pub fn rejects(model: &Model) -> bool {
    !matches!(model, Model::Reactivation(_))
}

/// An answer without probabilities.
pub fn sure(class: u32) -> Answer {
    Answer {
        class: Some(class),
        probabilities: Vec::new(),
    }
}

/// The name of an answer's class; none for "unknown".
pub fn class_of<'a>(classes: &'a [String], answer: &Answer) -> Option<&'a str> {
    answer.class.map(|place| classes[place as usize].as_str())
}

/// Classes and their probabilities, as far as they are wanted; the most probable first when not all are.
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

/// An answer as a JSON object; `name` is what the row is called.
pub fn object(classes: &[String], answer: &Answer, detail: Detail, row: usize, name: Option<&str>) -> Value {
    let mut line = Map::new();
    line.insert("row".to_owned(), json!(row));
    if let Some(name) = name {
        line.insert("name".to_owned(), json!(name));
    }
    // None of the known classes is null: a class may well be called "unknown".
    line.insert("class".to_owned(), json!(class_of(classes, answer)));
    let probabilities = detailed(classes, answer, detail);
    match detail {
        Detail::Class => {}
        Detail::All => {
            line.insert("probabilities".to_owned(), by_class(&probabilities));
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

/// Numbers under the names of their classes.
pub(crate) fn by_class(numbers: &[(&str, f32)]) -> Value {
    let named = numbers.iter().map(|(class, p)| ((*class).to_owned(), json!(p)));
    Value::Object(named.collect())
}
