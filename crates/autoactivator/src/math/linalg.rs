//! The matrices of the method. Beside `lower`, the only file that knows the matrix crate.
//!
//! [`Matrix`] is dense and column-major, so that nodes append as columns; [`View`] borrows one, its transpose
//! or a caller's row-major [`Rows`]. Everything above deals only in products, Gram blocks and solves.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj,
};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::matmul::{self};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::prelude::SolveLstsq;
use faer::{Accum, Conj, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::data::Rows;
use crate::math::alone::is_alone;
use crate::math::stop::is_stopped;
use crate::math::vectorised;

/// Columns of a Gram matrix that are multiplied at a time, which bounds the memory a product needs besides
/// the sum. Most pools fit into one panel, since a product of a part of the columns is slower.
const PANEL: usize = 8192;

/// Multiply-adds between two moments at which work may be stopped: a fraction of a second. Tests need fewer, so that small
/// matrices are divided, too.
const UNSTOPPED: usize = if cfg!(test) { 4 << 20 } else { 4 << 30 };

/// The narrowest part of a product or solve: narrower ones are slow.
const NARROWEST: usize = 128;

/// Products below this many multiply-adds are not worth a second thread.
pub(super) const PARALLEL_WORK: usize = 1 << 20;

/// Parts of a product begin at multiples of this many values: one of the widest registers.
const ALIGNED: usize = 16;

/// A real number type that products are computed in.
pub trait Real: sealed::Sealed + Copy + Default + Send + Sync + Into<f64> {
    /// The nearest number of this precision.
    fn nearest(value: f64) -> Self;

    /// The nearest numbers of this precision.
    fn rounded(values: Matrix<f64>) -> Matrix<Self>;
}

/// Single and double precision, and nothing else: the matrix crate stays behind this file.
mod sealed {
    pub trait Sealed: faer::traits::RealField {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Real for f32 {
    fn nearest(value: f64) -> Self {
        value as f32
    }

    fn rounded(values: Matrix<f64>) -> Matrix<Self> {
        values.to_f32()
    }
}

impl Real for f64 {
    fn nearest(value: f64) -> Self {
        value
    }

    fn rounded(values: Matrix<f64>) -> Matrix<Self> {
        values
    }
}

/// A dense, column-major matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    values: Vec<T>,
    n_rows: usize,
    n_cols: usize,
}

impl<T: Real> Matrix<T> {
    /// A matrix of zeros.
    pub fn zeros(n_rows: usize, n_cols: usize) -> Self {
        Self {
            values: vec![T::default(); n_rows * n_cols],
            n_rows,
            n_cols,
        }
    }

    /// The matrix with `f(i, j)` in row `i`, column `j`.
    pub fn from_fn(n_rows: usize, n_cols: usize, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let mut values = Vec::with_capacity(n_rows * n_cols);
        for j in 0..n_cols {
            values.extend((0..n_rows).map(|i| f(i, j)));
        }
        Self {
            values,
            n_rows,
            n_cols,
        }
    }

    /// The same as [`from_fn`](Self::from_fn), on all threads.
    pub fn filled(n_rows: usize, n_cols: usize, f: impl Fn(usize, usize) -> T + Sync) -> Self {
        let mut filled = Self::zeros(n_rows, n_cols);
        let columns = filled.values.par_chunks_mut(n_rows.max(1)).enumerate();
        columns.for_each(|(j, column)| {
            column.iter_mut().enumerate().for_each(|(i, v)| *v = f(i, j));
        });
        filled
    }

    /// Takes values column after column; `None` when their number does not match the shape.
    pub fn from_columns(values: Vec<T>, n_rows: usize, n_cols: usize) -> Option<Self> {
        (Some(values.len()) == n_rows.checked_mul(n_cols)).then_some(Self {
            values,
            n_rows,
            n_cols,
        })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// All values, column after column.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Consumes the matrix; its values, column after column.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }

    /// All values, column after column, to be changed.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Column `j`.
    pub fn col(&self, j: usize) -> &[T] {
        &self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// Column `j`, to be changed.
    pub fn col_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// Iterates over the columns.
    pub fn cols(&self) -> impl Iterator<Item = &[T]> {
        (0..self.n_cols).map(|j| self.col(j))
    }

    /// A view of the columns from `start` up to, not including, `end`.
    pub fn columns(&self, start: usize, end: usize) -> View<'_, T> {
        let values = &self.values[start * self.n_rows..end * self.n_rows];
        View(MatRef::from_column_major_slice(values, self.n_rows, end - start))
    }

    /// Copies the columns at `indices`, in that order.
    pub fn gather(&self, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut gathered = Self::zeros(self.n_rows, 0);
        for j in indices {
            gathered.push(self.col(j));
        }
        gathered
    }

    /// Copies the rows at `indices`, in that order.
    pub fn gather_rows(&self, indices: &[usize]) -> Self {
        let mut values = Vec::with_capacity(indices.len() * self.n_cols);
        for column in self.cols() {
            values.extend(indices.iter().map(|&i| column[i]));
        }
        Self {
            values,
            n_rows: indices.len(),
            n_cols: self.n_cols,
        }
    }

    /// Appends a column.
    pub fn push(&mut self, column: &[T]) {
        debug_assert_eq!(column.len(), self.n_rows);
        self.values.extend_from_slice(column);
        self.n_cols += 1;
    }

    /// Appends the columns of `other`.
    pub fn append(&mut self, other: &Self) {
        debug_assert_eq!(other.n_rows, self.n_rows);
        self.values.extend_from_slice(&other.values);
        self.n_cols += other.n_cols;
    }

    /// Keeps the first `n_cols` columns.
    pub fn truncate(&mut self, n_cols: usize) {
        self.n_cols = self.n_cols.min(n_cols);
        self.values.truncate(self.n_rows * self.n_cols);
    }

    /// A view of the whole matrix.
    pub fn view(&self) -> View<'_, T> {
        self.columns(0, self.n_cols)
    }

    /// A view of the transpose.
    pub fn t(&self) -> View<'_, T> {
        self.view().t()
    }

    pub(super) fn faer_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_column_major_slice_mut(&mut self.values, self.n_rows, self.n_cols)
    }
}

