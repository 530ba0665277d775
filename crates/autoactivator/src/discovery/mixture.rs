//! Whom a row belongs to, when groups and known classes overlap: a mixture, fitted to the rows that may be unknown.
//!
//! In the space, rows lie around the mean of their class the more densely the closer, alike for all classes: a row is
//! exp(κ cos) times as likely at that cosine. How fast that falls, κ, is what makes the classes of kept rows likeliest. How many rows are new
//! is known beforehand, from how many look known; so groups cannot grow at the expense of known classes.
//!
//! A group must be worth its mean: the rows must be more likely with it than without, by more than a mean that fits them by
//! chance would bring. How much that is follows from how far the means of known classes scatter.

use super::space::to_unit_length;
use crate::math::{Matrix, eigen, gram, product};

/// Values of κ that are tried: this many, at equal ratios.
const SHARPNESS: (f32, f32, usize) = (2.0, 200.0, 40);

/// How often means and shares are estimated anew: at first, and after a group was given up.
const ROUNDS: usize = 20;
const ROUNDS_AGAIN: usize = 5;

/// Known classes, which stay where they are, and groups.
pub(super) struct Mixture {
    /// Means of the known classes, and then of the groups, a column of length 1 each.
    means: Matrix<f32>,
    n_known: usize,
    sharpness: f32,
    /// Logarithm of the share of each.
    shares: Vec<f32>,
}

/// What groups are fitted to.
pub(super) struct Fitted<'a> {
    pub rows: &'a Matrix<f32>,
    pub weights: &'a [f32],
    /// Share of the rows that belong to groups.
    pub new: f32,
    /// A group of less weight is given up.
    pub least: f32,
}

impl Mixture {
    /// Begins with groups at these means, and as many rows in each.
    pub fn new(known: &Matrix<f32>, groups: &Matrix<f32>, sharpness: f32) -> Self {
        let mut means = known.clone();
        means.append(groups);
        Self {
            shares: vec![0.0; means.n_cols()],
            n_known: known.n_cols(),
            means,
            sharpness,
        }
    }

    /// Keeps these groups, in this order.
    pub fn select(mut self, groups: &[usize]) -> Self {
        let known = 0..self.n_known;
        let kept: Vec<usize> = known
            .chain(groups.iter().map(|group| self.n_known + group))
            .collect();
        self.shares = kept.iter().map(|&at| self.shares[at]).collect();
        self.means = self.means.gather(kept);
        self
    }

    /// The mean of a group.
    pub fn centre(&self, group: usize) -> Matrix<f32> {
        self.means.gather([self.n_known + group])
    }

    /// Estimates means and shares by turns with whom each row belongs to, and gives up groups that are not worth it, one by
    /// one: without one of two halves of a class, the other is worth more.
    pub fn fit(self, fitted: &Fitted<'_>) -> Self {
        let variances = variances(&self.means.gather(0..self.n_known));
        let mut mixture = self.estimated(fitted, ROUNDS);
        while let Some(group) = mixture.worthless(fitted, &variances) {
            let others = (0..mixture.n_groups()).filter(|other| *other != group);
            let others: Vec<usize> = others.collect();
            mixture = mixture.select(&others).estimated(fitted, ROUNDS_AGAIN);
        }
        mixture
    }

    fn n_groups(&self) -> usize {
        self.means.n_cols() - self.n_known
    }

    fn estimated(mut self, fitted: &Fitted<'_>, rounds: usize) -> Self {
        let mut amounts = vec![1.0; self.means.n_cols()];
        for _ in 0..rounds {
            self.set_shares(&amounts, fitted.new);
            let mut belief = self.likelihoods(fitted.rows);
            for (row, weight) in fitted.weights.iter().enumerate() {
                to_shares(belief.col_mut(row), *weight);
            }
            amounts.fill(0.0);
            for column in belief.cols() {
                amounts
                    .iter_mut()
                    .zip(column)
                    .for_each(|(sum, belief)| *sum += belief);
            }
            let mut sums = product(fitted.rows.view(), belief.t());
            to_unit_length(&mut sums);
            let kept: Vec<usize> = (0..amounts.len())
                .filter(|&at| at < self.n_known || amounts[at] >= fitted.least)
                .collect();
            let from = |at: usize| if at < self.n_known { &self.means } else { &sums };
            let mut means = Matrix::zeros(self.means.n_rows(), 0);
            kept.iter().for_each(|&at| means.push(from(at).col(at)));
            amounts = kept.iter().map(|&at| amounts[at]).collect();
            self.means = means;
        }
        self.set_shares(&amounts, fitted.new);
        self
    }

