//! Evenly spaced rows of a task, whether it is in memory or arrives in batches.
//!
//! [`stride`] says how far apart they are when the number of rows is known; [`Sample`] finds the same rows
//! when it is not.

use super::{Labels, Rows, Table};
use crate::error::Error;

/// Distance between evenly spaced rows, a power of two, such that at most `limit` of `n_rows` are taken.
pub fn stride(n_rows: usize, limit: usize) -> usize {
    n_rows.div_ceil(limit).next_power_of_two()
}

/// Indices of at most `limit` evenly spaced rows of `n_rows`.
pub fn places(n_rows: usize, limit: usize) -> Vec<usize> {
    (0..n_rows).step_by(stride(n_rows, limit)).collect()
}

/// Evenly spaced rows taken from a stream; whenever there are too many, every other one is dropped.
pub struct Sample {
    limit: usize,
    stride: usize,
    seen: usize,
    n_features: usize,
    values: Vec<f32>,
    names: Vec<String>,
}

impl Sample {
    /// Begins a sample of at most `limit` rows.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            stride: 1,
            seen: 0,
            n_features: 0,
            values: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Keeps its share of the next rows.
    pub fn take(&mut self, x: Rows<'_>, y: &Labels) {
        self.n_features = x.n_features();
        for (i, row) in x.iter().enumerate() {
            if self.seen.is_multiple_of(self.stride) {
                self.values.extend_from_slice(row);
                self.names.push(y.name(i).to_owned());
            }
            self.seen += 1;
            if self.names.len() > self.limit {
                self.halve();
            }
        }
    }

    fn halve(&mut self) {
        self.stride *= 2;
        let kept = self.values.chunks_exact(self.n_features).step_by(2);
        self.values = kept.flatten().copied().collect();
        self.names = std::mem::take(&mut self.names).into_iter().step_by(2).collect();
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
        Ok((
            Table::new(self.values, self.n_features.max(1))?,
            Labels::from_names(&self.names),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