impl<T> std::ops::Index<(usize, usize)> for Matrix<T> {
    type Output = T;
    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.values[j * self.n_rows + i]
    }
}

impl<T> std::ops::IndexMut<(usize, usize)> for Matrix<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.values[j * self.n_rows + i]
    }
}

impl Matrix<f32> {
    /// The same values in double precision.
    pub fn to_f64(&self) -> Matrix<f64> {
        Matrix {
            values: self.values.iter().map(|&v| f64::from(v)).collect(),
            n_rows: self.n_rows,
            n_cols: self.n_cols,
        }
    }
}

impl Matrix<f64> {
    /// The nearest values in single precision.
    pub fn to_f32(&self) -> Matrix<f32> {
        Matrix {
            values: self.values.iter().map(|&v| v as f32).collect(),
            n_rows: self.n_rows,
            n_cols: self.n_cols,
        }
    }

    /// Whether every value is finite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().all(|v| v.is_finite())
    }
}

/// A borrowed matrix of any layout.
#[derive(Clone, Copy)]
pub struct View<'a, T>(pub(super) MatRef<'a, T>);

impl<T: Real> View<'_, T> {
    /// The transpose.
    pub fn t(self) -> Self {
        Self(self.0.transpose())
    }

    /// The columns from `start` up to, not including, `end`.
    pub fn columns(self, start: usize, end: usize) -> Self {
        Self(self.0.subcols(start, end - start))
    }

    /// The rows in `range`.
    pub fn rows(self, range: std::ops::Range<usize>) -> Self {
        Self(self.0.subrows(range.start, range.len()))
    }

    /// Copies the view into a matrix of its own.
    pub fn to_matrix(self) -> Matrix<T> {
        Matrix::from_fn(self.n_rows(), self.n_cols(), |i, j| self.0[(i, j)])
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.0.nrows()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.0.ncols()
    }
}

