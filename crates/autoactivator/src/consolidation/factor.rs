//! G as a factor: a G of few rows has no more rank than that, so an R with RᵀR = G and a row for each of them is smaller.
//!
//! R is upper triangular, and longer than it is high. It changes by rotations alone, which no rounding adds up in, and it
//! follows from G up to rounding: so it says no more about single rows than G does.

use crate::math::{Cholesky, Matrix, Span, add_product, dot, eigen, product, rotation, vectorised};

/// New rows that are rotated in together.
const AT_ONCE: usize = 256;

/// Fewest rows of R that a rotation takes in.
const BLOCK: usize = 32;

/// What is left of a row, relative to the longest one, if it repeats others.
const REPEATED: f64 = 1e-9;

/// Largest part of a row, relative to its length, that may lie outside of what was learned if it is taken away: rows are
/// computed anew for that, and rounding differs.
const OUTSIDE: f64 = 1e-5;

/// What a σ² above 1, or what is left of 1 without it, may be for it to be rounding.
const ROUNDING: f64 = 1e-9;

/// A σ² below this changes nothing.
const NOTHING: f64 = 1e-13;

/// Ridge constants that are tried, relative to the trace.
const RIDGES: [f64; 6] = [0.0, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8];

/// R of RᵀR = G.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    /// Rᵀ, `(n_nodes, n_rows)`: the first i values of column i are 0.
    columns: Matrix<f64>,
}

impl Factor {
    /// Of no rows.
    pub fn empty(n_nodes: usize) -> Self {
        Self {
            columns: Matrix::zeros(n_nodes, 0),
        }
    }

    /// Takes the rows one after the other, each from its diagonal on; `None` if they are cut short.
    pub fn from_packed(values: &[f64], n_nodes: usize) -> Option<Self> {
        let mut columns = Matrix::zeros(n_nodes, 0);
        let mut rest = values;
        while !rest.is_empty() {
            let first = columns.n_cols();
            let (row, after) = rest.split_at_checked(n_nodes.checked_sub(first).filter(|&n| n > 0)?)?;
            columns.push(&[&vec![0.0; first], row].concat());
            rest = after;
        }
        Some(Self { columns })
    }

    /// The rows one after the other, each from its diagonal on.
    pub fn packed(&self) -> impl Iterator<Item = &[f64]> {
        self.columns.cols().enumerate().map(|(first, row)| &row[first..])
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.columns.n_cols()
    }

    /// Rᵀ, `(n_nodes, n_rows)`.
    pub fn columns(&self) -> &Matrix<f64> {
        &self.columns
    }

