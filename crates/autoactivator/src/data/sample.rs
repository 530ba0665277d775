//! Evenly spaced rows of a task, whether it is in memory or arrives in batches.
//!
//! [`stride`] says how far apart they are when the number of rows is known; [`Sample`] finds the same rows
//! when it is not.

use super::{Labels, Pile, Rows, Table};
use crate::error::Error;

/// Distance between evenly spaced rows, a power of two, such that at most `limit` of `n_rows` are taken.
pub fn stride(n_rows: usize, limit: usize) -> usize {
    n_rows.div_ceil(limit).next_power_of_two()
}

/// Indices of at most `limit` evenly spaced rows of `n_rows`.
pub fn places(n_rows: usize, limit: usize) -> Vec<usize> {
    (0..n_rows).step_by(stride(n_rows, limit)).collect()
}

/// Rows, each as often as its weight calls for, at most `limit` in all: evenly spaced in terms of weight. Whole
/// weights give what [`places`] gives of that many copies; light rows are taken about once on average, not lost.
pub fn weighed_places(weights: &[f64], limit: usize) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let mean = total / weights.len() as f64;
    let unit = mean.min(1.0).max(total * f64::EPSILON);
    let step = unit * stride((total / unit).round() as usize, limit) as f64;
    let (mut rows, mut passed) = (Vec::new(), 0.0);
    for (i, weight) in weights.iter().enumerate() {
        passed += weight;
        // Half a unit on, so that rounding does not decide which row is meant.
        while rows.len() < limit && rows.len() as f64 * step + 0.5 * unit < passed {
            rows.push(i);
        }
    }
    rows
}

/// Evenly spaced rows taken from a stream; whenever there are too many, every other one is dropped.
pub struct Sample {
    limit: usize,
    stride: usize,
    seen: usize,
    pile: Pile,
}

impl Sample {
    /// Begins a sample of at most `limit` rows.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            stride: 1,
            seen: 0,
            pile: Pile::default(),
        }
    }

    /// Keeps its share of the next rows.
    pub fn take(&mut self, x: Rows<'_>, y: &Labels) {
        for i in y.present() {
            if self.seen.is_multiple_of(self.stride) {
                self.pile.push(x, y, i);
            }
            self.seen += 1;
            if self.pile.len() > self.limit {
                self.stride *= 2;
                self.pile.halve();
            }
        }
    }

    /// Number of rows that went by.
    pub fn seen(&self) -> usize {
        self.seen
    }

    /// Whether all rows that went by were kept.
    pub fn is_whole(&self) -> bool {
        self.stride == 1
    }

    /// The rows kept.
    pub fn into_rows(self) -> Result<(Table, Labels), Error> {
        self.pile.into_rows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_gives_the_rows_that_its_copies_give() {
        let weights: Vec<f64> = (0..50).map(|i| f64::from(i * 7 % 5)).collect();
        let copies = |i: usize| std::iter::repeat_n(i, weights[i] as usize);
        let copied: Vec<usize> = (0..50).flat_map(copies).collect();
        for limit in [1, 9, 64, 1000] {
            let expected: Vec<usize> = places(copied.len(), limit).iter().map(|&i| copied[i]).collect();
            assert_eq!(weighed_places(&weights, limit), expected);
        }
    }

    #[test]
    fn light_rows_are_not_lost() {
        let all: Vec<usize> = (0..1000).collect();
        for weight in [1e-9, 0.1, 0.5, 1.0] {
            assert_eq!(weighed_places(&[weight; 1000], 4096), all, "{weight}");
        }
        assert_eq!(weighed_places(&[1e15; 3], 4), [0, 1, 2]);
    }

    #[test]
    fn a_stream_gives_the_rows_that_memory_gives() {
        for (n, limit, batch) in [
            (1, 4, 1),
            (4, 4, 3),
            (5, 4, 5),
            (100, 7, 9),
            (64, 8, 64),
            (1000, 1, 10),
        ] {
            let x = Table::new((0..n).map(|i| i as f32).collect(), 1).unwrap();
            let y = Labels::from_names((0..n).map(|i| i.to_string()));
            let mut sample = Sample::new(limit);
            for first in (0..n).step_by(batch) {
                let rows: Vec<usize> = (first..n.min(first + batch)).collect();
                sample.take(x.rows().gather(&rows).rows(), &y.gather(&rows));
            }
            assert_eq!(sample.is_whole(), n <= limit);
            let (kept, names) = sample.into_rows().unwrap();
            let expected = places(n, limit);
            assert!(expected.len() <= limit);
            assert_eq!(kept, x.rows().gather(&expected), "{n} rows, {limit}");
            assert_eq!(
                names.name(names.len() - 1),
                expected[expected.len() - 1].to_string()
            );
        }
    }
}
