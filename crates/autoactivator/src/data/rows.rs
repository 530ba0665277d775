//! What goes into every learner: rows of features.
//!
//! [`Rows`] is a borrowed, row-major view, so that a caller's array is never copied; [`Table`] owns its rows.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Labels;
use crate::error::Error;

/// Number of values that are checked together.
const RUN: usize = 1 << 16;

/// Largest magnitude of a feature: sums of squares over any number of features are then finite in single precision.
const LARGEST_VALUE: f32 = 1e15;

/// A borrowed view of `(n_samples, n_features)` values, row after row.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    values: &'a [f32],
    n_features: usize,
}

impl<'a> Rows<'a> {
    /// Views `values` as rows of `n_features` each.
    pub fn new(values: &'a [f32], n_features: usize) -> Result<Self, Error> {
        if n_features == 0 {
            return Err(Error::NoFeatures);
        }
        if !values.len().is_multiple_of(n_features) {
            return Err(Error::RaggedRows {
                values: values.len(),
                n_features,
            });
        }
        Ok(Self { values, n_features })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.n_features
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of values in each row.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// All values, row after row.
    pub fn values(&self) -> &'a [f32] {
        self.values
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [f32] {
        &self.values[i * self.n_features..(i + 1) * self.n_features]
    }

    /// Iterates over the rows.
    pub fn iter(&self) -> impl Iterator<Item = &'a [f32]> + use<'a> {
        self.values.chunks_exact(self.n_features)
    }

    /// Consecutive views of at most `n_rows` rows.
    pub fn chunks(&self, n_rows: usize) -> impl Iterator<Item = Rows<'a>> + use<'a> {
        let n_features = self.n_features;
        self.values
            .chunks(n_rows.max(1) * n_features)
            .map(move |values| Rows { values, n_features })
    }

    /// Copies the rows at `indices`, in that order.
    pub fn gather(&self, indices: &[usize]) -> Table {
        let mut values = Vec::with_capacity(indices.len() * self.n_features);
        for &i in indices {
            values.extend_from_slice(self.row(i));
        }
        Table {
            values,
            n_features: self.n_features,
        }
    }

    /// Indices of the features that are not zero on every row; feature 0 if all of them are.
    pub fn live_features(&self) -> Vec<usize> {
        let live_among = |rows: Rows<'a>| {
            let mut live = vec![false; self.n_features];
            for row in rows.iter() {
                live.iter_mut().zip(row).for_each(|(live, &v)| *live |= v != 0.0);
            }
            live
        };
        let chunks: Vec<Rows<'a>> = self.chunks(1024).collect();
        let live: Vec<Vec<bool>> = chunks.into_par_iter().map(live_among).collect();
        let is_live = |j: usize| live.iter().any(|chunk| chunk[j]);
        let live: Vec<usize> = (0..self.n_features).filter(|&j| is_live(j)).collect();
        if live.is_empty() { vec![0] } else { live }
    }

    /// Copies `features` of the rows at `indices`, in that order.
    pub fn gather_part(&self, indices: &[usize], features: &[usize]) -> Table {
        let mut values = vec![0.0; indices.len() * features.len()];
        let places = values.par_chunks_mut(features.len().max(1)).zip(indices);
        places.for_each(|(to, &i)| {
            let row = self.row(i);
            to.iter_mut().zip(features).for_each(|(v, &j)| *v = row[j]);
        });
        Table {
            values,
            n_features: features.len(),
        }
    }

    /// Refuses NaN, infinity and values too large to be squared and summed, naming the first one.
    pub fn check_values(&self) -> Result<(), Error> {
        // Whole runs at a time, without a branch: values are nearly always fine, and every row is checked.
        let are_fine = |run: &[f32]| run.iter().fold(true, |fine, v| fine & (v.abs() <= LARGEST_VALUE));
        let all = if self.values.len() <= RUN {
            are_fine(self.values)
        } else {
            self.values.par_chunks(RUN).all(are_fine)
        };
        let offending = || self.values.iter().position(|v| !are_fine(&[*v]));
        let Some(at) = (!all).then(offending).flatten() else {
            return Ok(());
        };
        let (row, feature, value) = (at / self.n_features, at % self.n_features, self.values[at]);
        Err(if value.is_finite() {
            Error::TooLarge { row, feature, value }
        } else {
            Error::NotFinite { row, feature, value }
        })
    }
}

