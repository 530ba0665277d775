//! From scores to probabilities that can be believed.
//!
//! One softmax is too sure of what it is sure of and too unsure of the rest, since scores have longer tails
//! than the exponential allows. A mixture of softmaxes at several scales keeps the order of the classes and
//! has room for both. Its weights are those under which the confidence in the answers to left-out witnesses is most
//! likely.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::math::{Matrix, softmax, vectorised};

/// Scales of the mixture: powers of √2 from 1/8 to 4.
const SCALES: std::ops::RangeInclusive<i32> = -6..=4;

/// Their number, and which of them is 1.
const N_SCALES: usize = 11;
const ONE: usize = 6;

/// Rounds of expectation and maximisation.
const ROUNDS: usize = 400;

/// Number of rows that the scale 1, which the weights of the scores were fitted with, counts for beforehand.
const BEFOREHAND: f64 = 4.0;

/// Below this probability, a number of rows divided by it may be infinite.
const HARDLY_POSSIBLE: f64 = 1e-150;

/// Scales with less weight are left out.
const NEGLIGIBLE: f64 = 0.005;

/// How scores become probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Calibration {
    /// Σ weight · softmax(scale · scores).
    Mixture {
        /// Scale and weight of each softmax; the weights add up to 1.
        mixture: Vec<(f64, f64)>,
        /// What is different where the answer is a class of one row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        singles: Option<Singles>,
    },
    /// softmax(scale · scores), as in models without witnesses and in older files.
    Single {
        /// The scale.
        scale: f64,
        /// Number of rows that the scale is based on.
        weight: f64,
        /// Highest scores of rows on arrival, which older models tell "unknown" by.
        highest: Vec<f32>,
    },
}

/// The mixture of answers that are classes of one row: they are less often right than others with the same scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Singles {
    /// Places of the classes, ascending.
    pub classes: Vec<usize>,
    /// Scale and weight of each softmax.
    pub mixture: Vec<(f64, f64)>,
}

impl Default for Calibration {
    fn default() -> Self {
        Self::Single {
            scale: 1.0,
            weight: 0.0,
            highest: Vec::new(),
        }
    }
}

impl Calibration {
    /// The mixture under which the confidence in the answers is most likely: `scores`, `(n_samples, n_classes)`, are
    /// of rows of the classes at `places`, each of which counts `copies` times.
    pub fn fit(scores: &Matrix<f64>, places: &[u32], copies: &[f64]) -> Self {
        Self::Mixture {
            mixture: fitted(scores, places, copies),
            singles: None,
        }
    }

    /// With this mixture for answers that are one of `classes`, which have one row each.
    pub(super) fn with_singles(self, classes: Vec<usize>, mixture: Vec<(f64, f64)>) -> Self {
        Self::Mixture {
            mixture: self.mixture(),
            singles: Some(Singles { classes, mixture }),
        }
    }

    /// Scales and weights.
    pub fn mixture(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Mixture { mixture, .. } => mixture.clone(),
            Self::Single { scale, .. } => vec![(*scale, 1.0)],
        }
    }

    /// What is different where the answer is a class of one row.
    pub fn singles(&self) -> Option<&Singles> {
        match self {
            Self::Mixture { singles, .. } => singles.as_ref(),
            Self::Single { .. } => None,
        }
    }

    /// Whether this could be how scores of `n_classes` classes become probabilities.
    pub(crate) fn is_sound(&self, n_classes: usize) -> bool {
        let of_singles = |singles: &Singles| {
            let ascending = singles.classes.is_sorted_by(|a, b| a < b);
            let known = singles.classes.last().is_some_and(|&last| last < n_classes);
            ascending && known && is_mixture(&singles.mixture)
        };
        is_mixture(&self.mixture()) && self.singles().is_none_or(of_singles)
    }

    /// Probabilities for the scores of a row.
    pub fn probabilities(&self, scores: &[f32]) -> Vec<f32> {
        let highest = |best: usize, c: usize| if scores[c] > scores[best] { c } else { best };
        let answer = (0..scores.len()).fold(0, highest);
        let singles = self
            .singles()
            .filter(|singles| singles.classes.binary_search(&answer).is_ok());
        let mixture = singles.map_or_else(|| self.mixture(), |singles| singles.mixture.clone());
        let mut sum = vec![0.0; scores.len()];
        for (scale, weight) in mixture {
            let parts = softmax(scores.iter().map(|&s| f64::from(s)), scale);
            sum.iter_mut().zip(parts).for_each(|(sum, p)| *sum += weight * p);
        }
        sum.into_iter().map(|p| p as f32).collect()
    }

    /// Whether older scores are there to tell "unknown" by.
    pub(crate) fn has_highest(&self) -> bool {
        matches!(self, Self::Single { highest, .. } if !highest.is_empty())
    }

    /// The highest score that a fraction `rate` of known rows stayed below, in an older model.
    pub(crate) fn threshold(&self, rate: f64) -> f32 {
        let Self::Single { highest, .. } = self else {
            return f32::NEG_INFINITY;
        };
        if rate <= 0.0 {
            return f32::NEG_INFINITY;
        }
        let mut sorted = highest.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let at = (rate * sorted.len() as f64) as usize;
        sorted.get(at).copied().unwrap_or(f32::INFINITY)
    }
}

