//! How far a reproduction is, and how long it will still take: sittings are weighed by what they are known to cost.

use std::time::Instant;

use autoactivator::Step;
use autoactivator_exam::run::Progress;

use crate::interrupt;
use crate::progress::{PlaceBar, bar_showing};

/// Units of the bar in a second of work.
const TICKS: f64 = 10.0;

/// A bar over all that is to be computed.
pub struct ReproduceBar {
    inner: PlaceBar,
    start: Instant,
    /// Seconds that everything to be computed was said to cost, that what is done was, and that the present sitting is.
    total: f64,
    done: f64,
    present: f64,
    experiment: String,
}

impl ReproduceBar {
    /// For work that is said to cost so many seconds in all.
    pub fn new(total: f64) -> Self {
        Self {
            inner: PlaceBar::new(bar_showing((total * TICKS) as usize, "{percent}%")),
            start: Instant::now(),
            total,
            done: 0.0,
            present: 0.0,
            experiment: String::new(),
        }
    }

    /// Begins something that is said to cost so much.
    pub fn begin(&mut self, experiment: &str, seconds: f64) {
        experiment.clone_into(&mut self.experiment);
        self.present = seconds;
    }

    /// What was begun is done: now, or by a run before, which says nothing about how fast this one is.
    pub fn end(&mut self, now: bool) {
        if now {
            self.done += self.present;
        } else {
            self.total -= self.present;
        }
        self.present = 0.0;
        self.inner.bar.set_length((self.total * TICKS) as u64);
        self.inner.bar.set_position((self.done * TICKS) as u64);
    }

    /// Says something, above the bar.
    pub fn tell(&self, message: &str) {
        self.inner.bar.suspend(|| eprintln!("{message}"));
    }

    /// How long it will still take, from how long it took so far; nothing before anything was computed.
    pub fn left(&self) -> Option<String> {
        left(self.start.elapsed().as_secs_f64(), self.done, self.total)
    }

    pub fn finish(&self) {
        self.inner.bar.finish_and_clear();
    }
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

impl Progress for ReproduceBar {
    fn task(&mut self, learner: &str, seed: u64, task: usize, n_tasks: usize) {
        let part = (task - 1) as f64 / n_tasks.max(1) as f64;
        self.inner
            .bar
            .set_position(((self.done + part * self.present) * TICKS) as u64);
        self.inner.at(format!(
            "{}: {learner}, seed {seed}, task {task}/{n_tasks}",
            self.experiment
        ));
    }

    fn grown(&mut self, step: &Step) {
        self.inner.grown(step);
    }

    fn observed(&mut self, rows: usize, of: Option<usize>) {
        self.inner.observed(rows, of);
    }

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
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
