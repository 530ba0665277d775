//! Progress bars on stderr: tasks done, nodes and residual of the one being learned.

use std::time::Duration;

use autoactivator::{Observer, Step};
use autoactivator_exam::run::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt;

/// A bar whose message says where an exam is, and what is going on there.
pub struct PlaceBar {
    pub bar: ProgressBar,
    place: String,
}

impl PlaceBar {
    pub fn new(bar: ProgressBar) -> Self {
        Self {
            bar,
            place: String::new(),
        }
    }

    pub fn at(&mut self, place: String) {
        self.bar.set_message(place.clone());
        self.place = place;
    }

    pub fn grown(&self, step: &Step) {
        self.tell(&describe(step));
    }

    pub fn observed(&self, rows: usize, of: Option<usize>) {
        let of = of.map_or_else(String::new, |of| format!(" of {of}"));
        self.tell(&format!("{rows}{of} rows"));
    }

    fn tell(&self, news: &str) {
        self.bar.set_message(format!("{}: {news}", self.place));
    }
}

/// A bar over all tasks of an exam.
pub struct ExamBar {
    inner: PlaceBar,
    started: bool,
}

impl ExamBar {
    pub fn new(n_tasks: usize) -> Self {
        Self {
            inner: PlaceBar::new(bar(n_tasks, "tasks")),
            started: false,
        }
    }

    pub fn finish(&self) {
        self.inner.bar.finish_and_clear();
    }
}

impl Progress for ExamBar {
    fn task(&mut self, learner: &str, seed: u64, task: usize, n_tasks: usize) {
        if self.started {
            self.inner.bar.inc(1);
        }
        self.started = true;
        self.inner
            .at(format!("{learner}, seed {seed}, task {task}/{n_tasks}"));
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

/// A bar over one task: rows taken in, or nodes grown.
pub struct TaskBar(ProgressBar, Option<usize>);

impl TaskBar {
    /// For a task of so many rows, where that is known.
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

/// A bar over images whose features are computed: how fast, and how long still.
pub struct ImagesBar(ProgressBar);

impl ImagesBar {
    pub fn new(n_images: usize) -> Self {
        let bar = bar(n_images, "images");
        bar.set_message("computing features");
        Self(bar)
    }

    pub fn show(&self, done: usize) {
        self.0.set_position(done as u64);
        self.0.set_message(format!("{:.0} images/s", self.0.per_sec()));
    }
}

impl Drop for ImagesBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

fn describe(step: &Step) -> String {
    match step.residual {
        Some(residual) => format!("{} nodes, residual {residual:.3}", step.nodes),
        None => format!("{} nodes", step.nodes),
    }
}

fn bar(length: usize, unit: &str) -> ProgressBar {
    bar_showing(length, &format!("{{pos}}/{{len}} {unit}"))
}

/// A bar that shows how far it is in this way, and for how long still.
pub fn bar_showing(length: usize, how_far: &str) -> ProgressBar {
    let bar = ProgressBar::new(length as u64);
    let template = format!("{{bar:30}} {how_far} [{{elapsed}}<{{eta}}] {{wide_msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
