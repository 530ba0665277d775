//! The one interface of every learner: what an exam may ask of it, and what it reports to an observer.
//!
//! A learner that can be kept in a file and served can do more: see [`Learned`](crate::model::Learned).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::data::{Labels, Rows};
use crate::error::Error;

/// A class-incremental learner: classes arrive in tasks, and later nobody says which task a row is from.
pub trait Learner {
    /// The learner's name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// Learns one task. An error leaves the learner unchanged.
    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error>;

    /// All classes learned so far, in order of arrival.
    fn classes(&self) -> &[String];

    /// Number of features of a row; none before the first task.
    fn n_features(&self) -> Option<usize>;

    /// Predicts the class of each row, judged alone, as an index into [`classes`](Self::classes).
    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error>;

    /// Predicts the class of each row, judged alone, and how probable each of these classes is, for learners that tell.
    fn predict_with_probability(&self, x: Rows<'_>) -> Result<(Vec<u32>, Option<Vec<f32>>), Error> {
        Ok((self.predict(x)?, None))
    }

    /// Predicts the class of each row of a *group*: rows that the caller says belong together.
    ///
    /// Learners that gain nothing from this hint judge each row alone.
    fn predict_group(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        self.predict(x)
    }

    /// Predicts the class of each row, judged alone, when the caller knows that it is one of `among`: indices
    /// into [`classes`](Self::classes). Classes that were never learned are ignored; when none is left, the
    /// result is [`Error::NothingLearned`].
    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error>;

    /// How large the learner currently is.
    fn size(&self) -> Size;

    /// How the learner grew: one JSON value per task, empty for learners that do not grow.
    fn growth(&self) -> Vec<serde_json::Value> {
        Vec::new()
    }
}

/// An answer that may be "unknown".
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Index of the class; none for "none of the classes I know".
    pub class: Option<u32>,
    /// Probability of every class; empty when not asked for.
    pub probabilities: Vec<f32>,
    /// Share of known rows that are at least as strange, if "unknown" was asked for and the model can tell.
    pub known: Option<f32>,
}

impl Answer {
    /// An answer with this class and no probabilities.
    pub fn sure(class: u32) -> Self {
        Self {
            class: Some(class),
            probabilities: Vec::new(),
            known: None,
        }
    }
}

/// What computed the rows that a learner takes, such as a frozen backbone, described by whatever computed
/// them. It is kept with the model so that rows of another origin can be refused; the method itself does not
/// interpret it.
pub type Origin = serde_json::Value;

/// What a row is: what computed it, what its features are called, and what kind of label it has.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Input {
    /// What computed the rows, if that is recorded.
    pub origin: Option<Origin>,
    /// Names of the features, in the order of a row; none if the rows had no names.
    pub features: Option<Vec<String>>,
    /// The kind of labels that the classes are named after, in the words of the face that learned them; none if the
    /// names tell: whole numbers are integers, other names are strings.
    pub labels: Option<String>,
}

/// The kind of labels that are strings, even if they look like numbers.
const STRINGS: &str = "strings";

impl Input {
    /// The places of these classes when they are sorted: by value if all names are whole numbers and no strings were
    /// meant, else by name. Every face can rely on this order, whichever class arrived first.
    pub fn sorted(&self, classes: &[String]) -> Vec<usize> {
        let mut places: Vec<usize> = (0..classes.len()).collect();
        let are_strings = self.labels.as_deref() == Some(STRINGS);
        let values: Option<Vec<i128>> = classes.iter().map(|name| whole(name)).collect();
        match values.filter(|_| !are_strings) {
            Some(values) => places.sort_by_key(|&at| values[at]),
            None => places.sort_by_key(|&at| &classes[at]),
        }
        places
    }

    /// The places of the model's features in a table with these columns, in the order of a row. None if the
    /// columns are in that order already, or if the model has no names to compare them with.
    ///
    /// Columns that are not exactly the model's features are refused.
    pub fn places(&self, columns: &[String]) -> Result<Option<Vec<usize>>, Error> {
        let Some(features) = self.features.as_deref().filter(|features| *features != columns) else {
            return Ok(None);
        };
        let by_name: HashMap<&String, usize> = columns.iter().zip(0..).collect();
        let known: HashSet<&String> = features.iter().collect();
        let missing: Vec<&String> = features
            .iter()
            .filter(|name| !by_name.contains_key(name))
            .collect();
        let other: Vec<&String> = columns.iter().filter(|name| !known.contains(name)).collect();
        if missing.is_empty() && other.is_empty() && columns.len() == features.len() {
            return Ok(Some(features.iter().map(|name| by_name[name]).collect()));
        }
        Err(Error::FeatureNames {
            missing: some_of(&missing),
            other: some_of(&other),
        })
    }
}

