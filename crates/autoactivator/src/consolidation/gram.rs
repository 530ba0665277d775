//! G = Σ h hᵀ: what copies of a memory share, and the last few rows, which have yet to be added to it.
//!
//! A few rows then cost their own length, not a pass over G, and no copy of it. As long as there are fewer rows than half of
//! the nodes, G is kept as a [`Factor`], which is smaller, and from then on as a [`Triangle`]. What follows from G is the
//! same either way, up to rounding.

use std::sync::Arc;

use rayon::prelude::*;

use super::factor::Factor;
use super::triangle::Triangle;
use crate::data::Rows;
use crate::format::Numbers;
use crate::math::{Matrix, View, vectorised};
use crate::params::Precision;

/// Rows that wait at most until they are added to the triangle.
const WAITING: usize = 64;

/// Columns that are passed on together.
const COLUMNS: usize = 64;

/// Nodes for each row of a factor, at least: with fewer, a triangle is no larger.
const NODES_PER_ROW: usize = 2;

/// A symmetric matrix of sums.
#[derive(Clone, Debug)]
pub struct Gram {
    n_nodes: usize,
    form: Form,
    waiting: Vec<Waiting>,
}

/// In which form the sums are kept.
#[derive(Clone, Debug)]
enum Form {
    /// Of few rows.
    Factor(Arc<Factor>),
    /// Of any number.
    Triangle(Arc<Triangle>),
}

/// A row that has yet to be added.
#[derive(Clone, Debug)]
struct Waiting {
    /// The row times the root of its weight.
    row: Vec<f64>,
    /// 1 if it is added, -1 if it is subtracted.
    sign: f64,
    /// Precision of products.
    precision: Precision,
}

impl Waiting {
    fn at(&self, i: usize, j: usize) -> f64 {
        let (a, b) = (self.row[j], self.row[i]);
        match self.precision {
            Precision::F32 => self.sign * f64::from(a as f32 * b as f32),
            Precision::F64 => self.sign * a * b,
        }
    }

    /// Adds column `j` of its products, from the diagonal down.
    fn add(&self, j: usize, column: &mut [f64]) {
        let (sign, row) = (self.sign, &self.row[j..]);
        match self.precision {
            Precision::F32 => {
                let factor = row[0] as f32;
                vectorised(
                    #[inline(always)]
                    || {
                        let pairs = column.iter_mut().zip(row);
                        pairs.for_each(|(sum, v)| *sum += sign * f64::from(factor * *v as f32));
                    },
                );
            }
            Precision::F64 => {
                let factor = sign * row[0];
                vectorised(
                    #[inline(always)]
                    || {
                        let pairs = column.iter_mut().zip(row);
                        pairs.for_each(|(sum, v)| *sum += factor * v);
                    },
                );
            }
        }
    }
}

/// Equal sums are equal, in whatever form, and whether rows wait or not.
impl PartialEq for Gram {
    fn eq(&self, other: &Self) -> bool {
        self.n_nodes == other.n_nodes && (0..self.n_nodes).all(|j| self.column(j) == other.column(j))
    }
}

impl Gram {
    /// Sums over nothing.
    pub(super) fn zeros(n_nodes: usize) -> Self {
        Self::in_form(Form::Factor(Arc::new(Factor::empty(n_nodes))), n_nodes)
    }

    /// Takes the lower triangle, column after column.
    pub(super) fn from_triangle(triangle: Vec<f64>, n_nodes: usize) -> Self {
        Self::in_form(
            Form::Triangle(Arc::new(Triangle::new(triangle, n_nodes))),
            n_nodes,
        )
    }

    /// Takes the rows of a factor, each from its diagonal on; `None` if they are cut short, or more than a factor holds.
    pub(super) fn from_factor(rows: &[f64], n_nodes: usize) -> Option<Self> {
        let factor = Factor::from_packed(rows, n_nodes)?;
        let few = NODES_PER_ROW * factor.n_rows() <= n_nodes;
        few.then(|| Self::in_form(Form::Factor(Arc::new(factor)), n_nodes))
    }

