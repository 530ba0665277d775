//! Readouts: linear scores for all classes known so far.
//!
//! `centred` has the sums about their mean. With witnesses, `evidence` turns them into one number per class and
//! row, `left_out` says what the witnesses would have got had they not been learned, `belief` how far the mean of few
//! rows can be trusted, `lift` what ridge says of classes of few rows, `jury` and `blend` weigh ridge and discriminant
//! analysis, `newcomer` speaks for classes of one row, and `solve` looks for the constant. Without, `sums` does what sums
//! alone allow.

mod about_mean;
mod belief;
mod blend;
mod centred;
mod confidence;
mod evidence;
mod judgement;
mod jury;
mod left_out;
mod lift;
mod newcomer;
mod seen;
mod solve;
mod sums;
mod warm;

pub(super) use belief::Belief;
pub use centred::Centred;
pub(super) use jury::Jury;
pub(super) use left_out::{LeftOut, left_out_distance};
pub(super) use seen::Seen;
pub(super) use solve::is_followed;
pub use solve::{Solution, Wanted};
pub(super) use warm::Warm;

use crate::math::{Matrix, View, product};

/// Scores of node outputs h.
#[derive(Clone, Debug, PartialEq)]
pub struct Readout {
    /// Weights, `(n_nodes, n_classes)`.
    pub weights: Matrix<f32>,
    /// One bias per class.
    pub biases: Vec<f32>,
    /// What turns h·w_c + b_c into scores; without it, they are the scores.
    pub blend: Option<Blend>,
    /// The ridge constant or shrinkage in use, relative to the mean diagonal.
    pub ridge: f64,
}

/// Scores of the evidence for each class: ridge and discriminant analysis are both linear in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Blend {
    /// Weights, `(n_classes, n_classes)`: a column for each score.
    pub weights: Matrix<f32>,
    /// One bias per class.
    pub biases: Vec<f32>,
}

impl Readout {
    /// h·w_c + b_c, `(n_samples, n_classes)`: the evidence for each class, if there is a blend.
    pub(crate) fn evidence(&self, h: View<'_, f32>) -> Matrix<f32> {
        linear(h, &self.weights, &self.biases)
    }

    /// Scores of evidence.
    pub(crate) fn scores(&self, evidence: Matrix<f32>) -> Matrix<f32> {
        match &self.blend {
            Some(blend) => linear(evidence.view(), &blend.weights, &blend.biases),
            None => evidence,
        }
    }

    /// Weights and biases that lead from node outputs to scores in one step.
    pub fn in_one_step(&self) -> (Matrix<f32>, Vec<f32>) {
        let Some(blend) = &self.blend else {
            return (self.weights.clone(), self.biases.clone());
        };
        let weights = product(self.weights.view(), blend.weights.view());
        let bias = |c: usize| -> f32 {
            let through = self.biases.iter().zip(blend.weights.col(c));
            blend.biases[c] + through.map(|(b, w)| b * w).sum::<f32>()
        };
        (weights, (0..self.biases.len()).map(bias).collect())
    }

    /// A power of two that brings the largest weight near 1, so that half precision can hold all of them; 1 if the weights of
    /// the blend would become infinite.
    fn unit(&self) -> f32 {
        let largest = self
            .weights
            .values()
            .iter()
            .fold(0f32, |most, w| most.max(w.abs()));
        let unit = if largest > 0.0 {
            largest.log2().ceil().exp2()
        } else {
            1.0
        };
        let blended = self
            .blend
            .as_ref()
            .map_or(&[][..], |blend| blend.weights.values());
        if blended.iter().all(|w| (w * unit).is_finite()) {
            unit
        } else {
            1.0
        }
    }

    /// The same scores from evidence in this unit.
    fn in_units_of(mut self, unit: f32) -> Self {
        if let Some(blend) = &mut self.blend {
            let weights = self.weights.values_mut().iter_mut().chain(&mut self.biases);
            weights.for_each(|w| *w /= unit);
            blend.weights.values_mut().iter_mut().for_each(|w| *w *= unit);
        }
        self
    }

    /// Number of floats.
    pub fn n_floats(&self) -> usize {
        let own = self.weights.values().len() + self.biases.len();
        let blend = |blend: &Blend| blend.weights.values().len() + blend.biases.len();
        own + self.blend.as_ref().map_or(0, blend)
    }
}

fn linear(x: View<'_, f32>, weights: &Matrix<f32>, biases: &[f32]) -> Matrix<f32> {
    let mut out = product(x, weights.view());
    for (c, &bias) in biases.iter().enumerate() {
        out.col_mut(c).iter_mut().for_each(|v| *v += bias);
    }
    out
}