    /// The group that brings least for the mean that it takes, if it brings less than that.
    ///
    /// Means of classes vary by λ_1, λ_2, ... in their directions, and rows by 1/κ about them. That n rows have a mean of
    /// their own then costs ½ Σ ln(1 + κ n λ_i): how much likelier a mean that was fitted makes its rows than one that is
    /// only known to be that of some class.
    fn worthless(&self, fitted: &Fitted<'_>, variances: &[f64]) -> Option<usize> {
        let (gains, amounts) = self.gains(fitted);
        let worth = |group: usize| {
            let precision = f64::from(self.sharpness) * amounts[group];
            let price = variances.iter().map(|variance| (precision * variance).ln_1p());
            gains[group] - price.sum::<f64>() / 2.0
        };
        let worths = (0..self.n_groups()).map(|group| (worth(group), group));
        let least = worths.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (least.0 < 0.0).then_some(least.1)
    }

    /// By how much each group raises the logarithm of the likelihood of all rows, and the weight of the rows that belong to it.
    fn gains(&self, fitted: &Fitted<'_>) -> (Vec<f64>, Vec<f64>) {
        let mut gains = vec![0.0; self.means.n_cols()];
        let mut amounts = gains.clone();
        for (column, &weight) in self.likelihoods(fitted.rows).cols().zip(fitted.weights) {
            let (of_all, without) = with_and_without(column);
            for at in 0..column.len() {
                gains[at] += f64::from(weight) * (of_all - without[at]);
                amounts[at] += f64::from(weight) * (f64::from(column[at]) - of_all).exp();
            }
        }
        (gains.split_off(self.n_known), amounts.split_off(self.n_known))
    }

    /// Shares by amounts, among known classes and among groups; one row more for each keeps all of them possible.
    fn set_shares(&mut self, amounts: &[f32], new: f32) {
        let (known, groups) = amounts.split_at(self.n_known);
        let shares = |amounts: &[f32], of_all: f32| -> Vec<f32> {
            let all: f32 = amounts.iter().map(|amount| amount + 1.0).sum();
            amounts
                .iter()
                .map(|amount| (of_all * (amount + 1.0) / all).ln())
                .collect()
        };
        self.shares = [shares(known, 1.0 - new), shares(groups, new)].concat();
    }

    /// How likely each row is of each known class and of each group: logarithms, but for a term of each row.
    fn likelihoods(&self, rows: &Matrix<f32>) -> Matrix<f32> {
        let mut likelihoods = product(self.means.t(), rows.view());
        for row in 0..rows.n_cols() {
            let each = likelihoods.col_mut(row).iter_mut().zip(&self.shares);
            each.for_each(|(v, share)| *v = self.sharpness * *v + share);
        }
        likelihoods
    }

    /// The group of each row and its cosine; none for a row that more likely belongs to a known class.
    pub fn groups_of(&self, rows: &Matrix<f32>) -> Vec<Option<(usize, f32)>> {
        let likelihoods = self.likelihoods(rows);
        let of_row = |row: usize| {
            let each = likelihoods.col(row).iter().copied().enumerate();
            let (at, likelihood) = each.max_by(|a, b| a.1.total_cmp(&b.1))?;
            let cosine = (likelihood - self.shares[at]) / self.sharpness;
            (at >= self.n_known).then(|| (at - self.n_known, cosine))
        };
        (0..rows.n_cols()).map(of_row).collect()
    }
}

