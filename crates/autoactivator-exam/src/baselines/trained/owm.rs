//! Can weights change only where old rows do not notice? Orthogonal weights modification.
//!
//! Zeng et al., "Continual learning of context-dependent processing in neural networks", Nature Machine Intelligence 2019,
//! Eq. 1: each gradient is multiplied by P = I - A (AᵀA + αI)⁻¹ Aᵀ, where the columns of A are all inputs of the layer so far.
//!
//! P = (I + AAᵀ/α)⁻¹, so sums of products are enough, and it is exact, where the published program updates P with the mean
//! input of each batch. Here AAᵀ is divided by the number of rows of each task, so that α does not depend on it.

use autoactivator::Error;
use autoactivator::math::{Cholesky, Matrix, Random, add_gram_lower, product};

use super::ewc::CHUNK;
use super::material::Material;
use super::network::{Gradient, Network, n_floats};
use super::{Lesson, Rule, Trained, Training, cross_entropy};

/// Orthogonal weights modification.
pub type Owm = Trained<Projection>;

/// The rule of [`Owm`].
#[derive(Clone, Debug)]
pub struct Projection {
    /// α
    alpha: f64,
    /// AAᵀ of each layer, lower triangle.
    seen: Vec<Matrix<f64>>,
    /// P of each layer; none before the second task.
    free: Vec<Matrix<f32>>,
}

impl Owm {
    /// With this training; inputs below `alpha` (their mean square along a direction) count as not seen.
    pub fn new(training: Training, alpha: f64) -> Self {
        let rule = Projection {
            alpha,
            seen: Vec::new(),
            free: Vec::new(),
        };
        Self::under(rule, training)
    }
}

impl Projection {
    /// P = (I + AAᵀ/α)⁻¹
    fn projector(&self, seen: &Matrix<f64>) -> Option<Matrix<f32>> {
        let n = seen.n_cols();
        let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        let a = Matrix::from_fn(n, n, |i, j| unit(i, j) + seen[(i, j)] / self.alpha);
        let identity = Matrix::from_fn(n, n, unit);
        Some(Cholesky::new(a)?.solve(&identity).to_f32())
    }
}

impl Rule for Projection {
    const NAME: &'static str = "owm";

    fn gradient(&mut self, network: &Network, batch: Material, _: &mut Random) -> Result<Gradient, Error> {
        let mut gradient = cross_entropy(network, &batch)?;
        for (g, free) in gradient.iter_mut().zip(&self.free) {
            *g = product(free.view(), g.view());
        }
        Ok(gradient)
    }

    fn end(&mut self, network: &Network, lesson: &Lesson<'_>, _: usize) -> Result<(), Error> {
        let squares = network.layers.iter().map(Matrix::n_rows);
        let mut task: Vec<Matrix<f64>> = squares.map(|n| Matrix::zeros(n, n)).collect();
        for rows in lesson.x.chunks(CHUNK) {
            lesson.go_on()?;
            for (sum, inputs) in task.iter_mut().zip(network.pass(rows).inputs) {
                add_gram_lower(sum, inputs.to_f64().view());
            }
        }
        self.seen.resize_with(task.len(), || Matrix::zeros(0, 0));
        for (seen, task) in self.seen.iter_mut().zip(task) {
            let before = |k: usize| seen.values().get(k).copied().unwrap_or(0.0);
            let sums = task
                .values()
                .iter()
                .enumerate()
                .map(|(k, v)| before(k) + v / lesson.x.len() as f64);
            let n = task.n_cols();
            let sums: Vec<f64> = sums.collect();
            *seen = Matrix::from_fn(n, n, |i, j| sums[i + j * n]);
        }
        let free: Option<Vec<Matrix<f32>>> = self.seen.iter().map(|seen| self.projector(seen)).collect();
        self.free = free.ok_or_else(|| Error::NotSolvable {
            place: "the projector of orthogonal weights".to_owned(),
            ridge: self.alpha,
        })?;
        Ok(())
    }

    fn memory_floats(&self) -> usize {
        // P alone could be updated, too.
        n_floats(&self.free)
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::Rows;

    use super::*;

    /// The published recursion, one row at a time: P ← P - P a aᵀ P / (α + aᵀ P a).
    #[test]
    fn the_projector_is_that_of_the_recursion() {
        let x = [0.5, -1.0, 2.0, 0.3, 0.7, 0.1];
        let network = Network::new(2, &[], 1);
        let lesson = Lesson {
            x: Rows::new(&x, 2).unwrap(),
            places: &[0, 0, 0],
            n_classes: 1,
            task: 0,
            observer: &(),
        };
        let alpha = 0.05;
        let mut rule = Projection {
            alpha,
            seen: Vec::new(),
            free: Vec::new(),
        };
        rule.end(&network, &lesson, 0).unwrap();
        let mut p = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0_f64]];
        for row in x.chunks(2) {
            let a = [f64::from(row[0]), f64::from(row[1]), 1.0].map(|v| v / 3.0_f64.sqrt());
            let pa: Vec<f64> = p
                .iter()
                .map(|row| row.iter().zip(&a).map(|(p, a)| p * a).sum())
                .collect();
            let beneath = alpha + a.iter().zip(&pa).map(|(a, pa)| a * pa).sum::<f64>();
            for (row, a) in p.iter_mut().zip(&pa) {
                row.iter_mut().zip(&pa).for_each(|(p, b)| *p -= a * b / beneath);
            }
        }
        let expected = p.iter().flatten();
        let pairs = rule.free[0].values().iter().zip(expected);
        assert!(pairs.into_iter().all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5));
    }
}
