//! The slow truths beside the fast path: the stepwise update compared with the paper's own formula (Eq.
//! W_L+1, both branches) and with a solve from scratch, on awkward sizes and awkward columns.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

use autoactivator::math::{Matrix, least_squares, product, solve_positive_definite};
use autoactivator::reactivation::StepwiseFit;

/// Reproducible numbers in [-1, 1) without any structure that a solve could exploit.
fn numbers(n_rows: usize, n_cols: usize, salt: u64) -> Matrix<f64> {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    Matrix::from_fn(n_rows, n_cols, |_, _| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    })
}

fn assert_close(a: &Matrix<f64>, b: &Matrix<f64>, tolerance: f64) {
    assert_eq!((a.n_rows(), a.n_cols()), (b.n_rows(), b.n_cols()));
    let scale = b.values().iter().fold(1.0f64, |m, v| m.max(v.abs()));
    for (a, b) in a.values().iter().zip(b.values()) {
        assert!((a - b).abs() <= tolerance * scale, "{a} is not {b}");
    }
}

/// A† of a matrix with independent columns: (AᵀA)⁻¹Aᵀ.
fn pseudoinverse(a: &Matrix<f64>) -> Matrix<f64> {
    let gram = product(a.t(), a.view());
    let transposed = Matrix::from_fn(a.n_cols(), a.n_rows(), |i, j| a[(j, i)]);
    solve_positive_definite(&gram, &transposed).expect("independent columns")
}

/// Eqs. (A_L+l_p) and (B.T) as printed: the pseudoinverse of [A, G] from that of A.
fn partitioned_pseudoinverse(
    a: &Matrix<f64>,
    a_dagger: &Matrix<f64>,
    g: &Matrix<f64>,
    c_is_zero: bool,
) -> Matrix<f64> {
    let d = product(a_dagger.view(), g.view());
    let projected = product(a.view(), d.view());
    let c = Matrix::from_fn(g.n_rows(), g.n_cols(), |i, j| g[(i, j)] - projected[(i, j)]);
    let b_t = if c_is_zero {
        let mut dd = product(d.t(), d.view());
        (0..dd.n_cols()).for_each(|j| dd[(j, j)] += 1.0);
        solve_positive_definite(&dd, &product(d.t(), a_dagger.view())).expect("positive definite")
    } else {
        pseudoinverse(&c)
    };
    let correction = product(d.view(), b_t.view());
    let l = a_dagger.n_rows();
    Matrix::from_fn(l + g.n_cols(), a.n_rows(), |i, j| {
        if i < l {
            a_dagger[(i, j)] - correction[(i, j)]
        } else {
            b_t[(i - l, j)]
        }
    })
}

fn fit(y: &Matrix<f64>, batches: &[&Matrix<f64>]) -> StepwiseFit {
    let mut fit = StepwiseFit::new(y.clone());
    batches.iter().for_each(|g| fit.append(g));
    fit
}

fn beside(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let mut both = a.clone();
    both.append(b);
    both
}

#[test]
fn equals_a_solve_from_scratch() {
    for n in [1, 2, 7, 15] {
        for l in [1, 2, 7, 15] {
            let (first, second) = (numbers(60, n, 3 + n as u64), numbers(60, l, 77 + l as u64));
            let y = numbers(60, 3, 5);
            let weights = fit(&y, &[&first, &second])
                .weights(0.0)
                .expect("independent columns");
            assert_close(&weights, &least_squares(&beside(&first, &second), &y), 1e-8);
        }
    }
}

#[test]
fn equals_the_papers_first_branch() {
    let (a, g, y) = (numbers(40, 6, 1), numbers(40, 4, 2), numbers(40, 2, 3));
    let dagger = partitioned_pseudoinverse(&a, &pseudoinverse(&a), &g, false);
    let weights = fit(&y, &[&a, &g]).weights(0.0).expect("independent columns");
    assert_close(&weights, &product(dagger.view(), y.view()), 1e-8);
}

#[test]
fn equals_the_papers_second_branch() {
    // Every column of G lies in the span of A: C = 0, and A† divides the weight among them.
    let (a, mix, y) = (numbers(40, 6, 1), numbers(6, 4, 2), numbers(40, 2, 3));
    let g = product(a.view(), mix.view());
    let dagger = partitioned_pseudoinverse(&a, &pseudoinverse(&a), &g, true);
    let weights = fit(&y, &[&a, &g]).weights(1e-9).expect("a ridge");
    assert_close(&weights, &product(dagger.view(), y.view()), 1e-6);
}

#[test]
fn stays_finite_on_duplicate_constant_and_zero_columns() {
    let (a, y) = (numbers(30, 5, 1), numbers(30, 2, 2));
    let zeros = Matrix::zeros(30, 3);
    let constants = Matrix::from_fn(30, 3, |_, _| 0.7);
    let batches: [&[&Matrix<f64>]; 4] = [
        &[&a, &a],
        &[&constants, &constants],
        &[&zeros],
        &[&zeros, &a, &constants, &a],
    ];
    for batches in batches {
        let fit = fit(&y, batches);
        let weights = fit.weights(1e-10).expect("finite weights");
        let all = batches[1..]
            .iter()
            .fold(batches[0].clone(), |all, g| beside(&all, g));
        let fitted = product(all.view(), weights.view());
        let residual = Matrix::from_fn(30, 2, |i, c| y[(i, c)] - fitted[(i, c)]);
        assert_close(&residual, fit.residual(), 1e-7);
    }
}

#[test]
fn more_columns_than_rows_fit_exactly() {
    let fit = fit(&numbers(4, 2, 1), &[&numbers(4, 3, 2), &numbers(4, 9, 3)]);
    assert!(fit.residual().values().iter().all(|e| e.abs() < 1e-12));
    assert!(fit.weights(1e-10).is_some());
}

#[test]
fn taking_back_a_batch_undoes_it() {
    let (a, g, y) = (numbers(25, 4, 1), numbers(25, 3, 2), numbers(25, 2, 3));
    let mut both = fit(&y, &[&a, &g]);
    both.truncate(4);
    let alone = fit(&y, &[&a]);
    assert_close(both.residual(), alone.residual(), 1e-12);
    assert_close(&both.weights(0.0).unwrap(), &alone.weights(0.0).unwrap(), 1e-12);
    both.truncate(0);
    assert_close(both.residual(), &y, 1e-12);
}
