//! The chapters as Markdown, for documents and terminals; most plots stay on the page.

use super::Reproduction;
use super::chapters::{Chapter, Part, chapters};
use super::sheet::{Cell, Sheet};
use super::verdict::Verdict;

/// The tables of a reproduction.
pub fn markdown(reproduction: &Reproduction) -> String {
    let chapters: Vec<String> = chapters(reproduction).iter().map(chapter).collect();
    chapters.join("\n")
}

fn chapter(chapter: &Chapter) -> String {
    let parts: Vec<String> = chapter.parts.iter().map(part).collect();
    format!("### {}\n\n{}", chapter.title, parts.join("\n"))
}

fn part(part: &Part) -> String {
    let mut blocks = vec![format!("**{}**", safe(&part.title))];
    blocks.extend(part.sheet.as_ref().map(table));
    if !part.verdicts.is_empty() {
        blocks.push(answers(&part.verdicts));
    }
    let picture = |file: &String| format!("![{}]({file})", safe(&part.title));
    blocks.extend(part.pictures.iter().map(picture));
    blocks.extend(part.notes.iter().map(|note| safe(note)));
    blocks.join("\n\n") + "\n"
}

fn table(sheet: &Sheet) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut lines = vec![line(sheet.head.iter().map(|heading| safe(heading)).collect())];
    lines.push(format!("|{}", "---|".repeat(sheet.head.len())));
    lines.extend(sheet.rows.iter().map(|row| line(row.iter().map(cell).collect())));
    lines.join("\n")
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Nothing => String::new(),
        Cell::Code(text) => format!("`{text}`"),
        Cell::Better(text) => format!("**{}**", safe(text)),
        Cell::Text(text) | Cell::Ours(text) | Cell::Printed(text) | Cell::Difference(text) => safe(text),
    }
}

fn answers(verdicts: &[Verdict]) -> String {
    let held = verdicts.iter().filter(|verdict| verdict.holds).count();
    let mut lines = vec![
        format!(
            "What the paper says, and whether it comes out: {held} of {} do.",
            verdicts.len()
        ),
        String::new(),
        "| the paper says | compared | here | comes out |".to_owned(),
        "|---|---|---|---|".to_owned(),
    ];
    lines.extend(verdicts.iter().map(|verdict| {
        let answer = if verdict.holds { "yes" } else { "**no**" };
        format!(
            "| {} | {} | {} | {answer} |",
            verdict.claim, verdict.compared, verdict.figures
        )
    }));
    lines.join("\n")
}

/// Text that cannot end a cell or begin an element.
fn safe(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn every_chapter_is_there_and_tables_are_whole() {
        let text = markdown(&example::reproduction());
        for expected in [
            "### The exams side by side",
            "### Table 1",
            "| `task-batch=all` | **98.00 ± 1.41** | 97.32 ± 0.03 | +0.68 | 70 |",
            "&lt;MAS>, as printed in the paper",
            "Not run here: imagenet-r is not here",
            "`autoactivator reproduce digits-first --quick`",
        ] {
            assert!(text.contains(expected), "{expected} is missing in {text}");
        }
        let mut width = None;
        for line in text.lines() {
            let cells = line.matches('|').count();
            if line.starts_with('|') {
                assert_eq!(*width.get_or_insert(cells), cells, "{line}");
            } else {
                width = None;
            }
        }
    }

    #[test]
    fn answers_say_yes_or_no() {
        let verdict = |holds| Verdict {
            claim: "l = 10 is faster",
            compared: "T_max = 1".into(),
            figures: "2 and 1 s".into(),
            holds,
        };
        let text = answers(&[verdict(true), verdict(false)]);
        assert!(
            text.contains("1 of 2 do") && text.contains("| yes |") && text.contains("| **no** |"),
            "{text}"
        );
    }
}
