//! Does each class deserve a covariance of its own? FeCAM: the Mahalanobis distance to each class mean, after a few repairs.
//!
//! Goswami et al., "FeCAM: exploiting the heterogeneity of class distributions in exemplar-free continual learning", NeurIPS
//! 2023: features to the power 0.5, covariances shrunk towards their mean variance and mean covariance (α₁ = α₂ = 1) and
//! normalised to correlations, rows and means of length 1. Negative features, which the paper has none of, keep their sign.

use autoactivator::math::{Cholesky, Matrix, add_gram_lower, mirror_lower, product, square_lengths};
use autoactivator::{Error, Rows, Size, Table};

use super::super::ClassSums;
use super::super::scored::{Baseline, Fit, Lesson};
use super::{to_unit, unit_rows};

/// α₁ and α₂.
const SHRINKAGE: (f64, f64) = (1.0, 1.0);

/// FeCAM.
pub type FeCam = Baseline<Covariances>;

/// The classes of [`FeCam`].
#[derive(Clone, Debug, Default)]
pub struct Covariances {
    /// Sums of rows as they came.
    sums: ClassSums,
    /// Per class: Σ v vᵀ (lower triangle) and Σ v of rooted rows v.
    scatter: Vec<Option<(Matrix<f64>, Vec<f64>)>>,
    /// Per class: L⁻ᵀ of its normalised covariance LLᵀ, so that |L⁻¹(v - m)| is the distance.
    whitening: Vec<Matrix<f32>>,
    /// Roots of class means, of length 1, `(n_features, n_classes)`.
    means: Option<Matrix<f32>>,
}

/// |v|^0.5, with the sign of v.
fn rooted(x: Rows<'_>) -> Result<Table, Error> {
    Table::new(x.values().iter().map(|v| root(*v)).collect(), x.n_features())
}

fn root(v: f32) -> f32 {
    v.abs().sqrt().copysign(v)
}

/// Shrinks a covariance, then divides it by its deviations.
fn normalised(mut covariance: Matrix<f64>) -> Matrix<f64> {
    let n = covariance.n_cols();
    let diagonal: f64 = (0..n).map(|j| covariance[(j, j)]).sum();
    let others = covariance
        .values()
        .iter()
        .filter(|v| **v != 0.0)
        .count()
        .saturating_sub(n)
        .max(1);
    let off_diagonal = (covariance.values().iter().sum::<f64>() - diagonal) / others as f64;
    let variance = diagonal / n as f64;
    for j in 0..n {
        for i in 0..n {
            let towards = if i == j {
                SHRINKAGE.0 * variance
            } else {
                SHRINKAGE.1 * off_diagonal
            };
            covariance[(i, j)] += towards;
        }
    }
    // Rows that are all alike have no spread to divide by.
    let deviations: Vec<f64> = (0..n)
        .map(|j| covariance[(j, j)].max(f64::MIN_POSITIVE).sqrt())
        .collect();
    Matrix::from_fn(n, n, |i, j| {
        if i == j {
            1.0
        } else {
            covariance[(i, j)] / (deviations[i] * deviations[j])
        }
    })
}

impl Covariances {
    fn add(&mut self, class: usize, rows: Rows<'_>) {
        let width = rows.n_features();
        let (gram, sum) =
            self.scatter[class].get_or_insert_with(|| (Matrix::zeros(width, width), vec![0.0; width]));
        for rows in rows.chunks(super::CHUNK) {
            let rows = Matrix::from_fn(rows.len(), width, |i, j| f64::from(rows.row(i)[j]));
            add_gram_lower(gram, rows.view());
            for (sum, column) in sum.iter_mut().zip(rows.cols()) {
                *sum += column.iter().sum::<f64>();
            }
        }
    }

    /// The sample covariance of a class.
    fn covariance(&self, class: usize) -> Matrix<f64> {
        let Some((gram, sum)) = &self.scatter[class] else {
            return Matrix::zeros(0, 0);
        };
        let n = self.sums.counts[class];
        let freedom = (n - 1.0).max(1.0);
        let mut covariance = gram.clone();
        mirror_lower(&mut covariance);
        for (j, sum_j) in sum.iter().enumerate() {
            let column = covariance.col_mut(j).iter_mut().zip(sum);
            column.for_each(|(c, sum_i)| *c = (*c - sum_i * sum_j / n) / freedom);
        }
        covariance
    }
}

