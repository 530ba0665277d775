//! The lower triangle of a symmetric matrix, and its factor. Beside `linalg`, the only file that knows the matrix crate.
//!
//! A square of thousands of nodes is most of what a readout takes, and half of it says nothing. So a triangle is kept in
//! strips of columns, each from its diagonal down; they are also what a factor is made from, step by step.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::matmul::{self};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::alone::is_alone;
use super::linalg::{Matrix, PARALLEL_WORK, Real, View, divide, parallelism, square_length};
use super::stop::{go_on, is_stopped};

/// Columns of a strip.
const STRIP: usize = 256;

/// The lower triangle of a symmetric matrix.
#[derive(Clone)]
pub struct Lower<T> {
    n: usize,
    /// Columns from their diagonal down; above it, within a strip, values mean nothing.
    strips: Vec<Matrix<T>>,
}

impl<T: Real> Lower<T> {
    /// The matrix with columns that `fill` fills from the diagonal down, less `a aᵀ`, `a` `(n, any number)`. It is
    /// computed in double precision and then rounded.
    pub fn filled(n: usize, fill: impl Fn(usize, &mut [f64]) + Sync, a: View<'_, f64>) -> Self {
        let strip = |start: usize| {
            let n_rows = n - start;
            let mut strip = Matrix::zeros(n_rows, STRIP.min(n_rows));
            let columns = strip.values_mut().par_chunks_mut(n_rows).enumerate();
            columns.for_each(|(k, column)| fill(start + k, &mut column[k..]));
            if a.n_cols() > 0 {
                let par = parallelism(n_rows * STRIP * a.n_cols());
                add_symmetric(strip.faer_mut(), -1.0, a.rows(start..n).0, par);
            }
            T::rounded(strip)
        };
        Self {
            n,
            strips: (0..n).step_by(STRIP).map(strip).collect(),
        }
    }
}

/// From a square matrix, of which only the lower triangle is read.
impl<T: Real> From<Matrix<T>> for Lower<T> {
    fn from(a: Matrix<T>) -> Self {
        let n = a.n_cols();
        let strips = if n <= STRIP {
            vec![a]
        } else {
            let starts = (0..n).step_by(STRIP);
            let strip = |start: usize| a.columns(start, n.min(start + STRIP)).rows(start..n).to_matrix();
            starts.map(strip).collect()
        };
        Self { n, strips }
    }
}

/// Adds `alpha a aᵀ` to a strip, `a` from the first column of the strip down.
fn add_symmetric<T: Real>(strip: MatMut<'_, T>, alpha: T, a: MatRef<'_, T>, par: Par) {
    let width = strip.ncols();
    let (square, below) = strip.split_at_row_mut(width);
    let (beside_square, beside_below) = a.split_at_row(width);
    triangular::matmul(
        square,
        BlockStructure::TriangularLower,
        Accum::Add,
        beside_square,
        BlockStructure::Rectangular,
        beside_square.transpose(),
        BlockStructure::Rectangular,
        alpha,
        par,
    );
    let turned = beside_square.transpose();
    matmul::matmul(below, Accum::Add, beside_below, turned, alpha, par);
}

/// A symmetric positive definite matrix A = L Lᵀ, factored.
pub struct Cholesky<T> {
    /// L.
    factor: Lower<T>,
}

impl<T: Real> Cholesky<T> {
    /// Factors `a`, reading only its lower triangle; `None` when it is not positive definite to working precision, or
    /// when the work is stopped.
    pub fn new(a: Matrix<T>) -> Option<Self> {
        Self::of(a.into())
    }

