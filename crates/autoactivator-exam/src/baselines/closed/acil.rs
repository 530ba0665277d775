//! Does recursive least squares forget? ACIL: random ReLU nodes and a ridge readout that is the same as if all rows had been there at
//! once.
//!
//! Zhuang et al., "ACIL: analytic class-incremental learning with absolute memorization and privacy protection", NeurIPS 2022.
//! Its recursion (Theorem 1) keeps (HᵀH + γI)⁻¹; here HᵀH itself is kept, which gives the same weights.

use autoactivator::Error;
use autoactivator::math::Random;

use super::super::scored::{Baseline, Lesson};
use super::ridge::{Recipe, ReluNodes, ReluRidge};

/// γ, as in the published program.
const RIDGE: f32 = 0.1;

/// Analytic class-incremental learning.
pub type Acil = Baseline<ReluRidge<Analytic>>;

/// The recipe of [`Acil`].
#[derive(Clone, Debug)]
pub struct Analytic;

impl Recipe for Analytic {
    const NAME: &'static str = "acil";
    const HIGHEST: f32 = RIDGE;

    fn weight(random: &mut Random, n_features: usize) -> f32 {
        random.symmetric(1.0 / (n_features as f32).sqrt())
    }

    fn constant(_: &ReluNodes, _: &Lesson<'_>, _: u64) -> Result<f32, Error> {
        Ok(RIDGE)
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::math::{Matrix, product};
    use autoactivator::{Labels, Learner, Rows};

    use super::*;

    /// Theorem 1, a row at a time: R ← R - R hᵀ h R / (1 + h R hᵀ) and W ← W + R hᵀ (y - h W), from R = I/γ.
    #[test]
    fn weights_are_those_of_the_recursion() -> Result<(), Error> {
        let values: Vec<f32> = (0..60).map(|i| ((i * 37) % 101) as f32 / 101.0).collect();
        let x = Rows::new(&values, 3)?;
        let names: Vec<&str> = (0..20).map(|i| if i < 10 { "a" } else { "b" }).collect();
        let mut learner = Acil::new(4, 7);
        for half in [0..10, 10..20] {
            let rows: Vec<usize> = half.collect();
            let y = Labels::from_names(rows.iter().map(|&i| names[i]));
            learner.learn(x.gather(&rows).rows(), &y, &mut ())?;
        }
        let h = learner.inner().nodes.as_ref().unwrap().outputs(x).to_f64();
        let mut r = Matrix::from_fn(4, 4, |i, j| if i == j { 1.0 / f64::from(RIDGE) } else { 0.0 });
        let mut w: Matrix<f64> = Matrix::zeros(4, 2);
        for i in 0..20 {
            let row = Matrix::from_fn(1, 4, |_, j| h[(i, j)]);
            let along = product(r.view(), row.t());
            let beneath = 1.0 + product(row.view(), along.view())[(0, 0)];
            r = Matrix::from_fn(4, 4, |j, k| r[(j, k)] - along[(j, 0)] * along[(k, 0)] / beneath);
            let said = product(row.view(), w.view());
            let gain = product(r.view(), row.t());
            let wanted = |c: usize| f64::from(u8::from((i >= 10) == (c == 1)));
            w = Matrix::from_fn(4, 2, |j, c| w[(j, c)] + gain[(j, 0)] * (wanted(c) - said[(0, c)]));
        }
        for (a, b) in learner.inner().scores.weights.values().iter().zip(w.values()) {
            assert!((f64::from(*a) - b).abs() < 1e-3, "{a} is not {b}");
        }
        Ok(())
    }
}
