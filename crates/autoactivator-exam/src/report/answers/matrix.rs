//! What was taken for what: the confusion matrix, and the pairs of classes that are confused most.
//!
//! Few classes are a table of numbers. Many are a picture, in which classes that are confused lie side by side, so that
//! groups of similar classes show as blocks; its names appear where the pointer rests, and it can be made larger.

use std::collections::{HashMap, HashSet};

use crate::report::chart::clipped;
use crate::report::heat::shade;
use crate::report::page::{escape, grid, note};
use crate::tally::{OfClass, Pair, Tally};

/// With at most this many classes, the matrix is a table of numbers.
const MOST_NUMBERS: usize = 16;

/// How many pairs are listed.
const LISTED: usize = 12;

/// How many pairs the picture shows.
const DRAWN: usize = 1500;

/// With at most this many classes, their names stand beside the picture.
const MOST_NAMES: usize = 120;

/// The side of a cell, and the room for names.
const CELL: usize = 10;
const NAMES: usize = 90;

/// The matrix and the pairs; nothing if no row was taken for anything else.
pub(super) fn figures(tally: &Tally) -> String {
    let classes = ordered(tally);
    if classes.len() <= MOST_NUMBERS {
        return grid(&[table(tally, &classes), pairs(tally)].concat());
    }
    let both = [picture(tally, &classes), pairs(tally)].concat();
    format!("<div class=\"beside\">{both}</div>\n")
}

/// All classes of rows and of answers; of many, those that are confused lie side by side.
fn ordered(tally: &Tally) -> Vec<String> {
    let mut classes: Vec<String> = tally.classes().iter().map(|of| of.class.to_owned()).collect();
    let known: HashSet<String> = classes.iter().cloned().collect();
    let mut answers: Vec<&str> = tally.pairs().iter().map(|pair| pair.answer).collect();
    answers.retain(|answer| !known.contains(*answer));
    answers.sort_unstable();
    answers.dedup();
    classes.extend(answers.into_iter().map(str::to_owned));
    if classes.len() <= MOST_NUMBERS {
        return classes;
    }
    side_by_side(&classes, &tally.pairs())
}

/// Joins groups of classes, those that are confused most first; each is turned so that the two lie close.
fn side_by_side(classes: &[String], pairs: &[Pair<'_>]) -> Vec<String> {
    let place: HashMap<&str, usize> = classes.iter().map(String::as_str).zip(0..).collect();
    let mut both_ways: HashMap<(usize, usize), usize> = HashMap::new();
    for pair in pairs {
        let (a, b) = (place[pair.class], place[pair.answer]);
        *both_ways.entry((a.min(b), a.max(b))).or_default() += pair.rows;
    }
    let mut links: Vec<((usize, usize), usize)> = both_ways.into_iter().collect();
    links.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut groups: Vec<Vec<usize>> = (0..classes.len()).map(|class| vec![class]).collect();
    let mut group_of: Vec<usize> = (0..classes.len()).collect();
    for ((a, b), _) in links {
        let (left, right) = (group_of[a], group_of[b]);
        if left == right {
            continue;
        }
        let at = |group: &[usize], class| group.iter().position(|&c| c == class).unwrap_or(0);
        let (mut before, mut after) = (
            std::mem::take(&mut groups[left]),
            std::mem::take(&mut groups[right]),
        );
        if at(&before, a) * 2 < before.len() - 1 {
            before.reverse();
        }
        if at(&after, b) * 2 > after.len() - 1 {
            after.reverse();
        }
        after.iter().for_each(|&class| group_of[class] = left);
        before.append(&mut after);
        groups[left] = before;
    }
    groups
        .into_iter()
        .flatten()
        .map(|class| classes[class].clone())
        .collect()
}

fn table(tally: &Tally, classes: &[String]) -> String {
    let of: HashMap<&str, OfClass<'_>> = tally.classes().into_iter().map(|of| (of.class, of)).collect();
    let head: String = classes
        .iter()
        .map(|class| format!("<th scope=\"col\">{}</th>", escape(class)))
        .collect();
    let line = |class: &String| {
        let cell = |answer: &String| {
            let rows = of.get(class.as_str()).map_or(0, |of| of.answered(answer));
            let all = of.get(class.as_str()).map_or(1, |of| of.rows.max(1));
            cell(rows, 100.0 * rows as f64 / all as f64, class == answer)
        };
        let cells: String = classes.iter().map(cell).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(class))
    };
    let body: String = classes
        .iter()
        .filter(|class| of.contains_key(class.as_str()))
        .map(line)
        .collect();
    format!(
        "<figure class=\"card\"><figcaption><b>Rows of each class, and what they were taken for</b></figcaption>\
         <div class=\"scroll\" tabindex=\"0\"><table class=\"heat confusion\"><thead><tr><th class=\"corner\">is \\ answered</th>{head}</tr></thead>\
         <tbody>{body}</tbody></table></div></figure>\n"
    )
}

