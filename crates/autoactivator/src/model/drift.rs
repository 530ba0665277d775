//! Are the rows still what the model has learned? [`Drift`] watches how well known they are, row after row.
//!
//! `known` of a row ([`Learned::known`](super::Learned::known)) is the share of left-out witnesses that are at least as
//! strange. For rows like those that were learned, these shares are spread evenly between 0 and 1, whatever the data is. So
//! a bet that pays `κ p^(κ-1)` on a share `p` gains nothing on average. When strange rows become more frequent, say because
//! a new class has come, it multiplies what is staked. [`Drift`] stakes 1 before every row, and leaves what was staked
//! before in the game (a Shiryaev-Roberts e-detector). It warns when all stakes together have become [`Drift::quiet_rows`],
//! and begins anew. As long as nothing changes, that is expected to take at least as many rows.
//!
//! ```
//! use autoactivator::model::Drift;
//!
//! let mut drift = Drift::default();
//! // Evenly spread: rows like those that were learned.
//! let quiet: Vec<f32> = (0..1000).map(|i| (i * 7919 % 1000) as f32 / 1000.0 + 5e-4).collect();
//! assert!(drift.see(&quiet).is_none());
//! // One row in ten is stranger than nearly all that was learned.
//! let strange: Vec<f32> = quiet.iter().enumerate().map(|(i, &p)| if i % 10 == 0 { 0.001 } else { p }).collect();
//! let warning = drift.see(&strange).unwrap();
//! assert!(warning.row > 1000 && warning.row < 1300);
//! ```

use std::collections::VecDeque;
use std::fmt;

use serde_json::{Value, json};

use crate::math::{Random, Stream};
use crate::words::counted;

/// κ of the bet. Chosen on training rows of four data sets, about a fifth of whose classes were held back: among bets of one
/// and of several κ, it found a new class earliest. See `docs/streams.md`.
const BET: f64 = 0.8;

/// Rows that a warning describes.
const RECENT: usize = 300;

/// A row is called strange if at most this share of known rows is as strange.
pub const STRANGE: f32 = 0.05;

/// Watches how well known rows are.
#[derive(Clone, Debug)]
pub struct Drift {
    quiet_rows: f64,
    /// What all stakes have become.
    stakes: f64,
    rows: u64,
    strange: u64,
    warnings: u64,
    /// Number of rows in each tenth of `known`.
    tenths: [u64; 10],
    recent: VecDeque<f32>,
}

/// Rows have become stranger than those that were learned.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Warning {
    /// The row that made it certain, counted from 1.
    pub row: u64,
    /// Number of rows up to this one that [`strange`](Self::strange) is a share of.
    pub recent: usize,
    /// Share of them that are stranger than 95 % of known rows.
    pub strange: f64,
    /// Rows in which one false warning is expected at most.
    pub quiet_rows: f64,
}

impl Default for Drift {
    fn default() -> Self {
        Self::new(Self::QUIET_ROWS)
    }
}

impl Drift {
    /// The usual number of quiet rows in which one false warning is expected at most.
    pub const QUIET_ROWS: f64 = 10_000.0;

    /// Nothing seen yet; at most one false warning is expected in `quiet_rows` rows.
    pub fn new(quiet_rows: f64) -> Self {
        Self {
            quiet_rows,
            stakes: 0.0,
            rows: 0,
            strange: 0,
            warnings: 0,
            tenths: [0; 10],
            recent: VecDeque::with_capacity(RECENT),
        }
    }

    /// Sees how well known the next rows are; gives the first warning among them.
    pub fn see(&mut self, known: &[f32]) -> Option<Warning> {
        let mut first = None;
        for &share in known {
            // What is not a number looks like nothing at all.
            let share = if share.is_nan() { 0.0 } else { share };
            let warning = self.see_one(share.clamp(f32::MIN_POSITIVE, 1.0));
            first = first.or(warning);
        }
        first
    }

    /// Sees rows that have come in no particular order, such as those of a table: tables are often sorted by class, and
    /// classes differ in how strange their rows are. So they are shuffled first, always in the same way.
    pub fn see_unordered(&mut self, mut known: Vec<f32>) -> Option<Warning> {
        Random::new(0, Stream::Order).shuffle(&mut known);
        self.see(&known)
    }

    fn see_one(&mut self, share: f32) -> Option<Warning> {
        self.rows += 1;
        self.strange += u64::from(share <= STRANGE);
        self.tenths[((share * 10.0) as usize).min(9)] += 1;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(share);
        self.stakes = (self.stakes + 1.0) * BET * f64::from(share).powf(BET - 1.0);
        if self.stakes < self.quiet_rows {
            return None;
        }
        self.stakes = 0.0;
        self.warnings += 1;
        let strange = self.recent.iter().filter(|&&share| share <= STRANGE).count();
        Some(Warning {
            row: self.rows,
            recent: self.recent.len(),
            strange: strange as f64 / self.recent.len() as f64,
            quiet_rows: self.quiet_rows,
        })
    }

