//! The text of a csv file on its way to the parser: quotes must open, close and stay on their line, and no byte is NUL.
//!
//! The parser itself accepts every text. With a quote that is never closed, the rest of the file would be one cell, so
//! [`Lines`] stops at the place of the mistake, before the parser collects what follows.

use std::fmt;
use std::io::{self, Read};

/// The most lines that a quoted text may run over: names in a header may be broken, a whole table is a lost quote.
const MOST_BREAKS: u64 = 8;

/// The most bytes of a line: more is not a row, and would have to fit into memory.
const LONGEST_LINE: u64 = 256 << 20;

const BYTE_ORDER_MARK: &[u8; 3] = b"\xef\xbb\xbf";

/// Why a text is not read any further.
#[derive(Debug)]
pub(super) struct Misquoted {
    line: u64,
    what: &'static str,
}

const NEVER_CLOSED: &str =
    "a quote is opened and not closed; is a quote missing? Close it, or double it if it is part of the text";
const INSIDE: &str = "a quote stands inside a text: put the whole text in quotes, without blanks before them, and \
                      double the quotes inside it";
const NUL: &str = "a NUL byte, which no text has: save the file as UTF-8";
const TOO_LONG: &str = "the line is longer than 256 MB: a table has one row a line";

impl fmt::Display for Misquoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Misquoted {}

#[derive(Clone, Copy, PartialEq)]
enum At {
    /// Where a quote may open.
    Start,
    Text,
    Quoted,
    /// Behind a quote that closes, or is the first of a double one.
    Closed,
    /// Behind a closed text, and blanks.
    Behind,
}

/// Follows the quotes of a text, byte by byte.
struct Quotes {
    delimiter: u8,
    at: At,
    line: u64,
    /// The line on which the last quote was opened.
    opened: u64,
    /// Bytes of this line.
    length: u64,
    /// Bytes that have been seen.
    seen: u64,
}

impl Quotes {
    fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            at: At::Start,
            line: 1,
            opened: 1,
            length: 0,
            seen: 0,
        }
    }

    /// Follows the next bytes.
    fn follow(&mut self, mut bytes: &[u8]) -> Result<(), Misquoted> {
        while !bytes.is_empty() {
            let (block, rest) = bytes.split_at(bytes.len().min(4096));
            if self.seen >= BYTE_ORDER_MARK.len() as u64
                && matches!(self.at, At::Start | At::Text)
                && is_plain(block)
            {
                self.pass(block);
            } else {
                block.iter().try_for_each(|&byte| self.step(byte))?;
            }
            if self.length > LONGEST_LINE {
                return Err(self.wrong(TOO_LONG));
            }
            bytes = rest;
        }
        Ok(())
    }

    /// Follows bytes without quotes.
    fn pass(&mut self, block: &[u8]) {
        let breaks = block.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.line += breaks;
        self.seen += block.len() as u64;
        self.length = match block.iter().rposition(|&byte| byte == b'\n') {
            Some(at) => (block.len() - at) as u64,
            None => self.length + block.len() as u64,
        };
        // Only the last byte decides what a quote would mean here.
        if let Some(&last) = block.last() {
            self.at = if self.ends_a_cell(last) {
                At::Start
            } else {
                At::Text
            };
        }
    }

    fn step(&mut self, byte: u8) -> Result<(), Misquoted> {
        let ends = self.ends_a_cell(byte);
        self.at = match (self.at, byte) {
            (_, 0) => return Err(self.wrong(NUL)),
            (At::Start, b'"') => {
                self.opened = self.line;
                At::Quoted
            }
            (At::Quoted, b'"') => At::Closed,
            (At::Closed, b'"') => At::Quoted, // A double quote is part of the text.
            (_, b'"') => return Err(self.wrong(INSIDE)),
            (At::Quoted, _) => At::Quoted,
            _ if ends => At::Start,
            (At::Closed | At::Behind, b' ' | b'\t') => At::Behind,
            (At::Closed | At::Behind, _) => return Err(self.wrong(INSIDE)),
            (At::Start, _) if self.in_byte_order_mark(byte) => At::Start,
            _ => At::Text,
        };
        self.seen += 1;
        self.length += 1;
        if byte == b'\n' {
            self.line += 1;
            self.length = 0;
        }
        if self.at == At::Quoted && self.line - self.opened > MOST_BREAKS {
            return self.end();
        }
        Ok(())
    }

    /// The end of the text, where no quote may be open.
    fn end(&self) -> Result<(), Misquoted> {
        if self.at != At::Quoted {
            return Ok(());
        }
        Err(Misquoted {
            line: self.opened,
            what: NEVER_CLOSED,
        })
    }

    fn ends_a_cell(&self, byte: u8) -> bool {
        byte == self.delimiter || byte == b'\n' || byte == b'\r'
    }

    fn in_byte_order_mark(&self, byte: u8) -> bool {
        usize::try_from(self.seen).is_ok_and(|at| BYTE_ORDER_MARK.get(at) == Some(&byte))
    }

    fn wrong(&self, what: &'static str) -> Misquoted {
        Misquoted {
            line: self.line,
            what,
        }
    }
}

