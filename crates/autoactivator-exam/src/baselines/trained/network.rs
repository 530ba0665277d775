//! What do rivals train? A [`Network`]: fully connected layers with ReLU between them, and one output for each class.
//!
//! [`Network::pass`] goes forward and remembers what backward needs; [`Network::gradient`] goes backward. Biases are the
//! last row of each layer, and every input ends in a one, so whatever is done to weights is done to biases, too.

use autoactivator::Rows;
use autoactivator::math::{Matrix, Random, Stream, product};

/// One matrix for each layer, as large as its weights.
pub type Gradient = Vec<Matrix<f32>>;

/// A fully connected network whose head grows with the classes.
#[derive(Clone, Debug)]
pub struct Network {
    /// `(n_inputs + 1, n_outputs)` each; the last one is the head.
    pub layers: Vec<Matrix<f32>>,
}

/// What a network made of some rows.
pub struct Pass {
    /// What each layer read, `(n_rows, n_inputs + 1)`.
    pub inputs: Vec<Matrix<f32>>,
    /// `(n_rows, n_classes)`
    pub scores: Matrix<f32>,
}

impl Network {
    /// Hidden layers of these widths, and a head without classes; weights are uniform in ±1/√n_inputs.
    pub fn new(n_features: usize, hidden: &[usize], seed: u64) -> Self {
        let mut layers = Vec::new();
        let mut n_inputs = n_features;
        for (layer, &width) in hidden.iter().enumerate() {
            let mut random = Random::new(seed, Stream::Candidates { task: 0, layer });
            layers.push(drawn(&mut random, n_inputs, width));
            n_inputs = width;
        }
        layers.push(Matrix::zeros(n_inputs + 1, 0));
        Self { layers }
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.head().n_cols()
    }

    /// Adds outputs until there are so many; the others keep their weights.
    pub fn grow(&mut self, n_classes: usize, seed: u64) {
        let layer = self.layers.len() - 1;
        let new = n_classes.saturating_sub(self.n_classes());
        let mut random = Random::new(
            seed,
            Stream::Candidates {
                task: n_classes,
                layer,
            },
        );
        let drawn = drawn(&mut random, self.head().n_rows() - 1, new);
        self.layers[layer].append(&drawn);
    }

    /// The network as it was with so many classes, to be asked while the other one is trained; none without classes.
    pub fn before(&self, n_classes: usize) -> Option<Self> {
        let mut before = self.clone();
        before.layers.last_mut()?.truncate(n_classes);
        (n_classes > 0).then_some(before)
    }

    fn head(&self) -> &Matrix<f32> {
        &self.layers[self.layers.len() - 1]
    }

    /// Goes forward.
    pub fn pass(&self, x: Rows<'_>) -> Pass {
        let width = x.n_features();
        let value = |i: usize, j: usize| if j < width { x.row(i)[j] } else { 1.0 };
        let mut inputs = vec![Matrix::from_fn(x.len(), width + 1, value)];
        let (head, hidden) = (self.head(), &self.layers[..self.layers.len() - 1]);
        for layer in hidden {
            let mut outputs = product(inputs[inputs.len() - 1].view(), layer.view());
            outputs.values_mut().iter_mut().for_each(|v| *v = v.max(0.0));
            outputs.push(&vec![1.0; x.len()]);
            inputs.push(outputs);
        }
        let scores = product(inputs[inputs.len() - 1].view(), head.view());
        Pass { inputs, scores }
    }

    /// The scores of each class, `(n_rows, n_classes)`.
    pub fn scores(&self, x: Rows<'_>) -> Matrix<f32> {
        self.pass(x).scores
    }

    /// What the head reads, without the last one, `(n_rows, n_inputs)`.
    pub fn features(&self, x: Rows<'_>) -> Matrix<f32> {
        let mut features = self.pass(x).inputs.pop().unwrap_or_else(|| Matrix::zeros(0, 1));
        features.truncate(features.n_cols() - 1);
        features
    }

    /// The gradient of a loss, from its derivatives by the scores, `(n_rows, n_classes)`.
    pub fn gradient(&self, pass: &Pass, by_scores: Matrix<f32>) -> Gradient {
        let by_outputs = self.by_outputs(pass, by_scores);
        let pairs = pass.inputs.iter().zip(&by_outputs);
        pairs.map(|(a, d)| product(a.t(), d.view())).collect()
    }

    /// Σ f(gradient of a row), for an f with f(a·d) = f(a)·f(d), such as |·| or the square.
    ///
    /// The gradient of one row is the outer product of what a layer reads, a, and of d, the derivatives by what it puts
    /// out. So the sum over rows takes one product, as for any gradient, and not one pass for each row.
    pub fn row_by_row(&self, pass: &Pass, by_scores: Matrix<f32>, f: fn(f32) -> f32) -> Gradient {
        let of = |mut m: Matrix<f32>| {
            m.values_mut().iter_mut().for_each(|v| *v = f(*v));
            m
        };
        let by_outputs = self.by_outputs(pass, by_scores).into_iter();
        let pairs = pass.inputs.iter().zip(by_outputs);
        pairs
            .map(|(a, d)| product(of(a.clone()).t(), of(d).view()))
            .collect()
    }

