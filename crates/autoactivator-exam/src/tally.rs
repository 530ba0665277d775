//! What became of the test rows? Which class was answered for which, how probable it was said to be, and the mistakes
//! that were made with the most confidence.
//!
//! A [`Tally`] is bounded in size however many rows there are: it counts pairs of classes, and keeps a few rows. A
//! [`Record`](crate::record::Record) has one of each learner, an [`Evaluation`](crate::evaluation::Evaluation) one of a
//! model; [`report`](crate::report) shows both.
//!
//! ```
//! use autoactivator_exam::tally::{Seen, Tally};
//!
//! let mut tally = Tally::default();
//! for (row, answer) in ["cat", "dog", "cat"].into_iter().enumerate() {
//!     tally.add(&Seen { row, class: "cat", answer, ..Seen::default() });
//! }
//! assert_eq!((tally.n_right(), tally.n_rows()), (2, 3));
//! assert_eq!(tally.classes()[0].taken_for().map(|(class, rows)| (class, rows)), Some(("dog", 1)));
//! ```

use std::cmp::Reverse;
use std::collections::BTreeMap;

use autoactivator_data::dataset::natural_order;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many mistakes are kept: those with the most confidence.
const MOST_MISTAKES: usize = 24;

/// How many pairs of classes a record keeps: those that are confused most often.
const MOST_PAIRS: usize = 4096;

/// Steps of the calibration curve, of equal width.
const STEPS: usize = 10;

/// One row, and what was answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// Its place among the test rows, from 0.
    pub row: usize,
    /// Its name, if it has one.
    pub name: Option<&'a str>,
    /// The class that it is of.
    pub class: &'a str,
    /// The class that was answered.
    pub answer: &'a str,
    /// How probable that class was said to be, if the learner tells.
    pub probability: Option<f32>,
}

/// What became of rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Tally {
    classes: BTreeMap<String, Counts>,
    calibration: Vec<Step>,
    mistakes: Vec<Mistake>,
}

/// The rows of one class.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    rows: usize,
    right: usize,
    /// How many were taken for which other class.
    wrong: BTreeMap<String, usize>,
}

/// The answers whose probability lay in one step: the first is from 0 to 0.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How many.
    pub rows: usize,
    /// How many of them were right.
    pub right: usize,
    /// Their mean probability.
    pub probability: f64,
}

/// A wrong answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mistake {
    /// The place of the row among the test rows, from 0.
    pub row: usize,
    /// The name of the row, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The class that it is of.
    pub class: String,
    /// The class that was answered.
    pub answer: String,
    /// How probable that class was said to be, if the learner tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f32>,
}

/// The rows of one class, as a report shows them.
#[derive(Clone, Copy, Debug)]
pub struct OfClass<'a> {
    /// The class.
    pub class: &'a str,
    /// How many rows.
    pub rows: usize,
    /// How many of them were right.
    pub right: usize,
    wrong: &'a BTreeMap<String, usize>,
}

/// Two classes, one of which was taken for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The class that rows are of.
    pub class: &'a str,
    /// The class that was answered.
    pub answer: &'a str,
    /// How many rows.
    pub rows: usize,
}

impl Tally {
    /// Counts one row.
    pub fn add(&mut self, seen: &Seen<'_>) {
        if !self.classes.contains_key(seen.class) {
            self.classes.insert(seen.class.to_owned(), Counts::default());
        }
        let right = seen.class == seen.answer;
        if let Some(counts) = self.classes.get_mut(seen.class) {
            counts.rows += 1;
            counts.right += usize::from(right);
            if !right {
                *counts.wrong.entry(seen.answer.to_owned()).or_default() += 1;
            }
        }
        if let Some(probability) = seen.probability {
            self.calibration.resize(STEPS, Step::default());
            let probability = f64::from(probability).clamp(0.0, 1.0);
            let step = &mut self.calibration[((probability * STEPS as f64) as usize).min(STEPS - 1)];
            step.take_in(&Step {
                rows: 1,
                right: usize::from(right),
                probability,
            });
        }
        if !right {
            self.keep(Mistake {
                row: seen.row,
                name: seen.name.map(str::to_owned),
                class: seen.class.to_owned(),
                answer: seen.answer.to_owned(),
                probability: seen.probability,
            });
        }
    }

