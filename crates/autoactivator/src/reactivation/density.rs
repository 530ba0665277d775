//! From the sums of classes to the likelihood of a row: one Cauchy density for each class of a unit.
//!
//! Distances of real rows vary far more than those of a Gaussian. Under a Gaussian, a class that lies wide loses its own
//! rows to narrow ones that are slightly closer. The tails of a Cauchy density, Student's t with one degree of freedom,
//! let the ratio of distances decide instead of their difference.
//!
//! A covariance of P outputs cannot be had from few rows. That of the class counts as much as the class has rows, and
//! that of all classes of the unit counts as P rows; there, in turn, the variances alone count as P rows. So a class
//! of many rows has a covariance of its own, and one of few rows shares that of its unit.

use super::sums::ClassSums;
use crate::math::{Cholesky, Matrix, product};

/// The density of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    mean: Vec<f32>,
    /// L⁻¹ of the covariance L Lᵀ, transposed.
    whitening: Matrix<f32>,
    /// ln |Σ|.
    log_determinant: f64,
    /// n: number of rows of the class.
    rows: f64,
}

impl Density {
    /// The densities of the classes of a unit; none if a covariance cannot be factored.
    pub fn of_classes(classes: &[ClassSums]) -> Option<Vec<Self>> {
        let shared = shared_covariance(classes)?;
        let density = |class: &ClassSums| Self::new(class, &shared);
        classes.iter().map(density).collect()
    }

    /// Σ_c = (scatter + P Σ_unit)/(n + P).
    fn new(class: &ClassSums, shared: &Matrix<f64>) -> Option<Self> {
        let weight = class.n_outputs() as f64;
        let mut covariance = class.scatter();
        let pairs = covariance.values_mut().iter_mut().zip(shared.values());
        pairs.for_each(|(v, shared)| *v = (*v + weight * shared) / (class.rows + weight));
        let inverse = Cholesky::new(covariance)?.inverse_factor();
        let n = class.n_outputs();
        let log_determinant = -2.0 * (0..n).map(|j| inverse[(j, j)].ln()).sum::<f64>();
        let density = Self {
            mean: class.mean().into_iter().map(|v| v as f32).collect(),
            whitening: Matrix::from_fn(n, n, |i, j| if i <= j { inverse[(j, i)] as f32 } else { 0.0 }),
            log_determinant,
            rows: class.rows,
        };
        let finite = density.whitening.values().iter().all(|v| v.is_finite());
        (finite && log_determinant.is_finite()).then_some(density)
    }

    /// d² = (h - mean)ᵀ Σ⁻¹ (h - mean) of each row.
    pub fn distances(&self, h: &Matrix<f32>) -> Vec<f64> {
        let deviations = Matrix::from_fn(h.n_rows(), h.n_cols(), |i, j| h[(i, j)] - self.mean[j]);
        let white = product(deviations.view(), self.whitening.view());
        let mut distances = vec![0.0; h.n_rows()];
        for column in white.cols() {
            let pairs = distances.iter_mut().zip(column);
            pairs.for_each(|(distance, &v)| *distance += f64::from(v) * f64::from(v));
        }
        distances
    }

    /// -((P + 1) ln(1 + d²) + ln |Σ|)/2: the log-likelihood, without the constant that all classes share.
    pub fn log_likelihood(&self, distance: f64) -> f64 {
        let n_outputs = self.mean.len() as f64;
        -0.5 * ((1.0 + n_outputs) * (1.0 + distance).ln() + self.log_determinant)
    }

    /// The distance that a row of the class at `distance` would have had it not been learned: without it, the mean lies
    /// elsewhere and the scatter is less by a matrix of rank one. None for the only row of its class.
    pub fn left_out(&self, distance: f64) -> Option<f64> {
        let (n, weight) = (self.rows, self.mean.len() as f64);
        let share = n / (n - 1.0);
        let part = distance / (n + weight);
        let rest = 1.0 - share * part;
        (n >= 2.0 && rest > 0.0).then(|| share * share * (n - 1.0 + weight) * part / rest)
    }
}

