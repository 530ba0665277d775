//! From the scores of a row to a choice: the highest score, or a probability for each class.

use super::Matrix;

/// The column with the highest score in row `i`; the first one on a tie.
pub fn argmax(scores: &Matrix<f32>, i: usize) -> usize {
    argmax_among(scores, i, 0..scores.n_cols()).unwrap_or(0)
}

/// The column with the highest score in row `i` among `among`; none if that is empty.
pub fn argmax_among(scores: &Matrix<f32>, i: usize, among: impl IntoIterator<Item = usize>) -> Option<usize> {
    among.into_iter().reduce(|best, c| {
        if scores[(i, c)] > scores[(i, best)] {
            c
        } else {
            best
        }
    })
}

/// softmax(scale · scores).
pub(crate) fn softmax(scores: impl Iterator<Item = f64> + Clone, scale: f64) -> impl Iterator<Item = f64> {
    let highest = scores.clone().fold(f64::NEG_INFINITY, f64::max);
    let weights = scores.map(move |s| (scale * (s - highest)).exp());
    let sum: f64 = weights.clone().sum();
    weights.map(move |w| w / sum)
}

/// The logarithm of softmax(scores).
pub(crate) fn log_softmax(mut scores: Vec<f64>) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|s| (s - highest).exp()).sum();
    let whole = highest + sum.ln();
    scores.iter_mut().for_each(|s| *s -= whole);
    scores
}
