//! The progress of a reproduction, and the time left. Each sitting counts as many seconds as it is known to take.
//!
//! [`ReproduceBar`] is an [`ExamBar`] over seconds instead of tasks.

use std::time::Instant;

use indicatif::ProgressBar;

use crate::progress::{ExamBar, Position};

/// Units of the bar per second of work.
const TICKS: f64 = 10.0;

/// A bar over everything to be computed.
pub type ReproduceBar = ExamBar<Seconds>;

/// The position of a bar over work whose duration is roughly known in advance.
pub struct Seconds {
    start: Instant,
    /// Expected seconds for everything to be computed.
    total: f64,
    /// Expected seconds for what is already done.
    done: f64,
    /// Expected seconds for the current sitting.
    present: f64,
    experiment: String,
}

impl Position for Seconds {
    fn begin(&mut self, bar: &ProgressBar, task: usize, n_tasks: usize) {
        let part = (task - 1) as f64 / n_tasks.max(1) as f64;
        bar.set_position(ticks(self.done + part * self.present));
    }

    fn prefix(&self) -> String {
        format!("{}: ", self.experiment)
    }
}

impl ReproduceBar {
    /// A bar for work that is expected to take `total` seconds.
    pub fn new(total: f64) -> Self {
        let position = Seconds {
            start: Instant::now(),
            total,
            done: 0.0,
            present: 0.0,
            experiment: String::new(),
        };
        Self::showing(ticks(total) as usize, "{percent}%", position)
    }

    /// Begins work that is expected to take this many seconds.
    pub fn begin(&mut self, experiment: &str, seconds: f64) {
        experiment.clone_into(&mut self.position.experiment);
        self.position.present = seconds;
    }

    /// Ends the current work. `now` is false if an earlier run did it, which says nothing about the speed of this run.
    pub fn end(&mut self, now: bool) {
        let position = &mut self.position;
        if now {
            position.done += position.present;
        } else {
            position.total -= position.present;
        }
        position.present = 0.0;
        self.bar.set_length(ticks(position.total));
        self.bar.set_position(ticks(position.done));
    }

    /// Prints a message above the bar.
    pub fn tell(&self, message: &str) {
        self.bar.suspend(|| say!("{message}"));
    }

    /// The time left, estimated from the time so far; none before anything is computed.
    pub fn left(&self) -> Option<String> {
        let Seconds {
            start, done, total, ..
        } = self.position;
        left(start.elapsed().as_secs_f64(), done, total)
    }
}

fn ticks(seconds: f64) -> u64 {
    (seconds * TICKS) as u64
}

/// The time left in words.
fn left(elapsed: f64, done: f64, total: f64) -> Option<String> {
    if done <= 0.0 || total <= done {
        return None;
    }
    let seconds = elapsed / done * (total - done);
    Some(if seconds < 90.0 {
        format!("about {seconds:.0} s left")
    } else {
        format!("about {:.0} min left", seconds / 60.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_what_was_done() {
        assert_eq!(left(10.0, 0.0, 100.0), None);
        assert_eq!(left(10.0, 50.0, 100.0).unwrap(), "about 10 s left");
        assert_eq!(left(600.0, 50.0, 100.0).unwrap(), "about 10 min left");
        assert_eq!(left(600.0, 100.0, 100.0), None);
    }
}