impl<'a> From<Rows<'a>> for View<'a, f32> {
    fn from(x: Rows<'a>) -> Self {
        Self(MatRef::from_row_major_slice(x.values(), x.len(), x.n_features()))
    }
}

/// `a b`.
pub fn product<T: Real>(a: View<'_, T>, b: View<'_, T>) -> Matrix<T> {
    let mut out = Matrix::zeros(a.n_rows(), b.n_cols());
    product_into(&mut out, a, b);
    out
}

/// `out = a b`, where `out` has the shape of the product.
pub fn product_into<T: Real>(out: &mut Matrix<T>, a: View<'_, T>, b: View<'_, T>) {
    let parts = parts(a, b);
    divide(parts, out.faer_mut(), a.0, b.0, &|out, a, b| {
        matmul::matmul(out, Accum::Replace, a, b, T::one_impl(), Par::Seq);
    });
}

/// `out += alpha a b`.
pub fn add_product<T: Real>(out: &mut Matrix<T>, alpha: T, a: View<'_, T>, b: View<'_, T>) {
    let parts = parts(a, b);
    divide(parts, out.faer_mut(), a.0, b.0, &|out, a, b| {
        matmul::matmul(out, Accum::Add, a, b, alpha, Par::Seq);
    });
}

/// How many threads a product is divided among.
fn parts<T: Real>(a: View<'_, T>, b: View<'_, T>) -> usize {
    parallelism(a.n_rows() * a.n_cols() * b.n_cols()).degree()
}

/// Divides a product among threads along its longer side. The caller computes a part
/// itself: it neither hands over all of the work nor waits for threads that are still asleep, as the matrix crate does. For
/// a few rows, that takes as long as the product.
pub(super) fn divide<T: Real>(
    parts: usize,
    out: MatMut<'_, T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    multiply: &(impl Fn(MatMut<'_, T>, MatRef<'_, T>, MatRef<'_, T>) + Sync),
) {
    if parts <= 1 {
        return multiply(out, a, b);
    }
    let (here, there) = (parts / 2, parts - parts / 2);
    let share = |length: usize| (length * here / parts).next_multiple_of(ALIGNED).min(length);
    rayon::in_place_scope(|scope| {
        if out.nrows() >= out.ncols() {
            let middle = share(out.nrows());
            let (top, bottom) = out.split_at_row_mut(middle);
            let (a, a_below) = a.split_at_row(middle);
            scope.spawn(move |_| divide(there, bottom, a_below, b, multiply));
            divide(here, top, a, b, multiply);
        } else {
            let middle = share(out.ncols());
            let (left, right) = out.split_at_col_mut(middle);
            let (b, b_right) = b.split_at_col(middle);
            scope.spawn(move |_| divide(there, right, a, b_right, multiply));
            divide(here, left, a, b, multiply);
        }
    });
}

/// Adds `sign · aᵀ a` to a lower triangle, column after column: products in the precision of `a`, sums in double.
pub fn add_gram_packed<T: Real>(out: &mut [f64], a: View<'_, T>, sign: f64) {
    let panel = part_of(a.n_rows() * a.n_cols()).max(8 * NARROWEST);
    add_gram_by_panels(out, a, sign, panel.min(PANEL));
}

