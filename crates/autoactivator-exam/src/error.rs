//! What can go wrong in an exam? Rows that cannot be read, a scenario that does not fit them, a bad experiment file.
//!
//! [`Error`] is the one error of this crate; errors of the method and of the data pass through it unchanged.

/// An error of the exam.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the method.
    #[error(transparent)]
    Method(#[from] autoactivator::Error),

    /// An error of a source of rows.
    #[error(transparent)]
    Features(#[from] autoactivator_data::Error),

    /// A scenario, split or protocol that makes no sense for the data.
    #[error("{0}")]
    Scenario(String),

    /// An experiment that cannot be read or run.
    #[error("{}{reason}", colon_after(place))]
    Experiment {
        /// Where: the file, and the section or entrant in it; empty for an experiment that is no file.
        place: String,
        /// What is wrong, with the line where that is known.
        reason: String,
    },

    /// No published experiment has this name.
    #[error(
        "there is no experiment '{name}': name a table or figure ({}), an experiment file, or one of {}",
        places.join(", "),
        known.join(", ")
    )]
    NoExperiment {
        /// The name that was asked for.
        name: String,
        /// Places in the paper that have experiments.
        places: Vec<String>,
        /// Names of all published experiments.
        known: Vec<String>,
    },
}

impl Error {
    /// An experiment that is wrong at a place.
    pub(crate) fn experiment(place: impl Into<String>, reason: &impl ToString) -> Self {
        Self::Experiment {
            place: place.into(),
            reason: reason.to_string(),
        }
    }

    /// The same error, seen from outside: `outer` names what it happened in.
    pub(crate) fn within(self, outer: &str) -> Self {
        match self {
            Self::Experiment { place, reason } if place.is_empty() => Self::experiment(outer, &reason),
            Self::Experiment { place, reason } => Self::experiment(format!("{outer}: {place}"), &reason),
            other => Self::experiment(outer, &other),
        }
    }
}

fn colon_after(place: &str) -> String {
    match place {
        "" => String::new(),
        place => format!("{place}: "),
    }
}
