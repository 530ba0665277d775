//! What have all baselines in common? Linear scores: [`LinearBaseline`] is a whole learner around whatever fits them.
//!
//! [`Fit`] is what each baseline adds: how a task changes its scores, and what it keeps to go on learning.

use autoactivator::math::{Matrix, View, product};
use autoactivator::{ClassList, Error, Labels, Learner, Observer, Rows, Size, check_rows, check_task};

/// Rows that are scored at a time.
const CHUNK: usize = 4096;

/// A learner that answers with the class of the highest linear score.
#[derive(Clone, Debug, Default)]
pub struct LinearBaseline<F> {
    fit: F,
    tasks: usize,
    classes: ClassList,
    n_features: Option<usize>,
    scores: LinearScores,
}

/// How a baseline gets its scores.
pub trait Fit: Clone {
    /// The name in tables and on the command line.
    const NAME: &'static str;

    /// Takes a task in and brings the scores up to date. An error may leave it half done: the caller keeps a copy.
    fn fit(&mut self, lesson: &Lesson<'_>, scores: &mut LinearScores) -> Result<(), Error>;

    /// What the scores read instead of the features, if they do not read these.
    fn hidden(&self, _x: View<'_, f32>) -> Option<Matrix<f32>> {
        None
    }

    /// Hidden nodes.
    fn n_nodes(&self) -> usize {
        0
    }

    /// Floats kept only to go on learning.
    fn memory_floats(&self, n_features: usize, n_classes: usize) -> usize;
}

/// One task, as [`Fit`] sees it.
pub struct Lesson<'a> {
    /// Its rows.
    pub x: Rows<'a>,
    /// The class of each row, as an index into all classes known.
    pub places: &'a [u32],
    /// All classes known, those of this task among them.
    pub n_classes: usize,
    /// Tasks before this one.
    pub task: usize,
    /// May ask to stop.
    pub observer: &'a dyn Observer,
}

impl<F> LinearBaseline<F> {
    /// One that has seen nothing yet.
    pub(super) fn around(fit: F) -> Self {
        Self {
            fit,
            tasks: 0,
            classes: ClassList::default(),
            n_features: None,
            scores: LinearScores::default(),
        }
    }

    /// What fits the scores.
    #[cfg(test)]
    pub(super) fn inner(&self) -> &F {
        &self.fit
    }
}

impl<F: Fit> Learner for LinearBaseline<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error> {
        check_task(x, y, self.n_features, self.tasks + 1)?;
        let mut next = self.clone();
        let lesson = Lesson {
            x,
            places: &next.classes.admit(y),
            n_classes: next.classes.len(),
            task: self.tasks,
            observer,
        };
        next.fit.fit(&lesson, &mut next.scores)?;
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
        let all: Vec<u32> = (0..self.classes.len() as u32).collect();
        self.predict_among(x, &all)
    }

    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        check_rows(x, self.n_features.ok_or(Error::NothingLearned)?)?;
        let known = |&class: &u32| (class as usize) < self.classes.len();
        let among: Vec<u32> = among.iter().copied().filter(known).collect();
        let (Some(weights), [first, others @ ..]) = (&self.scores.weights, &among[..]) else {
            return Err(Error::NothingLearned);
        };
        let mut predicted = Vec::with_capacity(x.len());
        for rows in x.chunks(CHUNK) {
            let hidden = self.fit.hidden(rows.into());
            let scores = product(hidden.as_ref().map_or(rows.into(), Matrix::view), weights.view());
            predicted.extend((0..rows.len()).map(|i| {
                let score = |c: u32| scores[(i, c as usize)] + self.scores.biases[c as usize];
                let better = |best, &c: &u32| if score(c) > score(best) { c } else { best };
                others.iter().fold(*first, better)
            }));
        }
        Ok(predicted)
    }

    fn size(&self) -> Size {
        let width = self.n_features.unwrap_or(0);
        // A node has a weight for each feature and a bias.
        let floats = self.fit.n_nodes() * (width + 1) + self.scores.n_floats();
        Size {
            nodes: self.fit.n_nodes(),
            model_floats: floats,
            memory_floats: self.fit.memory_floats(width, self.classes.len()),
            multiply_adds: floats,
        }
    }
}

/// Linear scores x·w_c + b_c, one for each class.
#[derive(Clone, Debug, Default)]
pub struct LinearScores {
    /// `(n_inputs, n_classes)`; none before the first task.
    pub weights: Option<Matrix<f32>>,
    /// `(n_classes)`
    pub biases: Vec<f32>,
}

impl LinearScores {
    fn n_floats(&self) -> usize {
        self.weights.as_ref().map_or(0, |w| w.values().len()) + self.biases.len()
    }
}
