//! Doubts labels: what a row would be answered had it not been learned, beside the label that it has.

use super::belief::Belief;
use super::examiner::Examiner;
use super::judgement::Judge;
use super::jury::{Jury, usable};
use super::left_out::LeftOut;
use super::lift::Lift;
use super::noise::Noise;
use crate::consolidation::witness::Witness;
use crate::data::Table;
use crate::math::Matrix;

/// The least squared length of a row, relative to the usual one.
const CLOSEST: f64 = 1e-6;

/// How left-out rows are read, as the witnesses say.
pub struct Doubter<'a> {
    examiner: &'a Examiner<'a>,
    belief: Belief,
    lift: Lift,
    /// Squared length of witnesses, on average.
    usual: f64,
    noise: Noise,
}

/// What is thought of the label of a row. Probabilities are logarithms.
#[derive(Clone, Copy, Debug)]
pub struct Opinion {
    /// Probability of the class that is the label.
    pub of_label: f64,
    /// Place of the most probable other class, and its probability.
    pub other: u32,
    pub of_other: f64,
}

impl<'a> Doubter<'a> {
    /// From the witnesses, with node outputs `h`; `None` if none of them can be left out.
    pub fn new(examiner: &'a Examiner<'a>, witnesses: &[Witness], h: &Table) -> Option<Self> {
        let jury = Jury::new(&examiner.centred.counts, witnesses, h.rows());
        if jury.witnesses.is_empty() {
            return None;
        }
        let seen = examiner.seen(&jury);
        let left_out = LeftOut::new(&seen)?;
        let judge = judge(examiner);
        let belief = judge.belief(&seen, &left_out);
        let (scores, lift) = judge.methods(&left_out, &jury, belief);
        let usual = jury.mean(|i, _| left_out.own[i]);
        let scores = with_calm(scores, &left_out, usual);
        Some(Self {
            examiner,
            belief,
            lift,
            usual,
            noise: Noise::fit(&jury, &scores),
        })
    }

    /// The share of the labels of witnesses that say nothing.
    pub fn share(&self) -> f64 {
        self.noise.share
    }

    /// Opinions about these labels of rows with node outputs `h`; none about a row that cannot be left out. A row of no weight
    /// was not learned, and any other need not have been learned with its label.
    pub fn opinions(&self, rows: &[Witness], labels: &[u32], h: &Table) -> Vec<Option<Opinion>> {
        let centred = self.examiner.centred;
        let mut opinions = vec![None; rows.len()];
        let jury = Jury::new(&centred.counts, rows, h.rows());
        if jury.witnesses.is_empty() {
            return opinions;
        }
        let left_out = LeftOut::with_gaps(&self.examiner.seen(&jury));
        let scores = judge(self.examiner).scores(&left_out, &jury, self.belief, &self.lift);
        let scores = with_calm(scores, &left_out, self.usual);
        for (i, at) in usable(&centred.counts, rows).into_iter().enumerate() {
            let probabilities = self.noise.log_probabilities(&scores, i, &jury.seen);
            opinions[at] = opinion(&probabilities, labels[at]);
        }
        opinions
    }
}

fn judge<'a>(examiner: &'a Examiner<'a>) -> Judge<'a> {
    Judge {
        wanted: examiner.wanted,
        centred: examiner.centred,
    }
}

/// The scores of each method, and the same divided by the length of each row, relative to the usual one: rows that lie far out
/// have large scores for all classes, which says little about any of them. How far that is so, the weights tell.
fn with_calm(mut scores: Vec<Matrix<f64>>, left_out: &LeftOut, usual: f64) -> Vec<Matrix<f64>> {
    let lengths = left_out.own.iter().map(|own| (own / usual).max(CLOSEST).sqrt());
    let lengths: Vec<f64> = lengths.collect();
    let calm = |of: &Matrix<f64>| Matrix::filled(of.n_rows(), of.n_cols(), |i, c| of[(i, c)] / lengths[i]);
    let calm: Vec<Matrix<f64>> = scores.iter().map(calm).collect();
    scores.extend(calm);
    scores
}

/// None if there is no other class, or if probabilities are no numbers.
fn opinion(probabilities: &[f64], label: u32) -> Option<Opinion> {
    let others = (0..probabilities.len()).filter(|&c| c != label as usize);
    let other = others.reduce(|best, c| {
        if probabilities[c] > probabilities[best] {
            c
        } else {
            best
        }
    })?;
    let of_label = probabilities[label as usize];
    of_label.is_finite().then(|| Opinion {
        of_label,
        other: other as u32,
        of_other: probabilities[other],
    })
}
