//! From scores to probabilities, and to "none of the classes I know", without any stored row.
//!
//! When rows arrive they are scored as if they had not been learned, and what their scores should have been is known:
//! that is enough to fit the one number that turns scores into probabilities, and to remember how confident the
//! learner usually is. Only that number and a sample of confidences are kept.

use serde::{Deserialize, Serialize};

/// Confidences kept; halved when there are more.
const KEPT: usize = 1024;

/// Rows after which earlier evidence about the scale counts no more than this.
const REMEMBERED: f64 = 512.0;

/// Scale of the scores, and how confident the learner usually is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Probabilities are softmax(scale · scores).
    pub scale: f64,
    /// Rows that the scale rests on.
    pub weight: f64,
    /// Highest probabilities of rows when they arrived.
    pub confidences: Vec<f32>,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            scale: 1.0,
            weight: 0.0,
            confidences: Vec::new(),
        }
    }
}

/// Scores of a row and the place of its class.
pub struct Scored {
    /// One per class.
    pub scores: Vec<f64>,
    /// Place of the row's own class.
    pub place: usize,
}

impl Calibration {
    /// Takes in rows that have just arrived.
    pub fn update(&mut self, rows: &[Scored]) {
        if rows.is_empty() || rows[0].scores.len() < 2 {
            return;
        }
        let n = rows.len() as f64;
        let fitted = best_scale(rows).ln();
        self.scale = ((self.weight * self.scale.ln() + n * fitted) / (self.weight + n)).exp();
        self.weight = (self.weight + n).min(REMEMBERED);
        let highest = |row: &Scored| {
            let p = softmax(row.scores.iter().copied(), self.scale);
            p.into_iter().fold(0.0, f32::max)
        };
        self.confidences.extend(rows.iter().map(highest));
        while self.confidences.len() > KEPT {
            let mut keep = false;
            self.confidences.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }

    /// Probabilities for the scores of a row.
    pub fn probabilities(&self, scores: &[f32]) -> Vec<f32> {
        softmax(scores.iter().map(|&s| f64::from(s)), self.scale)
    }

    /// The confidence below which a part `rate` of known rows lies.
    pub fn threshold(&self, rate: f64) -> f32 {
        let mut sorted = self.confidences.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let at = (rate * sorted.len() as f64) as usize;
        if rate >= 1.0 {
            f32::INFINITY
        } else {
            sorted.get(at).copied().unwrap_or(0.0)
        }
    }
}

fn softmax(scores: impl Iterator<Item = f64> + Clone, scale: f64) -> Vec<f32> {
    let highest = scores.clone().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.map(|s| (scale * (s - highest)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| (w / sum) as f32).collect()
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
