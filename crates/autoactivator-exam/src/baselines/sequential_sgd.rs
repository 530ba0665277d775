//! What happens when nothing is done against forgetting? Softmax regression by gradient descent, task after task.
//!
//! [`SequentialSgd`] is the lower bound of every table.

use autoactivator::math::{Matrix, View, add_product, product};
use autoactivator::math::{Random, Stream};
use autoactivator::{Error, Rows, Size};

use super::scored::{Baseline, Fit, Lesson, LinearScores};

/// Passes over the rows of each task.
const EPOCHS: usize = 5;

/// Step size of the descent.
const LEARNING_RATE: f32 = 0.1;

/// Rows in each step.
const BATCH: usize = 32;

/// Softmax regression trained on one task after the other.
pub type SequentialSgd = Baseline<Descent>;

/// Fits the scores of [`SequentialSgd`].
#[derive(Clone, Debug)]
pub struct Descent {
    seed: u64,
    scores: LinearScores,
}

impl SequentialSgd {
    /// With rows shuffled from `seed`.
    pub fn new(seed: u64) -> Self {
        Self::around(Descent {
            seed,
            scores: LinearScores::default(),
        })
    }
}

impl Descent {
    /// One step down the gradient of the cross-entropy of `rows`.
    fn step(weights: &mut Matrix<f32>, biases: &mut [f32], rows: Rows<'_>, places: &[u32]) {
        let mut gradient = product(rows.into(), weights.view());
        for (i, &place) in places.iter().enumerate() {
            softmax_minus_target(&mut gradient, i, biases, place as usize);
        }
        let rate = LEARNING_RATE / rows.len() as f32;
        for (c, bias) in biases.iter_mut().enumerate() {
            *bias -= rate * gradient.col(c).iter().sum::<f32>();
        }
        let x: View<'_, f32> = rows.into();
        add_product(weights, -rate, x.t(), gradient.view());
    }
}

/// Turns row `i` of the scores into softmax(scores + biases) minus the one-hot target.
fn softmax_minus_target(scores: &mut Matrix<f32>, i: usize, biases: &[f32], target: usize) {
    let n_classes = biases.len();
    let highest = (0..n_classes)
        .map(|c| scores[(i, c)] + biases[c])
        .fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for (c, bias) in biases.iter().enumerate() {
        let e = (scores[(i, c)] + bias - highest).exp();
        scores[(i, c)] = e;
        sum += e;
    }
    for c in 0..n_classes {
        scores[(i, c)] = scores[(i, c)] / sum - if c == target { 1.0 } else { 0.0 };
    }
}

impl Fit for Descent {
    const NAME: &'static str = "sequential-sgd";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        let (x, n_classes) = (lesson.x, lesson.n_classes);
        let LinearScores { weights, biases } = &mut self.scores;
        if weights.n_cols() == 0 {
            *weights = Matrix::zeros(x.n_features(), 0);
        }
        weights.append(&Matrix::zeros(x.n_features(), n_classes - weights.n_cols()));
        biases.resize(n_classes, 0.0);
        let mut random = Random::new(self.seed, Stream::Validation { task: lesson.task });
        let mut order: Vec<usize> = (0..x.len()).collect();
        for _ in 0..EPOCHS {
            lesson.go_on()?;
            random.shuffle(&mut order);
            for batch in order.chunks(BATCH) {
                let places: Vec<u32> = batch.iter().map(|&i| lesson.places[i]).collect();
                Self::step(weights, biases, x.gather(batch).rows(), &places);
            }
        }
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        Ok(self.scores.of(x.into()))
    }

    fn size(&self) -> Size {
        self.scores.size(0, 0, 0)
    }
}
