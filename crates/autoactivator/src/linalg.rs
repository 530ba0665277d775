//! The matrices of the method, and the only file that knows the matrix crate.
//!
//! [`Matrix`] is dense and column-major, so that nodes append as columns; [`View`] borrows one, a transpose of
//! one or a caller's row-major [`Rows`]. Everything above speaks of products, Gram blocks and solves only.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::matmul::{self};
use faer::prelude::{Solve, SolveLstsq};
use faer::{Accum, MatMut, MatRef, Par, Side};

use crate::rows::Rows;

/// Products below this many multiply-adds are not worth a second thread.
const PARALLEL_WORK: usize = 1 << 18;

/// A real number the products are made for.
pub trait Real: faer::traits::RealField + Copy + Default + Send + Sync {}
impl Real for f32 {}
impl Real for f64 {}

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

    /// Takes values column after column; `None` when their number does not fit.
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

    /// The values themselves, column after column.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }

    /// All values, column after column.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Column `j`.
    pub fn col(&self, j: usize) -> &[T] {
        &self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// Column `j`.
    pub fn col_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// The columns one after the other.
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

    fn faer_mut(&mut self) -> MatMut<'_, T> {
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

    /// Whether no value is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        self.values.iter().all(|v| v.is_finite())
    }
}

/// A borrowed matrix of any layout.
#[derive(Clone, Copy)]
pub struct View<'a, T>(MatRef<'a, T>);

impl<T: Real> View<'_, T> {
    /// The transpose.
    pub fn t(self) -> Self {
        Self(self.0.transpose())
    }

    /// The columns from `start` up to, not including, `end`.
    pub fn columns(self, start: usize, end: usize) -> Self {
        Self(self.0.subcols(start, end - start))
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
    let par = parallelism(a.n_rows() * a.n_cols() * b.n_cols());
    matmul::matmul(out.faer_mut(), Accum::Replace, a.0, b.0, T::one_impl(), par);
    out
}

/// `out += alpha a b`.
pub fn add_product<T: Real>(out: &mut Matrix<T>, alpha: T, a: View<'_, T>, b: View<'_, T>) {
    let par = parallelism(a.n_rows() * a.n_cols() * b.n_cols());
    matmul::matmul(out.faer_mut(), Accum::Add, a.0, b.0, alpha, par);
}

/// `aᵀ a`, symmetric.
pub fn gram<T: Real>(a: View<'_, T>) -> Matrix<T> {
    let mut out = Matrix::zeros(a.n_cols(), a.n_cols());
    add_gram_lower(&mut out, a);
    mirror_lower(&mut out);
    out
}

/// Adds `aᵀ a` to the lower triangle of `out`; the part above the diagonal is left alone.
pub fn add_gram_lower<T: Real>(out: &mut Matrix<T>, a: View<'_, T>) {
    let par = parallelism(a.n_rows() * a.n_cols() * a.n_cols() / 2);
    triangular::matmul(
        out.faer_mut(),
        BlockStructure::TriangularLower,
        Accum::Add,
        a.0.transpose(),
        BlockStructure::Rectangular,
        a.0,
        BlockStructure::Rectangular,
        T::one_impl(),
        par,
    );
}

/// Copies the lower triangle of a square matrix over the upper one.
pub fn mirror_lower<T: Real>(a: &mut Matrix<T>) {
    let n = a.n_cols;
    for j in 0..n {
        for i in 0..j {
            a[(i, j)] = a[(j, i)];
        }
    }
}

/// A symmetric positive definite matrix, factored.
pub struct Cholesky(faer::linalg::solvers::Llt<f64>);

impl Cholesky {
    /// Factors `a`, of which the lower triangle is read; `None` when it is not positive definite to working precision.
    pub fn new(a: &Matrix<f64>) -> Option<Self> {
        a.view().0.llt(Side::Lower).ok().map(Self)
    }

    /// The solution of `a x = b`.
    pub fn solve(&self, b: &Matrix<f64>) -> Matrix<f64> {
        let mut x = b.clone();
        self.0.solve_in_place(x.faer_mut());
        x
    }
}

/// Solves `a x = b` for a symmetric positive definite `a` (its lower triangle is read).
///
/// `None` when `a` is not positive definite to working precision.
pub fn solve_positive_definite(a: &Matrix<f64>, b: &Matrix<f64>) -> Option<Matrix<f64>> {
    Some(Cholesky::new(a)?.solve(b))
}

/// The eigenvalues of a symmetric matrix (its lower triangle is read) and its eigenvectors as columns.
pub struct Eigen {
    /// In ascending order.
    pub values: Vec<f64>,
    /// `(n, n)`.
    pub vectors: Matrix<f64>,
}

/// Decomposes a symmetric matrix; `None` when that does not converge.
pub fn eigen(a: &Matrix<f64>) -> Option<Eigen> {
    let n = a.n_cols;
    if n == 0 {
        return Some(Eigen {
            values: Vec::new(),
            vectors: Matrix::zeros(0, 0),
        });
    }
    let evd = a.view().0.self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (evd.S().column_vector(), evd.U());
    Some(Eigen {
        values: (0..n).map(|i| values[i]).collect(),
        vectors: Matrix::from_fn(n, n, |i, j| vectors[(i, j)]),
    })
}

/// The least-squares solution of `a x = b` for a tall `a` of full column rank, by a QR decomposition.
pub fn least_squares(a: &Matrix<f64>, b: &Matrix<f64>) -> Matrix<f64> {
    let x = a.view().0.qr().solve_lstsq(b.view().0);
    Matrix::from_fn(a.n_cols(), b.n_cols(), |i, j| x[(i, j)])
}

fn parallelism(multiply_adds: usize) -> Par {
    if multiply_adds < PARALLEL_WORK || rayon::current_thread_index().is_some() {
        Par::Seq
    } else {
        Par::rayon(0)
    }
}