/// A whole number that is written as programs write it; `007` and `+7` are names.
fn whole(name: &str) -> Option<i128> {
    let value: i128 = name.parse().ok()?;
    (value.to_string() == name).then_some(value)
}

/// The first few names, for people.
fn some_of(names: &[&String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("'{name}'")).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        n if n > SHOWN => format!("{} and {} more", shown.join(", "), n - SHOWN),
        _ => shown.join(", "),
    }
}

/// Whether two origins give the same rows. Under `name` and `place`, an origin says what was found where, for people;
/// these do not count.
pub(crate) fn same_origin(a: Option<&Origin>, b: Option<&Origin>) -> bool {
    a.map(essence) == b.map(essence)
}

/// Whether both name their features, and not alike.
pub(crate) fn have_other_names(one: &Input, other: &Input) -> bool {
    let names = one.features.as_ref().zip(other.features.as_ref());
    names.is_some_and(|(one, other)| one != other)
}

/// An origin without names and places.
fn essence(origin: &Origin) -> Origin {
    match origin {
        Origin::Object(fields) => fields
            .iter()
            .filter(|(key, _)| !["name", "place"].contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), essence(value)))
            .collect(),
        Origin::Array(entries) => entries.iter().map(essence).collect(),
        plain => plain.clone(),
    }
}

/// Size of a learner, counted as in the paper: every stored float takes four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Number of hidden nodes.
    pub nodes: usize,
    /// Floats needed to predict.
    pub model_floats: usize,
    /// Floats kept besides these, needed only for further learning (statistics, exemplars).
    pub memory_floats: usize,
    /// Multiply-adds to predict one row.
    pub multiply_adds: usize,
}

impl Size {
    /// Size of the model in megabytes (1024 × 1024 bytes).
    pub fn model_mb(&self) -> f64 {
        megabytes(self.model_floats)
    }

    /// Size of what is kept for further learning, in megabytes (1024 × 1024 bytes).
    pub fn memory_mb(&self) -> f64 {
        megabytes(self.memory_floats)
    }
}

fn megabytes(floats: usize) -> f64 {
    floats as f64 * 4.0 / (1024.0 * 1024.0)
}

/// Watches a learner grow, and may ask it to stop.
pub trait Observer {
    /// Called after every step of growth.
    fn grown(&mut self, _step: &Step) {}

    /// Called while rows are taken in: how many so far, and of how many where that is known.
    fn observed(&mut self, _rows: usize, _of: Option<usize>) {}

    /// Whether learning should stop: it then ends with [`Error::Interrupted`] and the learner stays as it was.
    fn interrupted(&self) -> bool {
        false
    }
}

/// An observer that ignores everything.
impl Observer for () {}

/// One step of growth, as an [`Observer`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Task being learned, from 0.
    pub task: usize,
    /// Nodes so far in this task.
    pub nodes: usize,
    /// Number of nodes at which growth ends at the latest.
    pub max_nodes: usize,
    /// Training residual as a fraction of its initial value, for learners that track it.
    pub residual: Option<f64>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_places_do_not_make_another_origin() {
        let origin = |name: &str, sha256: &str| {
            Some(json!({"backbones": [{"name": name, "sha256": sha256, "place": format!("/{name}.onnx")}]}))
        };
        let same = |a: Option<Origin>, b: Option<Origin>| same_origin(a.as_ref(), b.as_ref());
        assert!(same(origin("a", "1"), origin("b", "1")));
        assert!(!same(origin("a", "1"), origin("a", "2")));
        assert!(!same(origin("a", "1"), None));
        assert!(same(None, None));
    }

    #[test]
    fn classes_are_sorted_as_what_they_are() {
        let sorted = |labels: Option<&str>, classes: &[&str]| -> Vec<String> {
            let input = Input {
                labels: labels.map(str::to_owned),
                ..Input::default()
            };
            let classes: Vec<String> = classes.iter().map(|&name| name.to_owned()).collect();
            let places = input.sorted(&classes);
            places.into_iter().map(|at| classes[at].clone()).collect()
        };
        assert_eq!(sorted(None, &["10", "-3", "2", "-12"]), ["-12", "-3", "2", "10"]);
        assert_eq!(sorted(Some("strings"), &["10", "9", "2"]), ["10", "2", "9"]);
        assert_eq!(sorted(Some("floats"), &["10", "9", "2"]), ["2", "9", "10"]);
        assert_eq!(sorted(None, &["b", "10", "9", "B"]), ["10", "9", "B", "b"]);
        assert_eq!(sorted(None, &["10", "09"]), ["09", "10"]);
        assert_eq!(sorted(Some("booleans"), &["True", "False"]), ["False", "True"]);
    }
}
