//! How sure answers may be: the rows that calibration is fitted on are left-out witnesses, and newcomers for classes of
//! one row.

use super::belief::Belief;
use super::centred::Centred;
use super::evidence::NO_ROWS;
use super::jury::Jury;
use super::lift::Lift;
use super::newcomer::{Newcomer, is_single};
use super::solve::Wanted;
use crate::consolidation::calibration::Calibration;
use crate::consolidation::params::ReadoutKind;
use crate::math::Matrix;

/// What left-out witnesses are answered, and how it is weighed.
pub struct Heard<'a> {
    pub wanted: Wanted,
    pub centred: &'a Centred,
    pub jury: &'a Jury<'a>,
    /// Scores of witnesses by each method, and the weight of each.
    pub methods: &'a [Matrix<f64>],
    pub theta: &'a [f64],
    pub belief: Belief,
    pub lift: &'a Lift,
    /// What witnesses would be answered if their class were new.
    pub newcomers: Vec<Newcomer>,
}

/// Answers to rows of known classes.
#[derive(Default)]
struct Answers {
    scores: Vec<Vec<f64>>,
    places: Vec<u32>,
    copies: Vec<f64>,
}

impl Answers {
    fn add(&mut self, scores: Vec<f64>, place: u32, copies: f64) {
        self.scores.push(scores);
        self.places.push(place);
        self.copies.push(copies);
    }

    fn n_copies(&self) -> f64 {
        self.copies.iter().sum()
    }

    fn calibration(&self, n_classes: usize) -> Calibration {
        let scores = Matrix::from_fn(self.scores.len(), n_classes, |i, c| self.scores[i][c]);
        Calibration::fit(&scores, &self.places, &self.copies)
    }
}

impl Heard<'_> {
    /// How scores become probabilities. Answers count as often as rows of their class are expected, and those that are a
    /// class of one row are judged apart.
    pub fn calibration(&self) -> Calibration {
        let counts = &self.centred.counts;
        let expected = self.wanted.prior.expected(counts);
        let prior = self.wanted.prior.offsets(counts);
        let singles: Vec<usize> = (0..counts.len()).filter(|&c| is_single(counts[c])).collect();
        let (mut usual, mut single) = (Answers::default(), Answers::default());
        for (i, witness) in self.jury.witnesses.iter().enumerate() {
            let own = witness.place as usize;
            let scores = self.scores(&prior, |method, c| self.methods[method][(i, c)]);
            let of = if is_single(counts[highest(&scores)]) {
                &mut single
            } else {
                &mut usual
            };
            of.add(
                scores,
                witness.place,
                witness.copies * expected[own] / counts[own],
            );
        }
        let of_singles: f64 = singles.iter().map(|&c| expected[c]).sum();
        let of_others = expected.iter().sum::<f64>() - of_singles;
        // If all classes weigh as little as one row, no other says how often rows come.
        let can_tell = !self.newcomers.is_empty() && of_others > NO_ROWS;
        let Some(&like) = singles.first().filter(|_| can_tell) else {
            return usual.calibration(counts.len());
        };
        let each =
            of_singles / of_others * (usual.n_copies() + single.n_copies()) / self.newcomers.len() as f64;
        for newcomer in &self.newcomers {
            let place = self.jury.witnesses[newcomer.at].place;
            let scores = self.of_newcomer(newcomer, place as usize, like, &prior);
            let answer = highest(&scores);
            let of = if answer == place as usize || is_single(counts[answer]) {
                &mut single
            } else {
                &mut usual
            };
            of.add(scores, place, each);
        }
        let mixture = single.calibration(counts.len()).mixture();
        usual.calibration(counts.len()).with_singles(singles, mixture)
    }

    /// The scores of a row, `of` which each method says something of each class.
    fn scores(&self, prior: &[f64], of: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let weighed = |c: usize| {
            let methods = self.theta.iter().enumerate();
            prior[c] + methods.map(|(method, theta)| theta * of(method, c)).sum::<f64>()
        };
        (0..prior.len()).map(weighed).collect()
    }

    /// The scores of a newcomer of the class at `own`, which is like the class of one row at `like`.
    fn of_newcomer(&self, newcomer: &Newcomer, own: usize, like: usize, prior: &[f64]) -> Vec<f64> {
        let Centred { counts, .. } = self.centred;
        let mut prior = prior.to_vec();
        prior[own] = prior[like];
        let taken_for = |c: usize| if c == own { like } else { c };
        let lda =
            |c: usize| (self.belief).score(counts[taken_for(c)], newcomer.evidence[c], newcomer.lengths[c]);
        let lift = |c: usize| self.lift.score(taken_for(c), newcomer.lifts[c]);
        let ridge = |c: usize| {
            let share = counts[taken_for(c)] / self.centred.n_rows();
            (1.0 + newcomer.lifts[c]) * share * self.centred.target(taken_for(c))
        };
        self.scores(&prior, |method, c| match (self.wanted.kind, method) {
            (ReadoutKind::Blend, 1) => lift(c),
            (ReadoutKind::Ridge, _) => ridge(c),
            _ => lda(c),
        })
    }
}

/// The first of the highest scores.
fn highest(scores: &[f64]) -> usize {
    (0..scores.len()).fold(0, |best, c| if scores[c] > scores[best] { c } else { best })
}
