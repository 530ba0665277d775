//! What have all baselines in common? They score every class: [`Baseline`] is a whole learner around whatever does that.
//!
//! [`Fit`] is what each baseline adds: how a task changes it, and how it scores rows. Most scores are linear,
//! [`LinearScores`].

use autoactivator::math::{Matrix, View, product};
use autoactivator::{ClassList, Error, Labels, Learner, Observer, Rows, Size, check_rows, check_task};

/// Rows that are scored at a time.
const CHUNK: usize = 4096;

/// A learner that answers with the class of the highest score.
#[derive(Clone, Debug, Default)]
pub struct Baseline<F> {
    fit: F,
    tasks: usize,
    classes: ClassList,
    n_features: Option<usize>,
}

/// How a baseline learns and scores.
pub trait Fit: Clone {
    /// The name in tables and on the command line.
    const NAME: &'static str;

    /// Takes a task in. An error may leave it half done: the caller keeps a copy.
    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error>;

    /// The score of each class for some rows, `(n_rows, n_classes)`; only asked for after a task.
    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error>;

    /// How large it is.
    fn size(&self) -> Size;
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

impl<'a> Lesson<'a> {
    /// The same lesson with other rows for the same labels.
    pub(super) fn with<'b>(&self, x: Rows<'b>) -> Lesson<'b>
    where
        'a: 'b,
    {
        Lesson { x, ..*self }
    }

    /// Ends a task that is to be stopped.
    pub(super) fn go_on(&self) -> Result<(), Error> {
        if self.observer.interrupted() {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    /// The rows of each class.
    pub(super) fn by_class(&self) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.n_classes];
        for (row, &place) in self.places.iter().enumerate() {
            rows[place as usize].push(row);
        }
        rows
    }
}

impl<F> Baseline<F> {
    /// One that has seen nothing yet.
    pub(super) fn around(fit: F) -> Self {
        Self {
            fit,
            tasks: 0,
            classes: ClassList::default(),
            n_features: None,
        }
    }

    /// What learns and scores.
    #[cfg(test)]
    pub(super) fn inner(&self) -> &F {
        &self.fit
    }
}

impl<F: Fit> Learner for Baseline<F> {
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
        next.fit.fit(&lesson)?;
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
        let [first, others @ ..] = &among[..] else {
            return Err(Error::NothingLearned);
        };
        let mut predicted = Vec::with_capacity(x.len());
        for rows in x.chunks(CHUNK) {
            let scores = self.fit.scores(rows)?;
            predicted.extend((0..rows.len()).map(|i| {
                let score = |c: u32| scores[(i, c as usize)];
                let better = |best, &c: &u32| if score(c) > score(best) { c } else { best };
                others.iter().fold(*first, better)
            }));
        }
        Ok(predicted)
    }

    fn size(&self) -> Size {
        self.fit.size()
    }
}

/// Linear scores x·w_c + b_c, one for each class.
#[derive(Clone, Debug)]
pub struct LinearScores {
    /// `(n_inputs, n_classes)`
    pub weights: Matrix<f32>,
    /// `(n_classes)`
    pub biases: Vec<f32>,
}

impl Default for LinearScores {
    fn default() -> Self {
        Self {
            weights: Matrix::zeros(0, 0),
            biases: Vec::new(),
        }
    }
}

impl LinearScores {
    /// Scores without biases.
    pub fn plain(weights: Matrix<f32>) -> Self {
        Self {
            biases: vec![0.0; weights.n_cols()],
            weights,
        }
    }

    /// The scores of some inputs, `(n_rows, n_classes)`.
    pub fn of(&self, x: View<'_, f32>) -> Matrix<f32> {
        let mut scores = product(x, self.weights.view());
        for (c, &bias) in self.biases.iter().enumerate() {
            scores.col_mut(c).iter_mut().for_each(|s| *s += bias);
        }
        scores
    }

    /// The size of these scores on `nodes` random nodes, each with a weight for every feature and a bias.
    pub fn size(&self, nodes: usize, n_features: usize, memory_floats: usize) -> Size {
        let floats = nodes * (n_features + 1) + self.weights.values().len() + self.biases.len();
        Size {
            nodes,
            model_floats: floats,
            memory_floats,
            multiply_adds: floats,
        }
    }
}
