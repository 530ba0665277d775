//! Writes answers row by row, as csv, as JSON lines or as a Parquet table.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use autoactivator::Answer;
use autoactivator::model::{Detail, class_of, detailed, object};
use autoactivator_data::table::{AnswerRow, AnswerTable};

use crate::args::AnswerFormat;
use crate::output::{Output, Writer, ending};

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
    Csv(Writer),
    Jsonl(Writer),
    Parquet(Box<AnswerTable>),
}

impl<'a> Answers<'a> {
    /// Begins to write in this format.
    pub fn create(
        output: &Output,
        format: AnswerFormat,
        classes: &'a [String],
        detail: Detail,
    ) -> Result<Self> {
        let sink = match (format, output.file()) {
            (AnswerFormat::Parquet, Some(path)) => Sink::Parquet(Box::new(AnswerTable::create(path)?)),
            (AnswerFormat::Parquet, None) => bail!("a Parquet table needs a file: give one with --output"),
            (AnswerFormat::Csv, _) => Sink::Csv(output.create()?),
            (AnswerFormat::Jsonl, _) => Sink::Jsonl(output.create()?),
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
            && let Sink::Csv(writer) = &mut self.sink
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
            Sink::Csv(writer) => {
                let line = csv_line(self.row, name, class, &probabilities, self.detail);
                writeln!(writer, "{line}")?;
            }
            Sink::Jsonl(writer) => {
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
            Sink::Csv(writer) | Sink::Jsonl(writer) => writer.finish(),
            Sink::Parquet(table) => Ok(table.finish()?),
        }
    }
}

/// The format that was asked for, or that the name of the output tells. The two must agree.
pub fn format_of(output: Option<&Path>, asked: Option<AnswerFormat>) -> Result<AnswerFormat> {
    let Some((path, ending)) = output.and_then(|path| Some((path, ending(path)?))) else {
        return Ok(asked.unwrap_or(AnswerFormat::Csv));
    };
    let told = match ending.as_str() {
        "csv" => AnswerFormat::Csv,
        "jsonl" | "ndjson" => AnswerFormat::Jsonl,
        "parquet" => AnswerFormat::Parquet,
        _ => bail!(
            "{}: answers cannot be written as .{ending}: choose a name that ends in .csv, .jsonl or .parquet",
            path.display()
        ),
    };
    match asked {
        Some(asked) if asked != told => bail!(
            "{}: the name ends in .{ending}, which contradicts --format: leave one of them out",
            path.display()
        ),
        _ => Ok(told),
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
pub fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
