//! Lays any rows beside a memory that was read out: what they say to classes, and to each other, by A⁻¹.

use super::centred::{Centred, rounded_rows};
use super::evidence::{Around, Evidence};
use super::jury::Jury;
use super::seen::Seen;
use super::solve::{Wanted, in_single_precision};
use crate::consolidation::params::ReadoutKind;
use crate::data::Rows;
use crate::math::Matrix;

/// A memory whose scatter, plus ridge, is factored.
pub struct Examiner<'a> {
    pub wanted: Wanted,
    pub centred: &'a Centred,
    solved: Solved<'a>,
}

/// In the precision that is enough.
enum Solved<'a> {
    Single(Evidence<'a, f32>),
    Double(Evidence<'a, f64>),
}

impl Centred {
    /// What `examine` finds beside these sums with a relative ridge constant; `None` if they cannot be solved with it.
    pub(in super::super) fn examine<R>(
        &self,
        wanted: Wanted,
        relative: f64,
        examine: impl FnOnce(&Examiner<'_>) -> R,
    ) -> Option<R> {
        let around = match wanted.kind {
            ReadoutKind::NearestMean => Around::without_scatter(self),
            _ => Around::new(self),
        };
        let rho = relative * rounded_rows(self.n_rows());
        let solved = if in_single_precision(self, wanted, relative) {
            Solved::Single(Evidence::new(&around, rho)?)
        } else {
            Solved::Double(Evidence::new(&around, rho)?)
        };
        Some(examine(&Examiner {
            wanted,
            centred: self,
            solved,
        }))
    }
}

impl Examiner<'_> {
    /// What the members of a jury see.
    pub fn seen<'b>(&'b self, jury: &'b Jury<'b>) -> Seen<'b> {
        match &self.solved {
            Solved::Single(evidence) => Seen::new(evidence, jury),
            Solved::Double(evidence) => Seen::new(evidence, jury),
        }
    }

    /// Rows with these node outputs, `(n, n_samples)`, such that their products are those by A⁻¹.
    pub fn roots(&self, h: Rows<'_>) -> Matrix<f32> {
        match &self.solved {
            Solved::Single(evidence) => evidence.factor.forward(self.centred.columns(h)),
            Solved::Double(evidence) => evidence.factor.forward(self.centred.columns(h)).to_f32(),
        }
    }
}
