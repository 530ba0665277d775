//! Activation thresholds (Eq. threshold_t): how sure a unit is, on average, of the rows it was made for.
//!
//! The paper does not say what a unit of a single class compares. Here it compares its class with a *rest* that always
//! scores [`REST`]; without it, the softmax would be 1 for every row.

use crate::math::Matrix;

/// Score of everything that is not of a unit's only class.
pub const REST: f32 = 0.0;

/// Mean over rows of max_c(softmax(ŷ) - 1/C), for outputs ŷ of shape `(n_samples, n_classes)`.
pub fn threshold(outputs: &Matrix<f32>) -> f64 {
    let sum: f64 = (0..outputs.n_rows()).map(|i| confidence(outputs, i)).sum();
    sum / outputs.n_rows().max(1) as f64
}

/// max_c(softmax(ŷ) - 1/C) of row `i`: the threshold of a group of one.
pub fn confidence(outputs: &Matrix<f32>, i: usize) -> f64 {
    let rest = (outputs.n_cols() == 1).then_some(REST);
    let row = || {
        (0..outputs.n_cols())
            .map(|c| outputs[(i, c)])
            .chain(rest)
            .map(f64::from)
    };
    let highest = row().fold(f64::NEG_INFINITY, f64::max);
    // α = 1/C is the lowest probability that can win.
    1.0 / row().map(|y| (y - highest).exp()).sum::<f64>() - 1.0 / row().count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::argmax;

    #[test]
    fn threshold_by_hand() {
        // softmax(0, 0) = (1/2, 1/2); softmax(ln 3, 0) = (3/4, 1/4): mean of the highest 5/8, minus 1/2.
        let outputs = Matrix::from_fn(2, 2, |i, c| if (i, c) == (1, 0) { 3f32.ln() } else { 0.0 });
        assert!((threshold(&outputs) - 0.125).abs() < 1e-7);
        assert_eq!(argmax(&outputs, 0), 0);
        assert_eq!(argmax(&outputs, 1), 0);
    }

    /// One class of score ln 3 against a rest of score 0: 3/4 - 1/2. Of score -ln 3, the rest is as sure.
    #[test]
    fn one_class_is_compared_with_the_rest() {
        let outputs = Matrix::from_fn(3, 1, |i, _| [3f32.ln(), -3f32.ln(), REST][i]);
        let found: Vec<f64> = (0..3).map(|i| confidence(&outputs, i)).collect();
        assert!((found[0] - 0.25).abs() < 1e-7 && (found[1] - 0.25).abs() < 1e-7);
        assert!(found[2].abs() < 1e-7);
    }
}
