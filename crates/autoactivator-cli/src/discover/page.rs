//! The page of `discover`: what is in each group, how tight it is, and why it is no known class. No script, no request.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use autoactivator::counted;
use autoactivator::discovery::Group;

use super::proposal::{Shown, Typical};

/// A larger picture is shown from the folder of its group, not from within the page.
const EMBEDDED: u64 = 1 << 16;

const STYLE: &str = include_str!("page.css");

/// What the page shows.
pub(super) struct Groups<'a> {
    pub groups: &'a [Group],
    /// Number of rows of each group.
    pub sizes: &'a [usize],
    pub typical: &'a [Vec<Typical>],
    /// Number of rows that were looked at.
    pub n_rows: usize,
}

/// The page; pictures lie in `folder`.
pub(super) fn html(shown: &Groups<'_>, folder: &Path) -> String {
    let title = format!("{} may be new", counted(shown.groups.len(), "class"));
    let grouped: usize = shown.sizes.iter().sum();
    let mut content = format!(
        "<h1>{title}</h1>\n<p>{} of {} look like no known class and like each other. Below are those that are most typical of \
         each group. Rename what is a class, delete what is none, and learn the rest.</p>\n",
        grouped,
        counted(shown.n_rows, "row"),
    );
    for (at, group) in shown.groups.iter().enumerate() {
        content += &section(group, shown.sizes[at], &shown.typical[at], folder);
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src \
         data: 'self' file:\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{content}</main>\n\
         </body>\n</html>\n"
    )
}

fn section(group: &Group, size: usize, typical: &[Typical], folder: &Path) -> String {
    let mut section = format!(
        "<section>\n<h2>{}</h2>\n<p>{}, tightness {:.2}. {}</p>\n<ul>\n",
        escape(&group.name),
        counted(size, "row"),
        group.tightness,
        escape(&why(group)),
    );
    for typical in typical {
        let shown = match &typical.shown {
            Shown::Picture(place) => picture(&folder.join(place), place),
            Shown::Text(text) => escape(text),
        };
        let _ = writeln!(
            section,
            "<li title=\"row {}, {:.2} alike\">{shown}</li>",
            typical.row, typical.likeness
        );
    }
    section + "</ul>\n</section>\n"
}

/// Why a group is not the known class that is nearest to it.
fn why(group: &Group) -> String {
    let nearest = &group.nearest;
    format!(
        "The nearest known class is {}. Its own rows are {:.2} like its mean, but rows of this group are only {:.2} like it, \
         and {:.2} like their own mean. Half of them are stranger than {:.0} % of known rows.",
        nearest.class,
        nearest.own,
        nearest.likeness,
        group.tightness,
        100.0 * (1.0 - group.known),
    )
}

/// A picture as an element, within the page if it is small.
fn picture(path: &Path, place: &Path) -> String {
    let name = escape(&place.display().to_string());
    let small = fs::metadata(path).is_ok_and(|found| found.len() <= EMBEDDED);
    let bytes = if small { fs::read(path).ok() } else { None };
    let source = match (bytes, kind(path)) {
        (Some(bytes), Some(kind)) => format!("data:image/{kind};base64,{}", base64(&bytes)),
        _ => name.replace('%', "%25").replace('#', "%23").replace('?', "%3F"),
    };
    format!("<img src=\"{source}\" alt=\"{name}\">")
}

fn kind(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "png" => Some("png"),
        "jpg" | "jpeg" => Some("jpeg"),
        "webp" => Some("webp"),
        _ => None,
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            text.push(if digit <= three.len() {
                DIGITS[(bits >> (18 - 6 * digit) & 63) as usize] as char
            } else {
                '='
            });
        }
    }
    text
}

/// Makes text safe inside an element or a quoted attribute.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_number_are_written_in_base64() {
        let written = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(written, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }

    #[test]
    fn names_cannot_become_elements() {
        assert_eq!(escape("<b>\"&"), "&lt;b&gt;&quot;&amp;");
    }
}
