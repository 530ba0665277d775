//! Are the rows that clients ask about like those that were learned? What [`Drift`] says, as metrics and as a line in the log.
//!
//! Only rows for which "unknown" was asked are watched: how well known they are is computed for their answers anyway.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use autoactivator::model::{Drift, Warning};
use serde_json::Value;

/// One for all clients and editions.
#[derive(Default)]
pub(crate) struct Watched(Mutex<Drift>);

impl Watched {
    /// Sees how well known the rows of a question are.
    pub(crate) fn see(&self, known: &[f32]) -> Option<Warning> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).see(known)
    }

    fn now(&self) -> Drift {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn as_json(&self) -> Value {
        self.now().as_json()
    }

    /// Adds the metrics in the text format of Prometheus.
    pub(crate) fn write(&self, text: &mut String) {
        let drift = self.now();
        let totals = [
            ("watched_rows", "Rows for which unknown was asked.", drift.rows()),
            (
                "strange_rows",
                "Of these, rows stranger than 95 % of known rows: a twentieth, if nothing has changed.",
                drift.strange(),
            ),
            (
                "drift_warnings",
                "Warnings that rows have become strange.",
                drift.warnings(),
            ),
        ];
        for (name, help, value) in totals {
            let _ = writeln!(
                text,
                "# HELP autoactivator_{name}_total {help}\n# TYPE autoactivator_{name}_total counter\n\
                 autoactivator_{name}_total {value}"
            );
        }
        let name = "autoactivator_known_rows_total";
        let _ = writeln!(
            text,
            "# HELP {name} Watched rows by how well known they are, in tenths: equally many, if nothing has changed.\n\
             # TYPE {name} counter"
        );
        for (nth, rows) in (1..).zip(drift.tenths()) {
            let _ = writeln!(text, "{name}{{tenth=\"{nth}\"}} {rows}");
        }
        let _ = writeln!(
            text,
            "# HELP autoactivator_drift_level How far it is to a warning, from 0 to 1.\n\
             # TYPE autoactivator_drift_level gauge\nautoactivator_drift_level {}",
            drift.level()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_by_hand() {
        let watched = Watched::default();
        assert!(watched.see(&[0.01, 0.5, 0.97, 0.99]).is_none());
        let mut text = String::new();
        watched.write(&mut text);
        for line in [
            "autoactivator_watched_rows_total 4",
            "autoactivator_strange_rows_total 1",
            "autoactivator_drift_warnings_total 0",
            "autoactivator_known_rows_total{tenth=\"1\"} 1",
            "autoactivator_known_rows_total{tenth=\"10\"} 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert_eq!(watched.as_json()["rows"], 4);
    }
}
