//! The answer to one row, as an [`AnswerTable`](super::AnswerTable) writes it.

/// The answer to one row.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    /// The row's number, from 0.
    pub row: u64,
    /// The row's name, such as the path of an image; none when rows are only numbered.
    pub name: Option<String>,
    /// The class; none when the row belongs to none of the known classes.
    pub class: Option<String>,
    /// The class that the row is known to be of, if it is.
    pub true_class: Option<String>,
    /// Classes and their probabilities, as many as are wanted.
    pub probabilities: Vec<(String, f32)>,
}
