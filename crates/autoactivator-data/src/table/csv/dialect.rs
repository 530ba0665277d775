//! How a csv file is written: its delimiter, its header, and a column that only counts its rows.
//!
//! [`Sample`] is the start of a file. [`Dialect::find`] tells from it what the user did not say. What could be read in
//! two ways is refused, with the option that decides it.

use csv::{ReaderBuilder, StringRecord, Trim};

use super::{lines, prose};
use crate::table::columns::{Columns, is_label};

/// Characters that separate cells; of two that fit as well, the first is taken.
const DELIMITERS: [u8; 5] = [b',', b';', b'\t', b'|', b' '];

/// The most lines that are looked at.
const LINES: usize = 200;

/// From this many columns on, the numbers 0, 1, 2, ... are names and not a row.
const TOO_LONG_FOR_A_ROW: usize = 5;

/// Numbers in even steps, and rows below them, that make the first line doubtful.
const FEW: usize = 3;

/// Names of a first column that may only count the rows.
const INDEX: [&str; 5] = ["", "unnamed: 0", "index", "id", "row"];

/// How a file is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dialect {
    pub delimiter: u8,
    /// Lines before the first that counts: Excel's `sep=;`.
    pub skipped: usize,
    pub has_header: bool,
    /// The column that only counts or names the rows.
    pub index: Option<usize>,
}

/// The first lines of a file.
pub(super) struct Sample {
    text: String,
    /// Whether the file goes on.
    cut: bool,
}

impl Sample {
    /// The start of a file; `cut` tells whether it goes on.
    pub fn new(bytes: &[u8], cut: bool) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self {
            text: text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned(),
            cut,
        }
    }

    /// The delimiter that Excel states in a first line of its own.
    fn stated_delimiter(&self) -> Option<u8> {
        let line = self.text.lines().next()?.trim_end();
        match line.strip_prefix("sep=")?.as_bytes() {
            [delimiter] => Some(*delimiter),
            _ => None,
        }
    }

    pub(super) fn records(&self, delimiter: u8, skipped: usize) -> Vec<StringRecord> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(Trim::All)
            .delimiter(delimiter)
            .from_reader(self.text.as_bytes());
        let records = reader.records().filter_map(Result::ok).skip(skipped);
        let mut records: Vec<StringRecord> = records.take(LINES).collect();
        if self.cut && records.len() > 1 && records.len() < LINES {
            records.pop(); // It may be cut in the middle.
        }
        records
    }
}

impl Dialect {
    /// Finds out what `wanted` leaves open.
    pub fn find(sample: &Sample, wanted: &Columns) -> Result<Self, String> {
        let stated = sample.stated_delimiter();
        let skipped = usize::from(stated.is_some());
        let likeliest = || match &wanted.text {
            Some(text) => prose::delimiter(sample, skipped, text),
            None => likeliest_delimiter(sample, skipped),
        };
        if wanted.text.is_none() && wanted.features.is_empty() {
            prose::refuse_text(sample, skipped)?;
        }
        let delimiter = wanted.delimiter.or(stated).unwrap_or_else(likeliest);
        // A lost quote would make the rest of the file one name.
        lines::check(&sample.text, sample.cut, delimiter)?;
        let records = sample.records(delimiter, skipped);
        let Some((first, rest)) = records.split_first() else {
            return Err(super::NO_ROWS.to_owned());
        };
        let has_header = match (wanted.header, &wanted.text) {
            (Some(given), _) => given,
            (None, Some(text)) => prose::is_header(first, text),
            (None, None) => is_header(first, rest, wanted)?,
        };
        let index = if has_header {
            index(first, rest, wanted)?
        } else {
            None
        };
        Ok(Self {
            delimiter,
            skipped,
            has_header,
            index,
        })
    }
}

