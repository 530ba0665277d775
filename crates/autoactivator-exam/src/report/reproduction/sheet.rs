//! One table: our figures, the printed ones and the difference, each row with its data, learner, protocol and command.
//!
//! [`Sheet::comparison`] makes one of experiments on the same data, [`Sheet::exams`] sets all exams side by side.

use super::{Reproduced, TASK_TOLD, is_told_by_instance};
use crate::paper::{Figure, Quotes};
use crate::record::{Outcome, Record};
use crate::report::{distinct, n_runs};

/// What the paper says about its exam.
const PRINTED_PROTOCOL: &str = "task-batch, size not stated";

/// Heading of the columns that are quoted.
pub(super) const PRINTED: &str = "paper's, quoted";

/// Heading of the column that says which data.
const DATA: &str = "data, training + test rows";

/// A table.
pub(super) struct Sheet {
    pub head: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

/// What stands in a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Nothing,
    Text(String),
    /// A word of the command line.
    Code(String),
    Ours(String),
    /// A figure of ours that is better than what the paper prints beside it.
    Better(String),
    /// Quoted from the paper.
    Printed(String),
    Difference(String),
}

impl Cell {
    /// What it says.
    pub fn text(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::Text(text)
            | Self::Code(text)
            | Self::Ours(text)
            | Self::Better(text)
            | Self::Printed(text)
            | Self::Difference(text) => text,
        }
    }
}

impl Sheet {
    /// Ours and the paper's, side by side.
    pub fn comparison(experiments: &[&Reproduced], quick: bool) -> Self {
        let columns = columns(experiments);
        let mut head: Vec<String> = [DATA, "learner", "protocol"].map(str::to_owned).to_vec();
        for column in &columns {
            head.push(column.figure.heading().to_owned());
            if column.printed {
                head.push(PRINTED.to_owned());
                head.push("difference".to_owned());
            }
        }
        head.push("command".to_owned());
        let ours = experiments.iter().flat_map(|e| our_rows(e, &columns, quick));
        let printed = experiments.iter().flat_map(|e| printed_rows(e, &columns));
        Self {
            head,
            rows: ours.chain(printed).collect(),
        }
    }

    /// The accuracy of each learner under each exam; only experiments that take the exams of single units count.
    pub fn exams(experiments: &[&Reproduced], quick: bool) -> Option<Self> {
        let records: Vec<(&Reproduced, &Record)> = experiments
            .iter()
            .filter_map(|e| Some((*e, e.record()?)))
            .filter(|(_, record)| record.results.iter().any(|o| o.protocol == TASK_TOLD))
            .collect();
        let protocols = records.iter().flat_map(|(_, record)| &record.results);
        let protocols = distinct(protocols.map(|outcome| outcome.protocol.as_str()));
        let mut head = vec![DATA.to_owned(), "learner".to_owned()];
        head.extend(protocols.iter().map(|protocol| format!("ACA %, {protocol}")));
        head.push("command".to_owned());
        let mut rows = Vec::new();
        for (experiment, record) in records {
            for learner in distinct(record.results.iter().map(|outcome| outcome.learner.as_str())) {
                let mut row = vec![
                    Cell::Text(experiment.data_and_runs()),
                    Cell::Text(learner.to_owned()),
                ];
                row.extend(
                    protocols
                        .iter()
                        .map(|protocol| accuracy(record, learner, protocol)),
                );
                row.push(Cell::Code(experiment.command(quick)));
                rows.push(row);
            }
        }
        (!rows.is_empty()).then_some(Self { head, rows })
    }
}

fn accuracy(record: &Record, learner: &str, protocol: &str) -> Cell {
    let taken = |outcome: &&Outcome| outcome.learner == learner && outcome.protocol == protocol;
    let found = record.results.iter().find(taken);
    let figure = found.and_then(|outcome| Figure::Aca.of(outcome, record, None));
    figure.map_or(Cell::Nothing, |figure| Cell::Ours(figure.shown(n_runs(record))))
}

/// A figure, and whether the paper prints it for any row.
struct Column {
    figure: Figure,
    printed: bool,
}

fn columns(experiments: &[&Reproduced]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for &figure in experiments.iter().flat_map(|e| &e.paper.figures) {
        if columns.iter().all(|column| column.figure != figure) {
            let printed = experiments.iter().any(|e| prints(e, figure));
            columns.push(Column { figure, printed });
        }
    }
    columns
}

fn prints(experiment: &Reproduced, figure: Figure) -> bool {
    let paper = &experiment.paper;
    let others = paper.quoted.iter().map(|quoted| &quoted.figures);
    let mut all = others
        .chain(experiment.quotes.values())
        .chain([&paper.ours, &paper.compare]);
    all.any(|quotes| quotes.contains_key(&figure))
}

fn our_rows(experiment: &Reproduced, columns: &[Column], quick: bool) -> Vec<Vec<Cell>> {
    let command = Cell::Code(experiment.command(quick));
    let Some(record) = experiment.record() else {
        let mut row = vec![
            Cell::Text(experiment.data()),
            Cell::Text("not run here".to_owned()),
            Cell::Nothing,
        ];
        let width: usize = columns.iter().map(|c| if c.printed { 3 } else { 1 }).sum();
        row.resize(row.len() + width, Cell::Nothing);
        row.push(command);
        return vec![row];
    };
    let row = |outcome: &Outcome| {
        // The paper has no figures for an exam in which the task is told.
        let quotes = quotes(experiment, &outcome.learner).filter(|_| outcome.protocol != TASK_TOLD);
        let mut row = vec![
            Cell::Text(experiment.data_and_runs()),
            Cell::Text(outcome.learner.clone()),
            Cell::Code(outcome.protocol.clone()),
        ];
        for column in columns {
            row.extend(figure_cells(column, outcome, record, experiment, quotes));
        }
        row.push(command.clone());
        row
    };
    let shown = record
        .results
        .iter()
        .filter(|outcome| !is_told_by_instance(outcome, record));
    shown.map(row).collect()
}

