//! What was understood of a task: the one line that is shown after learning, on every face.
//!
//! A learner that keeps no rows cannot be asked later what it was fed, so it says so at once.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use serde::Serialize;

use super::Learned;
use crate::data::Labels;
use crate::words::{counted, noun_for};

/// Number of names that are shown of a longer list.
const SHOWN: usize = 4;

/// Rows from which it is strange that each has a class of its own.
const MANY: usize = 10;

/// What was learned from one task.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Receipt {
    /// Number of rows learned.
    pub rows: usize,
    /// Number of features of a row.
    pub n_features: usize,
    /// Names of the features, if they have any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<String>>,
    /// Where the classes came from, such as a column and how it was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes_from: Option<String>,
    /// Number of rows of each class that the model did not know.
    pub new_classes: BTreeMap<String, usize>,
    /// Number of rows of each class that the model knew already.
    pub known_classes: BTreeMap<String, usize>,
    /// What the rows were weighed by, such as a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighed_by: Option<String>,
    /// Number of rows that were there and were not learned.
    pub left_out: usize,
    /// Time that learning took.
    pub seconds: f64,
    /// Size of the model file, once it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_bytes: Option<u64>,
    /// What may be a mistake.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Counts the rows of each class while they arrive.
#[derive(Debug)]
pub(super) struct Tally {
    started: Instant,
    known: Vec<String>,
    rows: BTreeMap<String, usize>,
    /// Rows that weigh nothing.
    absent: usize,
    /// Whether this is the first task.
    first: bool,
}

impl Tally {
    /// Begins before a model learns.
    pub fn new(model: &dyn Learned) -> Self {
        Self {
            started: Instant::now(),
            known: model.classes().to_vec(),
            rows: BTreeMap::new(),
            absent: 0,
            first: model.n_features().is_none(),
        }
    }

    /// Begins to count again, when rows arrive a second time.
    pub fn restart(&mut self) {
        self.rows.clear();
        self.absent = 0;
    }

    /// Counts rows.
    pub fn add(&mut self, y: &Labels) {
        self.absent += y.len() - y.present().count();
        for row in y.present() {
            match self.rows.get_mut(y.name(row)) {
                Some(count) => *count += 1,
                None => {
                    self.rows.insert(y.name(row).to_owned(), 1);
                }
            }
        }
    }

    /// Ends after the model has learned.
    pub fn receipt(self, model: &dyn Learned) -> Receipt {
        let n_rows = self.rows.values().sum();
        let mut warnings = look_alikes(&self.known, self.rows.keys());
        warnings.extend(self.rows.keys().filter_map(|name| missing(name)));
        if n_rows >= MANY && self.rows.len() == n_rows {
            warnings.push(format!(
                "each of the {n_rows} rows has a class of its own: look whether these are the classes"
            ));
        }
        warnings.extend(model.about_pool().filter(|_| self.first));
        let is_known = |(class, _): &(String, usize)| self.known.contains(class);
        let (known_classes, new_classes) = self.rows.into_iter().partition(is_known);
        Receipt {
            rows: n_rows,
            n_features: model.n_features().unwrap_or(0),
            features: model.features().map(<[String]>::to_vec),
            new_classes,
            known_classes,
            left_out: self.absent,
            seconds: self.started.elapsed().as_secs_f64(),
            warnings,
            ..Receipt::default()
        }
    }
}

impl Receipt {
    /// Names of all classes that got rows.
    pub fn classes(&self) -> Vec<String> {
        let all = self.new_classes.keys().chain(self.known_classes.keys());
        all.cloned().collect()
    }
}

/// Warns of a name that programs write where there is none.
fn missing(name: &str) -> Option<String> {
    let marks = ["nan", "na", "n/a", "#n/a", "null", "none", "?", "-"];
    let marked = marks.contains(&name.trim().to_lowercase().as_str());
    marked.then(|| format!("'{name}' was learned as a class: if it marks a missing one, unlearn its rows"))
}

