//! The one interface of every learner: what an exam may ask of it, and what it tells whoever watches it learn.
//!
//! What can be kept in a file and served can do more: see [`Learned`](crate::model::Learned).

use serde::{Deserialize, Serialize};

use crate::data::{Labels, Rows};
use crate::error::Error;

/// A class-incremental learner: classes arrive in tasks, and nobody says later which task a row is from.
pub trait Learner {
    /// The name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// Learns one task. The learner is unchanged when this returns an error.
    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error>;

    /// All classes learned so far, in the order of their arrival.
    fn classes(&self) -> &[String];

    /// Features of a row; none before the first task.
    fn n_features(&self) -> Option<usize>;

    /// The class of each row, as an index into [`classes`](Self::classes), each row judged alone.
    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error>;

    /// The class of each row of a *group*: rows that the caller says belong together.
    ///
    /// Learners that gain nothing from such a hint judge each row alone.
    fn predict_group(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        self.predict(x)
    }

    /// The class of each row, judged alone, when the caller tells that it is one of `among`: indices into
    /// [`classes`](Self::classes). Classes that were never learned are passed over; when none is left, that is
    /// [`Error::NothingLearned`].
    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error>;

    /// How large the learner is now.
    fn size(&self) -> Size;

    /// How it grew: one JSON value per task, empty for learners that do not grow.
    fn growth(&self) -> Vec<serde_json::Value> {
        Vec::new()
    }
}

/// An answer that may be "unknown".
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Place of the class; none for "none of the classes I know".
    pub class: Option<u32>,
    /// Probability of every class; empty when nobody asked.
    pub probabilities: Vec<f32>,
}

impl Answer {
    /// A class without probabilities.
    pub fn sure(class: u32) -> Self {
        Self {
            class: Some(class),
            probabilities: Vec::new(),
        }
    }
}

/// What computed the rows that a learner takes, as whoever computes them describes it: a frozen backbone, say. It is
/// kept with the model so that rows of another origin can be refused; the method itself does not look into it.
pub type Origin = serde_json::Value;

/// Size of a learner, counted the paper's way: every stored float as four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Hidden nodes.
    pub nodes: usize,
    /// Floats needed to predict.
    pub model_floats: usize,
    /// Floats kept beside them, needed only to go on learning (statistics, exemplars).
    pub memory_floats: usize,
    /// Multiply-adds to predict one row.
    pub multiply_adds: usize,
}

impl Size {
    /// Megabytes (1024 × 1024) of the model.
    pub fn model_mb(&self) -> f64 {
        megabytes(self.model_floats)
    }

    /// Megabytes (1024 × 1024) of what is kept for further learning.
    pub fn memory_mb(&self) -> f64 {
        megabytes(self.memory_floats)
    }
}

fn megabytes(floats: usize) -> f64 {
    floats as f64 * 4.0 / (1024.0 * 1024.0)
}

/// Watches a learner grow, and may ask it to stop.
pub trait Observer {
    /// Called after every step of growth.
    fn grown(&mut self, _step: &Step) {}

    /// Called while rows are taken in: so many, of so many where that is known.
    fn observed(&mut self, _rows: usize, _of: Option<usize>) {}

    /// When true, learning ends with [`Error::Interrupted`] and the learner stays as it was.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Watches nothing.
impl Observer for () {}

/// One step of growth, as an [`Observer`] sees it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Task being learned, from 0.
    pub task: usize,
    /// Nodes so far in this task.
    pub nodes: usize,
    /// Nodes at which growth ends at the latest.
    pub max_nodes: usize,
    /// Training residual, as a fraction of its first value, where the learner follows it.
    pub residual: Option<f64>,
}
