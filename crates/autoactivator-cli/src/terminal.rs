//! What reaches a terminal: names out of files may hold control characters, which would clear the screen or feign other
//! text. They are shown as `\u{1b}`. Data that goes to a file or a pipe stays as it is.

use std::borrow::Cow;
use std::io::{self, IsTerminal, StdoutLock, Write};

/// Prints a message to stderr.
macro_rules! say {
    ($($words:tt)*) => {
        eprintln!("{}", $crate::terminal::harmless(&format!($($words)*)))
    };
}

/// Text with its control characters spelled out, except the ends of lines and tabulators.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let spelled = |c: char| {
        if acts(c) {
            c.escape_unicode().to_string()
        } else {
            c.to_string()
        }
    };
    Cow::Owned(text.chars().map(spelled).collect())
}

/// Stdout, harmless if it is a terminal.
pub fn stdout() -> Box<dyn Write> {
    let stdout = io::stdout().lock();
    if stdout.is_terminal() {
        Box::new(Harmless::<StdoutLock<'_>>::new(stdout))
    } else {
        Box::new(stdout)
    }
}

/// A writer of text that spells out control characters.
struct Harmless<W: Write> {
    to: W,
    /// The beginning of a character whose rest has not come yet.
    begun: Vec<u8>,
}

impl<W: Write> Harmless<W> {
    fn new(to: W) -> Self {
        Self {
            to,
            begun: Vec::new(),
        }
    }
}

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = match str::from_utf8(&self.begun) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let text: Vec<u8> = self.begun.drain(..whole).collect();
        let text = String::from_utf8_lossy(&text);
        self.to.write_all(harmless(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_spelled_out_wherever_the_text_is_cut() {
        let text = "a\u{1b}[31mred\u{9b}\r, ü, 中\tb\n";
        let expected = "a\\u{1b}[31mred\\u{9b}\\u{d}, ü, 中\tb\n";
        assert_eq!(harmless(text), expected);
        for cut in 0..=text.len() {
            let mut shown = Harmless::new(Vec::new());
            shown.write_all(&text.as_bytes()[..cut]).unwrap();
            shown.write_all(&text.as_bytes()[cut..]).unwrap();
            assert_eq!(String::from_utf8(shown.to).unwrap(), expected, "cut at {cut}");
        }
        assert!(matches!(harmless("a, ü\n"), Cow::Borrowed(_)));
    }
}