fn add_gram_by_panels<T: Real>(out: &mut [f64], a: View<'_, T>, sign: f64, panel: usize) {
    let n = a.n_cols();
    let mut products = vec![T::default(); n * panel.min(n)];
    let mut rest = out;
    for start in (0..n).step_by(panel) {
        if is_stopped() {
            return;
        }
        let width = panel.min(n - start);
        let rows = n - start;
        let products = &mut products[..rows * width];
        lower_panel(
            a,
            start,
            MatMut::from_column_major_slice_mut(products, rows, width),
        );
        let mut columns = Vec::with_capacity(width);
        for j in start..start + width {
            let (column, after) = std::mem::take(&mut rest).split_at_mut(n - j);
            columns.push(column);
            rest = after;
        }
        columns
            .into_par_iter()
            .zip(products.par_chunks(rows))
            .enumerate()
            .for_each(|(j, (sums, products))| {
                vectorised(
                    #[inline(always)]
                    || {
                        let pairs = sums.iter_mut().zip(&products[j..]);
                        pairs.for_each(|(sum, &p)| *sum += sign * p.into());
                    },
                );
            });
    }
}

/// The columns of the lower triangle of `aᵀ a` from `start` on: the square on the diagonal, of which half is
/// enough, and the rectangle below it.
fn lower_panel<T: Real>(a: View<'_, T>, start: usize, out: MatMut<'_, T>) {
    let (rows, width) = (out.nrows(), out.ncols());
    let par = parallelism(a.n_rows() * rows * width);
    let of_panel = a.0.subcols(start, width);
    let below_panel = a.0.subcols(start + width, rows - width);
    let (square, below) = out.split_at_row_mut(width);
    triangular::matmul(
        square,
        BlockStructure::TriangularLower,
        Accum::Replace,
        of_panel.transpose(),
        BlockStructure::Rectangular,
        of_panel,
        BlockStructure::Rectangular,
        T::one_impl(),
        par,
    );
    let below_panel = below_panel.transpose();
    matmul::matmul(below, Accum::Replace, below_panel, of_panel, T::one_impl(), par);
}

/// `aᵀ a`, symmetric.
pub fn gram<T: Real>(a: View<'_, T>) -> Matrix<T> {
    let mut out = Matrix::zeros(a.n_cols(), a.n_cols());
    add_gram_lower(&mut out, a);
    mirror_lower(&mut out);
    out
}

/// Adds `aᵀ a` to the lower triangle of `out`; the part above the diagonal is left unchanged.
pub fn add_gram_lower<T: Real>(out: &mut Matrix<T>, a: View<'_, T>) {
    add_gram_times(out, T::one_impl(), a);
}

/// Subtracts `aᵀ a` from the lower triangle of `out`.
pub fn subtract_gram_lower<T: Real>(out: &mut Matrix<T>, a: View<'_, T>) {
    add_gram_times(out, -T::one_impl(), a);
}

fn add_gram_times<T: Real>(out: &mut Matrix<T>, alpha: T, a: View<'_, T>) {
    let step = part_of(a.n_cols() * a.n_cols() / 2);
    for start in (0..a.n_rows()).step_by(step) {
        if is_stopped() {
            return;
        }
        let rows = a.rows(start..a.n_rows().min(start + step)).0;
        add_lower(out.faer_mut(), alpha, rows.transpose(), rows);
    }
}

/// Adds `alpha a b`, a symmetric product, to the lower triangle of `out`.
fn add_lower<T: Real>(out: MatMut<'_, T>, alpha: T, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let par = parallelism(a.nrows() * a.ncols() * b.ncols() / 2);
    triangular::matmul(
        out,
        BlockStructure::TriangularLower,
        Accum::Add,
        a,
        BlockStructure::Rectangular,
        b,
        BlockStructure::Rectangular,
        alpha,
        par,
    );
}

/// Copies the lower triangle of a square matrix onto the upper one.
pub fn mirror_lower<T: Real>(a: &mut Matrix<T>) {
    let n = a.n_cols;
    for j in 0..n {
        for i in 0..j {
            a[(i, j)] = a[(j, i)];
        }
    }
}

/// How much is computed at a time, where each column or row takes this many multiply-adds.
fn part_of(each: usize) -> usize {
    (UNSTOPPED / each.max(1)).max(NARROWEST)
}

/// The squared length of every column.
pub fn square_lengths<T: Real>(a: View<'_, T>) -> Vec<f64> {
    let squared = |j| {
        (0..a.n_rows())
            .map(|i| a.0[(i, j)].into() * a.0[(i, j)].into())
            .sum()
    };
    (0..a.n_cols()).map(squared).collect()
}