/// Warns of new names that differ from another only by case, blanks, or how a number is written.
fn look_alikes<'a>(known: &'a [String], task: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen: BTreeMap<String, &str> = known.iter().map(|name| (folded(name), name.as_str())).collect();
    let mut warnings = Vec::new();
    for name in task.filter(|name| !known.contains(name)) {
        match seen.insert(folded(name), name) {
            Some(other) if other != name => warnings.push(format!(
                "the classes '{other}' and '{name}' look alike and count as two: if they are one, rename it in the data"
            )),
            _ => {}
        }
    }
    warnings
}

/// What is left of a name without case, blanks and the ways to write a number.
fn folded(name: &str) -> String {
    let letters: String = name.split_whitespace().collect::<String>().to_lowercase();
    match letters.parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => letters,
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "learned {} of {}",
            counted(self.rows, "row"),
            counted(self.n_features, "feature")
        )?;
        if let Some(features) = &self.features {
            write!(
                f,
                " ({})",
                some_of(features.iter().map(String::clone), features.len())
            )?;
        }
        if let Some(from) = &self.classes_from {
            write!(f, "; class from {from}")?;
        }
        let parts = [("new", &self.new_classes), ("known", &self.known_classes)];
        for (what, classes) in parts.into_iter().filter(|(_, classes)| !classes.is_empty()) {
            let shown = classes.iter().map(|(class, rows)| format!("{class} {rows}"));
            write!(
                f,
                "; {} {what} {}: {}",
                classes.len(),
                noun_for(classes.len(), "class"),
                some_of(shown, classes.len())
            )?;
        }
        if let Some(by) = &self.weighed_by {
            write!(f, "; weighed by {by}")?;
        }
        if self.left_out > 0 {
            write!(f, "; {} left out", counted(self.left_out, "row"))?;
        }
        write!(f, "; {:.2} s", self.seconds)?;
        match self.file_bytes {
            Some(bytes) => write!(f, "; file of {bytes} bytes"),
            None => Ok(()),
        }
    }
}

fn some_of(names: impl Iterator<Item = String>, n: usize) -> String {
    let shown: Vec<String> = names.take(SHOWN).collect();
    let more = if n > SHOWN { ", ..." } else { "" };
    shown.join(", ") + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_pointed_out() {
        let known = ["cat".to_owned(), "1".to_owned()];
        let warned = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            look_alikes(&known, names.iter()).len()
        };
        assert_eq!(warned(&["cat", "dog", "10"]), 0);
        assert_eq!(warned(&["Cat"]), 1);
        assert_eq!(warned(&["c at", "CAT"]), 2);
        assert_eq!(warned(&["1.0"]), 1);
        assert_eq!(warned(&["dog", "Dog", "elk"]), 1);
    }

    #[test]
    fn marks_of_missing_classes_are_pointed_out() {
        for (name, marked) in [
            ("NaN", true),
            ("?", true),
            ("N/A", true),
            ("nana", false),
            ("0", false),
        ] {
            assert_eq!(missing(name).is_some(), marked, "{name}");
        }
    }

    #[test]
    fn one_line_says_what_was_understood() {
        let receipt = Receipt {
            rows: 6,
            n_features: 5,
            features: Some(["a", "b", "c", "d", "e"].map(str::to_owned).to_vec()),
            classes_from: Some("column 'kind', the last".to_owned()),
            new_classes: BTreeMap::from([("ape".to_owned(), 1)]),
            known_classes: BTreeMap::from([("bee".to_owned(), 2), ("cow".to_owned(), 3)]),
            weighed_by: Some("column 'w'".to_owned()),
            left_out: 1,
            seconds: 0.126,
            file_bytes: Some(1234),
            warnings: Vec::new(),
        };
        assert_eq!(
            receipt.to_string(),
            "learned 6 rows of 5 features (a, b, c, d, ...); class from column 'kind', the last; 1 new class: ape 1; \
             2 known classes: bee 2, cow 3; weighed by column 'w'; 1 row left out; 0.13 s; file of 1234 bytes"
        );
    }
}
