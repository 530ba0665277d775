//! Numbers for Prometheus: requests by route and status, how long they took, and the state of the model.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::app::App;
use crate::gauge::Gauge;

/// Upper bounds of the histogram's buckets, in seconds.
const TIMES: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

/// Counters of requests.
#[derive(Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(String, String, u16), Times>>,
    pub(crate) in_flight: Gauge,
    pub(crate) connections: Gauge,
    /// Longer work that a thread is at.
    pub(crate) working: Gauge,
    pub(crate) lines_dropped: AtomicU64,
}

#[derive(Default)]
struct Times {
    /// Number of requests that took at most as long as each of [`TIMES`].
    within: [u64; TIMES.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    /// Counts a request to a route.
    pub(crate) fn count(&self, method: &str, path: &str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let times = requests
            .entry((method.to_owned(), path.to_owned(), status))
            .or_default();
        let seconds = took.as_secs_f64();
        times.count += 1;
        times.seconds += seconds;
        let classes = times.within.iter_mut().zip(TIMES);
        classes
            .filter(|(_, end)| seconds <= *end)
            .for_each(|(n, _)| *n += 1);
    }

    fn write_requests(&self, text: &mut String) {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let name = "autoactivator_request_seconds";
        let _ = writeln!(
            text,
            "# HELP {name} How long requests took.\n# TYPE {name} histogram"
        );
        for ((method, path, status), times) in requests.iter() {
            let labels = format!("method=\"{method}\",path=\"{path}\",status=\"{status}\"");
            for (n, end) in times.within.iter().zip(TIMES) {
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{end}\"}} {n}");
            }
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", times.count);
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", times.seconds);
            let _ = writeln!(text, "{name}_count{{{labels}}} {}", times.count);
        }
    }
}

/// All metrics, in the text format of Prometheus.
pub(crate) fn text(app: &App) -> String {
    let edition = app.edition();
    let model = &edition.model;
    let (counts, metrics) = (&app.writer.counts, &app.metrics);
    let kept = app.keeper.as_ref().map(|keeper| keeper.counts());
    let unknown_dropped = AtomicU64::new(kept.as_ref().map_or(0, |kept| kept.dropped));
    let gauges = [
        ("version", "Changes of the model file.", edition.version),
        (
            "classes",
            "Classes that the model knows.",
            model.classes().len() as u64,
        ),
        ("nodes", "Nodes of the model.", model.size().nodes as u64),
        ("file_bytes", "Size of the model file.", edition.file_bytes),
        ("queue", "Changes in the queue.", app.writer.waiting() as u64),
        (
            "in_flight",
            "Requests being answered.",
            metrics.in_flight.now() as u64,
        ),
        (
            "connections",
            "Open connections.",
            metrics.connections.now() as u64,
        ),
        (
            "working",
            "Longer questions, and lessons being prepared, that a thread works on.",
            metrics.working.now() as u64,
        ),
        (
            "question_bytes",
            "Bytes of questions being read or worked on.",
            app.questions.bodies.in_use() as u64,
        ),
        (
            "change_bytes",
            "Bytes of changes being read or prepared.",
            app.changes.bodies.in_use() as u64,
        ),
        (
            "unread_bytes",
            "Bytes of answers that clients have not read yet.",
            app.unread.in_use() as u64,
        ),
        (
            "unknown_kept",
            "Rows that are kept because they were answered unknown.",
            kept.as_ref().map_or(0, |kept| kept.rows as u64),
        ),
        (
            "unknown_bytes",
            "Size of the file that they are kept in.",
            kept.as_ref().map_or(0, |kept| kept.bytes as u64),
        ),
        (
            "unknown_limit",
            "Rows that may be kept; 0 if none are.",
            app.limits.unknown_rows as u64,
        ),
    ];
    let totals = [
        ("changes", "Changes of the model.", &counts.changes),
        ("rows", "Rows learned, unlearned or merged.", &counts.rows),
        (
            "writes",
            "Number of times the model file was written.",
            &counts.writes,
        ),
        ("write_bytes", "Bytes of model files written.", &counts.bytes),
        (
            "refused",
            "Changes refused because the queue was full.",
            &counts.refused,
        ),
        (
            "log_lines_dropped",
            "Log lines dropped because nobody read stderr.",
            &metrics.lines_dropped,
        ),
        (
            "unknown_dropped",
            "Unknown rows that were not kept, or had to go, for lack of room.",
            &unknown_dropped,
        ),
    ];
    let mut text = String::new();
    for (name, help, value) in gauges {
        let _ = writeln!(
            text,
            "# HELP autoactivator_{name} {help}\n# TYPE autoactivator_{name} gauge\nautoactivator_{name} {value}"
        );
    }
    for (name, help, value) in totals {
        let _ = writeln!(
            text,
            "# HELP autoactivator_{name}_total {help}\n# TYPE autoactivator_{name}_total counter\n\
             autoactivator_{name}_total {}",
            value.load(Relaxed)
        );
    }
    let _ = writeln!(
        text,
        "# HELP autoactivator_sync_seconds_total Time until model files were on the disk, once written.\n\
         # TYPE autoactivator_sync_seconds_total counter\nautoactivator_sync_seconds_total {}",
        counts.sync_microseconds.load(Relaxed) as f64 / 1e6
    );
    app.drift.write(&mut text);
    metrics.write_requests(&mut text);
    text
}
