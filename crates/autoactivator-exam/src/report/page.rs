//! What every page of this crate is made of: one self-contained file, no script, no request to anywhere, light or dark
//! as the reader likes it.

use std::ffi::OsStr;
use std::path::Path;

const STYLE: &str = include_str!("page.css");

/// A whole page around its content.
pub(super) fn page(title: &str, content: &str) -> String {
    // The policy makes "no request to anywhere" a promise that the browser keeps; pictures are part of the page.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{content}</main>\n</body>\n</html>\n"
    )
}

/// What a page begins with: what it is, of what, the result in a sentence or two, and the facts.
pub(super) fn header(kicker: &str, title: &str, headline: &str, facts: &[String]) -> String {
    let facts: String = facts.iter().map(|fact| format!("<li>{fact}</li>")).collect();
    let headline = match headline {
        "" => String::new(),
        headline => format!("<p class=\"headline\">{}</p>\n", escape(headline)),
    };
    format!(
        "<header><p class=\"kicker\">{kicker}</p>\n<h1>{title}</h1>\n{headline}<ul class=\"facts\">{facts}</ul></header>\n"
    )
}

/// What a data set is called on a page: the last part of its path, since the others are of this machine.
pub(super) fn named(data: &str) -> String {
    let last = Path::new(data).file_name().and_then(OsStr::to_str);
    escape(last.unwrap_or(data))
}

/// A part of a page under a heading; nothing if there is no content.
pub(super) fn section(title: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!("<section><h2>{title}</h2>\n{content}</section>\n")
}

/// Figures side by side where there is room; nothing if there are none.
pub(super) fn grid(figures: &str) -> String {
    if figures.is_empty() {
        return String::new();
    }
    format!("<div class=\"grid\">{figures}</div>\n")
}

/// Small print.
pub(super) fn note(html: &str) -> String {
    format!("<p class=\"note\">{html}</p>\n")
}

/// Makes text safe inside an element or a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(c),
        }
    }
    safe
}

/// A count, its digits in groups of three: `60,000`.
pub(super) fn grouped(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut grouped = String::new();
    for (place, digit) in (0..digits.len()).rev().zip(digits.chars()) {
        grouped.push(digit);
        if place > 0 && place % 3 == 0 {
            grouped.push(',');
        }
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_called_by_the_last_part_of_its_path() {
        let names = ["/home/me/<zoo>.csv", "photos/", "mnist", "-", ".."].map(named);
        assert_eq!(names, ["&lt;zoo&gt;.csv", "photos", "mnist", "-", ".."]);
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(
            [0.0, 999.0, 1000.0, 539_784.2].map(grouped),
            ["0", "999", "1,000", "539,784"]
        );
    }
}