    /// The entry of G in row `i` and column `j`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.columns.cols().map(|row| row[i] * row[j]).sum()
    }

    /// Adds the entries of G in column `j` and the rows of `range`.
    pub fn add_entries(&self, range: std::ops::Range<usize>, j: usize, entries: &mut [f64]) {
        for row in self.columns.cols().take(j + 1) {
            let factor = row[j];
            vectorised(
                #[inline(always)]
                || {
                    let pairs = entries.iter_mut().zip(&row[range.clone()]);
                    pairs.for_each(|(entry, v)| *entry += factor * v);
                },
            );
        }
    }

    /// The diagonal of G.
    pub fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.columns.n_rows()];
        for row in self.columns.cols() {
            let pairs = diagonal.iter_mut().zip(row);
            pairs.for_each(|(sum, v)| *sum += v * v);
        }
        diagonal
    }

    /// Multiplies G with a factor of at least 0.
    pub fn scale(&mut self, factor: f64) {
        let root = factor.sqrt();
        self.columns.values_mut().iter_mut().for_each(|v| *v *= root);
    }

    /// Adds h hᵀ for every column h.
    pub fn add(&mut self, rows: &Matrix<f64>) {
        if rows.n_cols() >= self.n_rows() {
            self.columns.append(rows);
            self.columns = triangular(&self.columns, 0, longest(&self.columns));
            return;
        }
        for start in (0..rows.n_cols()).step_by(AT_ONCE) {
            let end = rows.n_cols().min(start + AT_ONCE);
            self.add_few(rows.columns(start, end).to_matrix());
        }
    }

    /// Rotates new rows into those of R, some of these at a time, until nothing is left of the new ones in their nodes.
    fn add_few(&mut self, mut rows: Matrix<f64>) {
        let (n, n_rows, longest) = (self.columns.n_rows(), self.n_rows(), longest(&rows));
        for first in (0..n_rows).step_by(rows.n_cols().max(BLOCK)) {
            let end = n_rows.min(first + rows.n_cols().max(BLOCK));
            let mut both = self.columns.columns(first, end).to_matrix();
            both.append(&rows);
            let panel = Matrix::from_fn(both.n_cols(), end - first, |i, j| both[(first + j, i)]);
            let rotated = product(both.view().rows(first..n), rotation(panel).view());
            for (k, column) in rotated.cols().enumerate() {
                let (to, zeros) = if k < end - first {
                    (self.columns.col_mut(first + k), k)
                } else {
                    (rows.col_mut(k + first - end), end - first)
                };
                to[first..].copy_from_slice(column);
                to[first..first + zeros].fill(0.0);
            }
        }
        self.columns.append(&triangular(&rows, n_rows, longest));
    }

    /// Takes h hᵀ away for every column h; returns whether it did. It does not if that would leave a negative variance in
    /// some direction, beyond rounding.
    ///
    /// With H = RᵀC, G - HHᵀ = Rᵀ(1 - CCᵀ)R, and with the singular values σ of C and its left vectors U, the root of
    /// 1 - CCᵀ is 1 - U(1 - √(1 - σ²))Uᵀ.
    pub fn subtract(&mut self, rows: &Matrix<f64>) -> bool {
        let Some((squares, u)) = self.directions(rows) else {
            return false;
        };
        let longest = longest(&self.columns);
        let lost = |square: f64| {
            let kept = 1.0 - square;
            1.0 - if kept > ROUNDING { kept.sqrt() } else { 0.0 }
        };
        let along = product(self.columns.view(), u.view());
        let along = Matrix::from_fn(along.n_rows(), along.n_cols(), |j, k| {
            along[(j, k)] * lost(squares[k])
        });
        add_product(&mut self.columns, -1.0, along.view(), u.t());
        self.columns = triangular(&self.columns, 0, longest);
        true
    }

    /// σ² and U of the C that makes these rows out of those of R; `None` if there is none without a σ above 1. Where R hardly
    /// determines C, a little ridge takes what rounding has put into it.
    fn directions(&self, rows: &Matrix<f64>) -> Option<(Vec<f64>, Matrix<f64>)> {
        let (span, within) = Span::of(self.columns.view());
        let wanted = span.onto(rows.view());
        let inner = product(within.view(), within.t());
        let unit: f64 = (0..inner.n_cols()).map(|j| inner[(j, j)]).sum();
        let is_made = |c: &Matrix<f64>| {
            let made = product(self.columns.view(), c.view());
            let mut pairs = made.cols().zip(rows.cols());
            pairs.all(|(made, row)| {
                let apart: Vec<f64> = made.iter().zip(row).map(|(a, b)| a - b).collect();
                dot(&apart, &apart) <= OUTSIDE * OUTSIDE * dot(row, row)
            })
        };
        RIDGES.iter().find_map(|ridge| {
            let mut with_ridge = inner.clone();
            (0..inner.n_cols()).for_each(|j| with_ridge[(j, j)] += ridge * unit);
            let c = product(within.t(), Cholesky::new(with_ridge)?.solve(&wanted).view());
            let (squares, u) = left_vectors(&c)?;
            let largest = squares.iter().copied().fold(0.0, f64::max);
            (largest <= 1.0 + ROUNDING && is_made(&c)).then_some((squares, u))
        })
    }
}

/// The squares of the singular values of `c` that are not 0, and its left vectors.
fn left_vectors(c: &Matrix<f64>) -> Option<(Vec<f64>, Matrix<f64>)> {
    if c.n_cols() > c.n_rows() {
        return eigen(&product(c.view(), c.t()));
    }
    let (squares, right) = eigen(&product(c.t(), c.view()))?;
    let kept: Vec<usize> = (0..squares.len()).filter(|&k| squares[k] > NOTHING).collect();
    let mut u = product(c.view(), right.gather(kept.iter().copied()).view());
    for (place, &k) in kept.iter().enumerate() {
        let length = squares[k].sqrt();
        u.col_mut(place).iter_mut().for_each(|v| *v /= length);
    }
    Some((kept.iter().map(|&k| squares[k]).collect(), u))
}

/// Rotates columns, whose values before `first` are 0, until only the first of them has a value in the node at `first`,
/// only the first two have one in the next, and so on. Columns of which nothing is left beside `longest` go.
fn triangular(columns: &Matrix<f64>, first: usize, longest: f64) -> Matrix<f64> {
    let n = columns.n_rows();
    let width = columns.n_cols().min(n - first);
    let top = Matrix::from_fn(columns.n_cols(), width, |i, j| columns[(first + j, i)]);
    let rotated = product(columns.view().rows(first..n), rotation(top).view());
    let mut triangle = Matrix::zeros(n, 0);
    for (i, column) in rotated.cols().take(width).enumerate() {
        let whole = [&vec![0.0; first + i], &column[i..]].concat();
        if dot(&whole, &whole).sqrt() > REPEATED * longest {
            triangle.push(&whole);
        }
    }
    triangle
}

