//! The chapters as one self-contained page, with their plots.

use super::Reproduction;
use super::chapters::{Chapter, Part, chapters};
use super::sheet::{Cell, Sheet};
use super::summary::{self, Conclusion};
use super::verdict::Verdict;
use crate::report::distinct;
use crate::report::html::meanings;
use crate::report::page::{escape, grid, header, page, section};

const HOW_TO_READ: &str = "<p class=\"note\">Every row names its data, its learner, its protocol and the command that \
    prints it. Figures in the columns <b>paper's, quoted</b> are quoted from the paper, which examines its learner on \
    groups of test rows of one task and does not say how many; the difference is ours minus the paper's. Only rows \
    under <code>task-batch</code> take an exam like the paper's. <b>task-told</b> is what single units reach when \
    somebody says which task a row is from; <b>instance</b> is what a user gets. Learners that judge each row alone \
    whatever the exam are shown under <code>instance</code> only.</p>\n";

/// The reproduction as one HTML page.
pub fn html(reproduction: &Reproduction) -> String {
    let chapters = chapters(reproduction);
    let mut sections = vec![head(reproduction, &chapters), conclusions(&chapters)];
    sections.extend((1..).zip(&chapters).map(|(nth, of)| chapter(nth, of)));
    sections.push(section("How to read this", &how_to_read(reproduction)));
    page("The paper again", &sections.concat())
}

fn head(reproduction: &Reproduction, chapters: &[Chapter]) -> String {
    let extent = if reproduction.quick {
        "a quick look: one seed, fewer rows, named in every row"
    } else {
        "all rows, all seeds"
    };
    let facts = [
        format!("version <b>{}</b>", escape(&reproduction.version)),
        extent.to_owned(),
    ];
    header(
        "Reproduction",
        "The paper again <span>figure by figure</span>",
        &summary::headline(chapters),
        &facts,
    )
}

/// What comes out, one line a chapter, each with the way down to its tables.
fn conclusions(chapters: &[Chapter]) -> String {
    let line = |(nth, chapter): (usize, &Chapter)| {
        let found = Conclusion::of(chapter);
        let cells = [found.figures(), found.claims(), found.not_run()];
        let cells: String = cells
            .map(|cell| format!("<td class=\"outcome\">{cell}</td>"))
            .concat();
        let title = escape(&chapter.title);
        format!("<tr><th scope=\"row\"><a href=\"#chapter-{nth}\">{title}</a></th>{cells}</tr>\n")
    };
    let lines: String = (1..).zip(chapters).map(line).collect();
    let head: String = [
        "chapter",
        "figures at least as good as printed",
        "claims that come out",
        "not run",
    ]
    .map(|heading| format!("<th scope=\"col\" class=\"outcome\">{heading}</th>"))
    .concat();
    section("Conclusions", &frame(&head, &lines))
}

fn how_to_read(reproduction: &Reproduction) -> String {
    let records = reproduction.experiments.iter().filter_map(|e| e.record());
    let outcomes = records.flat_map(|record| &record.results);
    let names = distinct(outcomes.map(|outcome| outcome.protocol.as_str()));
    format!("{HOW_TO_READ}{}", meanings(&names))
}

fn chapter(nth: usize, chapter: &Chapter) -> String {
    let parts: String = chapter.parts.iter().map(part).collect();
    let content = section(&escape(&chapter.title), &parts);
    content.replacen("<section>", &format!("<section id=\"chapter-{nth}\">"), 1)
}

fn part(part: &Part) -> String {
    let notes: String = part
        .notes
        .iter()
        .map(|note| format!("<p class=\"note\">{}</p>\n", escape(note)))
        .collect();
    let table = part.sheet.as_ref().map_or_else(String::new, table);
    let answers = if part.verdicts.is_empty() {
        String::new()
    } else {
        answers(&part.verdicts)
    };
    let figures = if part.figures.is_empty() {
        String::new()
    } else {
        grid(&part.figures)
    };
    format!(
        "<h3>{}</h3>\n{table}{answers}{notes}{figures}",
        escape(&part.title)
    )
}

fn table(sheet: &Sheet) -> String {
    let head: String = sheet.head.iter().map(|heading| heading_cell(heading)).collect();
    let rows = sheet.rows.iter().map(|row| {
        let cells: String = row.iter().map(cell).collect();
        format!("<tr>{cells}</tr>\n")
    });
    frame(&head, &rows.collect::<String>())
}

fn frame(head: &str, body: &str) -> String {
    format!(
        "<div class=\"card scroll\" tabindex=\"0\"><table class=\"summary compared\"><thead><tr>{head}</tr></thead>\n\
         <tbody>{body}</tbody></table></div>\n"
    )
}

fn heading_cell(heading: &str) -> String {
    format!("<th scope=\"col\">{}</th>", escape(heading))
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Nothing => "<td></td>".to_owned(),
        Cell::Text(text) => format!("<td class=\"text\">{}</td>", escape(text)),
        Cell::Code(text) => format!("<td class=\"text\"><code>{}</code></td>", escape(text)),
        Cell::Ours(text) => format!("<td>{}</td>", figure(text)),
        Cell::Better(text) => format!("<td><b>{}</b></td>", figure(text)),
        Cell::Printed(text) => format!("<td class=\"quoted\">{}</td>", escape(text)),
        Cell::Difference(text) => {
            let side = if text.starts_with('-') { "below" } else { "above" };
            format!("<td class=\"{side}\">{}</td>", escape(text))
        }
    }
}

/// A figure, its deviation in small print.
fn figure(text: &str) -> String {
    match text.split_once(" ± ") {
        Some((mean, deviation)) => format!("{} <small>± {}</small>", escape(mean), escape(deviation)),
        None => escape(text),
    }
}

fn answers(verdicts: &[Verdict]) -> String {
    let held = verdicts.iter().filter(|verdict| verdict.holds).count();
    let head: String = ["the paper says", "compared", "here", "comes out"]
        .map(heading_cell)
        .concat();
    let rows = verdicts.iter().map(|verdict| {
        let (class, answer) = if verdict.holds { ("above", "yes") } else { ("below", "no") };
        format!(
            "<tr><td class=\"text\">{}</td><td class=\"text\">{}</td><td>{}</td><td class=\"{class}\"><b>{answer}</b></td></tr>\n",
            escape(verdict.claim),
            escape(&verdict.compared),
            escape(&verdict.figures)
        )
    });
    format!(
        "<p>What the paper says, and whether it comes out: <b>{held} of {}</b> do.</p>\n{}",
        verdicts.len(),
        frame(&head, &rows.collect::<String>())
    )
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn a_page_shows_every_chapter_with_its_plots() {
        let page = html(&example::reproduction());
        for expected in [
            "<td class=\"quoted\">97.32 ± 0.03</td><td class=\"above\">+0.68</td>",
            "<code>autoactivator reproduce digits-first --quick</code>",
            "a quick look",
            "<a href=\"#chapter-2\">Table 1</a>",
            "<section id=\"chapter-2\"><h2>Table 1</h2>",
            "Accuracy on all tasks learned so far",
            "Accuracy against nodes",
            "Model, MB",
            "raw &amp; inputs",
            "not run here",
            "This is task-incremental learning",
        ] {
            assert!(page.contains(expected), "{expected} is missing");
        }
    }

    #[test]
    fn a_page_needs_nothing_from_outside_and_escapes_every_text() {
        let page = html(&example::reproduction());
        for outside in [
            "<script",
            "http:",
            "https:",
            "src=",
            "href=\"h",
            "url(",
            "@import",
            "<MAS>",
            "<backbone>",
        ] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
