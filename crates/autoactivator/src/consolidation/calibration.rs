//! From scores to probabilities, and to "none of the classes I know", without any stored row.
//!
//! Rows are scored on arrival as if they had not been learned, and what their scores should have been is
//! known. That is enough to fit the one number that turns scores into probabilities, and to remember how high
//! the highest score of a known row usually is. Only that number and a sample of highest scores are kept.

use serde::{Deserialize, Serialize};

use crate::math::softmax;

/// Largest number of highest scores kept; halved when exceeded.
const KEPT: usize = 1024;

/// Largest number of rows that earlier evidence about the scale counts for.
const REMEMBERED: f64 = 512.0;

/// Scale of the scores, and how high they usually are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Probabilities are softmax(scale · scores).
    pub scale: f64,
    /// Number of rows that the scale is based on.
    pub weight: f64,
    /// Highest scores of rows on arrival.
    pub highest: Vec<f32>,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            scale: 1.0,
            weight: 0.0,
            highest: Vec::new(),
        }
    }
}

/// Scores of a row and the place of its class.
pub struct Scored {
    /// One score per class.
    pub scores: Vec<f64>,
    /// Place of the row's true class.
    pub place: usize,
}

impl Calibration {
    /// Updates the calibration with rows that have just arrived.
    pub fn update(&mut self, rows: &[Scored]) {
        if rows.is_empty() || rows[0].scores.len() < 2 {
            return;
        }
        let n = rows.len() as f64;
        let fitted = best_scale(rows).ln();
        self.scale = ((self.weight * self.scale.ln() + n * fitted) / (self.weight + n)).exp();
        self.weight = (self.weight + n).min(REMEMBERED);
        let highest = |row: &Scored| row.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max) as f32;
        self.highest.extend(rows.iter().map(highest));
        while self.highest.len() > KEPT {
            let mut keep = false;
            self.highest.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }

    /// Probabilities for the scores of a row.
    pub fn probabilities(&self, scores: &[f32]) -> Vec<f32> {
        let probabilities = softmax(scores.iter().map(|&s| f64::from(s)), self.scale);
        probabilities.map(|p| p as f32).collect()
    }

    /// The highest score that a fraction `rate` of known rows stays below.
    pub fn threshold(&self, rate: f64) -> f32 {
        if rate <= 0.0 {
            return f32::NEG_INFINITY;
        }
        let mut sorted = self.highest.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let at = (rate * sorted.len() as f64) as usize;
        sorted.get(at).copied().unwrap_or(f32::INFINITY)
    }
}

/// The scale with the highest likelihood, by golden-section search over its logarithm.
fn best_scale(rows: &[Scored]) -> f64 {
    let loss = |log_scale: f64| {
        let scale = log_scale.exp();
        let of_row = |row: &Scored| {
            let highest = row.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.scores.iter().map(|s| (scale * (s - highest)).exp()).sum();
            sum.ln() - scale * (row.scores[row.place] - highest)
        };
        rows.iter().map(of_row).sum::<f64>()
    };
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (0.01f64.ln(), 300f64.ln());
    for _ in 0..40 {
        let (a, b) = (high - ratio * (high - low), low + ratio * (high - low));
        if loss(a) < loss(b) { high = b } else { low = a }
    }
    (0.5 * (low + high)).exp()
}