/// The delimiter that makes the most cells numbers.
fn likeliest_delimiter(sample: &Sample, skipped: usize) -> u8 {
    let share = |delimiter: u8| {
        let records = sample.records(delimiter, skipped);
        // A header tells nothing about numbers.
        let rows = if records.len() > 1 {
            &records[1..]
        } else {
            &records[..]
        };
        let cells = || rows.iter().flatten();
        let several = rows.iter().any(|record| record.len() > 1);
        let numbers = cells().filter(|cell| is_number(cell)).count();
        (several, numbers as f64 / cells().count().max(1) as f64)
    };
    let mut best = (b',', share(b','));
    for delimiter in &DELIMITERS[1..] {
        let found = share(*delimiter);
        if found > best.1 {
            best = (*delimiter, found);
        }
    }
    best.0
}

/// Whether a cell is a number, with a point or with a comma.
pub(super) fn is_number(cell: &str) -> bool {
    cell.parse::<f32>().is_ok() || has_decimal_comma(cell)
}

/// Whether a cell is a number with a decimal comma.
pub(super) fn has_decimal_comma(cell: &str) -> bool {
    cell.matches(',').count() == 1 && cell.replace(',', ".").parse::<f32>().is_ok()
}

/// Whether the first line is a header.
fn is_header(first: &StringRecord, rest: &[StringRecord], wanted: &Columns) -> Result<bool, String> {
    let cells: Vec<&str> = first.iter().collect();
    if let Some(names) = &wanted.names
        && names.iter().all(|name| cells.contains(&name.as_str()))
    {
        return Ok(true);
    }
    if cells.iter().filter(|cell| cell.is_empty()).count() > 1 {
        return Ok(false); // A row whose values were lost.
    }
    // No feature is a number. The last cell does not count: it is that of the class, which may be one.
    let features = match wanted.width {
        Some(width) if width == cells.len() => &cells[..],
        _ => &cells[..cells.len().saturating_sub(1).max(1)],
    };
    if features.iter().all(|cell| !is_number(cell)) {
        return Ok(true);
    }
    let numbers: Vec<&str> = cells.iter().copied().filter(|cell| is_number(cell)).collect();
    let names: Vec<usize> = (0..cells.len()).filter(|&at| !is_number(cells[at])).collect();
    let recurs = |&at: &usize| rest.iter().any(|record| record.get(at) == Some(cells[at]));
    let only_here = !names.is_empty() && !rest.is_empty() && !names.iter().any(recurs);
    let counts_from_zero = (0..numbers.len()).all(|at| numbers[at] == at.to_string());
    let labelled = cells.iter().any(|cell| is_label(cell));
    if counts_from_zero && (only_here || (names.is_empty() && cells.len() >= TOO_LONG_FOR_A_ROW)) {
        return Ok(true);
    }
    let counted = numbers.len() >= FEW && rest.len() >= FEW && has_even_steps(&numbers);
    if labelled || (only_here && names.len() == 1 && counted) {
        return Err(format!(
            "the first line ({}) may hold column names or the first row: say which with --header or --no-header",
            cells.iter().take(6).copied().collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(false)
}

/// Whether numbers are whole and rise in even steps, as years and numbered columns do, and rows hardly ever.
fn has_even_steps(numbers: &[&str]) -> bool {
    let whole: Option<Vec<i64>> = numbers.iter().map(|number| number.parse().ok()).collect();
    let whole = whole.unwrap_or_default();
    let steps: Vec<i64> = whole
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]))
        .collect();
    steps
        .first()
        .is_some_and(|&first| first > 0 && steps.iter().all(|&step| step == first))
}

