//! Does discriminant analysis gain from a kernel? KLDA: random Fourier features of an RBF kernel, then one covariance for all classes.
//!
//! Momeni, Mazumder and Liu, "Continual learning using a kernel-based method over foundation models", AAAI 2025: nodes are
//! √(2/D) cos(xΩ + b), with b uniform and Ω normal, divided by the width of the kernel. The paper tunes the width for each data set; here it
//! is the median distance between rows of the first task. Its pseudo-inverse is replaced by the shrinkage of
//! [`StreamingLda`](super::super::StreamingLda).

use autoactivator::math::{Matrix, Random, Stream, product};
use autoactivator::{Error, Rows, Size, Table};

use super::super::scored::{Baseline, Fit, Lesson};
use super::super::streaming_lda::Covariance;
use super::CHUNK;

/// Pairs of rows that the width of the kernel is taken from.
const PAIRS: usize = 1000;

/// Kernel LDA.
pub type Klda = Baseline<FourierLda>;

/// Fits the scores of [`Klda`].
#[derive(Clone, Debug)]
pub struct FourierLda {
    n_nodes: usize,
    seed: u64,
    nodes: Option<FourierNodes>,
    lda: Covariance,
}

/// √(2/D) cos(xΩ + b)
#[derive(Clone, Debug)]
struct FourierNodes {
    /// Ω, `(n_features, n_nodes)`.
    weights: Matrix<f32>,
    /// b
    phases: Vec<f32>,
}

impl Klda {
    /// With so many nodes.
    pub fn new(n_nodes: usize, seed: u64) -> Self {
        Self::around(FourierLda {
            n_nodes,
            seed,
            nodes: None,
            lda: Covariance::default(),
        })
    }
}

impl FourierNodes {
    fn draw(n_features: usize, n_nodes: usize, width: f32, random: &mut Random) -> Self {
        Self {
            weights: Matrix::from_fn(n_features, n_nodes, |_, _| random.normal() / width),
            phases: (0..n_nodes)
                .map(|_| random.symmetric(std::f32::consts::PI))
                .collect(),
        }
    }

    /// What the nodes put out, row after row.
    fn outputs(&self, x: Rows<'_>) -> Result<Table, Error> {
        let n_nodes = self.phases.len();
        let scale = (2.0 / n_nodes as f32).sqrt();
        let mut values = Vec::with_capacity(x.len() * n_nodes);
        for rows in x.chunks(CHUNK) {
            let angles = product(rows.into(), self.weights.view());
            for i in 0..rows.len() {
                values.extend((0..n_nodes).map(|j| scale * (angles[(i, j)] + self.phases[j]).cos()));
            }
        }
        Table::new(values, n_nodes)
    }
}

/// The median distance between random pairs of rows; 1 if most of them are alike.
fn median_distance(x: Rows<'_>, random: &mut Random) -> f32 {
    let mut distance = |_| {
        let (a, b) = (x.row(random.below(x.len())), x.row(random.below(x.len())));
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b) * (a - b))
            .sum::<f32>()
            .sqrt()
    };
    let mut distances: Vec<f32> = (0..PAIRS).map(&mut distance).collect();
    let (_, median, _) = distances.select_nth_unstable_by(PAIRS / 2, f32::total_cmp);
    if *median > 0.0 { *median } else { 1.0 }
}

impl Fit for FourierLda {
    const NAME: &'static str = "klda";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        let (n_nodes, seed) = (self.n_nodes, self.seed);
        let draw = || {
            let mut random = Random::new(seed, Stream::Candidates { task: 0, layer: 0 });
            let width = median_distance(lesson.x, &mut random);
            FourierNodes::draw(lesson.x.n_features(), n_nodes, width, &mut random)
        };
        let nodes = self.nodes.get_or_insert_with(draw);
        let outputs = nodes.outputs(lesson.x)?;
        lesson.go_on()?;
        self.lda.fit(&lesson.with(outputs.rows()))
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        let nodes = self.nodes.as_ref().ok_or(Error::NothingLearned)?;
        self.lda.scores(nodes.outputs(x)?.rows())
    }

    fn size(&self) -> Size {
        let n_features = self.nodes.as_ref().map_or(0, |nodes| nodes.weights.n_rows());
        self.lda
            .linear()
            .size(self.n_nodes, n_features, self.lda.memory_floats())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Products of nodes come to the kernel that they stand for, exp(-|x - y|²/2w²).
    #[test]
    fn nodes_are_those_of_an_rbf_kernel() -> Result<(), Error> {
        let mut random = Random::new(1, Stream::Probes);
        let nodes = FourierNodes::draw(3, 20_000, 2.0, &mut random);
        let x = [0.3, -1.0, 0.5, 1.1, 0.4, -0.2];
        let h = nodes.outputs(Rows::new(&x, 3)?)?;
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let (a, b) = (h.rows().row(0), h.rows().row(1));
        let distance: f32 = (0..3).map(|j| (x[j] - x[3 + j]).powi(2)).sum();
        assert!((dot(a, b) - (-distance / 8.0).exp()).abs() < 0.02);
        assert!((dot(a, a) - 1.0).abs() < 0.02);
        Ok(())
    }
}
