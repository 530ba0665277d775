//! How much discriminant analysis and ridge count: whatever makes left-out witnesses most likely.
//!
//! The loss -log softmax(Σ θ_k f_k) is convex in θ, and θ ≥ 0: no score may count against the class that it is
//! for. A few Newton steps find the minimum.

use crate::math::Matrix;

/// Newton steps at most; five to ten are usual.
const STEPS: usize = 60;

/// The least that one of the weights is, for scores of deviation 1.
const HARDLY: f64 = 0.01;

/// The steps end when one lowers the loss by less.
const ENOUGH: f64 = 1e-10;

/// Scores of rows by several methods, and the class that each row is of.
pub struct Judged<'a> {
    /// One `(n_samples, n_classes)` matrix for each method.
    pub scores: Vec<Matrix<f64>>,
    /// Place of each row's class.
    pub places: &'a [u32],
    /// How often each row counts.
    pub copies: &'a [f64],
    /// What is added to the sum of the scores of each class.
    pub offsets: Vec<f64>,
}

/// θ, one for each method, and the loss.
#[derive(Clone, Debug)]
pub struct Weighed {
    pub weights: Vec<f64>,
    pub loss: f64,
}

impl Judged<'_> {
    /// The weights with the lowest loss.
    pub fn weigh(mut self) -> Weighed {
        let units: Vec<f64> = self.scores.iter_mut().map(to_unit).collect();
        let mut weights = vec![0.5; units.len()];
        let mut here = self.at(&weights);
        for _ in 0..STEPS {
            let Some((next, there)) = self.better(&weights, &here) else {
                break;
            };
            let gained = here.loss - there.loss;
            (weights, here) = (next, there);
            if gained < ENOUGH {
                break;
            }
        }
        // Where no score tells anything, the answer is still the class that they favour, if hardly.
        if weights.iter().all(|&weight| weight < HARDLY) {
            weights.fill(HARDLY);
        }
        Weighed {
            weights: weights.iter().zip(units).map(|(w, unit)| w / unit).collect(),
            loss: here.loss,
        }
    }

    /// A Newton step from `weights`, halved until the loss falls; none if it does not.
    fn better(&self, weights: &[f64], here: &Loss) -> Option<(Vec<f64>, Loss)> {
        // A weight at 0 that would fall further stays there.
        let free: Vec<usize> = (0..weights.len())
            .filter(|&k| weights[k] > 0.0 || here.slope[k] < 0.0)
            .collect();
        let step = here.newton(&free)?;
        let mut length = 1.0;
        while length > 1e-4 {
            let mut next = weights.to_vec();
            for (&k, step) in free.iter().zip(&step) {
                next[k] = (weights[k] - length * step).max(0.0);
            }
            let there = self.at(&next);
            if there.loss < here.loss {
                return Some((next, there));
            }
            length /= 2.0;
        }
        None
    }

    fn at(&self, weights: &[f64]) -> Loss {
        let (n_methods, n_classes) = (weights.len(), self.scores[0].n_cols());
        let mut loss = Loss::new(n_methods);
        let mut total = 0.0;
        let all: f64 = self.copies.iter().sum();
        // By the rule of succession, the next row may be anything with this probability: no row is ever certain.
        let doubt = 1.0 / (all + 2.0);
        let mut row = vec![0.0; n_classes];
        for (i, (&place, &copies)) in self.places.iter().zip(self.copies).enumerate() {
            for (c, value) in row.iter_mut().enumerate() {
                let weighed = (0..n_methods).map(|k| weights[k] * self.scores[k][(i, c)]);
                *value = self.offsets[c] + weighed.sum::<f64>();
            }
            let highest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mean = row.iter().sum::<f64>() / n_classes as f64;
            let own = (1.0 - doubt) * row[place as usize] + doubt * mean;
            row.iter_mut().for_each(|v| *v = (*v - highest).exp());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|v| *v /= sum);
            total += copies * (sum.ln() + highest - own);
            loss.add(&self.scores, i, &row, place as usize, (copies, doubt));
        }
        loss.finish(total, all.max(f64::MIN_POSITIVE))
    }
}

/// The loss, its slope and its curvature.
struct Loss {
    loss: f64,
    slope: Vec<f64>,
    curvature: Matrix<f64>,
}