/// A number of rows; wrong ones are coloured from few percent on, since even a few matter.
fn cell(rows: usize, percent: f64, right: bool) -> String {
    if rows == 0 {
        return "<td class=\"none\">·</td>".to_owned();
    }
    let shade = match right {
        true => shade(percent),
        false => format!(
            "class=\"wrong\" style=\"--v:{:.0}\"",
            (10.0 + percent * 3.0).min(52.0)
        ),
    };
    format!("<td {shade}>{rows}</td>")
}

fn picture(tally: &Tally, classes: &[String]) -> String {
    let n = classes.len();
    let place: HashMap<&str, usize> = classes.iter().map(String::as_str).zip(0..).collect();
    let of: HashMap<&str, OfClass<'_>> = tally.classes().into_iter().map(|of| (of.class, of)).collect();
    let rect = |class: &str, answer: &str, rows: usize| {
        let all = of.get(class).map_or(1, |of| of.rows.max(1));
        let percent = 100.0 * rows as f64 / all as f64;
        let (kind, opacity) = match class == answer {
            true => ("r", percent / 100.0),
            false => ("w", (0.2 + percent / 25.0).min(1.0)),
        };
        format!(
            "<rect class=\"{kind}\" x=\"{}\" y=\"{}\" width=\"{CELL}\" height=\"{CELL}\" fill-opacity=\"{opacity:.2}\">\
             <title>{} answered as {}: {rows} of {all}</title></rect>",
            place[answer] * CELL,
            place[class] * CELL,
            escape(class),
            escape(answer)
        )
    };
    let right = classes.iter().filter_map(|class| of.get(class.as_str()));
    let right: String = right.map(|of| rect(of.class, of.class, of.right)).collect();
    let all_pairs = tally.pairs();
    let drawn = &all_pairs[..all_pairs.len().min(DRAWN)];
    let wrong: String = drawn
        .iter()
        .map(|pair| rect(pair.class, pair.answer, pair.rows))
        .collect();
    let names = if n <= MOST_NAMES {
        names(classes)
    } else {
        String::new()
    };
    let room = if n <= MOST_NAMES { NAMES } else { 2 };
    let rarer = match all_pairs.len() - drawn.len() {
        0 => String::new(),
        more => format!(" {more} rarer pairs are not drawn."),
    };
    let side = n * CELL;
    format!(
        "<figure class=\"card\"><figcaption><b>{n} classes: a line for each, a column for each answer</b></figcaption>\
         <label class=\"zoom\"><input type=\"checkbox\"> enlarge</label>\
         <div class=\"scroll\" tabindex=\"0\"><svg class=\"matrix\" viewBox=\"-{room} -{room} {} {}\" role=\"img\" \
         aria-label=\"Confusion matrix of {n} classes\"><rect class=\"ground\" width=\"{side}\" height=\"{side}\"/>\
         {right}{wrong}{names}</svg></div>{}</figure>\n",
        side + room,
        side + room,
        note(&format!(
            "Blue is right, orange wrong. Classes that are confused lie side by side, so that similar ones form blocks. \
             Rest the pointer on a cell to read it.{rarer}"
        ))
    )
}

