//! Progress on stderr: what is done, and the nodes and residual of the current task. On a terminal it is a bar, elsewhere
//! a line now and then, and nothing with `--quiet`.
//!
//! [`ExamBar`] follows an exam, [`TaskBar`] one task, [`FeaturesBar`] the computation of features. [`begin`] is how every
//! bar is made.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::time::Duration;

use autoactivator::{Observer, Step, counted};
use autoactivator_exam::run::Progress;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::interrupt;
use crate::lines::Lines;
use crate::terminal::{self, Voice};

/// A bar whose message shows the current step of an exam and its progress.
pub struct ExamBar<P> {
    pub bar: ProgressBar,
    pub position: P,
    place: String,
}

/// How an exam moves its bar.
pub trait Position {
    /// Moves the bar to the start of a task. Tasks are counted from 1.
    fn begin(&mut self, bar: &ProgressBar, task: usize, n_tasks: usize);

    /// Text before the current step, if any.
    fn prefix(&self) -> String {
        String::new()
    }
}

impl<P> ExamBar<P> {
    /// A bar of this length; `how_far` is the template that shows its progress.
    pub fn showing(length: usize, how_far: &str, position: P) -> Self {
        Self {
            bar: bar_showing(length, how_far),
            position,
            place: String::new(),
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, news: &str) {
        self.bar.set_message(format!("{}: {news}", self.place));
    }
}

impl<P: Position> Progress for ExamBar<P> {
    fn task(&mut self, learner: &str, seed: u64, task: usize, n_tasks: usize) {
        self.position.begin(&self.bar, task, n_tasks);
        let prefix = self.position.prefix();
        self.place = format!("{prefix}{learner}, seed {seed}, task {task}/{n_tasks}");
        self.bar.set_message(self.place.clone());
    }

    fn grown(&mut self, step: &Step) {
        self.show(&describe(step));
    }

    fn observed(&mut self, rows: usize, of: Option<usize>) {
        let of = of.map_or_else(String::new, |of| format!(" of {of}"));
        self.show(&format!("{rows}{of} rows"));
    }

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
}

/// The position of a bar over all tasks of an exam.
#[derive(Default)]
pub struct Tasks {
    begun: u64,
}

impl ExamBar<Tasks> {
    /// A bar over this many tasks.
    pub fn of_tasks(n_tasks: usize) -> Self {
        Self::showing(n_tasks, &count("tasks"), Tasks::default())
    }
}

impl Position for Tasks {
    fn begin(&mut self, bar: &ProgressBar, _: usize, _: usize) {
        bar.set_position(self.begun);
        self.begun += 1;
    }
}

/// A bar over one task: rows learned, or nodes grown.
pub struct TaskBar(ProgressBar, Option<usize>);

impl TaskBar {
    /// A bar for a task with this many rows, if the number is known.
    pub fn new(n_rows: Option<usize>) -> Self {
        Self(bar(0, ""), n_rows)
    }

    pub fn finish(&self) {
        self.0.finish_and_clear();
    }

    fn show(&self, done: usize, of: usize, message: String) {
        self.0.set_length(of as u64);
        self.0.set_position(done as u64);
        self.0.set_message(message);
    }
}

impl Observer for TaskBar {
    fn grown(&mut self, step: &Step) {
        self.show(step.nodes, step.max_nodes, describe(step));
    }

    fn observed(&mut self, rows: usize, of: Option<usize>) {
        self.show(rows, of.or(self.1).unwrap_or(rows), "rows".to_owned());
    }

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
}

/// A bar over rows that are looked at.
pub struct RowsBar {
    bar: ProgressBar,
    length: Option<usize>,
}

impl RowsBar {
    pub fn new(n_rows: Option<usize>) -> Self {
        let bar = bar(n_rows.unwrap_or(0), "rows");
        Self { bar, length: n_rows }
    }

    pub fn show(&self, done: usize) {
        self.bar.set_length(self.length.unwrap_or(done) as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for RowsBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar over images or sentences whose features are computed: the speed and, if their number is known, the time left.
pub struct FeaturesBar {
    bar: ProgressBar,
    unit: &'static str,
    length: Option<usize>,
}

impl FeaturesBar {
    pub fn of_images(n_images: usize) -> Self {
        Self::new(Some(n_images), "images")
    }

    pub fn of_sentences(n_sentences: Option<usize>) -> Self {
        Self::new(n_sentences, "sentences")
    }

    fn new(length: Option<usize>, unit: &'static str) -> Self {
        let bar = bar(length.unwrap_or(0), unit);
        bar.set_message("computing features");
        Self { bar, unit, length }
    }

    pub fn show(&self, done: usize) {
        self.bar.set_length(self.length.unwrap_or(done) as u64);
        self.bar.set_position(done as u64);
        let speed = self.bar.per_sec();
        self.bar.set_message(format!("{speed:.0} {}/s", self.unit));
    }
}

impl Drop for FeaturesBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn describe(step: &Step) -> String {
    match step.residual {
        Some(residual) => format!("{}, residual {residual:.3}", counted(step.nodes, "node")),
        None => counted(step.nodes, "node"),
    }
}

fn bar(length: usize, unit: &str) -> ProgressBar {
    bar_showing(length, &count(unit))
}

/// A template such as `3/5 tasks`.
fn count(unit: &str) -> String {
    format!("{{pos}}/{{len}} {unit}")
}

/// A bar that shows its progress with this template, and the time left.
fn bar_showing(length: usize, how_far: &str) -> ProgressBar {
    let bar = begin(length, &format!("{how_far} [{{elapsed}}<{{left}}] {{wide_msg}}"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A bar of this length, drawn only where there is a terminal, with this template beside it.
pub fn begin(length: usize, template: &str) -> ProgressBar {
    let target = match terminal::voice() {
        Voice::Quiet => ProgressDrawTarget::hidden(),
        _ if io::stderr().is_terminal() => ProgressDrawTarget::stderr(),
        Voice::Usual => Lines::every(Duration::from_secs(10)),
        Voice::Verbose => Lines::every(Duration::from_secs(1)),
    };
    let bar = ProgressBar::with_draw_target(Some(length as u64), target);
    let drawn = if io::stderr().is_terminal() {
        "{bar:30} "
    } else {
        ""
    };
    if let Ok(style) = ProgressStyle::with_template(&format!("{drawn}{template}")) {
        bar.set_style(
            style.with_key("left", |state: &ProgressState, to: &mut dyn Write| {
                // Where nothing can be shown, nothing is lost.
                let _ = to.write_str(&left(state.elapsed(), state.pos(), state.len().unwrap_or(0)));
            }),
        );
    }
    bar
}

/// The time left, if the rest takes as long as what is done. The bar's own estimate goes by the last step alone, and grows
/// without bound while a long one lasts.
fn left(elapsed: Duration, done: u64, of: u64) -> String {
    if done == 0 {
        return "?".to_owned();
    }
    let rest = of.saturating_sub(done) as f64 / done as f64;
    format!("{:#}", HumanDuration(elapsed.mul_f64(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_from_all_that_is_done() {
        let left = |done| left(Duration::from_secs(60), done, 10);
        assert_eq!([0, 1, 6, 10].map(left), ["?", "9m", "40s", "0s"]);
    }
}
