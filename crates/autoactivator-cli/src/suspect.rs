//! `autoactivator suspect`: rows whose label is not believed, the least believed first. No model is changed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use autoactivator::consolidation::{Membership, Suspect, Suspects};
use autoactivator::model::suspect_object;
use autoactivator::{ConsolidationParams, Error, Labels, Model, Table, counted};
use autoactivator_data::Part;
use autoactivator_data::table::TableWriter;
use serde_json::json;

use crate::answers::quoted;
use crate::args::SuspectArgs;
use crate::gallery::{self, Card, page};
use crate::inbox;
use crate::output::{Output, Replace, STANDARD, check_ending};
use crate::progress::TaskBar;
use crate::rows::{Expected, RowSource, with_classes};
use crate::shown::shown;

/// Number of random nodes of a model that is made for this, and the widest rows that they are for.
const NODES: usize = 1024;
const WIDE: usize = 8192;

/// A label that is this likely wrong is replaced.
const LIKELY: f64 = 0.5;

pub fn suspect(args: &SuspectArgs) -> Result<()> {
    inbox::settled(&args.rows, doubt(args))
}

fn doubt(args: &SuspectArgs) -> Result<()> {
    let mut inputs = vec![args.rows.rows.as_path()];
    inputs.extend(args.model.as_deref());
    let place = |path: &Path| Output::new(path, &inputs, Replace::Files);
    let output = place(args.output.as_deref().unwrap_or(Path::new(STANDARD)))?;
    let page = args.page.as_deref().map(place).transpose()?;
    let fix = args.fix.as_deref().map(place).transpose()?;
    let known = args.model.as_deref().map(Model::load).transpose()?;
    let expected = Expected {
        // A row that was learned is known by its values.
        exact: known.is_some(),
        ..Expected::of(known.as_ref(), args.model.as_deref().unwrap_or(Path::new("")))
    };
    let Some(rows) = inbox::open(&args.rows, Part::Train, &expected)? else {
        return Ok(());
    };
    rows.require_classes().with_context(|| args.rows.name())?;
    if let Some(path) = &args.fix {
        let formats: &[&str] = if rows.are_computed() {
            &["csv"]
        } else {
            &["csv", "parquet", "arrow"]
        };
        check_ending(path, formats)?;
    }
    let mut bar = TaskBar::new(rows.n_rows());
    let found = find(args, &rows, known, &mut bar);
    bar.finish();
    let found = match found {
        Err(error) if args.model.is_none() && is_no_doubt(&error) => {
            say!("{}: {error:#}", args.rows.name());
            return Ok(());
        }
        found => found.with_context(|| args.rows.name())?,
    };
    rows.tell_runtime();
    found.tell(&args.rows.name(), args.model.is_some());
    found.write(&output, args.json)?;
    if let Some(page) = page {
        page.write(found.page(&args.rows.name(), &rows)?.as_bytes())?;
    }
    if let (Some(fix), Some(path)) = (fix, &args.fix) {
        let replaced = found.fix(&rows, &fix, path)?;
        say!(
            "{}: {} replaced; the model and the rows stay as they are",
            path.display(),
            counted(replaced, "label")
        );
    }
    Ok(())
}

/// Whether labels could not be judged. Rows that cannot be judged by each other, because there is one alone or they are all of
/// one class, are no mistake.
fn is_no_doubt(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(Error::CannotDoubt { .. }))
}

/// What was found, and what it is called.
struct Found {
    suspects: Suspects,
    classes: Vec<String>,
    /// Names of the rows; empty if they have none.
    names: Vec<String>,
}

/// Judges the rows by the model, or by a new one that has learned them.
fn find(args: &SuspectArgs, rows: &RowSource<'_>, known: Option<Model>, bar: &mut TaskBar) -> Result<Found> {
    let (model, learned) = match known {
        Some(model) => (model, Membership::LookUp),
        None => (learned(rows, bar)?, Membership::All),
    };
    let names = RefCell::new(Vec::new());
    let batches = || {
        names.borrow_mut().clear();
        let labelled = |batch: autoactivator_data::Batch| -> Result<(Table, Labels)> {
            names.borrow_mut().extend(batch.names.iter().flatten().cloned());
            with_classes(batch)
        };
        Ok::<_, anyhow::Error>(rows.batches()?.map(move |batch| batch.and_then(labelled)))
    };
    let suspects = model.suspect(batches, learned, args.count, bar)?;
    Ok(Found {
        suspects,
        classes: model.classes().to_vec(),
        names: names.into_inner(),
    })
}

/// A model of these rows. It has fewer random nodes than usual, since doubts need no more and every row passes all of
/// them twice; rows that are too wide get few nodes anyway.
fn learned(rows: &RowSource<'_>, bar: &mut TaskBar) -> Result<Model> {
    let params = ConsolidationParams {
        image: rows.image(),
        nodes: (rows.n_features() <= WIDE).then_some(NODES),
        ..ConsolidationParams::default()
    };
    let mut model = Model::new("consolidation", &json!(params))?;
    model.learn_batches(|| rows.labelled(&[]), bar)?;
    Ok(model)
}

impl Found {
    fn name(&self, row: usize) -> Option<&str> {
        self.names.get(row).map(String::as_str)
    }

