//! The jury: witnesses that can be left out, and their judgement of scores.

use std::collections::BTreeSet;

use super::Readout;
use super::blend::{Judged, Weighed};
use super::centred::Centred;
use crate::consolidation::params::Prior;
use crate::consolidation::unknown::Unknown;
use crate::consolidation::witness::Witness;
use crate::data::{Rows, Table};
use crate::math::{Matrix, product, softmax};

/// Number of witnesses that show how far single precision is off.
const COMPARED: usize = 256;

/// Members that are answered at a time.
const AT_ONCE: usize = 512;

/// Witnesses that can be left out: those whose class has other rows.
pub struct Jury<'a> {
    pub witnesses: Vec<&'a Witness>,
    /// What is added to the score of each class in a judgement: witnesses come as often as rows do.
    pub seen: Vec<f64>,
    /// Node outputs of these and others.
    pub h: Rows<'a>,
    /// Which rows of them are theirs.
    pub at: Vec<usize>,
}

impl<'a> Jury<'a> {
    /// Those of `witnesses`, with node outputs `h`, whose class has other rows.
    pub fn new(counts: &[f64], witnesses: &'a [Witness], h: Rows<'a>) -> Self {
        let at = usable(counts, witnesses);
        Self {
            witnesses: at.iter().map(|&i| &witnesses[i]).collect(),
            seen: Prior::Seen.offsets(counts),
            h,
            at,
        }
    }

    /// Node outputs of the members at some places.
    pub fn outputs(&self, members: &[usize]) -> Table {
        let places: Vec<usize> = members.iter().map(|&i| self.at[i]).collect();
        self.h.gather(&places)
    }

    /// The members of each class.
    pub fn of_each_class(&self, n_classes: usize) -> Vec<Vec<usize>> {
        let mut classes = vec![Vec::new(); n_classes];
        for (i, witness) in self.witnesses.iter().enumerate() {
            classes[witness.place as usize].push(i);
        }
        classes
    }

