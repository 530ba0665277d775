//! How much a difference of log-likelihoods counts: taken at its word, it would be far too sure.
//!
//! Outputs of nodes depend on each other and are not distributed as a density has it. Whether a difference can be
//! believed shows where a unit has several classes: [`Losses`] are what each of some scales costs on rows that are left
//! out. They add up over units, so neither the order of tasks nor the place where a unit was learned matters.

/// Number of scales: 1, 1/√2, 1/2, ... 1/1024.
const SCALES: usize = 21;

/// -ln p(class | row), added up over rows, for p = softmax(scale · log-likelihoods) and every scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Losses(Vec<f64>);

impl Losses {
    /// The losses of no rows.
    pub fn none() -> Self {
        Self(vec![0.0; SCALES])
    }

    /// The losses with these values; none if they are not those of any rows.
    pub fn from_values(values: Vec<f64>) -> Option<Self> {
        let fine = values.len() == SCALES && values.iter().all(|v| v.is_finite() && *v >= 0.0);
        fine.then_some(Self(values))
    }

    /// One value per scale.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Counts a row with these log-likelihoods, one per class.
    pub fn add(&mut self, likelihoods: &[f64], own: usize) {
        let highest = likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (k, loss) in self.0.iter_mut().enumerate() {
            let behind = |likelihood: &f64| scale(k) * (likelihood - highest);
            let sum: f64 = likelihoods.iter().map(|v| behind(v).exp()).sum();
            // Rounding must not leave a negative loss.
            *loss += (sum.ln() - behind(&likelihoods[own])).max(0.0);
        }
    }

    /// Adds the losses of other rows.
    pub fn merge(&mut self, other: &Self) {
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(loss, other)| *loss += other);
    }

    /// The scale that costs least; none if there were no classes to compare.
    pub fn best(&self) -> Option<f64> {
        let best = (0..SCALES).min_by(|&a, &b| self.0[a].total_cmp(&self.0[b]))?;
        self.0.iter().any(|&loss| loss > 0.0).then(|| scale(best))
    }
}

fn scale(k: usize) -> f64 {
    0.5f64.powf(0.5 * k as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ten rows, nine are of the class that is likelier by 8: a scale s with 1/(1 + exp(-8 s)) = 0.9 is best.
    #[test]
    fn the_best_scale_is_as_sure_as_it_is_right() {
        let mut losses = Losses::none();
        (0..10).for_each(|i| losses.add(&[8.0, 0.0], usize::from(i == 0)));
        let truth = 9f64.ln() / 8.0;
        let found = losses.best().unwrap();
        assert!(found / truth < 2f64.sqrt() && truth / found < 2f64.sqrt());
    }

    #[test]
    fn one_class_says_nothing_about_the_scale() {
        let mut losses = Losses::none();
        losses.add(&[-3.0], 0);
        assert_eq!(losses.best(), None);
    }
}