    /// Adds up the tallies of several runs on the same rows.
    pub fn sum<'a>(tallies: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        for tally in tallies {
            for (class, counts) in &tally.classes {
                let all = sum.classes.entry(class.clone()).or_default();
                all.rows += counts.rows;
                all.right += counts.right;
                for (answer, rows) in &counts.wrong {
                    *all.wrong.entry(answer.clone()).or_default() += rows;
                }
            }
            if !tally.calibration.is_empty() {
                sum.calibration.resize(STEPS, Step::default());
            }
            for (step, other) in sum.calibration.iter_mut().zip(&tally.calibration) {
                step.take_in(other);
            }
            for mistake in &tally.mistakes {
                sum.keep(mistake.clone());
            }
        }
        sum.bounded()
    }

    /// The same with the pairs of classes that are confused most often, as many as a record may hold. The others are
    /// still counted as wrong.
    pub fn bounded(mut self) -> Self {
        let mut pairs = self.pairs();
        if pairs.len() <= MOST_PAIRS {
            return self;
        }
        pairs.truncate(MOST_PAIRS);
        let mut kept: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
        for Pair { class, answer, rows } in pairs {
            let of_class = kept.entry(class.to_owned()).or_default();
            of_class.insert(answer.to_owned(), rows);
        }
        for (class, counts) in &mut self.classes {
            counts.wrong = kept.remove(class).unwrap_or_default();
        }
        self
    }

    /// Keeps a mistake if it is among the surest; a row counts once, with the answer that was surest.
    fn keep(&mut self, mistake: Mistake) {
        let sureness = |mistake: &Mistake| mistake.probability.unwrap_or(0.0);
        let same = self.mistakes.iter().position(|other| other.row == mistake.row);
        if let Some(at) = same {
            if sureness(&self.mistakes[at]) >= sureness(&mistake) {
                return;
            }
            self.mistakes.remove(at);
        }
        let at = self
            .mistakes
            .partition_point(|other| sureness(other) >= sureness(&mistake));
        self.mistakes.insert(at, mistake);
        self.mistakes.truncate(MOST_MISTAKES);
    }

    /// How many rows there were.
    pub fn n_rows(&self) -> usize {
        self.classes.values().map(|counts| counts.rows).sum()
    }

    /// How many of them were right.
    pub fn n_right(&self) -> usize {
        self.classes.values().map(|counts| counts.right).sum()
    }

    /// Percentage of all rows that were right.
    pub fn accuracy(&self) -> f64 {
        percent(self.n_right(), self.n_rows())
    }

    /// The classes of the rows, numbers by their value, then names.
    pub fn classes(&self) -> Vec<OfClass<'_>> {
        let mut classes: Vec<OfClass<'_>> = self
            .classes
            .iter()
            .map(|(class, counts)| OfClass {
                class,
                rows: counts.rows,
                right: counts.right,
                wrong: &counts.wrong,
            })
            .collect();
        classes.sort_by(|a, b| natural_order(a.class, b.class));
        classes
    }

    /// Which classes were taken for which, the most frequent first.
    pub fn pairs(&self) -> Vec<Pair<'_>> {
        let mut pairs = Vec::new();
        for (class, counts) in &self.classes {
            pairs.extend(
                counts
                    .wrong
                    .iter()
                    .map(|(answer, &rows)| Pair { class, answer, rows }),
            );
        }
        pairs.sort_by_key(|pair| Reverse(pair.rows));
        pairs
    }

    /// How often answers of each step of probability were right; empty if the learner tells no probabilities.
    pub fn calibration(&self) -> &[Step] {
        &self.calibration
    }

    /// The mean probability of the answers, in percent: what a well-calibrated learner has right. None if it tells none.
    pub fn expected(&self) -> Option<f64> {
        let rows: usize = self.calibration.iter().map(|step| step.rows).sum();
        let sum: f64 = self
            .calibration
            .iter()
            .map(|step| step.rows as f64 * step.probability)
            .sum();
        (rows > 0).then(|| 100.0 * sum / rows as f64)
    }

    /// The mistakes that were made with the most confidence, these first.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }

    /// Gives the rows of mistakes their names, one for each test row.
    pub fn name_rows(&mut self, names: &[String]) {
        for mistake in &mut self.mistakes {
            mistake.name = names.get(mistake.row).cloned();
        }
    }

    /// As JSON, with the names of this project.
    pub fn as_json(&self) -> Value {
        json!(Written::from(self.clone()))
    }
}

impl Step {
    fn take_in(&mut self, other: &Self) {
        let sum = self.rows as f64 * self.probability + other.rows as f64 * other.probability;
        self.rows += other.rows;
        self.right += other.right;
        self.probability = sum / self.rows.max(1) as f64;
    }
}

impl<'a> OfClass<'a> {
    /// Percentage of its rows that were right.
    pub fn accuracy(&self) -> f64 {
        percent(self.right, self.rows)
    }

    /// The class that its rows were taken for most often, and how many were; none if all were right.
    pub fn taken_for(&self) -> Option<(&'a str, usize)> {
        let most = self.wrong.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
        most.map(|(answer, rows)| (answer.as_str(), *rows))
    }

    /// How many of its rows got this answer.
    pub fn answered(&self, answer: &str) -> usize {
        if answer == self.class {
            self.right
        } else {
            self.wrong.get(answer).copied().unwrap_or(0)
        }
    }
}

/// A tally in JSON.
#[derive(Clone, Serialize, Deserialize)]
struct Written {
    rows: usize,
    right: usize,
    accuracy: f64,
    classes: Vec<WrittenClass>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calibration: Vec<Step>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<Mistake>,
}

#[derive(Clone, Serialize, Deserialize)]
struct WrittenClass {
    class: String,
    rows: usize,
    right: usize,
    accuracy: f64,
    /// The most frequent wrong answer.
    taken_for: Option<String>,
    /// How many rows got each answer.
    answers: BTreeMap<String, usize>,
}

