//! Labels that may be wrong: how many of them are, and which scores are most likely once that is allowed for.
//!
//! A share ε of the labels is taken to say nothing: such a label is any class, with equal probability. Without this, a few
//! wrong labels, each of which the scores find all but impossible, decide how far the scores are believed. Expectation and
//! maximisation find ε and the weights of the scores: how probable is it that a label is right, and which weights
//! make the right ones most likely?

use super::blend::Weighed;
use super::jury::Jury;
use crate::math::{Matrix, log_softmax};

/// The share of labels that say nothing that the search begins with, and the number of rows for which it counts: a few rows can hardly
/// tell whether there are any.
const AT_FIRST: f64 = 0.05;
pub const BEFOREHAND: f64 = 20.0;

/// How much larger than the weights that all labels call for those are that the search begins with. Where classes lie so far apart
/// that weak scores and wrong labels explain the same, it ends at wrong labels; elsewhere this makes no difference.
const SHARPER: f64 = 4.0;

/// Rounds of expectation and maximisation at most.
const ROUNDS: usize = 40;

/// The rounds end when one changes the share by less, relative to it.
const ENOUGH: f64 = 1e-3;

/// Weights of scores, and the share of labels that say nothing.
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
        let plain = jury.weigh(scores, None).weights;
        let mut noise = Self {
            weights: plain.iter().map(|weight| SHARPER * weight).collect(),
            share: AT_FIRST,
        };
        for _ in 0..ROUNDS {
            let right = |(i, copies): (usize, &f64)| {
                let own = jury.witnesses[i].place as usize;
                let of_label = noise.log_probabilities(scores, i, &jury.seen)[own];
                copies * (1.0 - by_chance(noise.share, of_label, n_classes))
            };
            let right: Vec<f64> = copies.iter().enumerate().map(right).collect();
            let drawn = all - right.iter().sum::<f64>() + BEFOREHAND * AT_FIRST;
            let share = drawn / (all + BEFOREHAND);
            let Weighed { weights, .. } = jury.weigh_counting(&right, scores, Some(&plain));
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

/// How probable it is that a label says nothing whose class has this probability, by its logarithm, if a share of all labels
/// does.
pub fn by_chance(share: f64, of_label: f64, n_classes: usize) -> f64 {
    let (drawn, right) = (share / n_classes as f64, (1.0 - share) * of_label.exp());
    drawn / (drawn + right).max(f64::MIN_POSITIVE)
}

/// How probable it is that such a label is wrong: one that says nothing may still be right.
pub fn wrong(share: f64, of_label: f64, n_classes: usize) -> f64 {
    by_chance(share, of_label, n_classes) * (1.0 - of_label.exp()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidation::witness::Witness;
    use crate::data::Table;
    use crate::math::{Random, Stream};

    /// Scores that are logarithms of probabilities, of labels that follow them, but for a tenth that are drawn at random.
    #[test]
    fn wrong_labels_say_nothing() {
        const CLASSES: usize = 4;
        let mut random = Random::new(7, Stream::Pool { layer: 0 });
        let mut unit = || f64::from(random.symmetric(1.0)) / 2.0 + 0.5;
        let scores: Vec<Vec<f64>> = (0..4000)
            .map(|_| (0..CLASSES).map(|_| 8.0 * unit()).collect())
            .collect();
        let label = |scores: &Vec<f64>| {
            let mut left = unit();
            let by_scores = unit() > 0.1;
            let of = |c: usize| match by_scores {
                true => log_softmax(scores.clone())[c].exp(),
                false => 1.0 / CLASSES as f64,
            };
            let at = (0..CLASSES).position(|c| {
                left -= of(c);
                left < 0.0
            });
            at.unwrap_or(CLASSES - 1) as u32
        };
        let places: Vec<u32> = scores.iter().map(label).collect();
        let witnesses: Vec<Witness> = places
            .iter()
            .map(|&place| Witness::new(&[], place, 1.0, 1.0))
            .collect();
        let outputs = Table::new(vec![0.0; 4000], 1).unwrap();
        let jury = Jury {
            witnesses: witnesses.iter().collect(),
            seen: vec![0.0; CLASSES],
            h: outputs.rows(),
            at: (0..4000).collect(),
        };
        let halved = Matrix::from_fn(4000, CLASSES, |i, c| scores[i][c] / 2.0);
        let plain = jury.weigh(std::slice::from_ref(&halved), None).weights[0];
        let noise = Noise::fit(&jury, &[halved]);
        assert!((noise.share - 0.1).abs() < 0.02, "{}", noise.share);
        assert!(
            (noise.weights[0] - 2.0).abs() < 0.2 && plain < 1.6,
            "{:?} {plain}",
            noise.weights
        );
        assert!(wrong(0.1, (1e-6f64).ln(), CLASSES) > 0.99 && wrong(0.1, 0.0, CLASSES) < 0.05);
        assert_eq!(wrong(0.0, 0.0, CLASSES), 0.0);
    }
}
