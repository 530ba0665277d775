//! What reaches a terminal: names out of files may hold control characters, which would clear the screen or feign other
//! text. They are shown as `\u{1b}`. Data that goes to a file or a pipe stays as it is.
//!
//! Stderr has three loudnesses, [`Voice`]: `warn!` is always heard, `say!` unless the user wants quiet, and `detail!`
//! only with `--verbose`. Colours are for terminals, and for users who have not set `NO_COLOR`.

use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, StdoutLock, Write};
use std::sync::OnceLock;

use clap::builder::styling::{AnsiColor, Style};

/// Prints to stderr whatever happens: errors, warnings, and what was left out.
macro_rules! warn {
    ($($words:tt)*) => {
        $crate::terminal::tell($crate::terminal::Voice::Quiet, &format!($($words)*))
    };
}

/// Prints a message to stderr.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::terminal::tell($crate::terminal::Voice::Usual, &format!($($words)*))
    };
}

/// Prints a message to stderr for those who want to know more.
macro_rules! detail {
    ($($words:tt)*) => {
        $crate::terminal::tell($crate::terminal::Voice::Verbose, &format!($($words)*))
    };
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Voice {
    /// Warnings and errors.
    Quiet,
    /// Also receipts, notes and progress.
    Usual,
    /// Also what was found and how long it took.
    Verbose,
}

static VOICE: OnceLock<Voice> = OnceLock::new();

/// Sets how much is said from now on; the first call counts.
pub fn speak(voice: Voice) {
    let _ = VOICE.set(voice);
}

/// How much is said.
pub fn voice() -> Voice {
    VOICE.get().copied().unwrap_or(Voice::Usual)
}

/// Prints a message that is meant for this voice and all louder ones.
pub fn tell(least: Voice, message: &str) {
    if voice() >= least {
        let message = harmless(message);
        let has_colours = io::stderr().is_terminal() && wants_colours(|name| env::var(name).ok());
        eprintln!("{}", if has_colours { coloured(&message) } else { message });
    }
}

/// Whether a user whose environment this is wants colours on a terminal.
fn wants_colours(variable: impl Fn(&str) -> Option<String>) -> bool {
    let is_plain = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_plain && variable("TERM").is_none_or(|kind| kind != "dumb")
}

/// A message whose first word has the colour of what it announces.
fn coloured(message: &str) -> Cow<'_, str> {
    let colours = [("error:", AnsiColor::Red), ("warning:", AnsiColor::Yellow)];
    let announced = colours
        .iter()
        .find_map(|(word, colour)| Some((word, colour, message.strip_prefix(word)?)));
    match announced {
        Some((word, colour, rest)) => {
            let style = Style::new().bold().fg_color(Some((*colour).into()));
            Cow::Owned(format!("{style}{word}{style:#}{rest}"))
        }
        None => Cow::Borrowed(message),
    }
}

/// Text with its control characters spelled out, except the ends of lines and tabulators, and with those that turn around
/// the order in which the rest of a line is shown.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let acts = |c: char| turns(c) || (c.is_control() && c != '\n' && c != '\t');
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
        let text = "a\u{1b}[31mred\u{9b}\r, ü\u{202e}, 中\tb\n";
        let expected = "a\\u{1b}[31mred\\u{9b}\\u{d}, ü\\u{202e}, 中\tb\n";
        assert_eq!(harmless(text), expected);
        for cut in 0..=text.len() {
            let mut shown = Harmless::new(Vec::new());
            shown.write_all(&text.as_bytes()[..cut]).unwrap();
            shown.write_all(&text.as_bytes()[cut..]).unwrap();
            assert_eq!(String::from_utf8(shown.to).unwrap(), expected, "cut at {cut}");
        }
        assert!(matches!(harmless("a, ü\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn colours_are_for_those_who_can_see_them() {
        let wants = |variables: &[(&str, &str)]| {
            wants_colours(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(wants(&[]) && wants(&[("TERM", "xterm")]) && wants(&[("NO_COLOR", "")]));
        assert!(!wants(&[("NO_COLOR", "1")]) && !wants(&[("TERM", "dumb")]));
        assert_eq!(coloured("error: it"), "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m it");
        assert_eq!(coloured("an error: it"), "an error: it");
    }
}
