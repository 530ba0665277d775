//! What a unit keeps of the rows of one class: how many they are, and the sums of their outputs and of products of
//! outputs. Sums of shards add up, and rows are taken back by subtraction. `density` turns them into a likelihood.

use super::TILE_ROWS;
use crate::math::{Matrix, View, add_gram_in_double};

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
        self.count(h, 1.0);
    }

    /// Takes back rows that were added.
    pub fn subtract(&mut self, h: View<'_, f32>) {
        self.count(h, -1.0);
    }

    /// Adds the sums of other rows.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        add(&mut self.sum, &other.sum);
        add(self.products.values_mut(), other.products.values());
    }

    fn count(&mut self, h: View<'_, f32>, sign: f64) {
        self.rows += sign * h.n_rows() as f64;
        // Short products lose less to rounding; the sums are in double precision.
        for start in (0..h.n_rows()).step_by(TILE_ROWS) {
            let tile = h.rows(start..(start + TILE_ROWS).min(h.n_rows()));
            add_gram_in_double(&mut self.products, tile, sign);
            let tile = tile.to_matrix();
            let sums = tile
                .cols()
                .map(|column| column.iter().map(|&v| f64::from(v)).sum::<f64>());
            self.sum
                .iter_mut()
                .zip(sums)
                .for_each(|(sum, v)| *sum += sign * v);
        }
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

    #[track_caller]
    fn assert_close(a: &ClassSums, b: &ClassSums) {
        let pairs = a.sum.iter().chain(a.products.values());
        let far = pairs
            .zip(b.sum.iter().chain(b.products.values()))
            .find(|(a, b)| (*a - *b).abs() > 1e-4);
        assert_eq!((a.rows, far), (b.rows, None));
    }

    #[test]
    fn shards_add_up_and_rows_are_taken_back() {
        let h = outputs(1000, 7);
        let (first, rest) = (h.view().rows(0..620), h.view().rows(620..1000));
        let all = sums(h.view());
        let mut merged = sums(first);
        merged.merge(&sums(rest));
        assert_close(&merged, &all);
        let mut left = all;
        left.subtract(rest);
        assert_close(&left, &sums(first));
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
