//! The lower bound: softmax regression by stochastic gradient descent, task after task, with nothing done
//! against forgetting.

use autoactivator::math::{Matrix, add_product, product};
use autoactivator::math::{Random, Stream};
use autoactivator::{ClassList, Error, Labels, Learner, Observer, Rows, Size, check_task};

use super::LinearScores;

/// Passes over the rows of each task.
const EPOCHS: usize = 5;

/// Step size of the descent.
const LEARNING_RATE: f32 = 0.1;

/// Rows in each step.
const BATCH: usize = 32;

/// Softmax regression trained on one task after the other.
#[derive(Clone, Debug)]
pub struct SequentialSgd {
    seed: u64,
    tasks: usize,
    classes: ClassList,
    n_features: Option<usize>,
    scores: LinearScores,
}

impl SequentialSgd {
    /// With rows shuffled from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            tasks: 0,
            classes: ClassList::default(),
            n_features: None,
            scores: LinearScores::default(),
        }
    }

    /// One step down the gradient of the cross-entropy of `rows`.
    fn descend(weights: &mut Matrix<f32>, biases: &mut [f32], rows: Rows<'_>, places: &[u32]) {
        let mut gradient = product(rows.into(), weights.view());
        for (i, &place) in places.iter().enumerate() {
            softmax_minus_target(&mut gradient, i, biases, place as usize);
        }
        let rate = LEARNING_RATE / rows.len() as f32;
        for (c, bias) in biases.iter_mut().enumerate() {
            *bias -= rate * gradient.col(c).iter().sum::<f32>();
        }
        let x: autoactivator::math::View<'_, f32> = rows.into();
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

impl Learner for SequentialSgd {
    fn name(&self) -> &'static str {
        "sequential-sgd"
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error> {
        check_task(x, y, self.n_features, self.tasks + 1)?;
        let mut next = self.clone();
        let places = next.classes.admit(y);
        let mut weights = next
            .scores
            .weights
            .take()
            .unwrap_or_else(|| Matrix::zeros(x.n_features(), 0));
        weights.append(&Matrix::zeros(
            x.n_features(),
            next.classes.len() - weights.n_cols(),
        ));
        next.scores.biases.resize(next.classes.len(), 0.0);
        let mut random = Random::new(self.seed, Stream::Validation { task: self.tasks });
        let mut order: Vec<usize> = (0..x.len()).collect();
        for _ in 0..EPOCHS {
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
            random.shuffle(&mut order);
            for batch in order.chunks(BATCH) {
                let of_batch: Vec<u32> = batch.iter().map(|&i| places[i]).collect();
                Self::descend(
                    &mut weights,
                    &mut next.scores.biases,
                    x.gather(batch).rows(),
                    &of_batch,
                );
            }
        }
        next.scores.weights = Some(weights);
        next.n_features = Some(x.n_features());
        next.tasks += 1;
        *self = next;
        Ok(())
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn n_features(&self) -> Option<usize> {
        self.n_features
    }

    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        self.scores.predict(x, self.n_features, |_| None)
    }

    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        self.scores.predict_among(x, self.n_features, among, |_| None)
    }

    fn size(&self) -> Size {
        let floats = self.scores.n_floats();
        Size {
            nodes: 0,
            model_floats: floats,
            memory_floats: 0,
            multiply_adds: floats,
        }
    }
}