/// What the paper prints about a learner of ours, if anything.
fn quotes<'a>(experiment: &'a Reproduced, learner: &str) -> Option<&'a Quotes> {
    let of_method = || experiment.methods.iter().any(|method| method == learner);
    let own = experiment.quotes.get(learner);
    let paper = &experiment.paper;
    let printed = if paper.ours.is_empty() {
        &paper.compare
    } else {
        &paper.ours
    };
    own.or_else(|| of_method().then_some(printed))
}

fn figure_cells(
    column: &Column,
    outcome: &Outcome,
    record: &Record,
    experiment: &Reproduced,
    quotes: Option<&Quotes>,
) -> Vec<Cell> {
    let ours = column.figure.of(outcome, record, experiment.paper.backbone_mb);
    let shown = ours
        .as_ref()
        .map_or(Cell::Nothing, |ours| Cell::Ours(ours.shown(n_runs(record))));
    if !column.printed {
        return vec![shown];
    }
    let printed = quotes.and_then(|quotes| quotes.get(&column.figure));
    let difference = ours
        .zip(printed)
        .and_then(|(ours, printed)| ours.difference(printed));
    let better = difference.as_ref().is_some_and(|difference: &String| {
        let above = !difference.starts_with('-');
        let nothing = difference.trim_start_matches(['+', '0', '.']).is_empty();
        !nothing && column.figure.higher_is_better() == Some(above)
    });
    let shown = match shown {
        Cell::Ours(text) if better => Cell::Better(text),
        shown => shown,
    };
    vec![
        shown,
        printed.map_or(Cell::Nothing, |printed| Cell::Printed(printed.clone())),
        difference.map_or(Cell::Nothing, Cell::Difference),
    ]
}

/// Rows that only the paper has, and the paper's row for its own learner.
fn printed_rows(experiment: &Reproduced, columns: &[Column]) -> Vec<Vec<Cell>> {
    let paper = &experiment.paper;
    let own = (!paper.ours.is_empty()).then(|| ("AutoActivator".to_owned(), &paper.ours));
    let others = paper.quoted.iter().map(|q| (q.learner.clone(), &q.figures));
    let row = |(learner, figures): (String, &Quotes)| {
        let protocol = if learner == "AutoActivator" {
            PRINTED_PROTOCOL
        } else {
            "not stated"
        };
        let mut row = vec![
            Cell::Text(experiment.dataset.clone()),
            Cell::Text(format!("{learner}, as printed in the paper")),
            Cell::Text(protocol.to_owned()),
        ];
        for column in columns {
            let printed = figures.get(&column.figure);
            let printed = printed.map_or(Cell::Nothing, |printed| Cell::Printed(printed.clone()));
            row.push(Cell::Nothing);
            if column.printed {
                row.extend([printed, Cell::Nothing]);
            }
        }
        row.push(Cell::Nothing);
        row
    };
    own.into_iter().chain(others).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn ours_theirs_and_the_difference_stand_in_one_row() {
        let reproduction = example::reproduction();
        let sheet = Sheet::comparison(&[&reproduction.experiments[0]], true);
        assert_eq!(sheet.head.len(), 8);
        let rows: Vec<Vec<&str>> = sheet
            .rows
            .iter()
            .map(|row| row.iter().map(Cell::text).collect())
            .collect();
        assert_eq!(
            rows[1],
            [
                "digits 4/2, 1438 + 359 rows, in place of mnist, 2 runs",
                "reactivation",
                "task-batch=all",
                "98.00 ± 1.41",
                "97.32 ± 0.03",
                "+0.68",
                "70",
                "autoactivator reproduce digits-first --quick",
            ]
        );
        assert_eq!(sheet.rows[1][3], Cell::Better("98.00 ± 1.41".into()));
        assert_eq!(
            sheet.rows[1][6],
            Cell::Ours("70".into()),
            "nothing is printed beside it"
        );
        assert_eq!(rows[2][4], "", "the paper says nothing about the baselines here");
        assert_eq!(
            rows[3][1..5],
            [
                "AutoActivator, as printed in the paper",
                PRINTED_PROTOCOL,
                "",
                "97.32 ± 0.03"
            ]
        );
        assert_eq!(rows[4][4], "44.61");
        assert!(rows.iter().all(|row| row.len() == sheet.head.len()));
    }

    #[test]
    fn what_was_not_run_says_so() {
        let reproduction = example::reproduction();
        let sheet = Sheet::comparison(&[&reproduction.experiments[2]], false);
        assert_eq!(sheet.rows[0][1].text(), "not run here");
        assert!(sheet.rows.iter().all(|row| row.len() == sheet.head.len()));
    }

    #[test]
    fn all_exams_of_a_learner_stand_in_one_row() {
        let reproduction = example::reproduction();
        let experiments: Vec<&Reproduced> = reproduction.experiments.iter().collect();
        let sheet = Sheet::exams(&experiments, false).unwrap();
        assert_eq!(
            sheet.head[2..5],
            ["ACA %, task-told", "ACA %, task-batch=all", "ACA %, instance"]
        );
        let first: Vec<&str> = sheet.rows[0].iter().map(Cell::text).collect();
        assert_eq!(first[1..5], ["reactivation", "55.00 ± 7.07", "98.00 ± 1.41", ""]);
        assert!(Sheet::exams(&experiments[1..], false).is_none());
    }
}