fn names(classes: &[String]) -> String {
    let name = |(at, class): (usize, &String)| {
        let middle = at * CELL + CELL / 2 + 3;
        let class = escape(&clipped(class, 16));
        format!(
            "<text class=\"end\" x=\"-4\" y=\"{middle}\">{class}</text>\
             <text transform=\"translate({middle} -4) rotate(-90)\">{class}</text>"
        )
    };
    classes.iter().enumerate().map(name).collect()
}

/// The pairs of classes that are confused most.
pub(super) fn pairs(tally: &Tally) -> String {
    let pairs = tally.pairs();
    if pairs.is_empty() {
        return String::new();
    }
    let of: HashMap<&str, OfClass<'_>> = tally.classes().into_iter().map(|of| (of.class, of)).collect();
    let line = |pair: &Pair<'_>| {
        let all = of.get(pair.class).map_or(1, |of| of.rows.max(1));
        format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.1} %</td></tr>\n",
            escape(pair.class),
            escape(pair.answer),
            pair.rows,
            100.0 * pair.rows as f64 / all as f64
        )
    };
    let lines: String = pairs.iter().take(LISTED).map(line).collect();
    format!(
        "<figure class=\"card\"><figcaption><b>Confused most</b></figcaption><div class=\"scroll\" tabindex=\"0\"><table class=\"pairs-of\">\
         <thead><tr><th scope=\"col\">class</th><th scope=\"col\">taken for</th><th scope=\"col\">rows</th>\
         <th scope=\"col\">of its rows</th></tr></thead><tbody>{lines}</tbody></table></div></figure>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Seen;

    fn tally(rows: &[(&str, &str)]) -> Tally {
        let mut tally = Tally::default();
        for (row, &(class, answer)) in rows.iter().enumerate() {
            tally.add(&Seen {
                row,
                class,
                answer,
                ..Seen::default()
            });
        }
        tally
    }

    #[test]
    fn few_classes_are_a_table_of_numbers() {
        let figures = figures(&tally(&[
            ("a", "a"),
            ("a", "b"),
            ("b", "b"),
            ("b", "b"),
            ("b", "<z>"),
        ]));
        assert!(
            figures.contains("<th scope=\"row\">a</th><td class=\"hot\" style=\"--v:40\">1</td>"),
            "{figures}"
        );
        assert!(
            figures.contains("<th scope=\"col\">&lt;z&gt;</th>"),
            "an answer that no row is of"
        );
        assert!(!figures.contains("<th scope=\"row\">&lt;z&gt;"));
        assert!(
            figures.contains("<td>b</td><td>&lt;z&gt;</td><td>1</td><td>33.3 %</td>"),
            "{figures}"
        );
    }

    #[test]
    fn confused_classes_lie_side_by_side() {
        let classes: Vec<String> = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let pair = |class, answer, rows| Pair { class, answer, rows };
        let pairs = [
            pair("a", "e", 9),
            pair("e", "c", 5),
            pair("b", "d", 4),
            pair("c", "e", 1),
        ];
        assert_eq!(side_by_side(&classes, &pairs), ["b", "d", "c", "e", "a"]);
    }

    #[test]
    fn many_classes_are_a_picture_with_a_cell_for_each_pair() {
        let names: Vec<String> = (0..200).map(|class| class.to_string()).collect();
        let rows = names
            .iter()
            .flat_map(|class| [(class.as_str(), class.as_str()), (class.as_str(), "7")]);
        let figures = figures(&tally(&rows.collect::<Vec<_>>()));
        assert_eq!(figures.matches("class=\"r\"").count(), 200);
        assert_eq!(figures.matches("class=\"w\"").count(), 199);
        assert!(figures.contains("<title>150 answered as 7: 1 of 2</title>"));
        assert!(!figures.contains("<text"), "200 names would not be readable");
    }
}