    fn in_form(form: Form, n_nodes: usize) -> Self {
        Self {
            n_nodes,
            form,
            waiting: Vec::new(),
        }
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Number of floats kept, once all rows are in.
    pub fn n_floats(&self) -> usize {
        let n = self.n_nodes;
        match &self.form {
            Form::Factor(_) => {
                let n_rows = self.n_directions();
                n_rows * n - n_rows * n_rows.saturating_sub(1) / 2
            }
            Form::Triangle(triangle) => triangle.values().len(),
        }
    }

    /// Number of directions that rows span at most.
    pub(super) fn n_directions(&self) -> usize {
        match &self.form {
            Form::Factor(factor) => factor.n_rows() + self.waiting.len(),
            Form::Triangle(_) => self.n_nodes,
        }
    }

    /// Whether the sums are kept as a factor of few rows.
    pub fn is_factor(&self) -> bool {
        matches!(self.form, Form::Factor(_))
    }

    /// The entry in row `i` and column `j`.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        let mut entry = match &self.form {
            Form::Factor(factor) => factor.at(i, j),
            Form::Triangle(triangle) => triangle.at(i, j),
        };
        for waiting in &self.waiting {
            entry += waiting.at(i, j);
        }
        entry
    }

    /// The entries in column `j` and the rows of `range`.
    pub fn entries(&self, range: std::ops::Range<usize>, j: usize) -> Vec<f64> {
        match &self.form {
            Form::Triangle(_) => range.map(|i| self.at(i, j)).collect(),
            Form::Factor(factor) => {
                let mut entries: Vec<f64> = range.clone().map(|i| self.waiting_at(i, j)).collect();
                factor.add_entries(range, j, &mut entries);
                entries
            }
        }
    }

    fn waiting_at(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        self.waiting.iter().map(|waiting| waiting.at(i, j)).sum()
    }

    /// The diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        match &self.form {
            Form::Triangle(_) => (0..self.n_nodes).map(|j| self.at(j, j)).collect(),
            Form::Factor(factor) => {
                let diagonal = factor.diagonal().into_iter().enumerate();
                diagonal.map(|(j, sum)| sum + self.waiting_at(j, j)).collect()
            }
        }
    }

    /// Column `j` from the diagonal down.
    pub fn column(&self, j: usize) -> Vec<f64> {
        match &self.form {
            Form::Factor(_) => self.entries(j..self.n_nodes, j),
            Form::Triangle(triangle) => {
                let mut column = triangle.column(j).to_vec();
                self.add_waiting(j, &mut column);
                column
            }
        }
    }

    /// The lower triangle as a square matrix; the rest is 0.
    pub fn to_square(&self) -> Matrix<f64> {
        let n = self.n_nodes;
        let mut square = Matrix::zeros(n, n);
        let columns = square.values_mut().par_chunks_mut(n.max(1)).enumerate();
        columns.for_each(|(j, column)| column[j..].copy_from_slice(&self.column(j)));
        square
    }

    /// Columns h with G = Σ h hᵀ, `(n_nodes, n_columns)`, where the sums are kept by them and no row waits.
    pub(super) fn few_columns(&self) -> Option<&Matrix<f64>> {
        match &self.form {
            Form::Factor(factor) if self.waiting.is_empty() => Some(factor.columns()),
            _ => None,
        }
    }

    fn add_waiting(&self, j: usize, column: &mut [f64]) {
        self.waiting.iter().for_each(|waiting| waiting.add(j, column));
    }

    /// Passes all columns on, some at a time, so that threads share the work of adding what waits.
    fn each_column(&self, to: &mut dyn FnMut(&[f64])) {
        for start in (0..self.n_nodes).step_by(COLUMNS) {
            let some = start..self.n_nodes.min(start + COLUMNS);
            let columns: Vec<Vec<f64>> = some.into_par_iter().map(|j| self.column(j)).collect();
            columns.iter().for_each(|column| to(column));
        }
    }

    /// Adds rows that wait; the matrix stays the same.
    pub(super) fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        if !self.settle_in_factor(&waiting) {
            self.change(|triangle| {
                triangle.for_each_column(|j, column| {
                    waiting.iter().for_each(|waiting| waiting.add(j, column));
                });
            });
        }
    }

    /// Adds rows that wait to the factor, if there is one: what is stored is then what is in memory, to the last bit.
    pub(super) fn settle_factor(&mut self) {
        if self.is_factor() {
            self.settle();
        }
    }

    /// Adds rows to the factor, if there is one; returns whether it took them, and is as it was if it did not.
    fn settle_in_factor(&mut self, waiting: &[Waiting]) -> bool {
        let Form::Factor(factor) = &self.form else {
            return false;
        };
        let of_sign = |sign: f64| {
            let mut rows = Matrix::zeros(self.n_nodes, 0);
            let of_sign = waiting.iter().filter(|waiting| waiting.sign == sign);
            of_sign.for_each(|waiting| rows.push(&waiting.row));
            rows
        };
        let mut next = Factor::clone(factor);
        next.add(&of_sign(1.0));
        let taken = of_sign(-1.0);
        let fits = taken.n_cols() == 0 || next.subtract(&taken);
        if fits {
            self.form = Form::Factor(Arc::new(next));
        }
        fits
    }

    /// Adds rows that wait if `n` more would be too many: before a copy is made, G need not be copied for that.
    pub(super) fn make_room(&mut self, n: usize) {
        if n <= WAITING && self.waiting.len() + n > WAITING {
            self.settle();
        }
    }

    /// Changes the triangle, to which rows that wait have yet to be added. A factor becomes one.
    fn change(&mut self, change: impl FnOnce(&mut Triangle)) {
        let mut triangle = match &mut self.form {
            Form::Triangle(triangle) => std::mem::take(triangle),
            Form::Factor(factor) => {
                let mut triangle = Triangle::zeros(self.n_nodes);
                triangle.add(factor.columns().t(), 1.0);
                Arc::new(triangle)
            }
        };
        // Shared with a copy, the triangle itself is copied first.
        change(Arc::make_mut(&mut triangle));
        self.form = Form::Triangle(triangle);
    }

    /// Keeps the sums as a triangle from now on.
    pub(super) fn fill(&mut self) {
        if self.is_factor() {
            self.change(|_| {});
        }
    }

    /// Whether `n` rows more are too many for a factor.
    fn is_too_much_for_factor(&self, n: usize) -> bool {
        match &self.form {
            Form::Triangle(_) => false,
            Form::Factor(_) => NODES_PER_ROW * (self.n_directions() + n) > self.n_nodes,
        }
    }

    /// Adds rows (`sign` 1), each times the root of its weight, or subtracts them (`sign` -1).
    pub(super) fn add(&mut self, h: Rows<'_>, roots: Option<&[f64]>, sign: f64, precision: Precision) {
        let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
        if sign > 0.0 && self.is_too_much_for_factor(h.len()) {
            self.fill();
        }
        let scaled = |i: usize, v: f32| match precision {
            Precision::F32 => f64::from(v * root(i) as f32),
            Precision::F64 => f64::from(v) * root(i),
        };
        if self.waiting.len() + h.len() <= WAITING {
            for (i, row) in h.iter().enumerate() {
                self.waiting.push(Waiting {
                    row: row.iter().map(|&v| scaled(i, v)).collect(),
                    sign,
                    precision,
                });
            }
            return;
        }
        self.settle();
        let n = self.n_nodes;
        let in_double = || Matrix::from_fn(n, h.len(), |j, i| scaled(i, h.row(i)[j]));
        if self.is_factor() {
            return self.add_columns(&in_double(), sign);
        }
        match precision {
            Precision::F32 => {
                let scaled = roots.map(|_| Matrix::from_fn(n, h.len(), |j, i| h.row(i)[j] * root(i) as f32));
                let h = scaled.as_ref().map_or_else(|| View::from(h), Matrix::t);
                self.change(|triangle| triangle.add(h, sign));
            }
            Precision::F64 => self.change(|triangle| triangle.add(in_double().t(), sign)),
        }
    }

    /// Adds h hᵀ for every column h (`sign` 1), or subtracts it (-1); no row waits.
    fn add_columns(&mut self, columns: &Matrix<f64>, sign: f64) {
        let too_much = sign > 0.0 && self.is_too_much_for_factor(columns.n_cols());
        let taken = match &mut self.form {
            Form::Factor(factor) if !too_much => {
                let factor = Arc::make_mut(factor);
                if sign > 0.0 {
                    factor.add(columns);
                    true
                } else {
                    factor.subtract(columns)
                }
            }
            _ => false,
        };
        if !taken {
            self.change(|triangle| triangle.add(columns.t(), sign));
        }
    }

    /// Adds another matrix of the same size (`sign` 1) or subtracts it (`sign` -1).
    pub(super) fn combine(&mut self, other: &Self, sign: f64) {
        self.settle();
        let mut other = other.clone();
        other.settle_factor();
        match &other.form {
            // Sums and nothing are these sums, to the last bit.
            Form::Factor(_) if sign > 0.0 && self.is_factor() && self.n_floats() == 0 => {
                self.form = other.form;
            }
            Form::Factor(factor) => self.add_columns(factor.columns(), sign),
            Form::Triangle(_) => self.change(|triangle| {
                triangle.for_each_column(|j, column| {
                    let pairs = column.iter_mut().zip(other.column(j));
                    pairs.for_each(|(sum, v)| *sum += sign * v);
                });
            }),
        }
    }

    /// Multiplies every entry with a factor of at least 0.
    pub(super) fn scale(&mut self, by: f64) {
        self.settle();
        match &mut self.form {
            Form::Factor(factor) => Arc::make_mut(factor).scale(by),
            Form::Triangle(_) => self.change(|triangle| {
                triangle.for_each_column(|_, column| column.iter_mut().for_each(|v| *v *= by));
            }),
        }
    }

    /// Subtracts v vᵀ / `divisor`, which must be positive.
    pub(super) fn subtract(&mut self, v: &[f64], divisor: f64) {
        self.settle();
        let root = divisor.sqrt();
        let column = Matrix::from_fn(v.len(), 1, |j, _| v[j] / root);
        self.add_columns(&column, -1.0);
    }
}

