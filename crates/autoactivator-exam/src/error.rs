//! Everything that can go wrong in an exam: data that cannot be read, a scenario that cannot be dealt.

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
}
