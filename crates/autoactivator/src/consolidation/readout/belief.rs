//! How far the mean of a class can be believed.
//!
//! The mean of n rows is off by spread / n, squared and on average: of a class of few rows, most of what sets its mean
//! apart from all rows is chance. What is not is the share signal / (signal + spread / n) of it, as James and Stein
//! have it, with the signal that class means have on the whole. Discriminant analysis takes that share of each mean.

/// The part of the signal that is there even if all means look the same.
const FLOOR: f64 = 1e-6;

/// What class means and rows are on average.
#[derive(Clone, Copy, Debug)]
pub struct Belief {
    /// How far class means lie from the mean of all rows, squared, without what is chance.
    signal: f64,
    /// How far rows lie from the mean of their class, squared.
    pub spread: f64,
}

impl Belief {
    /// From N K_cc, the squared length of the mean of each class of `counts` rows.
    pub fn new(lengths: impl Iterator<Item = f64>, counts: &[f64], spread: f64) -> Self {
        let n_rows: f64 = counts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let n_classes = counts.iter().filter(|&&count| count > 0.0).count() as f64;
        let sum: f64 = lengths.zip(counts).map(|(length, count)| length * count).sum();
        let signal = (sum - n_classes * spread) / n_rows;
        Self {
            signal: signal.max(FLOOR * spread),
            spread,
        }
    }

    /// Believes every mean.
    pub fn blind() -> Self {
        Self {
            signal: 1.0,
            spread: 0.0,
        }
    }

    /// The share of the mean of `count` rows that is no chance.
    pub fn of(&self, count: f64) -> f64 {
        let chance = self.spread / count.max(f64::MIN_POSITIVE);
        if chance > 0.0 {
            self.signal / (self.signal + chance)
        } else {
            1.0
        }
    }

    /// Score of a class of `count` rows by discriminant analysis, with its mean as far as it is believed.
    pub fn score(&self, count: f64, evidence: f64, length: f64) -> f64 {
        let share = self.of(count);
        share * (evidence - 0.5 * share * length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, Stream};

    /// Means that are drawn, and rows around them: the share is the one that comes closest to the true mean.
    #[test]
    fn a_mean_of_few_rows_is_believed_as_far_as_it_is_true() {
        const WIDTH: usize = 200;
        let mut random = Random::new(3, Stream::Pool { layer: 0 });
        let counts = [1.0, 4.0, 40.0, 40.0, 40.0, 40.0];
        let drawn = |deviation: f64, random: &mut Random| -> Vec<f64> {
            (0..WIDTH)
                .map(|_| deviation * f64::from(random.normal()))
                .collect()
        };
        let truth: Vec<Vec<f64>> = counts.iter().map(|_| drawn(0.5, &mut random)).collect();
        let seen: Vec<Vec<f64>> = truth
            .iter()
            .zip(counts)
            .map(|(truth, n): (&Vec<f64>, f64)| {
                let noise = drawn(1.0 / n.sqrt(), &mut random);
                truth.iter().zip(noise).map(|(t, e)| t + e).collect()
            })
            .collect();
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let belief = Belief::new(seen.iter().map(|m| dot(m, m)), &counts, WIDTH as f64);
        for (c, count) in counts.into_iter().enumerate() {
            let best = dot(&truth[c], &seen[c]) / dot(&seen[c], &seen[c]);
            assert!(
                (belief.of(count) - best).abs() < 0.1,
                "{count} rows: {} {best}",
                belief.of(count)
            );
        }
    }
}
