//! How much discriminant analysis and ridge count: whatever makes left-out witnesses most likely.
//!
//! The loss -log softmax(Σ θ_k f_k) is convex in θ, and θ ≥ 0: no score may count against the class that it is
//! for. A few Newton steps find the minimum.

use rayon::prelude::*;

use crate::math::Matrix;

/// Newton steps at most; five to ten are usual.
const STEPS: usize = 60;

/// Rows that one thread goes through at a time.
const AT_ONCE: usize = 128;

/// The least that one of the weights is, for scores of deviation 1.
const HARDLY: f64 = 0.01;

/// The steps end when one lowers the loss by less. The next one would be far smaller still, so where they began makes no
/// difference.
const ENOUGH: f64 = 1e-12;

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
    /// The weights with the lowest loss, looked for from `start` on, or from where nothing is known.
    pub fn weigh(self, start: Option<&[f64]>) -> Weighed {
        let (scores, units): (Vec<Vec<f64>>, Vec<f64>) = self.scores.iter().map(to_unit).unzip();
        let rows = ByRow {
            n_classes: self.offsets.len(),
            judged: self,
            scores,
        };
        rows.weigh(start, &units)
    }
}

/// Scores row by row, each method's about their mean and of deviation 1.
struct ByRow<'a> {
    judged: Judged<'a>,
    n_classes: usize,
    /// One list for each method: the scores of a row are beside each other.
    scores: Vec<Vec<f64>>,
}

impl ByRow<'_> {
    fn weigh(&self, start: Option<&[f64]>, units: &[f64]) -> Weighed {
        let known = |start: &[f64]| start.iter().zip(units).map(|(w, unit)| w * unit).collect();
        let mut weights: Vec<f64> = start.map_or_else(|| vec![0.5; units.len()], known);
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
        let all: f64 = self.judged.copies.iter().sum();
        // By the rule of succession, the next row may be anything with this probability: no row is ever certain.
        let doubt = 1.0 / (all + 2.0);
        let n_rows = self.judged.places.len();
        let starts: Vec<usize> = (0..n_rows).step_by(AT_ONCE).collect();
        // Summed in order, so that the number of threads makes no difference.
        let parts: Vec<Loss> = starts
            .par_iter()
            .map(|&start| self.of_rows(start..n_rows.min(start + AT_ONCE), weights, doubt))
            .collect();
        let mut loss = Loss::new(weights.len());
        parts.iter().for_each(|part| loss.add(part));
        loss.divided(all.max(f64::MIN_POSITIVE))
    }

    fn of_rows(&self, rows: std::ops::Range<usize>, weights: &[f64], doubt: f64) -> Loss {
        let n = self.n_classes;
        let mut loss = Loss::new(weights.len());
        let mut row = vec![0.0; n];
        for i in rows {
            let scores: Vec<&[f64]> = self.scores.iter().map(|s| &s[i * n..(i + 1) * n]).collect();
            row.copy_from_slice(&self.judged.offsets);
            for (weight, scores) in weights.iter().zip(&scores) {
                row.iter_mut()
                    .zip(*scores)
                    .for_each(|(v, score)| *v += weight * score);
            }
            let (place, copies) = (self.judged.places[i] as usize, self.judged.copies[i]);
            let highest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mean = row.iter().sum::<f64>() / n as f64;
            let own = (1.0 - doubt) * row[place] + doubt * mean;
            row.iter_mut().for_each(|v| *v = (*v - highest).exp());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|v| *v /= sum);
            loss.loss += copies * (sum.ln() + highest - own);
            loss.add_row(&scores, &row, place, (copies, doubt));
        }
        loss
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

    fn add(&mut self, other: &Self) {
        self.loss += other.loss;
        let sums = self.slope.iter_mut().chain(self.curvature.values_mut());
        let others = other.slope.iter().chain(other.curvature.values());
        sums.zip(others).for_each(|(sum, other)| *sum += other);
    }

    /// Adds what a row says, of the class at `place`; `row` are the probabilities of the classes.
    fn add_row(&mut self, scores: &[&[f64]], row: &[f64], place: usize, (copies, doubt): (f64, f64)) {
        let sum = |k: usize| -> f64 { scores[k].iter().zip(row).map(|(s, p)| p * s).sum() };
        let means: Vec<f64> = (0..scores.len()).map(sum).collect();
        for k in 0..scores.len() {
            let plain: f64 = scores[k].iter().sum::<f64>() / row.len() as f64;
            let own = (1.0 - doubt) * scores[k][place] + doubt * plain;
            self.slope[k] += copies * (means[k] - own);
            for l in 0..=k {
                let pairs = scores[k].iter().zip(scores[l]).zip(row);
                let both: f64 = pairs.map(|((a, b), p)| p * a * b).sum();
                self.curvature[(k, l)] += copies * (both - means[k] * means[l]);
            }
        }
    }

    fn divided(mut self, copies: f64) -> Self {
        self.loss /= copies;
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

/// Scores row by row, about the mean of each row and with deviation 1 over all, and what the deviation was.
fn to_unit(scores: &Matrix<f64>) -> (Vec<f64>, f64) {
    let (n_rows, n_classes) = (scores.n_rows(), scores.n_cols());
    let mut rows = vec![0.0; n_rows * n_classes];
    for (c, column) in scores.cols().enumerate() {
        let places = rows.iter_mut().skip(c).step_by(n_classes);
        places.zip(column).for_each(|(to, &score)| *to = score);
    }
    let mut square = 0.0;
    for row in rows.chunks_mut(n_classes.max(1)) {
        let mean = row.iter().sum::<f64>() / n_classes.max(1) as f64;
        row.iter_mut().for_each(|v| *v -= mean);
        square += row.iter().map(|v| v * v).sum::<f64>();
    }
    let unit = (square / (n_rows * n_classes).max(1) as f64).sqrt();
    let unit = if unit > 1e-12 { unit } else { 1.0 };
    rows.iter_mut().for_each(|v| *v /= unit);
    (rows, unit)
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
        let Weighed { weights, loss } = judged.weigh(None);
        assert!((weights[0] - 1.0).abs() < 0.01, "{weights:?}");
        assert!(weights[1] < 0.05, "{weights:?}");
        let entropy = -(0.8 * 0.8f64.ln() + 0.2 * 0.2f64.ln());
        assert!((loss - entropy).abs() < 1e-3, "{loss}");
    }
}
