//! What are networks trained for? Losses, as their derivatives by the scores: `(n_rows, n_classes)`, like the scores.
//!
//! All of them are means over the rows of a batch.

use autoactivator::math::Matrix;

/// softmax(scores / temperature), row by row.
pub fn softmax(scores: &Matrix<f32>, temperature: f32) -> Matrix<f32> {
    let mut p = scores.clone();
    for i in 0..p.n_rows() {
        let highest = (0..p.n_cols())
            .map(|c| p[(i, c)])
            .fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for c in 0..p.n_cols() {
            let e = ((p[(i, c)] - highest) / temperature).exp();
            p[(i, c)] = e;
            sum += e;
        }
        (0..p.n_cols()).for_each(|c| p[(i, c)] /= sum);
    }
    p
}

/// Cross-entropy with the class of each row.
pub fn cross_entropy(scores: &Matrix<f32>, places: &[u32]) -> Matrix<f32> {
    let mut d = softmax(scores, 1.0);
    for (i, &place) in places.iter().enumerate() {
        d[(i, place as usize)] -= 1.0;
    }
    mean(d)
}

/// Cross-entropy with what another network says of its own classes, the first ones, both softened by a temperature
/// (Hinton et al., 2015). The other classes have no part in it. Multiplied by T², as there, so that the temperature does
/// not change how much it counts.
pub fn distillation(scores: &Matrix<f32>, target: &Matrix<f32>, temperature: f32) -> Matrix<f32> {
    let shared = scores.columns(0, target.n_cols()).to_matrix();
    let mut d = softmax(&shared, temperature);
    let target = softmax(target, temperature);
    let pairs = d.values_mut().iter_mut().zip(target.values());
    pairs.for_each(|(d, &t)| *d = temperature * (*d - t));
    widened(mean(d), scores.n_cols())
}

/// Binary cross-entropy of the sigmoid of every score with a target from 0 to 1, summed over the classes.
pub fn binary_cross_entropy(scores: &Matrix<f32>, targets: &Matrix<f32>) -> Matrix<f32> {
    let mut d = scores.clone();
    let pairs = d.values_mut().iter_mut().zip(targets.values());
    pairs.for_each(|(s, &t)| *s = sigmoid(*s) - t);
    mean(d)
}

/// 1 / (1 + e⁻ˢ)
pub fn sigmoid(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

/// The derivatives of a mean over rows, from those of single rows.
fn mean(mut d: Matrix<f32>) -> Matrix<f32> {
    let n = d.n_rows().max(1) as f32;
    d.values_mut().iter_mut().for_each(|v| *v /= n);
    d
}

/// The same, with zeros for the classes that are missing.
fn widened(mut d: Matrix<f32>, n_classes: usize) -> Matrix<f32> {
    d.append(&Matrix::zeros(d.n_rows(), n_classes - d.n_cols()));
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(scores: &[f32]) -> Matrix<f32> {
        Matrix::from_fn(1, scores.len(), |_, c| scores[c])
    }

    #[track_caller]
    fn close(found: &Matrix<f32>, expected: &[f32]) {
        assert_eq!(found.values().len(), expected.len());
        for (a, b) in found.values().iter().zip(expected) {
            assert!((a - b).abs() < 1e-6, "{found:?} is not {expected:?}");
        }
    }

    #[test]
    fn cross_entropy_by_hand() {
        // Scores 0 and ln 3: probabilities 1/4 and 3/4.
        close(&cross_entropy(&row(&[0.0, 3.0_f32.ln()]), &[0]), &[-0.75, 0.75]);
    }

    #[test]
    fn distillation_by_hand() {
        // At T = 2, scores 0 and 2 ln 3 have probabilities 1/4 and 3/4; the target's are 1/2 each.
        let d = distillation(&row(&[0.0, 2.0 * 3.0_f32.ln(), 9.0]), &row(&[1.0, 1.0]), 2.0);
        close(&d, &[-0.5, 0.5, 0.0]);
    }

    #[test]
    fn binary_cross_entropy_by_hand() {
        let d = binary_cross_entropy(&row(&[0.0, 3.0_f32.ln()]), &row(&[1.0, 0.5]));
        close(&d, &[-0.5, 0.25]);
    }
}