    /// Number of rows seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of rows that are stranger than 95 % of known rows: a twentieth, if nothing has changed.
    pub fn strange(&self) -> u64 {
        self.strange
    }

    /// Number of warnings.
    pub fn warnings(&self) -> u64 {
        self.warnings
    }

    /// Number of rows in each tenth of `known`: equally many, if nothing has changed.
    pub fn tenths(&self) -> [u64; 10] {
        self.tenths
    }

    /// How far it is to a warning: 0 at the beginning, 1 at a warning, on a logarithmic scale.
    pub fn level(&self) -> f64 {
        (self.stakes.max(1.0).ln() / self.quiet_rows.ln()).clamp(0.0, 1.0)
    }

    /// Rows in which one false warning is expected at most.
    pub fn quiet_rows(&self) -> f64 {
        self.quiet_rows
    }

    /// All of it as JSON, the same on every face.
    pub fn as_json(&self) -> Value {
        json!({
            "rows": self.rows,
            "strange": self.strange,
            "tenths": self.tenths,
            "level": self.level(),
            "warnings": self.warnings,
            "quiet_rows": self.quiet_rows,
        })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "rows have become stranger than those that were learned: of the last {}, {:.1} % are stranger than 95 % of known \
             rows. Perhaps a new class has come. (If nothing has changed, such a warning comes once in {} rows at most.)",
            counted(self.recent, "row"),
            100.0 * self.strange,
            self.quiet_rows
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(random: &mut Random, n: usize) -> Vec<f32> {
        (0..n)
            .map(|_| f32::midpoint(random.symmetric(1.0), 1.0))
            .collect()
    }

    fn random(seed: u64) -> Random {
        Random::new(seed, Stream::Pool { layer: 0 })
    }

    #[test]
    fn stakes_by_hand() {
        let mut drift = Drift::new(50.0);
        assert!(drift.see(&[0.5]).is_none());
        // 0.8 · 0.5^-0.2 = 0.919.
        assert!((drift.stakes - 0.918_958).abs() < 1e-5, "{}", drift.stakes);
        // (1 + 0.919) · 0.8 · 0.001^-0.2 = 6.112, and so on.
        assert!(drift.see(&[0.001]).is_none());
        assert!((drift.stakes - 6.111_7).abs() < 1e-3, "{}", drift.stakes);
        assert!(drift.see(&[0.001]).is_none());
        let warning = drift.see(&[0.001, 0.9]).unwrap();
        assert_eq!((warning.row, warning.recent, warning.strange), (4, 4, 0.75));
        assert_eq!((drift.rows(), drift.strange(), drift.warnings()), (5, 3, 1));
        assert_eq!(drift.tenths(), [3, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    }

    /// In 200 quiet streams of 1,000 rows, one in ten may be warned about.
    #[test]
    fn quiet_rows_are_warned_about_no_more_often_than_is_stated() {
        let mut warned = 0;
        for seed in 0..200 {
            let mut drift = Drift::default();
            warned += usize::from(drift.see(&uniform(&mut random(seed), 1000)).is_some());
        }
        assert!((2..=20).contains(&warned), "{warned} of 200");
    }

    #[test]
    fn a_class_that_is_strange_is_found_late_in_a_stream() {
        let mut drift = Drift::default();
        let mut random = random(1);
        assert!(drift.see(&uniform(&mut random, 500)).is_none());
        let mut rows = uniform(&mut random, 300);
        // A twentieth of the rows are as strange as the strangest witness of 2048.
        rows.iter_mut()
            .step_by(20)
            .for_each(|share| *share = 1.0 / 2049.0);
        assert!(drift.see(&rows).is_some());
        assert!(drift.see(&[]).is_none());
    }

    #[test]
    fn the_order_of_a_table_does_not_matter() {
        let mut sorted = uniform(&mut random(3), 2000);
        sorted.sort_by(f32::total_cmp);
        assert!(Drift::default().see(&sorted).is_some());
        assert!(Drift::default().see_unordered(sorted).is_none());
    }

    #[test]
    fn what_is_no_share_does_no_harm() {
        let mut drift = Drift::default();
        drift.see(&[0.0, 1.0, 2.0, -1.0, f32::NAN]);
        assert!(drift.stakes.is_finite() && drift.level() <= 1.0);
        assert_eq!(drift.rows(), 5);
    }
}
