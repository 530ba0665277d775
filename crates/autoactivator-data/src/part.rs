//! Which rows of a data set are meant: those to learn from, or those of the exam.

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rows to learn from; in a folder of images, `train/`.
    Train,
    /// Rows to be examined on; in a folder of images, `test/`, or else `val/`.
    Test,
}