impl From<Tally> for Written {
    fn from(tally: Tally) -> Self {
        let class = |of: OfClass<'_>| {
            let right = (of.right > 0).then(|| (of.class.to_owned(), of.right));
            WrittenClass {
                class: of.class.to_owned(),
                rows: of.rows,
                right: of.right,
                accuracy: of.accuracy(),
                taken_for: of.taken_for().map(|(answer, _)| answer.to_owned()),
                answers: of.wrong.clone().into_iter().chain(right).collect(),
            }
        };
        Self {
            rows: tally.n_rows(),
            right: tally.n_right(),
            accuracy: tally.accuracy(),
            classes: tally.classes().into_iter().map(class).collect(),
            calibration: tally.calibration,
            mistakes: tally.mistakes,
        }
    }
}

impl From<Written> for Tally {
    fn from(written: Written) -> Self {
        let class = |mut of: WrittenClass| {
            of.answers.remove(&of.class);
            let counts = Counts {
                rows: of.rows,
                right: of.right,
                wrong: of.answers,
            };
            (of.class, counts)
        };
        Self {
            classes: written.classes.into_iter().map(class).collect(),
            calibration: written.calibration,
            mistakes: written.mistakes,
        }
    }
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of `class`, answered as `answer` with this probability.
    fn tally(rows: &[(&str, &str, f32)]) -> Tally {
        let mut tally = Tally::default();
        for (row, &(class, answer, probability)) in rows.iter().enumerate() {
            tally.add(&Seen {
                row,
                class,
                answer,
                probability: Some(probability),
                ..Seen::default()
            });
        }
        tally
    }

    fn seven_rows() -> Tally {
        tally(&[
            ("10", "10", 1.0),
            ("9", "10", 0.97),
            ("9", "9", 0.52),
            ("9", "b", 0.58),
            ("9", "10", 0.99),
            ("b", "b", 0.93),
            ("b", "9", 0.05),
        ])
    }

    #[test]
    fn rows_are_counted_by_hand() {
        let tally = seven_rows();
        assert_eq!((tally.n_rows(), tally.n_right()), (7, 3));
        let classes: Vec<_> = tally
            .classes()
            .iter()
            .map(|of| (of.class, of.rows, of.right, of.taken_for()))
            .collect();
        assert_eq!(
            classes,
            [
                ("9", 4, 1, Some(("10", 2))),
                ("10", 1, 1, None),
                ("b", 2, 1, Some(("9", 1)))
            ]
        );
        assert_eq!(tally.pairs()[0].rows, 2);
        assert_eq!(tally.classes()[0].answered("b"), 1);
    }

    #[test]
    fn calibration_by_hand() {
        let tally = seven_rows();
        let steps = tally.calibration();
        assert_eq!((steps[9].rows, steps[9].right), (4, 2));
        assert!((steps[9].probability - (1.0 + 0.97 + 0.99 + 0.93) / 4.0).abs() < 1e-6);
        assert_eq!((steps[5].rows, steps[5].right, steps[0].rows), (2, 1, 1));
        let mean = (1.0 + 0.97 + 0.52 + 0.58 + 0.99 + 0.93 + 0.05) / 7.0;
        assert!((tally.expected().unwrap() - 100.0 * mean).abs() < 1e-4);
        assert_eq!(Tally::default().expected(), None);
    }

    #[test]
    fn the_surest_mistakes_come_first_and_each_row_once() {
        let one = seven_rows();
        let rows: Vec<usize> = one.mistakes().iter().map(|mistake| mistake.row).collect();
        assert_eq!(rows, [4, 1, 3, 6]);
        let other = tally(&[("10", "9", 0.3), ("9", "b", 0.98)]);
        let sum = Tally::sum([&one, &other]);
        let mistakes: Vec<_> = sum
            .mistakes()
            .iter()
            .map(|m| (m.row, m.answer.as_str()))
            .collect();
        assert_eq!(mistakes, [(4, "10"), (1, "b"), (3, "b"), (0, "9"), (6, "9")]);
        assert_eq!((sum.n_rows(), sum.n_right()), (9, 3));
    }

    #[test]
    fn a_tally_is_the_same_after_json_and_bounded_in_size() {
        let tally = seven_rows();
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
        assert_eq!(tally.as_json()["classes"][0]["answers"]["10"], 2);
        assert_eq!(tally.as_json()["classes"][0]["taken_for"], "10");

        let names: Vec<String> = (0..90).map(|class| class.to_string()).collect();
        let mut large = Tally::default();
        for (row, (class, answer)) in names
            .iter()
            .flat_map(|class| names.iter().map(move |answer| (class, answer)))
            .enumerate()
        {
            large.add(&Seen {
                row,
                class,
                answer,
                ..Seen::default()
            });
        }
        let bounded = large.clone().bounded();
        assert_eq!(
            (bounded.pairs().len(), bounded.mistakes().len()),
            (MOST_PAIRS, MOST_MISTAKES)
        );
        assert_eq!(
            (bounded.n_rows(), bounded.n_right()),
            (large.n_rows(), large.n_right())
        );
    }
}
