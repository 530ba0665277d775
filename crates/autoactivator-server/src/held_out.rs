//! Rows that are never learned, to show what is remembered: how many of each task are still right, and a
//! strip to look at.

use std::collections::BTreeMap;

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
            "strip": if pixels { self.strip(&answers) } else { Vec::new() },
        }))
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
    fn strip(&self, answers: &[Option<String>]) -> Vec<Value> {
        let mut order: Vec<usize> = (0..self.y.len()).collect();
        order.sort_by_key(|&i| (self.y.name(i), i));
        let n = order.len().min(STRIP_ROWS);
        let shown = (0..n).map(|k| order[k * order.len() / n]);
        shown
            .map(|i| json!({ "class": self.y.name(i), "row": self.x.rows().row(i), "answer": answers[i] }))
            .collect()
    }
}