/// Whether the scales are positive and the weights add up to 1.
fn is_mixture(parts: &[(f64, f64)]) -> bool {
    let sound =
        |&(scale, weight): &(f64, f64)| scale > 0.0 && scale.is_finite() && (0.0..=1.0).contains(&weight);
    let sum: f64 = parts.iter().map(|(_, weight)| weight).sum();
    parts.iter().all(sound) && (sum - 1.0).abs() < 1e-6
}

/// The mixture under which the confidence in the answers is most likely.
fn fitted(scores: &Matrix<f64>, places: &[u32], copies: &[f64]) -> Vec<(f64, f64)> {
    // Of each row, how likely each scale finds what came true: that the answer was right, or that it was wrong.
    let likely: Vec<[f64; N_SCALES]> = (0..scores.n_rows())
        .into_par_iter()
        .map(|i| {
            let row: Vec<f64> = (0..scores.n_cols()).map(|c| scores[(i, c)]).collect();
            let highest = |best: usize, c: usize| if row[c] > row[best] { c } else { best };
            let answer = (0..row.len()).fold(0, highest);
            let right = answer == places[i] as usize;
            let confidence = odds(&row, row[answer]).map(|sum| 1.0 / sum);
            confidence.map(|p| if right { p } else { 1.0 - p })
        })
        .collect();
    let scales = SCALES.map(|k| 2f64.powf(f64::from(k) / 2.0));
    let mut kept: Vec<(f64, f64)> = scales.zip(mixed(&likely, copies)).collect();
    kept.retain(|(_, weight)| *weight >= NEGLIGIBLE);
    let sum: f64 = kept.iter().map(|(_, weight)| weight).sum();
    kept.iter_mut().for_each(|(_, weight)| *weight /= sum);
    kept
}

/// Σ exp(scale (score - highest)) at each scale. Each second scale is twice the one before, so its exponentials are squares.
fn odds(scores: &[f64], highest: f64) -> [f64; N_SCALES] {
    let lowest = [0, 1].map(|k| 2f64.powf(f64::from(SCALES.start() + k) / 2.0));
    let mut sums = [0.0; N_SCALES];
    for score in scores {
        let mut powers = lowest.map(|scale| (scale * (score - highest)).exp());
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum += powers[k % 2];
            powers[k % 2] *= powers[k % 2];
        }
    }
    sums
}

/// The weights of a mixture under which `likely` is most likely, by expectation and maximisation.
fn mixed(likely: &[[f64; N_SCALES]], copies: &[f64]) -> [f64; N_SCALES] {
    let mut weights = [1.0 / N_SCALES as f64; N_SCALES];
    for _ in 0..ROUNDS {
        let mut next = vectorised(
            #[inline(always)]
            || expected(likely, copies, &weights),
        );
        next[ONE] += BEFOREHAND;
        let sum: f64 = next.iter().sum();
        weights = next.map(|weight| weight / sum);
    }
    weights
}

/// For how many rows each scale accounts.
#[inline(always)]
fn expected(likely: &[[f64; N_SCALES]], copies: &[f64], weights: &[f64; N_SCALES]) -> [f64; N_SCALES] {
    let mut shares = [0.0; N_SCALES];
    let mut rare = [0.0; N_SCALES];
    for (row, copies) in likely.iter().zip(copies) {
        let mut sum = 0.0;
        for k in 0..N_SCALES {
            sum += row[k] * weights[k];
        }
        if sum > HARDLY_POSSIBLE {
            let factor = copies / sum;
            for k in 0..N_SCALES {
                shares[k] += factor * row[k];
            }
        } else if sum > 0.0 {
            for k in 0..N_SCALES {
                rare[k] += copies * (row[k] * weights[k] / sum);
            }
        }
    }
    for k in 0..N_SCALES {
        rare[k] += shares[k] * weights[k];
    }
    rare
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that are ahead by 4 and right in nine of ten cases, and rows that are ahead by 0.5 and right in eight of
    /// ten: no single scale is true to both.
    #[test]
    fn confidence_is_how_often_answers_are_right() {
        let n = 4000;
        let sure = |i: usize| i.is_multiple_of(2);
        let right = |i: usize| (i / 2) % 10 < if sure(i) { 9 } else { 8 };
        let scores = Matrix::from_fn(n, 2, |i, c| {
            if c == 0 {
                if sure(i) { 4.0 } else { 0.5 }
            } else {
                0.0
            }
        });
        let places: Vec<u32> = (0..n).map(|i| u32::from(!right(i))).collect();
        let calibration = Calibration::fit(&scores, &places, &vec![1.0; n]);
        assert!(calibration.is_sound(2));
        let confident = calibration.probabilities(&[4.0, 0.0])[0];
        let less = calibration.probabilities(&[0.5, 0.0])[0];
        assert!((confident - 0.9).abs() < 0.03, "{confident}");
        assert!((less - 0.8).abs() < 0.05, "{less}");
    }
}
