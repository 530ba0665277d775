//! Progress where stderr is no terminal, as in a log file: a line now and then instead of a bar that moves.
//!
//! [`Lines`] takes the place of the terminal that [`progress`](crate::progress) draws on: of all that is drawn, it prints
//! what stands there when the next line is due.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressDrawTarget, TermLike};

use crate::terminal::harmless;

/// Columns of a line; blanks at its end are not printed.
const WIDTH: u16 = 120;

/// Prints at most one line in a span of time, and none in the first.
#[derive(Debug)]
pub struct Lines<W> {
    every: Duration,
    state: Mutex<State<W>>,
}

#[derive(Debug)]
struct State<W> {
    to: W,
    drawn: String,
    last: Instant,
}

impl Lines<io::Stderr> {
    /// Where a bar draws if a line is due this often.
    pub fn every(every: Duration) -> ProgressDrawTarget {
        ProgressDrawTarget::term_like(Box::new(Self::to(io::stderr(), every)))
    }
}

impl<W> Lines<W> {
    fn to(to: W, every: Duration) -> Self {
        let state = State {
            to,
            drawn: String::new(),
            last: Instant::now(),
        };
        Self {
            every,
            state: Mutex::new(state),
        }
    }

    fn with<R>(&self, act: impl FnOnce(&mut State<W>) -> R) -> R {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn erase(&self) -> io::Result<()> {
        self.with(|state| state.drawn.clear());
        Ok(())
    }
}

impl<W: Write + std::fmt::Debug + Send> TermLike for Lines<W> {
    fn width(&self) -> u16 {
        WIDTH
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.with(|state| state.drawn += text);
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    /// What is drawn is complete.
    fn flush(&self) -> io::Result<()> {
        self.with(|state| {
            let drawn = std::mem::take(&mut state.drawn);
            if drawn.trim().is_empty() || state.last.elapsed() < self.every {
                return Ok(());
            }
            state.last = Instant::now();
            writeln!(state.to, "{}", harmless(drawn.trim()))
        })
    }

    fn clear_line(&self) -> io::Result<()> {
        self.erase()
    }

    // A bar goes back to where it began to draw.
    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        self.erase()
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is printed of ten drawings.
    fn printed(every: Duration) -> String {
        let lines = Lines::to(Vec::new(), every);
        for done in 0..10 {
            lines.move_cursor_up(0).unwrap();
            lines.write_str(&format!("\r{done}/10 tasks")).unwrap();
            lines.write_str("    ").unwrap();
            lines.flush().unwrap();
        }
        lines.clear_line().unwrap();
        lines.flush().unwrap();
        String::from_utf8(lines.state.into_inner().unwrap().to).unwrap()
    }

    #[test]
    fn a_line_is_printed_when_one_is_due() {
        assert_eq!(printed(Duration::from_secs(3600)), "");
        let all = printed(Duration::ZERO);
        assert_eq!(all.lines().count(), 10);
        assert!(all.starts_with("0/10 tasks\n1/10 tasks\n"), "{all:?}");
    }
}