pub(super) fn square_length<T: Real>(values: &[T]) -> f64 {
    values.iter().map(|&v| v.into() * v.into()).sum()
}

/// An orthogonal Q, `(n_rows, n_rows)`, for which Qᵀa is upper triangular without a negative number on its diagonal. It is
/// computed on one thread, so that the number of threads changes no bit.
pub fn rotation(mut a: Matrix<f64>) -> Matrix<f64> {
    let (n_rows, n_cols) = (a.n_rows, a.n_cols);
    let mut q = Matrix::from_fn(n_rows, n_rows, |i, j| if i == j { 1.0 } else { 0.0 });
    let size = n_rows.min(n_cols);
    if size == 0 {
        return q;
    }
    let block = recommended_block_size::<f64>(n_rows, n_cols);
    let mut coefficients = Matrix::zeros(block, size);
    let scratch = [
        qr_in_place_scratch::<f64>(n_rows, n_cols, block, Par::Seq, Default::default()),
        apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(n_rows, block, n_rows),
    ];
    let mut scratch = MemBuffer::new(StackReq::any_of(&scratch));
    let stack = MemStack::new(&mut scratch);
    qr_in_place(
        a.faer_mut(),
        coefficients.faer_mut(),
        Par::Seq,
        stack,
        Default::default(),
    );
    apply_block_householder_sequence_on_the_left_in_place_with_conj(
        a.columns(0, size).0,
        coefficients.view().0,
        Conj::No,
        q.faer_mut(),
        Par::Seq,
        stack,
    );
    for j in (0..size).filter(|&j| a[(j, j)] < 0.0) {
        q.col_mut(j).iter_mut().for_each(|v| *v = -*v);
    }
    q
}

/// Eigenvalues of a symmetric matrix, ascending, and its eigenvectors, of which only the lower triangle is read; `None` if they
/// cannot be found. It works on one thread.
pub fn eigen(a: &Matrix<f64>) -> Option<(Vec<f64>, Matrix<f64>)> {
    let n = a.n_cols;
    let (mut values, mut vectors) = (vec![0.0; n], Matrix::zeros(n, n));
    let vectors_too = ComputeEigenvectors::Yes;
    let scratch = self_adjoint_evd_scratch::<f64>(n, vectors_too, Par::Seq, Default::default());
    let mut scratch = MemBuffer::new(scratch);
    self_adjoint_evd(
        a.view().0,
        DiagMut::from_slice_mut(&mut values),
        Some(vectors.faer_mut()),
        Par::Seq,
        MemStack::new(&mut scratch),
        Default::default(),
    )
    .ok()?;
    Some((values, vectors))
}

/// The least-squares solution of `a x = b` for a tall `a` of full column rank, by a QR decomposition.
///
/// The one function here whose last bits depend on the number of threads: it checks the others, and no model uses it.
pub fn least_squares(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let x = a.view().0.qr().solve_lstsq(b.view().0);
    Matrix::from_fn(a.n_cols(), b.n_cols(), |i, j| x[(i, j)])
}

