//! What every source of rows yields: a stream of [`Batch`]es.
//!
//! A stream keeps one batch in memory at a time; [`Batch::collect`] is for data that fits in memory.

use autoactivator::{Labels, Table};

use crate::error::Error;
use crate::hash::sha256_of_texts;

/// Some consecutive rows of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The features, all finite.
    pub x: Table,
    /// The class of each row; none when the source carries no classes.
    pub y: Option<Vec<String>>,
    /// The weight of each row; none when every row counts once.
    pub weights: Option<Vec<f64>>,
    /// The name of each row, such as the path of an image; none when rows are only numbered.
    pub names: Option<Vec<String>>,
}

/// Pieces of a source, one after the other.
pub(crate) type Stream<T> = Box<dyn Iterator<Item = Result<T, Error>> + Send>;

/// A stream of batches, in the order of the source.
pub type Batches = Stream<Batch>;

impl Batch {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.x.rows().len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows with their classes and weights; none when there are no classes.
    pub fn labelled(self) -> Option<Result<(Table, Labels), Error>> {
        let labels = Labels::from_names(self.y?);
        let weighed = match self.weights {
            Some(weights) => labels.weighed(weights),
            None => Ok(labels),
        };
        Some(weighed.map(|y| (self.x, y)).map_err(Error::from))
    }

    /// SHA-256 over classes and features, in hexadecimal.
    pub fn sha256(&self) -> String {
        let features = self
            .x
            .rows()
            .values()
            .iter()
            .map(|value| format!("{:08x}", value.to_bits()));
        let features: Vec<String> = features.collect();
        let classes = self.y.iter().flatten().map(String::as_str);
        sha256_of_texts(classes.chain(features.iter().map(String::as_str)))
    }

    /// Reads a stream to its end and joins its batches; none when it has no batch.
    ///
    /// Classes, weights and names are kept only when every batch has them.
    pub fn collect<E: From<Error>>(
        batches: impl IntoIterator<Item = Result<Self, E>>,
    ) -> Result<Option<Self>, E> {
        let (mut values, mut n_features) = (Vec::new(), 0);
        let (mut y, mut weights, mut names) = (Some(Vec::new()), Some(Vec::new()), Some(Vec::new()));
        for batch in batches {
            let batch = batch?;
            n_features = batch.x.rows().n_features();
            if values.is_empty() {
                values = batch.x.into_values();
            } else {
                values.extend_from_slice(batch.x.rows().values());
            }
            extend(&mut y, batch.y);
            extend(&mut weights, batch.weights);
            extend(&mut names, batch.names);
        }
        if values.is_empty() {
            return Ok(None);
        }
        let x = Table::new(values, n_features).map_err(Error::from)?;
        Ok(Some(Self { x, y, weights, names }))
    }
}

fn extend<T>(all: &mut Option<Vec<T>>, more: Option<Vec<T>>) {
    match (all.as_mut(), more) {
        (Some(all), Some(more)) => all.extend(more),
        _ => *all = None,
    }
}
