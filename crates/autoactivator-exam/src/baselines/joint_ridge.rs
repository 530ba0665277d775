//! What do random nodes reach when nothing has to be forgotten? A ridge readout fitted to all rows of all tasks at once.
//!
//! A ridge fit needs only sums of products, so fitting to all rows seen so far does not ask for the rows
//! themselves. It is an upper bound for its own kind - plain random nodes - not for every learner.

use autoactivator::math::{Matrix, add_gram_lower, solve_positive_definite};
use autoactivator::math::{Random, Stream};
use autoactivator::pool::Nodes;
use autoactivator::{Activation, Error, Rows, Size};

use super::scored::{Baseline, Fit, Lesson, LinearScores};

/// Random nodes, drawn once.
const N_NODES: usize = 1000;

/// Ridge constant, relative to the mean diagonal of HᵀH.
const RIDGE: f64 = 1e-6;

/// Random nodes with a ridge readout over all rows.
pub type JointRidge = Baseline<Ridge>;

/// Fits the scores of [`JointRidge`].
#[derive(Clone, Debug)]
pub struct Ridge {
    seed: u64,
    scope: f32,
    nodes: Option<Nodes>,
    /// HᵀH, lower triangle.
    gram: Matrix<f64>,
    /// HᵀY, `(n_nodes, n_classes)`.
    moments: Matrix<f64>,
    scores: LinearScores,
}

impl JointRidge {
    /// With nodes drawn from `seed` and `scope` λ.
    pub fn new(seed: u64, scope: f32) -> Self {
        Self::around(Ridge {
            seed,
            scope,
            nodes: None,
            gram: Matrix::zeros(N_NODES, N_NODES),
            moments: Matrix::zeros(N_NODES, 0),
            scores: LinearScores::default(),
        })
    }
}

impl Ridge {
    fn add(&mut self, h: &Matrix<f64>, places: &[u32]) {
        add_gram_lower(&mut self.gram, h.view());
        for j in 0..h.n_cols() {
            for (&v, &place) in h.col(j).iter().zip(places) {
                self.moments[(j, place as usize)] += v;
            }
        }
    }

    fn refit(&self) -> Result<LinearScores, Error> {
        let mut gram = self.gram.clone();
        let mean_diagonal = (0..N_NODES).map(|j| gram[(j, j)]).sum::<f64>() / N_NODES as f64;
        (0..N_NODES).for_each(|j| gram[(j, j)] += RIDGE * mean_diagonal);
        let weights = solve_positive_definite(&gram, &self.moments).ok_or_else(|| Error::NotSolvable {
            place: "the joint readout".to_owned(),
            ridge: RIDGE,
        })?;
        Ok(LinearScores::plain(weights.to_f32()))
    }
}

impl Fit for Ridge {
    const NAME: &'static str = "joint-ridge";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        while self.moments.n_cols() < lesson.n_classes {
            self.moments.push(&[0.0; N_NODES]);
        }
        let (seed, scope) = (self.seed, self.scope);
        let nodes = self
            .nodes
            .get_or_insert_with(|| draw(seed, scope, lesson.x.n_features()))
            .clone();
        for (rows, places) in lesson.x.chunks(4096).zip(lesson.places.chunks(4096)) {
            self.add(&nodes.outputs(rows.into()).to_f64(), places);
        }
        self.scores = self.refit()?;
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        let nodes = self.nodes.as_ref().ok_or(Error::NothingLearned)?;
        Ok(self.scores.of(nodes.outputs(x.into()).view()))
    }

    fn size(&self) -> Size {
        let n_features = self.nodes.as_ref().map_or(0, |nodes| nodes.weights.n_rows());
        let memory = N_NODES * (N_NODES + 1) / 2 + self.moments.values().len();
        self.scores.size(N_NODES, n_features, memory)
    }
}

fn draw(seed: u64, scope: f32, n_features: usize) -> Nodes {
    let mut random = Random::new(seed, Stream::Candidates { task: 0, layer: 0 });
    Nodes::draw(&mut random, n_features, N_NODES, scope, Activation::Sigmoid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use autoactivator::{Labels, Learner, Table};

    /// Task after task gives what one fit to all rows gives: nothing is lost by not keeping them.
    #[test]
    fn equals_a_fit_to_all_rows_at_once() -> Result<(), Error> {
        let values: Vec<f32> = (0..60 * 3).map(|i| ((i * 37) % 101) as f32 / 101.0).collect();
        let x = Table::new(values, 3)?;
        let y = Labels::from_names((0..60).map(|i| ["a", "b", "c", "d"][i / 15]));
        let (mut tasks, mut joint) = (JointRidge::new(1, 1.0), JointRidge::new(1, 1.0));
        joint.learn(x.rows(), &y, &mut ())?;
        for half in [(0..30).collect::<Vec<_>>(), (30..60).collect()] {
            tasks.learn(x.rows().gather(&half).rows(), &y.gather(&half), &mut ())?;
        }
        for (a, b) in tasks
            .inner()
            .moments
            .values()
            .iter()
            .zip(joint.inner().moments.values())
        {
            assert!((a - b).abs() <= 1e-12 * b.abs());
        }
        assert_eq!(tasks.predict(x.rows())?, joint.predict(x.rows())?);
        Ok(())
    }
}
