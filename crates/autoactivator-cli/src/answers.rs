//! Writes answers row by row, as csv, as JSON lines or as a Parquet table.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::Answer;
use autoactivator::model::{Detail, class_of, detailed, object};
use autoactivator_data::table::{AnswerRow, AnswerTable, Beside};

use crate::args::AnswerFormat;

/// The answer for a row that belongs to no known class.
pub const UNKNOWN: &str = "unknown";

/// Writes answers in the order of the rows.
pub struct Answers<'a> {
    classes: &'a [String],
    detail: Detail,
    sink: Sink,
    row: usize,
}

enum Sink {
    Csv(Text),
    Jsonl(Text),
    Parquet(Box<AnswerTable>),
}

impl<'a> Answers<'a> {
    /// Opens the output file, or stdout if none is given.
    pub fn create(
        output: Option<&Path>,
        format: Option<AnswerFormat>,
        classes: &'a [String],
        detail: Detail,
    ) -> Result<Self> {
        let format = format.unwrap_or_else(|| by_name(output));
        let sink = match (format, output) {
            (AnswerFormat::Parquet, Some(path)) => Sink::Parquet(Box::new(AnswerTable::create(path)?)),
            (AnswerFormat::Parquet, None) => bail!("a Parquet table needs a file: give one with --output"),
            (AnswerFormat::Csv, _) => Sink::Csv(Text::open(output)?),
            (AnswerFormat::Jsonl, _) => Sink::Jsonl(Text::open(output)?),
        };
        Ok(Self {
            classes,
            detail,
            sink,
            row: 0,
        })
    }

    /// Writes the answers for the next rows; `names` holds the names of these rows.
    pub fn write(&mut self, answers: &[Answer], names: Option<&[String]>) -> Result<()> {
        if self.row == 0
            && let Sink::Csv(Text { writer, .. }) = &mut self.sink
        {
            let header = csv_header(self.classes, self.detail, names.is_some());
            writeln!(writer, "{header}")?;
        }
        for (at, answer) in answers.iter().enumerate() {
            let name = names.map(|names| names[at].as_str());
            self.write_one(answer, name)?;
            self.row += 1;
        }
        Ok(())
    }

    fn write_one(&mut self, answer: &Answer, name: Option<&str>) -> Result<()> {
        let class = class_of(self.classes, answer);
        let probabilities = detailed(self.classes, answer, self.detail);
        match &mut self.sink {
            Sink::Csv(Text { writer, .. }) => {
                let line = csv_line(self.row, name, class, &probabilities, self.detail);
                writeln!(writer, "{line}")?;
            }
            Sink::Jsonl(Text { writer, .. }) => {
                let line = object(self.classes, answer, self.detail, self.row, name);
                writeln!(writer, "{line}")?;
            }
            Sink::Parquet(table) => table.write(AnswerRow {
                row: self.row as u64,
                name: name.map(str::to_owned),
                class: class.map(str::to_owned),
                probabilities: probabilities
                    .iter()
                    .map(|(class, p)| ((*class).to_owned(), *p))
                    .collect(),
            })?,
        }
        Ok(())
    }

    /// Flushes and closes the output.
    pub fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Csv(text) | Sink::Jsonl(text) => text.finish(),
            Sink::Parquet(table) => Ok(table.finish()?),
        }
    }
}

fn by_name(output: Option<&Path>) -> AnswerFormat {
    match output
        .and_then(Path::extension)
        .and_then(|ending| ending.to_str())
    {
        Some("parquet") => AnswerFormat::Parquet,
        Some("jsonl" | "ndjson") => AnswerFormat::Jsonl,
        _ => AnswerFormat::Csv,
    }
}

/// Lines of text.
struct Text {
    writer: Box<dyn Write>,
    /// The file that replaces the output when all answers are in it.
    beside: Option<Beside>,
}

impl Text {
    fn open(output: Option<&Path>) -> Result<Self> {
        let Some(path) = output else {
            let writer = Box::new(BufWriter::new(std::io::stdout().lock()));
            return Ok(Self { writer, beside: None });
        };
        let cannot = || format!("cannot write {}", path.display());
        // A pipe or a device cannot be replaced.
        let beside = if path.is_file() || !path.exists() {
            Some(Beside::create(path).with_context(cannot)?)
        } else {
            None
        };
        let file = match &beside {
            Some(beside) => beside.open()?,
            None => File::create(path).with_context(cannot)?,
        };
        let writer = Box::new(BufWriter::new(file));
        Ok(Self { writer, beside })
    }

    fn finish(mut self) -> Result<()> {
        self.writer.flush()?;
        match self.beside {
            Some(beside) => Ok(beside.give_name()?),
            None => Ok(()),
        }
    }
}

fn csv_header(classes: &[String], detail: Detail, named: bool) -> String {
    let mut columns = vec!["row".to_owned()];
    columns.extend(named.then(|| "name".to_owned()));
    columns.push("class".to_owned());
    match detail {
        Detail::Class => {}
        Detail::All => columns.extend(classes.iter().map(|class| quoted(class))),
        Detail::Top(k) => {
            for place in 1..=k.min(classes.len()) {
                columns.push(format!("class_{place}"));
                columns.push(format!("probability_{place}"));
            }
        }
    }
    columns.join(",")
}

fn csv_line(
    row: usize,
    name: Option<&str>,
    class: Option<&str>,
    probabilities: &[(&str, f32)],
    detail: Detail,
) -> String {
    let mut cells = vec![row.to_string()];
    cells.extend(name.map(quoted));
    cells.push(quoted(class.unwrap_or(UNKNOWN)));
    for (class, probability) in probabilities {
        if matches!(detail, Detail::Top(_)) {
            cells.push(quoted(class));
        }
        cells.push(probability.to_string());
    }
    cells.join(",")
}

/// A csv field, quoted if it needs to be.
fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
