//! Rows that are never learned, to show what is remembered: how many of each task are still right, and a
//! strip to look at.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use autoactivator::{Error, Labels, Model, Table};
use serde_json::{Value, json};

use crate::wanted::Wanted;

/// Largest number of rows in the strip.
const STRIP_ROWS: usize = 60;

/// Rows that are judged between two looks at whether the result is still wanted.
const ROWS_TOGETHER: usize = 4096;

/// Held-out rows, kept in memory.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// Name of the data they come from.
    pub data: String,
    /// The rows.
    pub x: Table,
    /// The class of each row.
    pub y: Labels,
    /// The picture that each row was computed from; empty if they were not computed from pictures.
    pub pictures: Vec<PathBuf>,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    rows: usize,
    right: usize,
}

impl HeldOut {
    /// Examines a model on these rows, each judged alone.
    pub(crate) fn examine(&self, model: &Model, pixels: bool, wanted: &Wanted) -> Result<Value, Error> {
        let answers = self.answers(model, wanted)?;
        let mut of_class: BTreeMap<&str, Tally> = BTreeMap::new();
        for (i, answer) in answers.iter().enumerate() {
            let tally = of_class.entry(self.y.name(i)).or_default();
            tally.rows += 1;
            tally.right += usize::from(answer.as_deref() == Some(self.y.name(i)));
        }
        let known = model.classes();
        let classes = of_class.iter().map(|(class, tally)| {
            let learned = known.iter().any(|name| name == class);
            json!({ "class": class, "rows": tally.rows, "right": tally.right, "known": learned })
        });
        let tasks = model.tasks().into_iter().map(|task| {
            let tallies = task
                .classes
                .iter()
                .filter_map(|class| of_class.get(class.as_str()));
            let (rows, right) = tallies.fold((0, 0), |(rows, right), t| (rows + t.rows, right + t.right));
            json!({ "task": task.task, "classes": task.classes, "rows": rows, "right": right })
        });
        Ok(json!({
            "data": self.data,
            "protocol": "instance",
            "tasks": tasks.collect::<Vec<Value>>(),
            "classes": classes.collect::<Vec<Value>>(),
            "strip": if pixels || !self.pictures.is_empty() {
                self.strip(&answers, pixels)
            } else {
                Vec::new()
            },
            "confused": self.confused(known, &answers, pixels),
        }))
    }

    /// The picture of a row, if it has one of at most so many bytes.
    pub(crate) fn picture(&self, place: usize, most_bytes: usize) -> Option<Vec<u8>> {
        let file = File::open(self.pictures.get(place)?).ok()?;
        let mut bytes = Vec::new();
        file.take(most_bytes as u64 + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() <= most_bytes).then_some(bytes)
    }

    /// The known class that is taken for another one most often: how often, and a row of each to look at, first one that
    /// is taken for the other. Null if there is no mistake.
    fn confused(&self, known: &[String], answers: &[Option<String>], pixels: bool) -> Value {
        let mut mistakes: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (i, answer) in answers.iter().enumerate() {
            let class = self.y.name(i);
            let Some(answer) = answer.as_deref().filter(|&answer| answer != class) else {
                continue;
            };
            if known.iter().any(|name| name == class) {
                mistakes.entry((class, answer)).or_default().push(i);
            }
        }
        let most = mistakes.values().map(Vec::len).max();
        let Some(((class, answer), places)) = mistakes.iter().find(|(_, places)| Some(places.len()) == most)
        else {
            return Value::Null;
        };
        let of_answer = || (0..self.y.len()).filter(|&i| self.y.name(i) == *answer);
        let right = of_answer().find(|&i| answers[i].as_deref() == Some(answer));
        let pair = [places.first().copied(), right.or_else(|| of_answer().next())];
        let shown = pair.into_iter().flatten().map(|i| self.shown(i, answers, pixels));
        json!({
            "class": class,
            "answer": answer,
            "times": places.len(),
            "rows": (0..self.y.len()).filter(|&i| self.y.name(i) == *class).count(),
            "shown": shown.collect::<Vec<Value>>(),
        })
    }

    /// A row to look at: its pixels, or the place of its picture.
    fn shown(&self, i: usize, answers: &[Option<String>], pixels: bool) -> Value {
        let mut shown = json!({ "class": self.y.name(i), "answer": answers[i] });
        if pixels {
            shown["row"] = json!(self.x.rows().row(i));
        } else if !self.pictures.is_empty() {
            shown["picture"] = json!(i);
        }
        shown
    }

    /// The predicted class of each row; none as long as nothing is learned.
    fn answers(&self, model: &Model, wanted: &Wanted) -> Result<Vec<Option<String>>, Error> {
        if model.classes().is_empty() {
            return Ok(vec![None; self.y.len()]);
        }
        let mut names = Vec::with_capacity(self.y.len());
        for rows in self.x.rows().chunks(ROWS_TOGETHER) {
            wanted.check()?;
            let places = model.predict(rows)?.into_iter();
            names.extend(places.map(|place| model.classes().get(place as usize).cloned()));
        }
        Ok(names)
    }

    /// The strip: evenly spaced rows, class after class.
    fn strip(&self, answers: &[Option<String>], pixels: bool) -> Vec<Value> {
        let mut order: Vec<usize> = (0..self.y.len()).collect();
        order.sort_by_key(|&i| (self.y.name(i), i));
        let n = order.len().min(STRIP_ROWS);
        let shown = (0..n).map(|k| order[k * order.len() / n]);
        shown.map(|i| self.shown(i, answers, pixels)).collect()
    }
}
