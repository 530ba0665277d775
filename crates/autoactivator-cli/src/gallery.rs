//! A page of rows: what each looks like, and a few words about it. One file, without scripts.

use std::fmt::Write;

use crate::shown::Shown;

/// Most rows on a page.
pub const MOST: usize = 500;

const STYLE: &str = "body{font:16px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;\
    color-scheme:light dark}ol{list-style:none;padding:0;display:grid;gap:1rem;\
    grid-template-columns:repeat(auto-fill,minmax(13rem,1fr))}li{border:1px solid #8886;border-radius:8px;\
    padding:.8rem;overflow-wrap:anywhere}img{display:block;height:96px;margin-bottom:.5rem;image-rendering:pixelated}\
    blockquote{margin:0 0 .5rem}small{opacity:.75}b{font-weight:600}code{font-size:.85em}";

/// A row on the page.
pub struct Card {
    pub shown: Option<Shown>,
    /// Its number or its name.
    pub name: String,
    /// What is said of it, and more of that in small letters.
    pub words: String,
    pub small: String,
}

/// The page.
pub fn page(title: &str, about: &str, cards: &[Card]) -> String {
    let title = escaped(title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style>\n<h1>{title}</h1>\n<p>{}</p>\n<ol>\n",
        escaped(about)
    );
    for card in cards {
        let Card {
            name, words, small, ..
        } = card;
        let picture = card.shown.as_ref().map(picture).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "<li>{picture}<b>{}</b><br>{}<br><small>{}</small></li>",
            escaped(name),
            escaped(words),
            escaped(small)
        );
    }
    page + "</ol>\n</html>\n"
}

fn picture(shown: &Shown) -> String {
    match shown {
        Shown::Picture(address) => format!("<img src=\"{}\" alt=\"\">", escaped(address)),
        Shown::Sentence(text) => format!("<blockquote>{}</blockquote>", escaped(text)),
        Shown::Values(text) => format!("<p><code>{}</code></p>", escaped(text)),
    }
}

/// Text that cannot be taken for a tag.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            _ => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_row_becomes_a_tag() {
        let card = Card {
            shown: Some(Shown::Sentence("<script>".to_owned())),
            name: "\"<b>".to_owned(),
            words: "a & b".to_owned(),
            small: String::new(),
        };
        let page = page("<t>", "", &[card]);
        assert!(!page.contains("<script>") && page.contains("&lt;script&gt;"));
        assert!(page.contains("&quot;&lt;b&gt;") && page.contains("a &amp; b"));
    }
}