pub(super) fn parallelism(multiply_adds: usize) -> Par {
    if multiply_adds < PARALLEL_WORK || is_alone() {
        Par::Seq
    } else {
        Par::rayon(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Cholesky, alone};

    /// Reproducible numbers in [-1, 1).
    fn random(n_rows: usize, n_cols: usize) -> Matrix<f64> {
        let mut state = 1u64;
        Matrix::from_fn(n_rows, n_cols, |_, _| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 23) - 1.0
        })
    }

    #[test]
    fn a_gram_matrix_by_panels_is_the_one_by_its_definition() {
        for (n_rows, n_cols) in [(1, 1), (5, 3), (3, 64), (40, 135)] {
            let a = random(n_rows, n_cols).to_f32();
            for sign in [1.0, -1.0] {
                let pairs = (0..n_cols).flat_map(|j| (j..n_cols).map(move |i| (i, j)));
                let mut out: Vec<f64> = pairs.clone().map(|(i, j)| (i + 2 * j) as f64).collect();
                add_gram_by_panels(&mut out, a.view(), sign, 64);
                for ((i, j), found) in pairs.zip(out) {
                    let inner: f64 = (a.col(i).iter().zip(a.col(j)))
                        .map(|(a, b)| f64::from(*a) * f64::from(*b))
                        .sum();
                    let expected = (i + 2 * j) as f64 + sign * inner;
                    assert!((found - expected).abs() < 1e-5, "({i}, {j}) of {n_cols}");
                }
            }
        }
    }

    /// Whatever products and solves give, by name.
    fn everything<T: Real>(a: &Matrix<T>, b: &Matrix<T>) -> Vec<(&'static str, Matrix<T>)> {
        let mut square = gram(a.view());
        (0..square.n_cols()).for_each(|j| square[(j, j)] = T::nearest(square[(j, j)].into() + 1.0));
        let factor = Cholesky::new(square.clone()).unwrap();
        vec![
            ("product", product(a.view(), b.view())),
            ("transposed product", product(b.t(), a.t())),
            ("Gram matrix", square),
            ("inverse factor", factor.inverse_factor()),
            ("solve", factor.solve(b)),
            ("forward", factor.forward(b.clone())),
            ("backward", factor.backward(b.clone())),
            (
                "trace",
                Matrix::from_fn(1, 1, |_, _| T::nearest(factor.trace_of_inverse())),
            ),
        ]
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        // All but the smallest are divided among threads; some are deeper than what a product sums up at a time.
        for (n_rows, n_cols, n_rhs) in [
            (9, 5, 2),
            (64, 784, 680),
            (700, 513, 1),
            (300, 129, 257),
            (2500, 900, 40),
        ] {
            let (a, b) = (random(n_rows, n_cols), random(n_cols, n_rhs));
            let single = (a.to_f32(), b.to_f32());
            let all = || {
                let mut sums = vec![0.0; n_cols * (n_cols + 1) / 2];
                add_gram_packed(&mut sums, single.0.view(), 1.0);
                let sums = Matrix {
                    n_rows: sums.len(),
                    n_cols: 1,
                    values: sums,
                };
                let in_single = everything(&single.0, &single.1).into_iter();
                // Single precision fits into double, so that one comparison is enough.
                let in_single = in_single.map(|(name, values)| (name, values.to_f64()));
                [everything(&a, &b), in_single.collect(), vec![("sums", sums)]].concat()
            };
            let expected = alone(all);
            for threads in [1, 2, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let found = pool.build().unwrap().install(all);
                for ((name, expected), (_, found)) in expected.iter().zip(&found) {
                    let mut pairs = expected.values.iter().zip(&found.values);
                    let same = pairs.all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same, "{name} of {n_rows} x {n_cols} on {threads} threads");
                }
            }
        }
    }

    #[test]
    fn a_factor_knows_its_inverse() {
        for n in [1, 2, 7, 65] {
            let mut a = gram(random(2 * n, n).view());
            (0..n).for_each(|j| a[(j, j)] += 0.1);
            let identity = Matrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
            let factor = Cholesky::new(a.clone()).unwrap();
            let inverse = factor.solve(&identity);
            let back = product(a.view(), inverse.view());
            let wrong = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9;
            assert!(!back.values().iter().zip(identity.values()).any(wrong));
            let trace: f64 = (0..n).map(|j| inverse[(j, j)]).sum();
            assert!((factor.trace_of_inverse() - trace).abs() < 1e-9 * trace);
            let lengths = factor.lengths(identity);
            assert!((0..n).all(|j| (lengths[j] - inverse[(j, j)]).abs() < 1e-9 * trace));
        }
        assert!(Cholesky::new(Matrix::from_fn(2, 2, |_, _| 1.0 - 2.0)).is_none());
    }
}