    /// The derivatives of a loss by what each layer puts out, row by row.
    fn by_outputs(&self, pass: &Pass, by_scores: Matrix<f32>) -> Vec<Matrix<f32>> {
        let mut all = vec![by_scores];
        // From the head down: through the weights (not the biases), then through ReLU.
        for (layer, outputs) in self.layers.iter().zip(&pass.inputs).skip(1).rev() {
            let weights = layer.view().rows(0..layer.n_rows() - 1);
            let mut below = product(all[all.len() - 1].view(), weights.t());
            let pairs = below.values_mut().iter_mut().zip(outputs.values());
            pairs
                .filter(|(_, output)| **output <= 0.0)
                .for_each(|(d, _)| *d = 0.0);
            all.push(below);
        }
        all.reverse();
        all
    }

    /// Moves every weight by the step.
    pub fn step(&mut self, step: &Gradient) {
        for (layer, step) in self.layers.iter_mut().zip(step) {
            add(layer, 1.0, step);
        }
    }

    /// Whether every weight is finite.
    pub fn is_finite(&self) -> bool {
        self.layers.iter().flat_map(Matrix::values).all(|w| w.is_finite())
    }

    /// Zeros in the shape of the weights.
    pub fn zeros(&self) -> Gradient {
        let zeros = |layer: &Matrix<f32>| Matrix::zeros(layer.n_rows(), layer.n_cols());
        self.layers.iter().map(zeros).collect()
    }

    /// Number of weights and biases.
    pub fn n_floats(&self) -> usize {
        n_floats(&self.layers)
    }

    /// Number of hidden nodes.
    pub fn n_nodes(&self) -> usize {
        self.layers[..self.layers.len() - 1]
            .iter()
            .map(Matrix::n_cols)
            .sum()
    }
}

/// Number of values.
pub fn n_floats(gradient: &Gradient) -> usize {
    gradient.iter().map(|m| m.values().len()).sum()
}

/// `sum += alpha · other`, for two matrices of as many rows; the columns that `other` lacks count as zero.
pub fn add(sum: &mut Matrix<f32>, alpha: f32, other: &Matrix<f32>) {
    let pairs = sum.values_mut().iter_mut().zip(other.values());
    pairs.for_each(|(s, &v)| *s += alpha * v);
}

fn drawn(random: &mut Random, n_inputs: usize, n_outputs: usize) -> Matrix<f32> {
    let mut weights = Matrix::zeros(n_inputs + 1, n_outputs);
    random.fill_symmetric(weights.values_mut(), 1.0 / (n_inputs as f32).sqrt());
    weights
}

#[cfg(test)]
mod tests {
    use super::super::loss;
    use super::*;

    fn small() -> (Network, Vec<f32>, Vec<u32>) {
        let mut network = Network::new(3, &[5, 4], 1);
        network.grow(3, 1);
        let x = (0..18).map(|i| ((i * 7) % 11) as f32 / 11.0 - 0.4).collect();
        (network, x, vec![0, 2, 1, 1, 0, 2])
    }

    fn mean_loss(network: &Network, x: Rows<'_>, places: &[u32]) -> f64 {
        let p = loss::softmax(&network.scores(x), 1.0);
        let losses = places
            .iter()
            .enumerate()
            .map(|(i, &c)| -f64::from(p[(i, c as usize)]).ln());
        losses.sum::<f64>() / places.len() as f64
    }

    /// The gradient is what a small change of a weight does to the loss.
    #[test]
    fn gradient_is_that_of_finite_differences() {
        let (network, x, places) = small();
        let x = Rows::new(&x, 3).unwrap();
        let pass = network.pass(x);
        let gradient = network.gradient(&pass, loss::cross_entropy(&pass.scores, &places));
        for (layer, gradient) in gradient.iter().enumerate() {
            for at in [0, 3, 6, network.layers[layer].values().len() - 1] {
                let moved = |by: f32| {
                    let mut network = network.clone();
                    network.layers[layer].values_mut()[at] += by;
                    mean_loss(&network, x, &places)
                };
                let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                let found = f64::from(gradient.values()[at]);
                assert!(
                    (found - slope).abs() < 1e-4,
                    "layer {layer}, {at}: {found}, not {slope}"
                );
            }
        }
    }

    /// What one product gives for all rows is the sum of what one pass for each row gives.
    #[test]
    fn row_by_row_is_the_sum_over_single_rows() {
        let (network, x, places) = small();
        let x = Rows::new(&x, 3).unwrap();
        for f in [f32::abs, |v: f32| v * v] {
            let pass = network.pass(x);
            // Rows that count in full, not by their share of the batch.
            let by_scores = |pass: &Pass, places: &[u32]| {
                let mut d = loss::cross_entropy(&pass.scores, places);
                d.values_mut().iter_mut().for_each(|v| *v *= places.len() as f32);
                d
            };
            let at_once = network.row_by_row(&pass, by_scores(&pass, &places), f);
            let mut sum = network.zeros();
            for (row, place) in x.chunks(1).zip(&places) {
                let pass = network.pass(row);
                let gradient = network.gradient(&pass, by_scores(&pass, &[*place]));
                for (sum, g) in sum.iter_mut().zip(&gradient) {
                    let pairs = sum.values_mut().iter_mut().zip(g.values());
                    pairs.for_each(|(s, &g)| *s += f(g));
                }
            }
            for (a, b) in at_once.iter().zip(&sum) {
                for (a, b) in a.values().iter().zip(b.values()) {
                    assert!((a - b).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn a_new_class_leaves_the_scores_of_the_others() {
        let (mut network, x, _) = small();
        let x = Rows::new(&x, 3).unwrap();
        let before = network.scores(x);
        network.grow(5, 1);
        assert_eq!(network.n_classes(), 5);
        assert_eq!(network.scores(x).columns(0, 3).to_matrix(), before);
    }
}