/// Whether there is neither a quote nor NUL. It does not look for the place, so that many bytes are compared at a time.
fn is_plain(block: &[u8]) -> bool {
    !block
        .iter()
        .fold(false, |found, &byte| found | (byte == b'"') | (byte == 0))
}

/// Checks the start of a text; `cut` tells whether it goes on.
pub(super) fn check(start: &str, cut: bool, delimiter: u8) -> Result<(), String> {
    let mut quotes = Quotes::new(delimiter);
    let followed = quotes.follow(start.as_bytes());
    let ended = if cut { Ok(()) } else { quotes.end() };
    followed.and(ended).map_err(|wrong| wrong.to_string())
}

/// Reads a text and fails where it is misquoted.
pub(super) struct Lines<R> {
    reader: R,
    quotes: Quotes,
}

impl<R: Read> Lines<R> {
    pub fn new(reader: R, delimiter: u8) -> Self {
        Self {
            reader,
            quotes: Quotes::new(delimiter),
        }
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        let followed = match n {
            0 => self.quotes.end(),
            n => self.quotes.follow(&buffer[..n]),
        };
        followed.map_err(io::Error::other)?;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text in pieces of every small size, so that every state meets the border of a piece.
    fn outcomes(text: &[u8]) -> Vec<Result<(), String>> {
        let follow = |size: usize| {
            let mut quotes = Quotes::new(b',');
            let mut pieces = text.chunks(size);
            let followed = pieces.try_for_each(|piece| quotes.follow(piece));
            followed
                .and_then(|()| quotes.end())
                .map_err(|wrong| wrong.to_string())
        };
        (1..=7).chain([4096]).map(follow).collect()
    }

    #[test]
    fn texts_that_are_quoted_well_pass() {
        for text in [
            "1,2,a\n",
            "\u{feff}\"w\",\"h\"\r\n1,2\r\n",
            "1,\"a \"\"b\"\", c\" ,2\n",
            "\"w\n(cm)\",kind\n1,a\n",
            "1,\"\"\n",
            "1,a\r2,\"b\"\r",
        ] {
            assert!(outcomes(text.as_bytes()).iter().all(Result::is_ok), "{text}");
        }
    }

    #[test]
    fn what_is_misquoted_is_named_by_line() {
        let long = format!("1,a\n2,\"b\n{}", "3,c\n".repeat(20_000));
        for (text, expected) in [
            ("1,2\n3,\"a\n5,b\n", "line 2: a quote is opened"),
            (&long, "line 2: a quote is opened"),
            ("\"1,2\n3,4\n", "line 1: a quote is opened"),
            ("1,\"a\n3,\"b\"\n", "line 2: a quote stands inside"),
            ("1,2\n3,a\"b\n", "line 2: a quote stands inside"),
            ("1, \"a\"\n", "line 1: a quote stands inside"),
            ("1,\"a\"b\n", "line 1: a quote stands inside"),
            ("1,\"a\" \"b\"\n", "line 1: a quote stands inside"),
            ("1,2\n3,a\0\n", "line 2: a NUL byte"),
            ("1,2\n3,\"a\0\"\n", "line 2: a NUL byte"),
        ] {
            for outcome in outcomes(text.as_bytes()) {
                assert!(outcome.unwrap_err().starts_with(expected), "{expected}");
            }
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_collected() {
        let endless = Lines::new(io::repeat(b' '), b',');
        let error = io::copy(&mut endless.take(LONGEST_LINE + (1 << 20)), &mut io::sink());
        assert!(error.unwrap_err().to_string().contains("longer than 256 MB"));
    }
}
