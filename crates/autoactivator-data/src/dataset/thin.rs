//! A smaller data set for a quick look: evenly spaced rows of every class.
//!
//! Adds [`Dataset::thinned`] to what [`open`](super::open) returns.

use super::{Dataset, Split};

impl Dataset {
    /// Keeps about `train` training rows and `test` test rows.
    ///
    /// The rows of each class are evenly spaced, and in proportion to all its rows, but at least two. A part that has
    /// fewer rows than asked for stays whole.
    pub fn thinned(self, train: usize, test: usize) -> Self {
        Self {
            train: self.train.thinned(train),
            test: self.test.thinned(test),
            ..self
        }
    }
}

impl Split {
    fn thinned(self, n: usize) -> Self {
        let total = self.y.len();
        if total <= n {
            return self;
        }
        let mut of_class = vec![Vec::new(); self.y.names().len()];
        for (row, &class) in self.y.codes().iter().enumerate() {
            of_class[class as usize].push(row);
        }
        let mut rows: Vec<usize> = of_class.iter().flat_map(|rows| spaced(rows, n, total)).collect();
        rows.sort_unstable();
        Self {
            x: self.x.rows().gather(&rows),
            y: self.y.gather(&rows),
        }
    }
}

/// The share of a class when `n` of `total` rows are kept, evenly spaced.
fn spaced(rows: &[usize], n: usize, total: usize) -> Vec<usize> {
    let kept = (rows.len() * n / total).max(2).min(rows.len());
    (0..kept).map(|i| rows[i * rows.len() / kept]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::open;

    #[test]
    fn every_class_keeps_its_part() {
        let whole = open("digits", None).unwrap();
        let (train, test) = (whole.train.y.len(), whole.test.y.len());
        let thin = whole.clone().thinned(500, 100);
        assert!(
            (480..=500).contains(&thin.train.y.len()),
            "{}",
            thin.train.y.len()
        );
        assert!((80..=100).contains(&thin.test.y.len()), "{}", thin.test.y.len());
        assert!(thin.train.y.counts().iter().all(|&n| (45..=55).contains(&n)));
        assert_eq!(thin.train.x.rows().len(), thin.train.y.len());
        let same = whole.thinned(train, test);
        assert_eq!((same.train.y.len(), same.test.y.len()), (train, test));
    }

    #[test]
    fn nobody_is_left_out() {
        let thin = open("digits", None).unwrap().thinned(1, 1);
        assert_eq!(thin.train.y.counts(), [2; 10]);
    }
}
