//! What comes out, in short: a small table a chapter for the terminal, and the conclusions at the top of the page.

use autoactivator::counted;

use super::chapters::{Chapter, Part, chapters};
use super::sheet::{Cell, Sheet};
use super::{INSTANCE, Reproduction};
use crate::report::table::aligned;

/// The kind of exam that the paper describes: the one that its figures are compared under.
const PAPERS: &str = "task-batch=all";

/// What a chapter comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Conclusion {
    /// Figures of ours that stand beside one of the paper, under its exam, and how many of them are at least as good.
    compared: usize,
    as_good: usize,
    /// Claims that are answered, and how many of them come out.
    claims: usize,
    held: usize,
    /// Experiments that were not run here.
    not_run: usize,
}

/// A short table for each chapter: the first figure that the paper prints, beside ours; or ours alone where it prints
/// none.
pub fn summary(reproduction: &Reproduction) -> String {
    let chapters = chapters(reproduction);
    let shown: Vec<String> = chapters.iter().filter_map(short).collect();
    match headline(&chapters) {
        nothing if nothing.is_empty() => shown.join("\n"),
        headline => format!("{}\n{headline}\n", shown.join("\n")),
    }
}

/// Everything in a sentence or two.
pub(super) fn headline(chapters: &[Chapter]) -> String {
    let all = chapters
        .iter()
        .map(Conclusion::of)
        .fold(Conclusion::default(), Conclusion::plus);
    let mut sentences = Vec::new();
    if all.compared > 0 {
        sentences.push(format!(
            "{} of {} that the paper prints for its own learner come out at least as good under {PAPERS}, its kind of protocol.",
            all.as_good,
            counted(all.compared, "figure")
        ));
    }
    if all.claims > 0 {
        sentences.push(format!(
            "{} of {} come out.",
            all.held,
            counted(all.claims, "claim")
        ));
    }
    if all.not_run > 0 {
        sentences.push(format!(
            "{} could not be run here.",
            counted(all.not_run, "experiment")
        ));
    }
    sentences.join(" ")
}

/// The short table of a chapter; none if there is nothing to compare in it.
fn short(chapter: &Chapter) -> Option<String> {
    let parts: Vec<String> = chapter.parts.iter().filter_map(short_part).collect();
    (!parts.is_empty()).then(|| format!("{}\n{}", chapter.title, parts.join("\n")))
}

fn short_part(part: &Part) -> Option<String> {
    let found = Conclusion::of_part(part);
    if found.claims > 0 {
        return Some(format!("{}: {}\n", part.title, found.claims()));
    }
    if found.not_run > 0 {
        return Some(format!("{}: not run here\n", part.title));
    }
    let sheet = part.sheet.as_ref()?;
    let exams = |row: &&Vec<Cell>| [PAPERS, INSTANCE].contains(&row[2].text());
    // Where the paper prints nothing, the first figure stands alone.
    let (at, width) = match first_printed(sheet) {
        Some(at) => (at, 3),
        None => (3, 1),
    };
    let mut rows = vec![["data", "learner", "protocol"].map(str::to_owned).to_vec()];
    rows[0].push(sheet.head.get(at)?.clone());
    rows[0].extend(
        ["paper", "difference"]
            .iter()
            .take(width - 1)
            .map(|&heading| heading.to_owned()),
    );
    let shown = sheet.rows.iter().filter(exams);
    let shown = shown.filter(|row| width == 1 || is_compared(row, at));
    rows.extend(shown.map(|row| {
        let cells = row[..3].iter().chain(&row[at..at + width]);
        cells.map(|cell| cell.text().to_owned()).collect()
    }));
    (rows.len() > 1).then(|| aligned(&rows, &[0, 1, 2]))
}

/// The first column whose figure the paper prints.
fn first_printed(sheet: &Sheet) -> Option<usize> {
    let printed = sheet
        .head
        .iter()
        .position(|heading| heading == super::sheet::PRINTED)?;
    printed.checked_sub(1)
}

/// Whether a figure of ours stands beside one of the paper.
fn is_compared(row: &[Cell], at: usize) -> bool {
    let ours = matches!(row[at], Cell::Ours(_) | Cell::Better(_));
    ours && matches!(row[at + 2], Cell::Difference(_))
}

impl Conclusion {
    /// What the parts of a chapter come to.
    pub fn of(chapter: &Chapter) -> Self {
        chapter
            .parts
            .iter()
            .map(Self::of_part)
            .fold(Self::default(), Self::plus)
    }

    fn of_part(part: &Part) -> Self {
        let sheet = part.sheet.iter();
        let at = sheet.clone().find_map(first_printed);
        let rows = || sheet.clone().flat_map(|sheet| &sheet.rows);
        let papers = |row: &&Vec<Cell>| row[2].text() == PAPERS;
        let compared = || {
            rows()
                .filter(papers)
                .filter(|row| at.is_some_and(|at| is_compared(row, at)))
        };
        let as_good = |row: &&Vec<Cell>| {
            at.is_some_and(|at| matches!(&row[at..], [Cell::Better(_), ..]) || is_even(&row[at + 2]))
        };
        Self {
            compared: compared().count(),
            as_good: compared().filter(as_good).count(),
            claims: part.verdicts.len(),
            held: part.verdicts.iter().filter(|verdict| verdict.holds).count(),
            not_run: part.not_run,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            compared: self.compared + other.compared,
            as_good: self.as_good + other.as_good,
            claims: self.claims + other.claims,
            held: self.held + other.held,
            not_run: self.not_run + other.not_run,
        }
    }

    /// How many figures are at least as good; empty if there is none to compare.
    pub fn figures(&self) -> String {
        share(self.as_good, self.compared)
    }

    /// How many claims come out; empty if there is none.
    pub fn claims(&self) -> String {
        match share(self.held, self.claims) {
            share if share.is_empty() => share,
            share => format!("{share} claims come out"),
        }
    }

    /// What was not run; empty if everything was.
    pub fn not_run(&self) -> String {
        match self.not_run {
            0 => String::new(),
            n => format!("{} not run here", counted(n, "experiment")),
        }
    }
}

fn share(part: usize, of: usize) -> String {
    match of {
        0 => String::new(),
        of => format!("{part} of {of}"),
    }
}

/// Whether a difference is zero.
fn is_even(cell: &Cell) -> bool {
    cell.text().trim_start_matches(['+', '-', '0', '.']).is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn a_chapter_comes_to_what_its_rows_say() {
        let mut reproduction = example::reproduction();
        for experiment in &mut reproduction.experiments {
            experiment.paper.claims.clear();
        }
        let chapters = chapters(&reproduction);
        let table_1 = Conclusion::of(&chapters[1]);
        assert_eq!((table_1.compared, table_1.as_good, table_1.not_run), (1, 1, 0));
        assert_eq!(
            Conclusion::of(&chapters[3]).not_run(),
            "1 experiment not run here"
        );
        assert_eq!(
            headline(&chapters),
            "1 of 1 figure that the paper prints for its own learner come out at least as good under task-batch=all, \
             its kind of protocol. 1 experiment could not be run here."
        );
        let short = summary(&reproduction);
        assert!(short.contains("Table 1\ndata "), "{short}");
        assert!(
            short.contains("98.00 ± 1.41  97.32 ± 0.03       +0.68"),
            "{short}"
        );
        assert!(short.contains("A large one: not run here"), "{short}");
    }
}