    /// The first `n` of them.
    pub fn first(&self, n: usize) -> Jury<'a> {
        let n = n.min(self.witnesses.len());
        Jury {
            witnesses: self.witnesses[..n].to_vec(),
            seen: self.seen.clone(),
            h: self.h,
            at: self.at[..n].to_vec(),
        }
    }

    /// How far scores and strangeness in single precision are from those of the same `weights` in double: the root
    /// mean square over some witnesses, of scores about the mean of each row.
    pub fn rounding(
        &self,
        centred: &Centred,
        readout: &Readout,
        weights: &Matrix<f64>,
        unknown: Option<&Unknown>,
    ) -> f64 {
        let few = self.few_outputs();
        let columns = centred.columns::<f64>(few.rows());
        let evidence = readout.evidence(few.rows().into());
        let double = product(columns.t(), weights.view());
        let strange = unknown.map_or(0.0, |unknown| {
            let of = |evidence: &Matrix<f32>| unknown.strangeness(few.rows(), evidence);
            let pairs = of(&evidence).into_iter().zip(of(&double.to_f32()));
            let apart: Vec<f64> = pairs.map(|(a, b)| f64::from(a - b).powi(2)).collect();
            (apart.iter().sum::<f64>() / apart.len().max(1) as f64).sqrt()
        });
        let single = readout.scores(evidence);
        let Some(blend) = &readout.blend else {
            return 0.0;
        };
        let mut double = product(double.view(), blend.weights.to_f64().view());
        for (c, &bias) in blend.biases.iter().enumerate() {
            double.col_mut(c).iter_mut().for_each(|v| *v += f64::from(bias));
        }
        let (n, n_classes) = (double.n_rows(), double.n_cols());
        let apart = |i: usize, c: usize| f64::from(single[(i, c)]) - double[(i, c)];
        let of_row = |i: usize| {
            let mean = (0..n_classes).map(|c| apart(i, c)).sum::<f64>() / n_classes as f64;
            (0..n_classes).map(|c| (apart(i, c) - mean).powi(2)).sum::<f64>()
        };
        let scores = ((0..n).map(of_row).sum::<f64>() / (n * n_classes).max(1) as f64).sqrt();
        scores.max(strange)
    }

    /// How strange some witnesses are to a model in single precision that has learned them, on average.
    pub fn strangeness(&self, readout: &Readout, unknown: &Unknown) -> f64 {
        let few = self.few_outputs();
        let evidence = readout.evidence(few.rows().into());
        let strange = unknown.strangeness(few.rows(), &evidence);
        strange.iter().map(|&v| f64::from(v)).sum::<f64>() / strange.len().max(1) as f64
    }

    /// Node outputs of the members that show how far single precision is off.
    fn few_outputs(&self) -> Table {
        self.outputs(&(0..COMPARED.min(self.witnesses.len())).collect::<Vec<usize>>())
    }

    /// The classes that witnesses are of, ascending. Others take no part in the judgement: a class of one row has no
    /// witness, so it would only be in the way, and the best weights would be those that never choose it.
    fn judged(&self, n_classes: usize) -> Vec<usize> {
        let judged: BTreeSet<usize> = self.witnesses.iter().map(|w| w.place as usize).collect();
        if judged.len() > 1 {
            judged.into_iter().collect()
        } else {
            (0..n_classes).collect()
        }
    }

    /// The weights of `scores` under which the classes of the witnesses are most likely, looked for from `start` on.
    pub fn weigh(&self, scores: &[Matrix<f64>], start: Option<&[f64]>) -> Weighed {
        let judged = self.judged(scores[0].n_cols());
        let place = |place: u32| judged.partition_point(|&c| c < place as usize) as u32;
        let scores = scores.iter().map(|scores| scores.gather(judged.iter().copied()));
        let among_judged = Judged {
            scores: scores.collect(),
            places: &self.places().into_iter().map(place).collect::<Vec<u32>>(),
            copies: &self.copies(),
            offsets: judged.iter().map(|&c| self.seen[c]).collect(),
        };
        among_judged.weigh(start)
    }

    /// The mean of -log softmax(scores) of the own class, as a model in single precision answers; `prior` is in its
    /// scores, and makes room for the one that is true of witnesses.
    pub fn loss(&self, readout: &Readout, prior: &[f64]) -> f64 {
        let n_classes = prior.len();
        let mut scores = Matrix::zeros(self.witnesses.len(), n_classes);
        let members: Vec<usize> = (0..self.witnesses.len()).collect();
        for some in members.chunks(AT_ONCE) {
            let found = readout.scores(readout.evidence(self.outputs(some).rows().into()));
            for (k, &i) in some.iter().enumerate() {
                (0..n_classes).for_each(|c| scores[(i, c)] = found[(k, c)]);
            }
        }
        let judged = self.judged(n_classes);
        self.mean(|i, witness| {
            let row = judged
                .iter()
                .map(|&c| f64::from(scores[(i, c)]) + self.seen[c] - prior[c]);
            let at = judged.partition_point(|&c| c < witness.place as usize);
            -softmax(row, 1.0).nth(at).unwrap_or(0.0).max(1e-30).ln()
        })
    }

    /// The place of each witness's class.
    pub fn places(&self) -> Vec<u32> {
        self.witnesses.iter().map(|witness| witness.place).collect()
    }

    /// The mean of a figure over witnesses, as often as each counts; 0 if there are none.
    pub fn mean(&self, of: impl Fn(usize, &Witness) -> f64) -> f64 {
        let (mut sum, mut copies) = (0.0, 0.0);
        for (i, witness) in self.witnesses.iter().enumerate() {
            sum += witness.copies * of(i, witness);
            copies += witness.copies;
        }
        if copies > 0.0 { sum / copies } else { 0.0 }
    }

    /// How often each witness counts.
    fn copies(&self) -> Vec<f64> {
        self.witnesses.iter().map(|witness| witness.copies).collect()
    }
}

/// Places of the witnesses whose class has other rows.
fn usable(counts: &[f64], witnesses: &[Witness]) -> Vec<usize> {
    let can = |w: &Witness| counts[w.place as usize] - w.unit() > 1e-6;
    (0..witnesses.len()).filter(|&i| can(&witnesses[i])).collect()
}
