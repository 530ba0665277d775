//! `autoactivator ask`: the rows that are most worth a label, the most worthwhile first.

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use autoactivator::consolidation::Question;
use autoactivator::model::question_object;
use autoactivator::{Model, Table, counted};
use autoactivator_data::{Batch, Part};

use crate::answers::quoted;
use crate::args::AskArgs;
use crate::gallery::{self, Card, page};
use crate::inbox;
use crate::output::{Output, Replace, STANDARD};
use crate::progress::TaskBar;
use crate::rows::{Expected, RowSource};
use crate::shown::shown;

pub fn ask(args: &AskArgs) -> Result<()> {
    inbox::settled(&args.rows, choose(args))
}

fn choose(args: &AskArgs) -> Result<()> {
    let inputs = [args.model.as_path(), args.rows.rows.as_path()];
    let place = |path: &Path| Output::new(path, &inputs, Replace::Files);
    let output = place(args.output.as_deref().unwrap_or(Path::new(STANDARD)))?;
    let page = args.page.as_deref().map(place).transpose()?;
    let model = Model::load(&args.model)?;
    let expected = Expected::of(Some(&model), &args.model);
    let Some(rows) = inbox::open(&args.rows, Part::Train, &expected)? else {
        return Ok(());
    };
    let names = RefCell::new(Vec::new());
    let mut bar = TaskBar::new(rows.n_rows());
    let features = |batch: Batch| -> Table {
        names.borrow_mut().extend(batch.names.iter().flatten().cloned());
        batch.x
    };
    let asked = model.ask(
        rows.batches()?.map(|batch| batch.map(features)),
        args.count,
        &mut bar,
    );
    bar.finish();
    let asked = Asked {
        questions: asked.with_context(|| args.rows.name())?,
        classes: model.classes(),
        names: names.into_inner(),
    };
    rows.tell_runtime();
    if asked.questions.len() < args.count {
        say!(
            "note: {}: there {} only {}",
            args.rows.name(),
            if asked.questions.len() == 1 { "is" } else { "are" },
            counted(asked.questions.len(), "row")
        );
    }
    asked.write(&output, args.json)?;
    if let Some(page) = page {
        page.write(asked.page(&args.rows.name(), &rows)?.as_bytes())?;
    }
    Ok(())
}

/// What is asked for, and what it is called.
struct Asked<'a> {
    questions: Vec<Question>,
    classes: &'a [String],
    /// Names of the rows; empty if they have none.
    names: Vec<String>,
}

impl Asked<'_> {
    fn name(&self, row: usize) -> Option<&str> {
        self.names.get(row).map(String::as_str)
    }

    /// Writes a line for each row.
    fn write(&self, output: &Output, as_json: bool) -> Result<()> {
        let mut writer = output.create()?;
        if !as_json {
            let name = if self.names.is_empty() { "" } else { "name," };
            writeln!(writer, "row,{name}class,probability,uncertainty,known")?;
        }
        for question in &self.questions {
            let name = self.name(question.row);
            if as_json {
                writeln!(writer, "{}", question_object(self.classes, question, name))?;
                continue;
            }
            let mut cells = vec![question.row.to_string()];
            cells.extend(name.map(quoted));
            cells.push(quoted(&self.classes[question.class as usize]));
            cells.extend([question.probability, question.uncertainty].map(|v| format!("{v:.6}")));
            cells.push(
                question
                    .known
                    .map(|known| format!("{known:.6}"))
                    .unwrap_or_default(),
            );
            writeln!(writer, "{}", cells.join(","))?;
        }
        writer.finish()
    }

    /// The page with the rows.
    fn page(&self, title: &str, source: &RowSource<'_>) -> Result<String> {
        let first = &self.questions[..self.questions.len().min(gallery::MOST)];
        let mut pictures = shown(
            source,
            first.iter().map(|asked| (asked.row, self.name(asked.row))),
        )?;
        let card = |question: &Question| Card {
            shown: pictures.remove(&question.row),
            name: self
                .name(question.row)
                .map_or_else(|| format!("row {}", question.row), str::to_owned),
            words: format!("{}?", self.classes[question.class as usize]),
            small: format!("{:.1} % probable", 100.0 * question.probability),
        };
        let cards: Vec<Card> = first.iter().map(card).collect();
        let about = "The rows that are most worth a label, the most worthwhile first. Each is shown with the class that is most \
            probable now, and how probable that is.";
        Ok(page(title, about, &cards))
    }
}