/// κ, at which kept rows of known classes most likely belong to their own class.
pub(super) fn sharpness(known: &Matrix<f32>, kept: &[Matrix<f32>]) -> f32 {
    let (least, most, tried) = SHARPNESS;
    let step = (most / least).powf(1.0 / (tried - 1) as f32);
    let cosines: Vec<(usize, Matrix<f32>)> = kept
        .iter()
        .enumerate()
        .map(|(class, rows)| (class, product(known.t(), rows.view())))
        .collect();
    let likelihood = |sharpness: f32| -> f64 {
        let of_row = |class: usize, cosines: &[f32]| {
            let own = cosines[class];
            let others: f32 = cosines
                .iter()
                .map(|cosine| (sharpness * (cosine - own)).exp())
                .sum();
            -f64::from(others.ln())
        };
        let of_class = |(class, cosines): &(usize, Matrix<f32>)| -> f64 {
            cosines.cols().map(|cosines| of_row(*class, cosines)).sum()
        };
        cosines.iter().map(of_class).sum()
    };
    let tried = (0..tried).map(|k| least * step.powi(k as i32));
    let best = tried.map(|sharpness| (likelihood(sharpness), sharpness));
    best.max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(least, |(_, sharpness)| sharpness)
}

/// How far the means of known classes scatter in each of their directions: a variance each.
fn variances(known: &Matrix<f32>) -> Vec<f64> {
    let n_known = known.n_cols().max(1) as f64;
    let products = if known.n_cols() < known.n_rows() {
        gram(known.view())
    } else {
        gram(known.t())
    };
    let variances = eigen(&products.to_f64()).map_or(Vec::new(), |(values, _)| values);
    variances.into_iter().map(|v| v.max(0.0) / n_known).collect()
}

/// The logarithm of a sum of exponentials, and that of the sum without each of them.
fn with_and_without(logarithms: &[f32]) -> (f64, Vec<f64>) {
    let top = (0..logarithms.len()).max_by(|&a, &b| logarithms[a].total_cmp(&logarithms[b]));
    let Some(top) = top else {
        return (f64::NEG_INFINITY, Vec::new());
    };
    // The largest hides all others in a sum, so theirs is computed first.
    let others = || {
        (0..logarithms.len())
            .filter(|&at| at != top)
            .map(|at| f64::from(logarithms[at]))
    };
    let second = others().fold(f64::NEG_INFINITY, f64::max);
    let without_top = second + others().map(|v| (v - second).exp()).sum::<f64>().ln();
    let largest = f64::from(logarithms[top]);
    let of_all = largest + (without_top - largest).exp().ln_1p();
    let without = |at: usize| match at == top {
        true => without_top,
        false => of_all + (-(f64::from(logarithms[at]) - of_all).exp()).ln_1p(),
    };
    (of_all, (0..logarithms.len()).map(without).collect())
}

/// From logarithms to shares that sum up to `all`.
fn to_shares(values: &mut [f32], all: f32) {
    let largest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    values.iter_mut().for_each(|v| *v = (*v - largest).exp());
    let sum: f32 = values.iter().sum();
    values.iter_mut().for_each(|v| *v *= all / sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_without_each_of_its_terms() {
        let (of_all, without) = with_and_without(&[1.0, 60.0, 2.0, 0.5]);
        assert!((of_all - 60.0).abs() < 1e-12, "{of_all}");
        let others = (1.0f64.exp() + 2.0f64.exp() + 0.5f64.exp()).ln();
        assert!((without[1] - others).abs() < 1e-12, "what 60 hides");
        let (of_all, without) = with_and_without(&[1.0, 1.5, 1.5]);
        let expected = [
            1.5f64.exp() * 2.0,
            1.0f64.exp() + 1.5f64.exp(),
            1.0f64.exp() + 1.5f64.exp(),
        ];
        for (without, expected) in without.iter().zip(expected) {
            assert!((without - expected.ln()).abs() < 1e-12, "{without} {expected}");
        }
        assert!((of_all - (1.0f64.exp() + 2.0 * 1.5f64.exp()).ln()).abs() < 1e-12);
    }
}
