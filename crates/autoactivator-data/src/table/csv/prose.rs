//! csv files that hold text: how they are written, and how to tell that a file is one of them.
//!
//! Sentences hold blanks, commas and numbers, so what is usual for tables of numbers does not help to read them. Here the
//! name of the text column decides.

use csv::StringRecord;

use super::dialect::{Sample, is_number};

/// Characters that separate a sentence from its class; a blank does not.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The fewest words of a sentence, where nobody said that it is one.
const SENTENCE: usize = 3;

/// The delimiter under which the first line has the text column, else the first that gives all lines several cells, and
/// equally many.
pub(super) fn delimiter(sample: &Sample, skipped: usize, text: &str) -> u8 {
    let named = |&delimiter: &u8| {
        let records = sample.records(delimiter, skipped);
        records
            .first()
            .is_some_and(|first| first.iter().any(|cell| cell == text))
    };
    let even = |&delimiter: &u8| width(&sample.records(delimiter, skipped)).is_some_and(|width| width > 1);
    let find = |fits: &dyn Fn(&u8) -> bool| DELIMITERS.into_iter().find(fits);
    find(&named).or_else(|| find(&even)).unwrap_or(b',')
}

/// Whether the first line is a header: it has the text column, unless that is given as a number.
pub(super) fn is_header(first: &StringRecord, text: &str) -> bool {
    first.iter().any(|cell| cell == text) || text.parse::<usize>().is_err()
}

/// Refuses a file whose only column beside the class holds sentences, with the option that reads them.
pub(super) fn refuse_text(sample: &Sample, skipped: usize) -> Result<(), String> {
    // A line that can be divided is not a sentence.
    let several = DELIMITERS
        .into_iter()
        .any(|delimiter| width(&sample.records(delimiter, skipped)).is_some_and(|width| width > 1));
    for delimiter in DELIMITERS {
        let records = sample.records(delimiter, skipped);
        if several && width(&records) == Some(1) {
            continue;
        }
        let Some(at) = only_text(&records) else { continue };
        let head = records
            .first()
            .and_then(|first| first.get(at))
            .unwrap_or_default();
        let (column, option) = if is_sentence(head) || head.is_empty() {
            (format!("column {}", at + 1), (at + 1).to_string())
        } else {
            (format!("column '{head}'"), quoted(head))
        };
        return Err(format!("{column} looks like text: use --text {option}"));
    }
    Ok(())
}

/// The column of sentences of a file of one or two columns, when the other one does not hold numbers.
fn only_text(records: &[StringRecord]) -> Option<usize> {
    let width = width(records).filter(|width| (1..=2).contains(width))?;
    let share = |at: usize, is: &dyn Fn(&str) -> bool| {
        let rows = records
            .get(1..)
            .filter(|rows| !rows.is_empty())
            .unwrap_or(records);
        let found = rows
            .iter()
            .filter_map(|record| record.get(at))
            .filter(|cell| is(cell));
        2 * found.count() > rows.len()
    };
    let at = (0..width).find(|&at| share(at, &is_sentence))?;
    let others_are_words = (0..width).all(|other| other == at || !share(other, &is_number));
    others_are_words.then_some(at)
}

/// The number of cells of every line; none when lines differ.
fn width(records: &[StringRecord]) -> Option<usize> {
    let width = records.first()?.len();
    records
        .iter()
        .all(|record| record.len() == width)
        .then_some(width)
}

fn is_sentence(cell: &str) -> bool {
    let words = cell
        .split(' ')
        .filter(|word| word.contains(char::is_alphabetic) && !is_number(word));
    words.count() >= SENTENCE
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    if name.contains(char::is_whitespace) {
        format!("'{name}'")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(text: &str) -> Sample {
        Sample::new(text.as_bytes(), false)
    }

    #[test]
    fn the_delimiter_is_that_of_the_header_or_of_even_lines() {
        for (text, column, expected) in [
            ("text;intent\nhello, you 1 2;greet\n", "text", ';'),
            ("text,intent\nhow far is 1 2 3,way\n", "text", ','),
            ("one two\tgreet\nthree, four\tleave\n", "1", '\t'),
            ("text\none; two\n", "text", ','),
        ] {
            assert_eq!(
                char::from(delimiter(&sample(text), 0, column)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_table_of_sentences_is_told_from_others() {
        for (text, column) in [
            (
                "text,intent\nwhat is the time,time\nhow are you today,greet\n",
                "column 'text' looks like text: use --text text",
            ),
            (
                "what is the time;time\nhow are you today;greet\n",
                "column 1 looks like text: use --text 1",
            ),
            ("text\nwhat is the time\nhow are you\n", "--text text"),
            (
                "kind,what said\na,what is the time\nb,how are you\n",
                "--text 'what said'",
            ),
        ] {
            let reason = refuse_text(&sample(text), 0).unwrap_err();
            assert!(reason.contains(column), "{text}: {reason}");
        }
        for text in [
            "w,h,kind\n1,2,a\n",
            "1.5,a long class name\n2.5,another long name\n",
            "1 2 3\n4 5 6\n",
            "1 2 a\n4 5 b\n",
            "w h kind\n1 2 a\n3 4 b\n",
            "w\th\tkind\n1\t2\ta b\n",
            "1.0e+00 2.0e+00 0.0e+00\n",
            "w,\"h,kind\n1,2,a\n3,4,b\n",
        ] {
            assert_eq!(refuse_text(&sample(text), 0), Ok(()), "{text}");
        }
    }
}