    /// The same of a triangle, in its place.
    pub fn of(mut factor: Lower<T>) -> Option<Self> {
        let strips = factor.strips.as_mut_slice();
        for at in 0..strips.len() {
            go_on()?;
            let (done, later) = strips.split_at_mut(at + 1);
            let strip = &mut done[at];
            let width = strip.n_cols();
            let (mut square, mut below) = strip.faer_mut().split_at_row_mut(width);
            factor_in_place(square.rb_mut())?;
            let par = parallelism(below.nrows() * width * width / 2);
            solve_lower_triangular_in_place(square.rb(), below.rb_mut().transpose_mut(), par);
            let below = below.rb();
            let update = |(k, strip): (usize, &mut Matrix<T>)| {
                let (_, from_here) = below.split_at_row(k * STRIP);
                add_symmetric(strip.faer_mut(), -T::one_impl(), from_here, Par::Seq);
            };
            if is_alone() || below.nrows() * below.nrows() * width < PARALLEL_WORK {
                later.iter_mut().enumerate().for_each(update);
            } else {
                later.par_iter_mut().enumerate().for_each(update);
            }
        }
        Some(Self { factor })
    }

    /// Solves A x = b.
    pub fn solve(&self, b: &Matrix<T>) -> Matrix<T> {
        self.backward(self.forward(b.clone()))
    }

    /// L⁻¹ b.
    pub fn forward(&self, mut b: Matrix<T>) -> Matrix<T> {
        let mut rest = b.faer_mut();
        for strip in &self.factor.strips {
            if is_stopped() {
                break;
            }
            rest = eliminate(strip, rest);
        }
        b
    }

    /// L⁻ᵀ b.
    pub fn backward(&self, mut b: Matrix<T>) -> Matrix<T> {
        for (at, strip) in self.factor.strips.iter().enumerate().rev() {
            if is_stopped() {
                break;
            }
            let (_, from_here) = b.faer_mut().split_at_row_mut(at * STRIP);
            let width = strip.n_cols();
            let (mut here, rest) = from_here.split_at_row_mut(width);
            let (square, below) = strip.view().0.split_at_row(width);
            subtract_product(here.rb_mut(), below.transpose(), rest.rb());
            let par = parallelism(width * width * here.ncols());
            solve_upper_triangular_in_place(square.transpose(), here, par);
        }
        b
    }

    /// bᵀ A⁻¹ b for every column b.
    pub fn lengths(&self, b: Matrix<T>) -> Vec<f64> {
        self.forward(b).cols().map(square_length).collect()
    }

    /// Passes on L⁻¹ strip by strip: where each begins, and its columns from there down.
    pub fn for_each_strip_of_inverse(&self, mut to: impl FnMut(usize, Matrix<T>)) {
        for (at, strip) in self.factor.strips.iter().enumerate() {
            let mut columns = Matrix::zeros(strip.n_rows(), strip.n_cols());
            (0..strip.n_cols()).for_each(|k| columns[(k, k)] = T::one_impl());
            let mut rest = columns.faer_mut();
            for strip in &self.factor.strips[at..] {
                if is_stopped() {
                    return;
                }
                rest = eliminate(strip, rest);
            }
            to(at * STRIP, columns);
        }
    }

    /// L⁻¹, lower triangle.
    pub fn inverse_factor(&self) -> Matrix<T> {
        let n = self.factor.n;
        let mut inverse = Matrix::zeros(n, n);
        self.for_each_strip_of_inverse(|start, strip| {
            for (k, column) in strip.cols().enumerate() {
                inverse.col_mut(start + k)[start..].copy_from_slice(column);
            }
        });
        inverse
    }

    /// The trace of A⁻¹: the squared length of all of L⁻¹.
    pub fn trace_of_inverse(&self) -> f64 {
        // Summed in order, so that the result does not depend on the number of threads.
        let mut trace = 0.0;
        self.for_each_strip_of_inverse(|_, strip| {
            let columns = strip.values().par_chunks(strip.n_rows().max(1));
            let lengths: Vec<f64> = columns.map(square_length).collect();
            trace += lengths.iter().sum::<f64>();
        });
        trace
    }
}