/// The length of the longest column.
fn longest(columns: &Matrix<f64>) -> f64 {
    columns
        .cols()
        .map(|column| dot(column, column).sqrt())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, Stream};

    const N: usize = 90;

    fn rows(n: usize, seed: u64) -> Matrix<f64> {
        let mut random = Random::new(seed, Stream::Pool { layer: 0 });
        Matrix::from_fn(N, n, |j, _| if j == 3 { 0.0 } else { f64::from(random.normal()) })
    }

    /// The factor is one of the products of all rows, by definition.
    #[track_caller]
    fn check(factor: &Factor, rows: &[(f64, &Matrix<f64>)], tolerance: f64) {
        for (first, column) in factor.columns.cols().enumerate() {
            assert!(column[..first].iter().all(|&v| v == 0.0));
        }
        for (i, j) in (0..N).flat_map(|j| (j..N).map(move |i| (i, j))) {
            let sum = |(weight, rows): &(f64, &Matrix<f64>)| -> f64 {
                rows.cols().map(|row| weight * row[i] * row[j]).sum()
            };
            let wanted: f64 = rows.iter().map(sum).sum();
            let found = factor.at(i, j);
            assert!((found - wanted).abs() < tolerance, "({i}, {j}): {found} {wanted}");
        }
    }

    #[test]
    fn rows_are_rotated_in() {
        for steps in [&[1, 1, 1][..], &[5, 3, 40, 2, 1, 33], &[70], &[40, 40, 7]] {
            let mut factor = Factor::empty(N);
            let parts: Vec<Matrix<f64>> = steps.iter().zip(1..).map(|(&n, seed)| rows(n, seed)).collect();
            parts.iter().for_each(|part| factor.add(part));
            assert_eq!(factor.n_rows(), steps.iter().sum::<usize>().min(N - 1));
            let all: Vec<(f64, &Matrix<f64>)> = parts.iter().map(|part| (1.0, part)).collect();
            check(&factor, &all, 1e-11);
            let packed: Vec<f64> = factor.packed().flatten().copied().collect();
            let read = Factor::from_packed(&packed, N).unwrap();
            assert_eq!(read.columns, factor.columns);
            assert!(Factor::from_packed(&packed[1..], N).is_none());
        }
    }

    #[test]
    fn rows_that_repeat_others_add_nothing() {
        let mut factor = Factor::empty(N);
        let first = rows(20, 1);
        for _ in 0..5 {
            factor.add(&first.columns(3, 7).to_matrix());
            factor.add(&first);
        }
        // A node that never varies may take a row for itself.
        assert!(factor.n_rows() <= 21);
        check(
            &factor,
            &[(5.0, &first), (5.0, &first.columns(3, 7).to_matrix())],
            1e-11,
        );
    }

    #[test]
    fn rows_are_taken_away() {
        let (first, more) = (rows(30, 1), rows(9, 2));
        let mut factor = Factor::empty(N);
        factor.add(&first);
        factor.add(&more);
        assert!(factor.subtract(&first.columns(4, 5).to_matrix()));
        assert_eq!(factor.n_rows(), 38);
        assert!(factor.subtract(&more));
        assert_eq!(factor.n_rows(), 29);
        let left = first.gather((0..30).filter(|&i| i != 4));
        check(&factor, &[(1.0, &left)], 1e-11);
        assert!(!factor.subtract(&more), "nothing is left of these");
        assert!(!factor.subtract(&first), "one of these is gone");
        assert!(factor.subtract(&left));
        assert_eq!(factor.n_rows(), 0);
    }

    /// What is computed anew differs by rounding, and rows that are nearly the same leave little to tell them apart by.
    #[test]
    fn rows_are_taken_away_though_rounding_differs() {
        let middle = rows(1, 1);
        let apart = rows(12, 2);
        let close = Matrix::from_fn(N, 12, |j, i| middle[(j, 0)] + 1e-3 * apart[(j, i)]);
        let mut factor = Factor::empty(N);
        factor.add(&close);
        let noise = rows(5, 3);
        let again = Matrix::from_fn(N, 5, |j, i| close[(j, i)] + 1e-7 * noise[(j, i)]);
        assert!(factor.subtract(&again));
        check(&factor, &[(1.0, &close.columns(5, 12).to_matrix())], 1e-4);
    }

    #[test]
    fn half_of_a_row_may_go() {
        let all = rows(8, 1);
        let mut factor = Factor::empty(N);
        factor.add(&all);
        factor.add(&all);
        assert!(factor.subtract(&all.columns(0, 2).to_matrix()));
        assert_eq!(factor.n_rows(), 8);
        check(
            &factor,
            &[(2.0, &all), (-1.0, &all.columns(0, 2).to_matrix())],
            1e-11,
        );
    }
}
