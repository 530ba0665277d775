//! The accuracy matrix of an outcome as a heat map: what happens to each task while later ones are learned.
//!
//! [`heat_map`] is an HTML table whose cells are coloured by the style sheet; [`mean_matrix`] is what it shows.

use super::Line;
use super::page::escape;
use crate::metrics::mean;
use crate::record::Run;

/// With at most this many tasks, a cell has room for a decimal.
const DECIMAL_TASKS: usize = 10;

/// From here on a cell is so strongly coloured that its number needs the inverse ink.
const STRONG: f64 = 55.0;

/// The accuracy matrix, mean over the runs.
pub(super) fn mean_matrix(runs: &[Run]) -> Vec<Vec<f64>> {
    let n_tasks = runs.iter().map(|run| run.accuracy.len()).max().unwrap_or(0);
    let entry = |i: usize, t: usize| {
        let values = runs.iter().filter_map(|run| run.accuracy.get(i)?.get(t));
        mean(values.copied())
    };
    (0..n_tasks)
        .map(|i| (0..=i).map(|t| entry(i, t)).collect())
        .collect()
}

/// The protocols of a line, as the page shows them.
pub(super) fn protocols(line: &Line<'_>) -> String {
    let chips = line
        .protocols
        .iter()
        .map(|protocol| format!("<code>{}</code>", escape(protocol)));
    chips.collect::<Vec<_>>().join(" ")
}

/// The heat map of one learner under one protocol, or under several that make no difference.
pub(super) fn heat_map(line: &Line<'_>) -> String {
    let outcome = line.outcome;
    let matrix = mean_matrix(&outcome.runs);
    let head: String = (1..=matrix.len())
        .map(|t| format!("<th scope=\"col\">{t}</th>"))
        .collect();
    let body: String = matrix
        .iter()
        .enumerate()
        .map(|(i, row)| matrix_line(i, row, matrix.len()))
        .collect();
    format!(
        "<figure class=\"card\"><figcaption><b>{}</b> {}</figcaption>\
         <div class=\"scroll\" tabindex=\"0\"><table class=\"heat\"><thead><tr><th class=\"corner\">after \\ on</th>{head}</tr></thead>\
         <tbody>{body}</tbody></table></div></figure>\n",
        escape(&outcome.learner),
        protocols(line),
    )
}

fn matrix_line(i: usize, row: &[f64], n_tasks: usize) -> String {
    let decimals = usize::from(n_tasks <= DECIMAL_TASKS);
    let cells: String = row.iter().map(|&percent| cell(percent, decimals)).collect();
    let later = "<td></td>".repeat(n_tasks - row.len());
    format!("<tr><th scope=\"row\">{}</th>{cells}{later}</tr>\n", i + 1)
}

fn cell(percent: f64, decimals: usize) -> String {
    format!("<td {}>{percent:.decimals$}</td>", shade(percent))
}

/// How a cell is coloured. No shade is so in between that its number can be read in neither ink.
pub(super) fn shade(percent: f64) -> String {
    if percent < STRONG {
        return format!("class=\"hot\" style=\"--v:{:.0}\"", percent * 0.8);
    }
    let strength = 70.0 + (percent - STRONG) / (100.0 - STRONG) * 30.0;
    format!("class=\"hot strong\" style=\"--v:{strength:.0}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn the_mean_over_runs_by_hand() {
        let record = example::record();
        assert_eq!(
            mean_matrix(&record.results[0].runs),
            [vec![97.0], vec![45.0, 65.0]]
        );
        assert!(mean_matrix(&[]).is_empty());
    }

    #[test]
    fn every_cell_has_its_number_and_its_colour() {
        let record = example::record();
        let map = heat_map(&crate::report::lines(&record)[0]);
        assert!(
            map.contains("<td class=\"hot strong\" style=\"--v:98\">97.0</td><td></td>"),
            "{map}"
        );
        assert!(
            map.contains("<td class=\"hot\" style=\"--v:36\">45.0</td>"),
            "{map}"
        );
        assert!(map.contains("<code>instance</code>"), "{map}");
    }
}