impl Fit for Covariances {
    const NAME: &'static str = "fecam";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        self.sums.add(lesson);
        self.scatter.resize(lesson.n_classes, None);
        self.whitening.resize(lesson.n_classes, Matrix::zeros(0, 0));
        for (class, rows) in lesson
            .by_class()
            .iter()
            .enumerate()
            .filter(|(_, rows)| !rows.is_empty())
        {
            lesson.go_on()?;
            self.add(class, rooted(lesson.x.gather(rows).rows())?.rows());
            let factor =
                Cholesky::new(normalised(self.covariance(class))).ok_or_else(|| Error::NotSolvable {
                    place: "a class covariance of FeCAM".to_owned(),
                    ridge: SHRINKAGE.0,
                })?;
            self.whitening[class] = factor.inverse_factor().t().to_matrix().to_f32();
        }
        let mut means = self.sums.means().to_f32();
        for c in 0..means.n_cols() {
            means.col_mut(c).iter_mut().for_each(|v| *v = root(*v));
            to_unit(means.col_mut(c));
        }
        self.means = Some(means);
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        let means = self.means.as_ref().ok_or(Error::NothingLearned)?;
        let units = unit_rows(rooted(x)?.rows())?;
        let v = autoactivator::math::View::from(units.rows()).to_matrix();
        let mut scores = Matrix::zeros(x.len(), 0);
        for (class, whitening) in self.whitening.iter().enumerate() {
            let mean = means.col(class);
            let centred = Matrix::from_fn(x.len(), mean.len(), |i, j| v[(i, j)] - mean[j]);
            let white = product(centred.view(), whitening.view());
            let distances = square_lengths(white.t());
            scores.push(&distances.iter().map(|d| -*d as f32).collect::<Vec<f32>>());
        }
        Ok(scores)
    }

    fn size(&self) -> Size {
        let (d, classes) = (
            self.means.as_ref().map_or(0, Matrix::n_rows),
            self.whitening.len(),
        );
        let triangle = d * (d + 1) / 2;
        Size {
            nodes: 0,
            model_floats: classes * (triangle + d),
            // The sums of each class, from which the rest follows.
            memory_floats: classes * (triangle + 2 * d + 1),
            multiply_adds: classes * triangle,
        }
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::{Labels, Learner};

    use super::*;

    /// The covariance ((4, 1), (1, 2)) has mean variance 3 and mean covariance 1: shrunk, it is ((7, 2), (2, 5)).
    #[test]
    fn shrinkage_and_normalisation_by_hand() {
        let covariance = Matrix::from_fn(2, 2, |i, j| [[4.0, 1.0], [1.0, 2.0]][i][j]);
        let found = normalised(covariance);
        let expected = 2.0 / 35.0_f64.sqrt();
        assert_eq!((found[(0, 0)], found[(1, 1)]), (1.0, 1.0));
        assert!((found[(0, 1)] - expected).abs() < 1e-12 && (found[(1, 0)] - expected).abs() < 1e-12);
    }

    /// Scores against the formula, with the covariance from its definition and an inverse by hand.
    #[test]
    fn scores_are_mahalanobis_distances() -> Result<(), Error> {
        let x = [1.0, 4.0, 9.0, 1.0, 4.0, 16.0];
        let mut learner = FeCam::default();
        learner.learn(Rows::new(&x, 2)?, &Labels::from_names(["a"; 3]), &mut ())?;
        let asked = [4.0, 1.0];
        let found = learner.inner().scores(Rows::new(&asked, 2)?)?[(0, 0)];
        // Rooted rows (1, 2), (3, 1), (2, 4): mean (2, 7/3), variances 1 and 7/3, covariance -1/2.
        let (a, b, c) = (1.0_f64, 7.0 / 3.0, -0.5);
        let (shrunk_a, shrunk_b, shrunk_c) = (a + (a + b) / 2.0, b + (a + b) / 2.0, 2.0 * c);
        let r = shrunk_c / (shrunk_a * shrunk_b).sqrt();
        let unit = |v: [f64; 2]| {
            let length = v[0].hypot(v[1]);
            [v[0] / length, v[1] / length]
        };
        let (v, m) = (unit([2.0, 1.0]), unit([(14.0_f64 / 3.0).sqrt(), 7.0_f64.sqrt()]));
        let d = [v[0] - m[0], v[1] - m[1]];
        let expected = -(d[0] * d[0] - 2.0 * r * d[0] * d[1] + d[1] * d[1]) / (1.0 - r * r);
        assert!(
            (f64::from(found) - expected).abs() < 1e-5,
            "{found}, not {expected}"
        );
        Ok(())
    }
}