impl Loss {
    fn new(n_methods: usize) -> Self {
        Self {
            loss: 0.0,
            slope: vec![0.0; n_methods],
            curvature: Matrix::zeros(n_methods, n_methods),
        }
    }

    fn add(
        &mut self,
        scores: &[Matrix<f64>],
        i: usize,
        row: &[f64],
        place: usize,
        (copies, doubt): (f64, f64),
    ) {
        let mean = |k: usize| -> f64 { row.iter().enumerate().map(|(c, p)| p * scores[k][(i, c)]).sum() };
        let means: Vec<f64> = (0..scores.len()).map(mean).collect();
        for k in 0..scores.len() {
            let plain: f64 = (0..row.len()).map(|c| scores[k][(i, c)]).sum::<f64>() / row.len() as f64;
            let own = (1.0 - doubt) * scores[k][(i, place)] + doubt * plain;
            self.slope[k] += copies * (means[k] - own);
            for l in 0..=k {
                let both = row.iter().enumerate();
                let both: f64 = both.map(|(c, p)| p * scores[k][(i, c)] * scores[l][(i, c)]).sum();
                self.curvature[(k, l)] += copies * (both - means[k] * means[l]);
            }
        }
    }

    fn finish(mut self, total: f64, copies: f64) -> Self {
        self.loss = total / copies;
        self.slope.iter_mut().for_each(|v| *v /= copies);
        self.curvature.values_mut().iter_mut().for_each(|v| *v /= copies);
        self
    }

    /// The Newton step of the methods in `free`.
    fn newton(&self, free: &[usize]) -> Option<Vec<f64>> {
        let n = free.len();
        let curvature = Matrix::from_fn(n, n, |i, j| {
            let (k, l) = (free[i.max(j)], free[i.min(j)]);
            let damped = if i == j { 1e-9 } else { 0.0 };
            self.curvature[(k, l)] + damped
        });
        let slope = Matrix::from_fn(n, 1, |i, _| self.slope[free[i]]);
        let step = crate::math::solve_positive_definite(&curvature, &slope)?;
        (n > 0).then(|| step.into_values())
    }
}

/// Centres each row, brings the deviation of all scores to 1, and returns what it was.
fn to_unit(scores: &mut Matrix<f64>) -> f64 {
    let (n_rows, n_classes) = (scores.n_rows(), scores.n_cols());
    let mut square = 0.0;
    for i in 0..n_rows {
        let mean = (0..n_classes).map(|c| scores[(i, c)]).sum::<f64>() / n_classes.max(1) as f64;
        for c in 0..n_classes {
            scores[(i, c)] -= mean;
            square += scores[(i, c)] * scores[(i, c)];
        }
    }
    let unit = (square / (n_rows * n_classes).max(1) as f64).sqrt();
    let unit = if unit > 1e-12 { unit } else { 1.0 };
    scores.values_mut().iter_mut().for_each(|v| *v /= unit);
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores that are right as often as their softmax says need no weight but 1; noise gets none.
    #[test]
    fn scores_are_weighed_by_what_they_say() {
        // Of ten rows, eight are of the class that is ahead by ln 4: softmax(ln 4, 0) = (0.8, 0.2).
        let n = 4000;
        let places: Vec<u32> = (0..n).map(|i| u32::from(i % 5 == 0)).collect();
        let telling = Matrix::from_fn(n, 2, |_, c| if c == 0 { 4f64.ln() } else { 0.0 });
        let noise = Matrix::from_fn(n, 2, |i, c| if c == 0 && i % 2 == 0 { 1.0 } else { 0.0 });
        let judged = Judged {
            scores: vec![telling, noise],
            places: &places,
            copies: &vec![1.0; n],
            offsets: vec![0.0; 2],
        };
        let Weighed { weights, loss } = judged.weigh();
        assert!((weights[0] - 1.0).abs() < 0.01, "{weights:?}");
        assert!(weights[1] < 0.05, "{weights:?}");
        let entropy = -(0.8 * 0.8f64.ln() + 0.2 * 0.2f64.ln());
        assert!((loss - entropy).abs() < 1e-3, "{loss}");
    }
}