    /// Says on stderr how the rows were judged, and what the estimate is.
    fn tell(&self, name: &str, by_model: bool) {
        let Suspects {
            rows,
            n_rows,
            n_learned,
            n_single,
            n_unknown,
            share,
        } = &self.suspects;
        if by_model && *n_rows > 0 {
            let which = match n_learned {
                0 => "none of them was learned".to_owned(),
                n if n == n_rows => {
                    "the model has learned them, and they are judged as if it had not".to_owned()
                }
                n => format!("the model has learned {n} of them, which are judged as if it had not"),
            };
            say!("{name}: {}: {which}", counted(*n_rows, "row"));
        }
        for (n, why) in [
            (n_single, "no other row has their label"),
            (n_unknown, "the model does not know their label"),
        ] {
            if *n > 0 {
                say!("note: {name}: {} could not be judged: {why}", counted(*n, "row"));
            }
        }
        let likely = (share * (n_rows - n_single - n_unknown) as f64).round();
        say!(
            "{name}: {} suspect of {}; about {likely} labels are wrong ({:.1} %)",
            rows.len(),
            counted(*n_rows, "row"),
            100.0 * share
        );
    }

    /// Writes a line for each row.
    fn write(&self, output: &Output, as_json: bool) -> Result<()> {
        let mut writer = output.create()?;
        let named = !self.names.is_empty();
        if !as_json {
            let name = if named { "name," } else { "" };
            writeln!(
                writer,
                "row,{name}label,class,label_probability,class_probability,wrong"
            )?;
        }
        for suspect in &self.suspects.rows {
            let name = self.name(suspect.row);
            if as_json {
                writeln!(writer, "{}", suspect_object(&self.classes, suspect, name))?;
                continue;
            }
            let mut cells = vec![suspect.row.to_string()];
            cells.extend(name.map(quoted));
            cells.extend([suspect.label, suspect.other].map(|place| quoted(&self.classes[place as usize])));
            cells.extend([suspect.of_label, suspect.of_other, suspect.wrong].map(|p| format!("{p:.6}")));
            writeln!(writer, "{}", cells.join(","))?;
        }
        writer.finish()
    }

    /// The page with the first rows.
    fn page(&self, title: &str, source: &RowSource<'_>) -> Result<String> {
        let first = &self.suspects.rows[..self.suspects.rows.len().min(gallery::MOST)];
        let mut pictures = shown(
            source,
            first.iter().map(|suspect| (suspect.row, self.name(suspect.row))),
        )?;
        let class = |place: u32| &self.classes[place as usize];
        let card = |suspect: &Suspect| Card {
            shown: pictures.remove(&suspect.row),
            name: self
                .name(suspect.row)
                .map_or_else(|| format!("row {}", suspect.row), str::to_owned),
            words: format!("{} → {}?", class(suspect.label), class(suspect.other)),
            small: format!(
                "{:.1} % → {:.1} %, wrong: {:.0} %",
                100.0 * suspect.of_label,
                100.0 * suspect.of_other,
                100.0 * suspect.wrong
            ),
        };
        let cards: Vec<Card> = first.iter().map(card).collect();
        let about = format!(
            "{} of {}, about {:.1} % of whose labels are wrong. Each row is shown with its label, the class that is more \
             probable, the probabilities of both, and how likely the label is wrong.",
            counted(cards.len(), "suspect"),
            counted(self.suspects.n_rows, "row"),
            100.0 * self.suspects.share
        );
        Ok(page(title, &about, &cards))
    }

    /// Writes all rows with the labels that are likely wrong replaced, and returns how many were.
    fn fix(&self, rows: &RowSource<'_>, output: &Output, path: &Path) -> Result<usize> {
        let likely = self.suspects.rows.iter().filter(|suspect| suspect.wrong > LIKELY);
        let better: HashMap<usize, &str> = likely
            .map(|suspect| (suspect.row, self.classes[suspect.other as usize].as_str()))
            .collect();
        let label = |row: usize, label: &str| {
            better
                .get(&row)
                .map_or_else(|| label.to_owned(), |&better| better.to_owned())
        };
        if rows.are_computed() {
            self.fix_list(rows, output, label)?;
            return Ok(better.len());
        }
        let mut table = TableWriter::create(output.file().unwrap_or(path), rows.features(), rows.origin())?;
        let mut first = 0;
        for batch in rows.batches()? {
            let mut batch = batch?;
            let labels = batch.y.iter_mut().flatten().enumerate();
            labels.for_each(|(at, y)| *y = label(first + at, y));
            first += batch.len();
            table.write(&batch)?;
        }
        table.finish()?;
        Ok(better.len())
    }

    /// Writes the sentences, or the names of the images, with their labels.
    fn fix_list(
        &self,
        rows: &RowSource<'_>,
        output: &Output,
        label: impl Fn(usize, &str) -> String,
    ) -> Result<()> {
        let mut writer = output.create()?;
        let mut row = 0;
        if let Some(batches) = rows.sentences()? {
            writeln!(writer, "text,class")?;
            for batch in batches {
                let batch = batch?;
                for (text, y) in batch.texts.iter().zip(batch.y.iter().flatten()) {
                    writeln!(writer, "{},{}", quoted(text), quoted(&label(row, y)))?;
                    row += 1;
                }
            }
            return writer.finish();
        }
        writeln!(writer, "file,class")?;
        for batch in rows.batches()? {
            let batch = batch?;
            for (name, y) in batch.names.iter().flatten().zip(batch.y.iter().flatten()) {
                writeln!(writer, "{},{}", quoted(name), quoted(&label(row, y)))?;
                row += 1;
            }
        }
        writer.finish()
    }
}
