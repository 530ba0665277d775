//! What every source of rows yields.

use autoactivator::Table;

/// Some consecutive rows of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The features, all finite.
    pub x: Table,
    /// The class of each row; none when the source carries no classes.
    pub y: Option<Vec<String>>,
    /// What each row is called, such as the path of an image; none when rows are only numbered.
    pub names: Option<Vec<String>>,
}