/// The numbers of a factor, row after row, or of a triangle, column after column.
impl Numbers for Gram {
    type Number = f64;

    fn count(&self) -> usize {
        self.n_floats()
    }

    fn each(&self, to: &mut dyn FnMut(&[f64])) {
        match &self.form {
            Form::Factor(factor) => factor.packed().for_each(to),
            Form::Triangle(triangle) if self.waiting.is_empty() => to(triangle.values()),
            Form::Triangle(_) => self.each_column(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, Stream};

    /// However rows are divided, and whether they wait or not, the sums are those of the definition.
    #[test]
    fn rows_that_wait_count() {
        const N: usize = 37;
        let mut random = Random::new(1, Stream::Pool { layer: 0 });
        let rows: Vec<f32> = (0..N * 150).map(|_| random.normal()).collect();
        let rows = Rows::new(&rows, N).unwrap();
        for precision in [Precision::F32, Precision::F64] {
            let mut by_steps = Gram::zeros(N);
            let mut at = 0;
            for step in [3, 60, 1, 5, 70, 11] {
                let part: Vec<usize> = (at..at + step).collect();
                by_steps.add(rows.gather(&part).rows(), None, 1.0, precision);
                at += step;
            }
            let taken = rows.gather(&[4, 148]);
            by_steps.add(taken.rows(), None, -1.0, precision);
            let inner = |i: usize, j: usize| -> f64 {
                let kept = (0..150).filter(|k| ![4, 148].contains(k)).map(|k| rows.row(k));
                kept.map(|row| f64::from(row[i]) * f64::from(row[j])).sum()
            };
            assert!(!by_steps.is_factor());
            let mut settled = by_steps.clone();
            settled.settle();
            assert_eq!(settled, by_steps, "to the last bit");
            for j in 0..N {
                for i in 0..N {
                    assert!((by_steps.at(i, j) - inner(i, j)).abs() < 1e-4, "({i}, {j})");
                    assert_eq!(by_steps.at(i, j), settled.at(i, j));
                }
            }
        }
    }
}
