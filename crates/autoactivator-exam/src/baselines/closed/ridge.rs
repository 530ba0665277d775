//! What do RanPAC and ACIL share? [`ReluRidge`]: random ReLU nodes without biases, sums of products of their outputs, and a ridge
//! regression that is solved from these. How nodes are drawn and which constant is taken, a [`Recipe`] says.
//!
//! Sums are in single precision, as published: those of 10,000 nodes already take 400 MB.

use std::marker::PhantomData;

use autoactivator::math::{Cholesky, Matrix, Random, Stream, add_gram_lower, product};
use autoactivator::{Error, Rows, Size};

use super::super::scored::{Baseline, Fit, Lesson, LinearScores};
use super::CHUNK;

/// What a rival of this kind does in its own way.
pub trait Recipe: Clone {
    /// The name in tables and on the command line.
    const NAME: &'static str;

    /// A constant that cannot be solved with is raised tenfold, but not above this.
    const HIGHEST: f32;

    /// A weight of a node.
    fn weight(random: &mut Random, n_features: usize) -> f32;

    /// The ridge constant after a task.
    fn constant(nodes: &ReluNodes, lesson: &Lesson<'_>, seed: u64) -> Result<f32, Error>;
}

/// Ridge regression on random ReLU nodes, task after task.
#[derive(Clone, Debug)]
pub struct ReluRidge<R> {
    recipe: PhantomData<R>,
    n_nodes: usize,
    seed: u64,
    /// Drawn before the first task.
    pub nodes: Option<ReluNodes>,
    sums: RidgeSums,
    /// Those after the last task.
    pub scores: LinearScores,
}

impl<R: Recipe> Baseline<ReluRidge<R>> {
    /// With so many nodes.
    pub fn new(n_nodes: usize, seed: u64) -> Self {
        Self::around(ReluRidge {
            recipe: PhantomData,
            n_nodes,
            seed,
            nodes: None,
            sums: RidgeSums::new(0),
            scores: LinearScores::default(),
        })
    }
}

impl<R: Recipe> Fit for ReluRidge<R> {
    const NAME: &'static str = R::NAME;

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        let (n_features, n_nodes, seed) = (lesson.x.n_features(), self.n_nodes, self.seed);
        if self.nodes.is_none() {
            self.sums = RidgeSums::new(n_nodes);
        }
        let weight = |random: &mut Random| R::weight(random, n_features);
        let draw = || ReluNodes::draw(n_features, n_nodes, seed, weight);
        let nodes = self.nodes.get_or_insert_with(draw);
        self.sums.add(nodes, lesson.x, lesson.places, lesson.n_classes);
        let constant = R::constant(nodes, lesson, seed)?;
        self.scores = LinearScores::plain(self.solve(constant, lesson)?);
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        let nodes = self.nodes.as_ref().ok_or(Error::NothingLearned)?;
        Ok(self.scores.of(nodes.outputs(x).view()))
    }

    fn size(&self) -> Size {
        let floats = self.nodes.as_ref().map_or(0, ReluNodes::n_floats) + self.scores.weights.values().len();
        Size {
            nodes: self.n_nodes,
            model_floats: floats,
            memory_floats: self.sums.n_floats(),
            multiply_adds: floats,
        }
    }
}

impl<R: Recipe> ReluRidge<R> {
    /// The weights with this constant, or with the first above it that the precision of the sums allows.
    fn solve(&self, mut ridge: f32, lesson: &Lesson<'_>) -> Result<Matrix<f32>, Error> {
        loop {
            lesson.go_on()?;
            match self.sums.solve(ridge) {
                Some(weights) => return Ok(weights),
                None if ridge < R::HIGHEST => ridge *= 10.0,
                None => {
                    return Err(Error::NotSolvable {
                        place: R::NAME.to_owned(),
                        ridge: f64::from(ridge),
                    });
                }
            }
        }
    }
}

/// Random ReLU nodes: max(0, x W).
#[derive(Clone, Debug)]
pub struct ReluNodes {
    /// `(n_features, n_nodes)`
    weights: Matrix<f32>,
}

impl ReluNodes {
    /// Weights from what `weight` draws.
    pub fn draw(n_features: usize, n_nodes: usize, seed: u64, weight: impl Fn(&mut Random) -> f32) -> Self {
        let mut random = Random::new(seed, Stream::Candidates { task: 0, layer: 0 });
        Self {
            weights: Matrix::from_fn(n_features, n_nodes, |_, _| weight(&mut random)),
        }
    }

    /// What the nodes put out, `(n_rows, n_nodes)`.
    pub fn outputs(&self, x: Rows<'_>) -> Matrix<f32> {
        let mut outputs = product(x.into(), self.weights.view());
        outputs.values_mut().iter_mut().for_each(|v| *v = v.max(0.0));
        outputs
    }

    /// Number of weights.
    pub fn n_floats(&self) -> usize {
        self.weights.values().len()
    }
}

/// HᵀH and HᵀY of all rows so far.
#[derive(Clone, Debug)]
pub struct RidgeSums {
    /// HᵀH, lower triangle.
    gram: Matrix<f32>,
    /// HᵀY, `(n_nodes, n_classes)`.
    moments: Matrix<f32>,
}

impl RidgeSums {
    /// Sums of no rows.
    pub fn new(n_nodes: usize) -> Self {
        Self {
            gram: Matrix::zeros(n_nodes, n_nodes),
            moments: Matrix::zeros(n_nodes, 0),
        }
    }

    /// Adds some rows.
    pub fn add(&mut self, nodes: &ReluNodes, x: Rows<'_>, places: &[u32], n_classes: usize) {
        while self.moments.n_cols() < n_classes {
            self.moments.push(&vec![0.0; self.moments.n_rows()]);
        }
        for (rows, places) in x.chunks(CHUNK).zip(places.chunks(CHUNK)) {
            let h = nodes.outputs(rows);
            add_gram_lower(&mut self.gram, h.view());
            for j in 0..h.n_cols() {
                for (&v, &place) in h.col(j).iter().zip(places) {
                    self.moments[(j, place as usize)] += v;
                }
            }
        }
    }

    /// (HᵀH + λI)⁻¹ HᵀY; none if that cannot be solved.
    pub fn solve(&self, ridge: f32) -> Option<Matrix<f32>> {
        let mut gram = self.gram.clone();
        (0..gram.n_cols()).for_each(|j| gram[(j, j)] += ridge);
        let weights = Cholesky::new(gram)?.solve(&self.moments);
        weights.values().iter().all(|w| w.is_finite()).then_some(weights)
    }

    /// Number of values that are kept: a symmetric matrix and the moments.
    pub fn n_floats(&self) -> usize {
        let n = self.gram.n_cols();
        n * (n + 1) / 2 + self.moments.values().len()
    }
}
