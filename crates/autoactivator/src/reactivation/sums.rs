//! What a unit keeps of the rows of one class: how many they are, and the sums of their outputs and of products of
//! outputs. Sums of shards add up, and rows are taken back by subtraction. `density` turns them into a likelihood.
//!
//! Outputs are rounded to a grid before they are added. Products of such numbers, and their sums, have an exact value in
//! double precision, so sums do not depend on the order of rows, and what is taken back leaves no trace.

use crate::math::{Matrix, View, add_gram_lower, subtract_gram_lower};

/// Outputs are rounded to multiples of 1/GRID. Sums are exact as long as no Σ h² exceeds 2⁵³/GRID²: two million rows
/// with outputs between -1 and 1.
const GRID: f64 = 65_536.0;

/// n, Σ h and Σ h hᵀ of the rows of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassSums {
    /// n: number of rows.
    pub rows: f64,
    /// Σ h, one per output.
    pub sum: Vec<f64>,
    /// Σ h hᵀ, lower triangle.
    pub products: Matrix<f64>,
}

impl ClassSums {
    /// The sums of no rows with `n` outputs.
    pub fn new(n: usize) -> Self {
        Self {
            rows: 0.0,
            sum: vec![0.0; n],
            products: Matrix::zeros(n, n),
        }
    }

    /// Number of outputs of a row.
    pub fn n_outputs(&self) -> usize {
        self.sum.len()
    }

    /// Number of floats.
    pub fn n_floats(&self) -> usize {
        let n = self.n_outputs();
        1 + n + n * (n + 1) / 2
    }

    /// Adds rows of outputs, `(n_samples, n_outputs)`.
    pub fn add(&mut self, h: View<'_, f32>) {
        let h = rounded(h);
        add_gram_lower(&mut self.products, h.view());
        self.count(&h, 1.0);
    }

    /// Takes back rows that were added.
    pub fn subtract(&mut self, h: View<'_, f32>) {
        let h = rounded(h);
        subtract_gram_lower(&mut self.products, h.view());
        self.count(&h, -1.0);
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        add(&mut self.sum, &other.sum);
        add(self.products.values_mut(), other.products.values());
    }

    fn count(&mut self, h: &Matrix<f64>, sign: f64) {
        self.rows += sign * h.n_rows() as f64;
        let sums = h.cols().map(|column| column.iter().sum::<f64>());
        self.sum
            .iter_mut()
            .zip(sums)
            .for_each(|(sum, v)| *sum += sign * v);
    }

    /// The sums without one of the outputs.
    pub fn without_output(&self, left_out: usize) -> Self {
        let kept: Vec<usize> = (0..self.n_outputs()).filter(|&j| j != left_out).collect();
        Self {
            rows: self.rows,
            sum: kept.iter().map(|&j| self.sum[j]).collect(),
            products: Matrix::from_fn(kept.len(), kept.len(), |i, j| self.products[(kept[i], kept[j])]),
        }
    }

    /// Whether rows can have these sums: a whole number of them, and no square below 0. What else cannot be has no
    /// density.
    pub fn are_possible(&self) -> bool {
        let mut squares = (0..self.n_outputs()).map(|j| self.products[(j, j)]);
        self.rows >= 1.0 && self.rows.fract() == 0.0 && squares.all(|v| v >= 0.0)
    }

    /// The mean of the rows.
    pub fn mean(&self) -> Vec<f64> {
        self.sum.iter().map(|sum| sum / self.rows.max(1.0)).collect()
    }

    /// Σ (h - mean)(h - mean)ᵀ, lower triangle.
    pub fn scatter(&self) -> Matrix<f64> {
        let mean = self.mean();
        let n = self.n_outputs();
        let mut scatter = self.products.clone();
        for j in 0..n {
            let column = &mut scatter.col_mut(j)[j..];
            let shifts = mean[j..].iter().map(|mean| mean * self.sum[j]);
            column.iter_mut().zip(shifts).for_each(|(v, shift)| *v -= shift);
            // Rounding must not leave a negative variance.
            column[0] = column[0].max(0.0);
        }
        scatter
    }
}

/// Outputs on the grid.
fn rounded(h: View<'_, f32>) -> Matrix<f64> {
    let mut h = h.to_matrix().to_f64();
    h.values_mut()
        .iter_mut()
        .for_each(|v| *v = (*v * GRID).round() / GRID);
    h
}

fn add(sums: &mut [f64], others: &[f64]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, Stream};

    fn outputs(n_rows: usize, n: usize) -> Matrix<f32> {
        let mut random = Random::new(3, Stream::Probes);
        Matrix::from_fn(n_rows, n, |_, _| random.symmetric(1.0))
    }

    fn sums(h: View<'_, f32>) -> ClassSums {
        let mut sums = ClassSums::new(h.n_cols());
        sums.add(h);
        sums
    }

    #[test]
    fn shards_add_up_and_rows_are_taken_back_exactly() {
        for n in [1, 7, 65] {
            let h = outputs(1000, n);
            let (first, rest) = (h.view().rows(0..620), h.view().rows(620..1000));
            let all = sums(h.view());
            let mut merged = sums(rest);
            merged.merge(&sums(first));
            assert_eq!(merged, all);
            let mut left = all;
            left.subtract(rest);
            assert_eq!(left, sums(first));
        }
    }

    #[test]
    fn the_scatter_is_that_of_the_rows() {
        let h = outputs(50, 3);
        let (sums, n) = (sums(h.view()), 50.0);
        let mean: Vec<f64> = h
            .cols()
            .map(|c| c.iter().map(|&v| f64::from(v)).sum::<f64>() / n)
            .collect();
        let scatter = sums.scatter();
        for j in 0..3 {
            for i in j..3 {
                let of_row = |r: usize| (f64::from(h[(r, i)]) - mean[i]) * (f64::from(h[(r, j)]) - mean[j]);
                let truth: f64 = (0..50).map(of_row).sum();
                assert!((scatter[(i, j)] - truth).abs() < 1e-4);
            }
        }
    }
}