/// The covariance of all classes of a unit about their means, with the variances alone as P more rows, lower triangle.
fn shared_covariance(classes: &[ClassSums]) -> Option<Matrix<f64>> {
    let (first, others) = classes.split_first()?;
    let mut scatter = first.scatter();
    for class in others {
        let pairs = scatter.values_mut().iter_mut();
        pairs
            .zip(class.scatter().values())
            .for_each(|(v, other)| *v += other);
    }
    let n = first.n_outputs();
    let (rows, weight) = (classes.iter().map(|class| class.rows).sum::<f64>(), n as f64);
    let least = one_row(classes, rows);
    for j in 0..n {
        let variance = (scatter[(j, j)] + least) / (rows + 1.0);
        let column = &mut scatter.col_mut(j)[j..];
        column.iter_mut().for_each(|v| *v /= rows + weight);
        column[0] += weight * variance / (rows + weight);
    }
    Some(scatter)
}

/// The mean square of an output. As one more row it gives a variance to outputs that had none.
fn one_row(classes: &[ClassSums], rows: f64) -> f64 {
    let n = classes[0].n_outputs();
    let squares = classes
        .iter()
        .flat_map(|class| (0..n).map(|j| class.products[(j, j)]));
    let mean = squares.sum::<f64>() / (rows * n as f64);
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Random, Stream};

    fn rows(n_rows: usize, n: usize, shift: f32) -> Matrix<f32> {
        let mut random = Random::new(n_rows as u64, Stream::Probes);
        Matrix::from_fn(n_rows, n, |_, j| shift + random.symmetric(1.0 + j as f32))
    }

    fn sums(h: &Matrix<f32>) -> ClassSums {
        let mut sums = ClassSums::new(h.n_cols());
        sums.add(h.view());
        sums
    }

    /// By hand: one output, rows -1 and 1; the scatter is 2, the mean square 1, so the unit's variance is
    /// (2 + (2 + 1)/3)/3 = 1, and that of the class (2 + 1)/3 = 1.
    #[test]
    fn one_output_by_hand() {
        let class = sums(&Matrix::from_fn(2, 1, |i, _| 2.0 * i as f32 - 1.0));
        let density = &Density::of_classes(&[class]).unwrap()[0];
        let distances = density.distances(&Matrix::from_fn(1, 1, |_, _| 3.0));
        assert!((distances[0] - 9.0).abs() < 1e-5);
        assert!((density.log_likelihood(9.0) + 10f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn a_row_left_out_is_as_far_as_if_it_had_never_been_learned() {
        let h = rows(9, 4, 0.5);
        let all = sums(&h);
        let shared = shared_covariance(&[all.clone(), sums(&rows(20, 4, 2.0))]).unwrap();
        let density = Density::new(&all, &shared).unwrap();
        for (i, distance) in density.distances(&h).into_iter().enumerate() {
            let mut others = all.clone();
            let row = h.gather_rows(&[i]);
            others.subtract(row.view());
            let truth = Density::new(&others, &shared).unwrap().distances(&row)[0];
            let left_out = density.left_out(distance).unwrap();
            assert!((left_out - truth).abs() < 1e-3 * truth, "{left_out} {truth}");
        }
    }

    #[test]
    fn outputs_that_never_vary_and_classes_of_one_row_have_a_density() {
        let still = Matrix::from_fn(5, 3, |_, j| if j == 0 { 0.5 } else { 0.0 });
        for class in [sums(&still), sums(&rows(1, 3, 0.0)), sums(&Matrix::zeros(4, 3))] {
            assert!(Density::of_classes(&[class]).is_some());
        }
        let lonely = Density::of_classes(&[sums(&rows(1, 3, 0.0))]).unwrap();
        assert_eq!(lonely[0].left_out(1.0), None);
    }

    #[test]
    fn few_rows_share_the_covariance_of_their_unit_and_many_have_their_own() {
        let (many, few) = (sums(&rows(4000, 3, 0.0)), sums(&rows(1, 3, 5.0)));
        let shared = shared_covariance(&[many.clone(), few.clone()]).unwrap();
        let of = |class: &ClassSums| Density::new(class, &shared).unwrap().log_determinant;
        let alone = Density::of_classes(std::slice::from_ref(&many)).unwrap()[0].log_determinant;
        assert!((of(&many) - alone).abs() < 0.05);
        assert!((of(&few) - alone).abs() < 1.0);
    }
}
