//! What is worth keeping of a row? Dark experience replay: its class, and what the network said of it.
//!
//! Buzzega et al., "Dark experience for general continual learning: a strong, simple baseline", NeurIPS 2020, Eq. 6 (DER++): cross-entropy
//! of the batch, plus α times the mean squared difference to kept scores, plus β times the cross-entropy of other exemplars. There,
//! rows are kept while a task is learned; here when it is done, with the scores of the finished network. Also, differences
//! above 1 count linearly here (Huber): the slope of a square has no bound, and now and then training would diverge.

use autoactivator::Error;
use autoactivator::math::{Matrix, Random};

use super::exemplars::{Exemplar, Exemplars};
use super::loss;
use super::material::Material;
use super::network::{Gradient, Network};
use super::{Lesson, Rule, Trained, Training};

/// β: how much the classes of exemplars count, as in the paper's experiments on MNIST.
const BETA: f32 = 1.0;

/// Differences to kept scores count linearly from here on.
const FAR: f32 = 1.0;

/// Dark experience replay with classes, DER++.
pub type Der = Trained<DarkExperience>;

/// The rule of [`Der`].
#[derive(Clone, Debug)]
pub struct DarkExperience {
    alpha: f32,
    exemplars: Exemplars,
}

impl Der {
    /// With this training, α and so many exemplars.
    pub fn new(training: Training, alpha: f32, budget: usize) -> Self {
        let exemplars = Exemplars::new(budget, training.seed);
        Self::under(DarkExperience { alpha, exemplars }, training)
    }
}

/// Derivatives by the scores of three blocks of rows: the batch, exemplars with scores, and exemplars with classes.
fn by_scores(scores: &Matrix<f32>, places: &[u32], dark: &[&Exemplar], alpha: f32) -> Matrix<f32> {
    let n = places.len() - 2 * dark.len();
    let block = |from: usize, to: usize| scores.view().rows(from..to).to_matrix();
    let fresh = loss::cross_entropy(&block(0, n), &places[..n]);
    let known = loss::cross_entropy(&block(n + dark.len(), places.len()), &places[n + dark.len()..]);
    let mut d = Matrix::zeros(scores.n_rows(), scores.n_cols());
    for c in 0..d.n_cols() {
        d.col_mut(c)[..n].copy_from_slice(fresh.col(c));
        for (i, exemplar) in dark.iter().enumerate() {
            // Classes that came later have no score to compare with.
            if let Some(&kept) = exemplar.scores.get(c) {
                let values = (dark.len() * exemplar.scores.len()) as f32;
                let difference = (scores[(n + i, c)] - kept).clamp(-FAR, FAR);
                d[(n + i, c)] = alpha * 2.0 * difference / values;
            }
            d[(n + dark.len() + i, c)] = BETA * known[(i, c)];
        }
    }
    d
}

impl Rule for DarkExperience {
    const NAME: &'static str = "der++";

    fn gradient(
        &mut self,
        network: &Network,
        batch: Material,
        random: &mut Random,
    ) -> Result<Gradient, Error> {
        let n = batch.len();
        let dark = self.exemplars.draw(n, random);
        let known = self.exemplars.draw(n, random);
        let all = batch.with(&dark).with(&known);
        let pass = network.pass(all.x()?);
        let by_scores = by_scores(&pass.scores, &all.places, &dark, self.alpha);
        Ok(network.gradient(&pass, by_scores))
    }

    fn end(&mut self, network: &Network, lesson: &Lesson<'_>, _: usize) -> Result<(), Error> {
        self.exemplars.admit(lesson, &self.exemplars.any_order(lesson));
        let material = self.exemplars.material();
        let scores = network.scores(material.x()?);
        for (i, exemplar) in self
            .exemplars
            .iter_mut()
            .enumerate()
            .filter(|(_, e)| e.scores.is_empty())
        {
            exemplar.scores = (0..scores.n_cols()).map(|c| scores[(i, c)]).collect();
        }
        Ok(())
    }

    fn memory_floats(&self) -> usize {
        self.exemplars.n_floats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_blocks_by_hand() {
        let dark = Exemplar {
            row: vec![0.0],
            place: 0,
            scores: vec![1.0],
        };
        // A difference of 1/2 counts as it is, one of 2 as 1.
        for (score, difference) in [(1.5, 0.5), (3.0, 1.0)] {
            // One new row, one with a kept score of 1 for the only class of its time, one with its class.
            let scores = Matrix::from_fn(3, 2, |i, c| [[0.0, 0.0], [score, 5.0], [0.0, 0.0]][i][c]);
            let d = by_scores(&scores, &[1, 0, 0], &[&dark], 0.5);
            let expected = [[0.5, -0.5], [0.5 * 2.0 * difference, 0.0], [-0.5, 0.5]];
            for (i, row) in expected.iter().enumerate() {
                for (c, value) in row.iter().enumerate() {
                    assert!((d[(i, c)] - value).abs() < 1e-6, "{i}, {c}: {}", d[(i, c)]);
                }
            }
        }
    }
}
