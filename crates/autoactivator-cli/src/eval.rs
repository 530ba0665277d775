//! `autoactivator eval`: how often a model is right, class by class, with every row judged alone; and whether the rows are
//! like those that it learned.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result, bail};
use autoactivator::model::Drift;
use autoactivator::{Error, Model, counted};
use autoactivator_data::Part;
use autoactivator_data::table::NO_CLASSES;
use serde_json::{Value, json};

use crate::args::EvalArgs;
use crate::rows::{Expected, RowSource};
use crate::terminal;

/// Number of classes shown in the table: those with the lowest accuracy.
const SHOWN: usize = 10;

pub fn eval(args: &EvalArgs) -> Result<()> {
    let model = Model::load(&args.model)?;
    if model.n_features().is_none() {
        bail!(Error::NothingLearned);
    }
    let rows = RowSource::open(&args.rows, Part::Test, &Expected::of(Some(&model), &args.model))?;
    rows.require_classes().with_context(|| args.rows.name())?;
    let can_tell = model.check_rejects().is_ok();
    let (mut found, mut known) = (Confusion::default(), Vec::new());
    for batch in rows.batches()? {
        let batch = batch.with_context(|| args.rows.name())?;
        let y = batch.y.context(NO_CLASSES).with_context(|| args.rows.name())?;
        let places = model.predict(batch.x.rows());
        let places = places.with_context(|| args.rows.name())?;
        if can_tell && let Ok(shares) = model.known(batch.x.rows()) {
            known.extend(shares);
        }
        let classes = model.classes();
        for (place, y) in places.into_iter().zip(y) {
            found.add(y, &classes[place as usize]);
        }
    }
    let mut drift = Drift::default();
    let warning = drift.see_unordered(known);
    let text = if args.json {
        let mut json = found.as_json(&args.rows.name(), model.classes());
        if can_tell {
            json["drift"] = drift.as_json();
        }
        format!("{json:#}\n")
    } else {
        found.as_text(&args.rows.name(), model.classes()) + &strangeness(&drift)
    };
    if let Some(warning) = warning {
        say!("warning: {warning}");
    }
    terminal::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// How strange the rows are, for people; nothing about a model that cannot tell.
fn strangeness(drift: &Drift) -> String {
    if drift.rows() == 0 {
        return String::new();
    }
    let share = |n: u64| percent(n as usize, drift.rows() as usize);
    let tenths = drift.tenths().map(|n| format!("{:.1}", share(n)));
    format!(
        "\nstranger than 95 % of known rows: {:.2} % of the rows; 5 % if they are like those that were learned\n\
         from the strangest tenth to the most usual one, 10 % each: {}\n",
        share(drift.strange()),
        tenths.join(", ")
    )
}

/// For every class, how often each answer was given to its rows.
#[derive(Default)]
struct Confusion(BTreeMap<String, BTreeMap<String, usize>>);

impl Confusion {
    fn add(&mut self, class: String, answer: &str) {
        let answers = self.0.entry(class).or_default();
        *answers.entry(answer.to_owned()).or_default() += 1;
    }

    fn n_rows(&self) -> usize {
        self.0.values().flat_map(BTreeMap::values).sum()
    }

    fn n_right(&self) -> usize {
        self.0
            .iter()
            .filter_map(|(class, answers)| answers.get(class))
            .sum()
    }

    /// Percentage of all rows that are right.
    fn accuracy(&self) -> f64 {
        percent(self.n_right(), self.n_rows())
    }

    /// For every class: its name, number of rows, percentage right, and the most frequent wrong answer.
    fn classes(&self) -> Vec<(&str, usize, f64, Option<&str>)> {
        let classes = self.0.iter().map(|(class, answers)| {
            let n_rows = answers.values().sum();
            let right = answers.get(class).copied().unwrap_or(0);
            let wrong = answers.iter().filter(|(answer, _)| *answer != class);
            let taken_for = wrong.max_by_key(|(_, n)| **n).map(|(answer, _)| answer.as_str());
            (class.as_str(), n_rows, percent(right, n_rows), taken_for)
        });
        classes.collect()
    }

    /// Classes that the model has never learned.
    fn never_learned(&self, known: &[String]) -> Vec<&str> {
        let classes = self.0.keys().filter(|class| !known.contains(class));
        classes.map(String::as_str).collect()
    }

    fn as_json(&self, data: &str, known: &[String]) -> Value {
        let classes: Vec<Value> = self
            .classes()
            .into_iter()
            .map(|(class, rows, accuracy, taken_for)| {
                json!({ "class": class, "rows": rows, "accuracy": accuracy, "taken_for": taken_for })
            })
            .collect();
        json!({
            "data": data,
            "protocol": "instance",
            "rows": self.n_rows(),
            "right": self.n_right(),
            "accuracy": self.accuracy(),
            "never_learned": self.never_learned(known),
            "classes": classes,
        })
    }

    fn as_text(&self, data: &str, known: &[String]) -> String {
        let mut text = format!(
            "{data}, protocol instance: {} of {} right ({:.2} %)\n",
            self.n_right(),
            counted(self.n_rows(), "row"),
            self.accuracy()
        );
        let strange = self.never_learned(known);
        if !strange.is_empty() {
            text += &format!("never learned: {}\n", strange.join(", "));
        }
        let mut classes = self.classes();
        classes.sort_by(|a, b| a.2.total_cmp(&b.2));
        let hardest = if classes.len() > SHOWN {
            "the hardest classes"
        } else {
            "class"
        };
        text += &format!("\n{hardest:<24}   rows  right %  mostly taken for\n");
        for (class, rows, accuracy, taken_for) in classes.into_iter().take(SHOWN) {
            text += &format!(
                "{class:<24}  {rows:>5}  {accuracy:>7.2}  {}\n",
                taken_for.unwrap_or("-")
            );
        }
        text
    }
}

fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}
