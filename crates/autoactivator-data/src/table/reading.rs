//! How a table was read: what its features are called, which column is the class and why, and what was left out.

use std::fmt;

/// How a table was read.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// Names of the features, in the order in which they are read; none when the table has no names.
    pub features: Option<Vec<String>>,
    /// Where the classes come from; none when rows carry no class.
    pub class: Option<ClassColumn>,
    /// The column that holds the weights of the rows, if one does.
    pub weight: Option<String>,
    /// What was left out or assumed, in words.
    pub notes: Vec<String>,
}

/// Where classes come from.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassColumn {
    /// Name of the column, array or file.
    pub name: String,
    /// Why it was taken.
    pub chosen: Choice,
}

/// Why a column was taken for the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The user asked for it.
    Asked,
    /// It is called `class` or `label`.
    Named,
    /// It is the last one.
    Last,
    /// It is the only one that is not among the model's features.
    Other,
    /// It is the only one beside the text.
    BesideText,
}

impl fmt::Display for ClassColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.chosen {
            Choice::Asked => "as asked",
            Choice::Named => "by its name",
            Choice::Last => "the last one",
            Choice::Other => "the only one that is not a feature",
            Choice::BesideText => "the only one beside the text",
        };
        write!(f, "{} ({why})", self.name)
    }
}