/// Owned rows of features.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    values: Vec<f32>,
    n_features: usize,
}

impl Table {
    /// Takes `values` as rows of `n_features` each.
    pub fn new(values: Vec<f32>, n_features: usize) -> Result<Self, Error> {
        Rows::new(&values, n_features)?;
        Ok(Self { values, n_features })
    }

    /// Wraps whole rows that this crate made itself.
    pub(crate) fn from_whole_rows(values: Vec<f32>, n_features: usize) -> Self {
        debug_assert!(values.len().is_multiple_of(n_features.max(1)));
        Self {
            values,
            n_features: n_features.max(1),
        }
    }

    /// Changes every row, in parallel.
    pub(crate) fn for_each_row(&mut self, change: impl Fn(&mut [f32]) + Send + Sync) {
        self.values.par_chunks_mut(self.n_features).for_each(change);
    }

    /// The values, row after row.
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// The rows, borrowed.
    pub fn rows(&self) -> Rows<'_> {
        Rows {
            values: &self.values,
            n_features: self.n_features,
        }
    }
}

/// How the features of a row form an image: row after row of pixels, channels innermost. A file may also
/// write the shape as text, `28x28` or `32x32x3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenShape")]
pub struct ImageShape {
    /// Number of rows of pixels.
    pub height: usize,
    /// Number of pixels in a row.
    pub width: usize,
    /// Number of values per pixel.
    pub channels: usize,
}

impl ImageShape {
    /// Number of values of an image.
    pub fn n_values(&self) -> usize {
        let pixels = self.height.saturating_mul(self.width);
        pixels.saturating_mul(self.channels)
    }
}

/// An image shape in any form that a file may use.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenShape {
    Sides {
        height: usize,
        width: usize,
        channels: usize,
    },
    Text(String),
}

/// How an image shape is written.
const SHAPE: &str = "must be HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, like 28x28 or 32x32x3";

impl TryFrom<WrittenShape> for ImageShape {
    type Error = &'static str;

    fn try_from(written: WrittenShape) -> Result<Self, &'static str> {
        match written {
            WrittenShape::Text(text) => text.parse().map_err(|_: Error| SHAPE),
            WrittenShape::Sides {
                height,
                width,
                channels,
            } => Ok(Self {
                height,
                width,
                channels,
            }),
        }
    }
}

impl fmt::Display for ImageShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.height, self.width, self.channels)
    }
}

impl FromStr for ImageShape {
    type Err = Error;

    /// Reads `28x28` or `32x32x3`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let sides: Option<Vec<usize>> = text
            .split('x')
            .map(|side| side.parse().ok().filter(|&n| (1..=1 << 20).contains(&n)))
            .collect();
        match sides.as_deref() {
            Some(&[height, width]) => Ok(Self {
                height,
                width,
                channels: 1,
            }),
            Some(&[height, width, channels]) => Ok(Self {
                height,
                width,
                channels,
            }),
            _ => Err(Error::Parameter {
                name: "image".to_owned(),
                value: text.to_owned(),
                allowed: SHAPE.to_owned(),
            }),
        }
    }
}

/// Refuses a task (numbered from 1) that no learner could take: wrong lengths, no rows, another width, bad values; and
/// weights, which most learners have no use for.
pub fn check_task(x: Rows<'_>, y: &Labels, n_features: Option<usize>, task: usize) -> Result<(), Error> {
    if y.weights().is_some() {
        return Err(Error::NoUseForWeights);
    }
    check_weighed_task(x, y, n_features, task)
}

/// [`check_task`] for a learner that counts a row as often as it weighs.
pub(crate) fn check_weighed_task(
    x: Rows<'_>,
    y: &Labels,
    n_features: Option<usize>,
    task: usize,
) -> Result<(), Error> {
    if x.len() != y.len() {
        return Err(Error::LengthMismatch {
            rows: x.len(),
            labels: y.len(),
        });
    }
    if x.is_empty() {
        return Err(Error::EmptyTask { task });
    }
    check_rows(x, n_features.unwrap_or(x.n_features()))
}

/// Refuses rows whose width is not `n_features`, and values that are NaN, infinite or too large.
pub fn check_rows(x: Rows<'_>, n_features: usize) -> Result<(), Error> {
    if x.n_features() != n_features {
        return Err(Error::FeatureCount {
            expected: n_features,
            found: x.n_features(),
        });
    }
    x.check_values()
}