impl Cholesky<f64> {
    /// L⁻¹ b in single precision, for what needs no more: of the factor, one strip at a time is rounded.
    pub fn forward_in_single(&self, mut b: Matrix<f32>) -> Matrix<f32> {
        let mut rest = b.faer_mut();
        for strip in &self.factor.strips {
            if is_stopped() {
                break;
            }
            rest = eliminate(&strip.to_f32(), rest);
        }
        b
    }
}

/// Solves for the rows of `b` beside the first ones of a strip, takes them from the others, and returns those.
fn eliminate<'a, T: Real>(strip: &Matrix<T>, b: MatMut<'a, T>) -> MatMut<'a, T> {
    let width = strip.n_cols();
    let (mut here, mut rest) = b.split_at_row_mut(width);
    let (square, below) = strip.view().0.split_at_row(width);
    let par = parallelism(width * width * here.ncols());
    solve_lower_triangular_in_place(square, here.rb_mut(), par);
    subtract_product(rest.rb_mut(), below, here.rb());
    rest
}

/// `out -= a b`.
fn subtract_product<T: Real>(out: MatMut<'_, T>, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let parts = parallelism(a.nrows() * a.ncols() * b.ncols()).degree();
    divide(parts, out, a, b, &|out, a, b| {
        matmul::matmul(out, Accum::Add, a, b, -T::one_impl(), Par::Seq);
    });
}

/// Solves `a x = b` for a symmetric positive definite `a`, reading only its lower triangle.
///
/// `None` when `a` is not positive definite to working precision.
pub fn solve_positive_definite(a: &Matrix<f64>, b: &Matrix<f64>) -> Option<Matrix<f64>> {
    Some(Cholesky::new(a.clone())?.solve(b))
}

/// Factors a matrix in one go; `None` when it is not positive definite to working precision.
fn factor_in_place<T: Real>(a: MatMut<'_, T>) -> Option<()> {
    let n = a.ncols();
    let par = parallelism(n * n * n / 3);
    let mut scratch = MemBuffer::new(cholesky_in_place_scratch::<T>(n, par, Default::default()));
    let stack = MemStack::new(&mut scratch);
    cholesky_in_place(a, Default::default(), par, stack, Default::default()).ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, Stream, gram, product};

    /// What is made and solved strip by strip is what the whole matrix says, however the last strip ends.
    #[test]
    fn strips_are_a_matrix() {
        for n in [1, 255, 256, 257, 600] {
            let mut random = Random::new(n as u64, Stream::Probes);
            let mut some =
                |n_cols: usize| Matrix::from_fn(n, n_cols, |_, _| f64::from(random.symmetric(1.0)));
            let (h, b, mut a) = (some(40), some(2), some(3));
            // Less than what is there in every direction.
            a.values_mut().iter_mut().for_each(|v| *v *= 0.1);
            let (sums, less) = (gram(h.t()), gram(a.t()));
            let fill = |j: usize, column: &mut [f64]| {
                column.copy_from_slice(&sums.col(j)[j..]);
                column[0] += 10.0;
            };
            let whole = Matrix::from_fn(n, n, |i, j| {
                sums[(i, j)] - less[(i, j)] + if i == j { 10.0 } else { 0.0 }
            });
            let factor = Cholesky::<f64>::of(Lower::filled(n, fill, a.view())).unwrap();
            let back = product(whole.view(), factor.solve(&b).view());
            let close = |a: &Matrix<f64>, b: &Matrix<f64>, tolerance: f64| {
                assert_eq!((a.n_rows(), a.n_cols()), (b.n_rows(), b.n_cols()));
                let mut pairs = a.values().iter().zip(b.values());
                assert!(pairs.all(|(a, b)| (a - b).abs() < tolerance), "{n}");
            };
            close(&back, &b, 1e-9);
            let single = factor.forward_in_single(b.to_f32());
            close(&single.to_f64(), &factor.forward(b.clone()), 1e-4);
            let of_matrix = Cholesky::new(whole).unwrap();
            close(&of_matrix.inverse_factor(), &factor.inverse_factor(), 1e-9);
        }
    }
}