/// The first column, when it only counts or names the rows.
fn index(header: &StringRecord, rest: &[StringRecord], wanted: &Columns) -> Result<Option<usize>, String> {
    let name = header.get(0).unwrap_or_default();
    let asked = |names: &[String]| names.iter().any(|asked| asked == name);
    let needed = asked(&wanted.features)
        || wanted.names.as_deref().is_some_and(asked)
        || wanted.label.as_deref() == Some(name)
        || wanted.text.as_deref() == Some(name)
        || wanted.weight.as_deref() == Some(name);
    let may_count = INDEX.iter().any(|known| name.eq_ignore_ascii_case(known));
    if !may_count || (needed && !name.is_empty()) {
        return Ok(None);
    }
    let cells: Vec<&str> = rest.iter().filter_map(|record| record.get(0)).collect();
    let first: Option<i64> = cells.first().and_then(|cell| cell.parse().ok());
    let counts = first.is_some_and(|first| {
        let expected = (0..).map(|at: i64| first.saturating_add(at).to_string());
        (0..=1).contains(&first)
            && cells
                .iter()
                .zip(expected)
                .all(|(cell, expected)| **cell == expected)
    });
    let names_rows = name.is_empty() && cells.iter().all(|cell| !is_number(cell));
    if counts || names_rows {
        return Ok(Some(0));
    }
    if name.is_empty() {
        return Err(
            "the first column has no name and does not count the rows: name it in the header, or remove it"
                .to_owned(),
        );
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<(char, bool, Option<usize>), String> {
        let dialect = Dialect::find(&Sample::new(text.as_bytes(), false), &Columns::default())?;
        Ok((char::from(dialect.delimiter), dialect.has_header, dialect.index))
    }

    #[test]
    fn delimiters_are_found_by_the_numbers_between_them() {
        for (text, delimiter) in [
            ("1,2,a\n3,4,b\n", ','),
            ("w;h;kind\n1,5;2,5;a\n3,5;4,5;b\n", ';'),
            ("1;2;a\n", ';'),
            ("w\th\tkind\n1\t2\ta b\n", '\t'),
            ("1|2|a\n", '|'),
            ("1.0e+00 2.0e+00 0.0e+00\n", ' '),
            ("1, 2, a b\n3, 4, c\n", ','),
            ("1,2,a;b\n3,4,c;d\n", ','),
            ("sep=;\nw;h;kind\n1;2;a\n", ';'),
        ] {
            assert_eq!(found(text).unwrap().0, delimiter, "{text}");
        }
    }

    #[test]
    fn a_header_is_told_from_a_row() {
        for (text, header) in [
            ("w,h,kind\n1,2,a\n", true),
            ("1,2,a\n3,4,b\n", false),
            ("0,1,2,label\n5,6,7,a\n", true),
            ("0,1,2,species\n5,6,7,a\n8,9,1,b\n", true),
            (",0,1,label\n0,5,6,a\n", true),
            ("0,1,2,a\n5,6,7,a\n8,9,1,b\n", false),
            ("0,1,2,3,4\n5,6,7,8,1\n", true),
            ("0,1,2\n0,0,1\n", false),
            ("1,x,a\n", false),
        ] {
            assert_eq!(found(text).unwrap().1, header, "{text}");
        }
        for text in [
            "2019,2020,2021,kind\n5,6,1,a\n7,8,1,b\n5,5,5,a\n",
            "3,9,label\n5,6,a\n",
        ] {
            assert!(found(text).unwrap_err().contains("--no-header"), "{text}");
        }
    }

    #[test]
    fn a_first_column_that_only_counts_is_found() {
        for (text, index) in [
            (",w,kind\n0,5,a\n1,6,b\n", Some(0)),
            ("\"\",\"w\",\"kind\"\n\"1\",5,\"a\"\n\"2\",6,\"b\"\n", Some(0)),
            (
                "\"\",\"w\",\"kind\"\n\"Mazda\",5,\"a\"\n\"Fiat\",6,\"b\"\n",
                Some(0),
            ),
            ("Unnamed: 0,w,kind\n0,5,a\n1,6,b\n", Some(0)),
            ("id,w,kind\n1,5,a\n2,6,b\n", Some(0)),
            ("id,w,kind\n7,5,a\n2,6,b\n", None),
            ("w,h,kind\n0,5,a\n1,6,b\n", None),
        ] {
            assert_eq!(found(text).unwrap().2, index, "{text}");
        }
        assert!(found(",w,kind\n5,5,a\n2,6,b\n").unwrap_err().contains("no name"));
    }
}
