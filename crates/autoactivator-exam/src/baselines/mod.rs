//! How well do other learners do? Baselines and rivals behind the same trait as the method: they make every table readable.
//!
//! [`NearestMean`] and [`StreamingLda`] are the simple learners anyone would try first; [`JointRidge`] is what
//! random nodes reach when nothing has to be forgotten; [`SequentialSgd`] is what happens when nothing is done
//! against forgetting. Rivals from the literature are in [`closed`], fitted in closed form on features, and in [`trained`], networks
//! trained by gradient descent. All of them are a [`Baseline`] around what scores rows.
//!
//! ```
//! use autoactivator::{Labels, Learner, Rows};
//! use autoactivator_exam::baselines::NearestMean;
//!
//! let mut learner = NearestMean::default();
//! learner.learn(Rows::new(&[0.0, 0.2, 0.9, 1.0], 1)?, &Labels::from_names(["low", "low", "high", "high"]), &mut ())?;
//! assert_eq!(learner.predict(Rows::new(&[0.1, 0.8], 1)?)?, [0, 1]);
//! # Ok::<(), autoactivator::Error>(())
//! ```

pub mod closed;
mod joint_ridge;
mod nearest_mean;
mod scored;
mod sequential_sgd;
mod streaming_lda;
pub mod trained;

pub use joint_ridge::JointRidge;
pub use nearest_mean::NearestMean;
pub use scored::Baseline;
pub use sequential_sgd::SequentialSgd;
pub use streaming_lda::StreamingLda;

use autoactivator::math::Matrix;

use scored::Lesson;

/// Sums of rows and counts by class.
#[derive(Clone, Debug, Default)]
struct ClassSums {
    sums: Vec<Vec<f64>>,
    counts: Vec<f64>,
}

impl ClassSums {
    fn add(&mut self, lesson: &Lesson<'_>) {
        self.sums
            .resize(lesson.n_classes, vec![0.0; lesson.x.n_features()]);
        self.counts.resize(lesson.n_classes, 0.0);
        for (row, &place) in lesson.x.iter().zip(lesson.places) {
            let sum = &mut self.sums[place as usize];
            sum.iter_mut().zip(row).for_each(|(s, &v)| *s += f64::from(v));
            self.counts[place as usize] += 1.0;
        }
    }

    /// Class means, `(n_features, n_classes)`.
    fn means(&self) -> Matrix<f64> {
        let n_features = self.sums.first().map_or(0, Vec::len);
        Matrix::from_fn(n_features, self.sums.len(), |j, c| {
            self.sums[c][j] / self.counts[c]
        })
    }
}
