//! Labels that may be wrong: how many of them are, and which scores are most likely once that is allowed for.
//!
//! A share ε of the labels is taken to say nothing: such a label is any class, with equal probability. Without this, a few
//! wrong labels, each of which the scores find all but impossible, decide how far the scores are believed. Expectation and
//! maximisation find ε and the weights of the scores: how probable is it that a label is right, and which weights
//! make the right ones most likely?

use super::blend::Weighed;
use super::jury::Jury;
use crate::math::{Matrix, log_softmax};

/// The share of wrong labels that the search begins with.
const AT_FIRST: f64 = 0.05;

/// Rounds of expectation and maximisation at most.
const ROUNDS: usize = 40;

/// The rounds end when one changes the share by less, relative to it.
const ENOUGH: f64 = 1e-3;

/// Weights of scores, and the share of labels that are wrong.
#[derive(Clone, Debug)]
pub struct Noise {
    pub weights: Vec<f64>,
    pub share: f64,
}

impl Noise {
    /// From the scores of left-out witnesses by each method.
    pub fn fit(jury: &Jury<'_>, scores: &[Matrix<f64>]) -> Self {
        let n_classes = jury.seen.len();
        let copies = jury.copies();
        let all: f64 = copies.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let mut noise = Self {
            weights: jury.weigh(scores, None).weights,
            share: AT_FIRST,
        };
        for _ in 0..ROUNDS {
            let right = |(i, copies): (usize, &f64)| {
                let own = jury.witnesses[i].place as usize;
                let of_label = noise.log_probabilities(scores, i, &jury.seen)[own];
                copies * (1.0 - wrong(noise.share, of_label, n_classes))
            };
            let right: Vec<f64> = copies.iter().enumerate().map(right).collect();
            let share = 1.0 - right.iter().sum::<f64>() / all;
            let Weighed { weights, .. } = jury.weigh_counting(&right, scores, Some(&noise.weights));
            let changed = (share - noise.share).abs();
            noise = Self { weights, share };
            if changed <= ENOUGH * share {
                break;
            }
        }
        noise
    }

    /// The logarithm of the probability of each class for row `i`, if its label says nothing about it; `offsets` are added
    /// to the scores.
    pub fn log_probabilities(&self, scores: &[Matrix<f64>], i: usize, offsets: &[f64]) -> Vec<f64> {
        let score = |(c, offset): (usize, &f64)| {
            let methods = self.weights.iter().zip(scores);
            offset + methods.map(|(weight, of)| weight * of[(i, c)]).sum::<f64>()
        };
        log_softmax(offsets.iter().enumerate().map(score).collect())
    }
}

/// How probable it is that a label is wrong whose class has this probability, by its logarithm, if a share of all labels
/// is wrong.
pub fn wrong(share: f64, of_label: f64, n_classes: usize) -> f64 {
    let (by_chance, right) = (share / n_classes as f64, (1.0 - share) * of_label.exp());
    by_chance / (by_chance + right).max(f64::MIN_POSITIVE)
}
