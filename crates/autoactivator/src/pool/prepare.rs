//! Features made comparable before random nodes see them, by what the first task showed of them.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::rows::{Rows, Table};

/// Rows of the first task that are looked at.
const LOOKED_AT: usize = 8192;

/// What is done to the features before nodes see them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Nothing.
    #[default]
    None,
    /// Mean 0 and deviation 1 over the first task, then rows of length √n_features.
    Standardise,
    /// A signed square root first, which tames the long tails of pooled activations; then as above.
    SquareRoot,
}

/// A preparation and what it learned from the first task.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// What is done.
    pub preparation: Preparation,
    /// Subtracted from each feature; empty for [`Preparation::None`].
    pub shift: Vec<f32>,
    /// Then multiplied.
    pub scale: Vec<f32>,
}

impl Prepared {
    /// Leaves features as they are.
    pub fn nothing() -> Self {
        Self {
            preparation: Preparation::None,
            shift: Vec::new(),
            scale: Vec::new(),
        }
    }

    /// Learns means and deviations from rows of the first task.
    pub fn learn(preparation: Preparation, x: Rows<'_>) -> Self {
        if preparation == Preparation::None {
            return Self::nothing();
        }
        let step = x.len().div_ceil(LOOKED_AT).max(1);
        let (mut sum, mut squares, mut n) = (vec![0f64; x.n_features()], vec![0f64; x.n_features()], 0.0);
        for row in x.iter().step_by(step) {
            for ((sum, square), &v) in sum.iter_mut().zip(&mut squares).zip(row) {
                let v = f64::from(preparation.root(v));
                *sum += v;
                *square += v * v;
            }
            n += 1.0;
        }
        let deviation = |(square, sum): (&f64, &f64)| (square / n - (sum / n).powi(2)).max(0.0).sqrt();
        let deviations: Vec<f64> = squares.iter().zip(&sum).map(deviation).collect();
        // Features that hardly move in the first task may move later: a floor keeps them from exploding.
        let floor = 0.05 * deviations.iter().sum::<f64>() / deviations.len() as f64;
        let floor = if floor > 0.0 { floor } else { 1.0 };
        Self {
            preparation,
            shift: sum.iter().map(|s| (s / n) as f32).collect(),
            scale: deviations.iter().map(|d| (1.0 / (d + floor)) as f32).collect(),
        }
    }

    /// The rows, prepared; none when nothing is to be done.
    pub fn apply(&self, x: Rows<'_>) -> Option<Table> {
        if self.preparation == Preparation::None {
            return None;
        }
        let mut values = x.values().to_vec();
        let length = (x.n_features() as f32).sqrt();
        values.par_chunks_mut(x.n_features()).for_each(|row| {
            for ((v, shift), scale) in row.iter_mut().zip(&self.shift).zip(&self.scale) {
                *v = (self.preparation.root(*v) - shift) * scale;
            }
            let norm = row.iter().map(|v| v * v).sum::<f32>().sqrt();
            let factor = if norm > 0.0 { length / norm } else { 0.0 };
            row.iter_mut().for_each(|v| *v *= factor);
        });
        Some(Table::from_whole_rows(values, x.n_features()))
    }

    /// Floats that are stored for it.
    pub fn n_floats(&self) -> usize {
        self.shift.len() + self.scale.len()
    }
}

impl Preparation {
    fn root(self, v: f32) -> f32 {
        match self {
            Self::SquareRoot => v.abs().sqrt().copysign(v),
            Self::None | Self::Standardise => v,
        }
    }
}
