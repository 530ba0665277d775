//! The exam as text: one line a learner unless protocols differ, aligned for the terminal.
//!
//! [`table`] is the whole of it; [`html`](super::html()) shows the same figures and more.

use autoactivator::counted;
use unicode_width::UnicodeWidthStr;

use super::{Line, absent, lines, n_runs, stream, three_digits, training_rows};
use crate::record::Record;

const HEADINGS: [&str; 12] = [
    "learner",
    "protocol",
    "ACA %",
    "balanced %",
    "AIA %",
    "BWT",
    "forgetting",
    "nodes",
    "model MB",
    "memory MB",
    "learn s",
    "predict s",
];

/// The first columns hold text, aligned left; the others hold numbers, aligned right.
const TEXT_COLUMNS: [usize; 2] = [0, 1];

/// The results of an exam as an aligned table, below a line that says what was examined.
pub fn table(record: &Record) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned).to_vec()];
    rows.extend(lines(record).iter().map(cells));
    let table = aligned(&rows, &TEXT_COLUMNS);
    format!(
        "{}\n\n{table}{}{}",
        title(record),
        stream::lines(record),
        absences(record)
    )
}

/// A table in columns: those of text are aligned left, the others right. What is wide on a terminal, as
/// Chinese is, counts as wide.
pub(super) fn aligned(rows: &[Vec<String>], texts: &[usize]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.width())
            .max()
    };
    let widths: Vec<usize> = (0..n_columns).map(|column| widest(column).unwrap_or(0)).collect();
    let mut table = String::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let blanks = " ".repeat(width - cell.width());
                if texts.contains(&column) {
                    format!("{cell}{blanks}")
                } else {
                    format!("{blanks}{cell}")
                }
            });
        table += cells.collect::<Vec<_>>().join("  ").trim_end();
        table += "\n";
    }
    table
}

/// The learners without results, and why; empty if there are none.
fn absences(record: &Record) -> String {
    let lines: String = absent(record)
        .map(|(how, absence)| format!("{} {how}: {}\n", absence.learner, absence.reason))
        .collect();
    if lines.is_empty() {
        return lines;
    }
    format!("\n{lines}")
}

fn title(record: &Record) -> String {
    let data = &record.dataset;
    format!(
        "{} {}: {} training and {}, {}, {}; mean of {}, ACA ± sample deviation",
        data.name,
        record.scenario,
        training_rows(record),
        counted(data.n_test, "test row"),
        counted(data.n_features, "feature"),
        counted(data.n_classes, "class"),
        counted(n_runs(record), "run")
    )
}

fn cells(line: &Line<'_>) -> Vec<String> {
    let outcome = line.outcome;
    vec![
        outcome.learner.clone(),
        line.protocols.join(", "),
        format!("{:.2} ± {:.2}", outcome.aca.mean, outcome.aca.std),
        format!("{:.2}", outcome.balanced.mean),
        format!("{:.2}", outcome.aia.mean),
        format!("{:.3}", outcome.bwt.mean),
        format!("{:.3}", outcome.forgetting.mean),
        format!("{:.0}", outcome.nodes),
        three_digits(outcome.model_mb),
        three_digits(outcome.memory_mb),
        three_digits(outcome.learn_seconds),
        three_digits(outcome.predict_seconds),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Absence;
    use crate::report::example;

    #[test]
    fn a_table_by_hand() {
        let expected = "\
digits 4/2: 1438 training and 359 test rows, 64 features, 4 classes; mean of 2 runs, ACA ± sample deviation

learner       protocol               ACA %  balanced %  AIA %     BWT  forgetting  nodes  model MB  memory MB  learn s  predict s
reactivation  instance        55.00 ± 7.07       55.00  76.00  -0.520       0.520     70     0.021       0.00     1.23      0.050
reactivation  task-batch=all  98.00 ± 1.41       98.00  97.50   0.000       0.000     70     0.021       0.00     1.23      0.050
nearest-mean  instance        85.00 ± 0.00       85.00  87.50  -0.100       0.100     70     0.021       0.00     1.23      0.050
";
        assert_eq!(table(&example::record()), expected);
    }

    #[test]
    fn wide_names_are_aligned_by_what_they_look_like() {
        let rows = [["class", "n", "last"], ["日本", "10", "a"], ["naïve", "5", ""]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(
            aligned(&rows, &[0]),
            "class   n  last\n日本   10     a\nnaïve   5\n"
        );
    }

    #[test]
    fn a_learner_without_results_is_named() {
        let absence = |learner: &str, reason: &str| Absence {
            learner: learner.into(),
            reason: reason.into(),
        };
        let record = Record {
            left_out: vec![absence("slow", "too slow")],
            failed: vec![absence("weak", "no strength")],
            ..example::record()
        };
        let expected = "\n\nslow left out: too slow\nweak failed: no strength\n";
        assert!(table(&record).ends_with(expected), "{}", table(&record));
    }

    #[test]
    fn an_empty_record_is_headings_only() {
        let record = Record {
            results: Vec::new(),
            ..example::record()
        };
        assert_eq!(table(&record).lines().count(), 3);
    }
}
