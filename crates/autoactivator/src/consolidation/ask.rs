//! Which rows are most worth a label?
//!
//! Labels help where the memory is uncertain, and one label says something about all rows that are alike. So
//! [`Consolidation::ask`] keeps, of any number of rows, a sample in proportion to how uncertain each is, and chooses from it
//! one row after another: an uncertain one whose label would take the most uncertainty from the sample. How much one row
//! says about another is their product by A⁻¹, as the memory has it; a label that has been asked for counts as known from
//! then on.

use rayon::prelude::*;

use super::learner::{Consolidation, unsolved, watched};
use super::witness::hash;
use crate::data::{Table, check_rows};
use crate::error::Error;
use crate::learner::{Answer, Observer};
use crate::math::{Matrix, is_stopped, product};

/// Most rows that can be asked for at once.
pub const MOST_ASKED: usize = 2048;

/// Number of rows that are chosen from, at least, and for each one that is asked for.
const SAMPLE: usize = 1024;
const SAMPLED_FOR_EACH: usize = 2;

/// σ², relative to the mean of k_ii: how little a label leaves open about its own row. In trials on training rows of digits,
/// letter and CLINC150, anything from 0.001 to 0.3 needed as many labels.
const LEFT_OPEN: f64 = 0.1;

/// Uncertainty of rows about which there is none: they may still be chosen, after all others.
const HARDLY: f64 = 1e-6;

/// A row that is worth a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// The row, from 0.
    pub row: usize,
    /// Place of the most probable class.
    pub class: u32,
    /// Its probability.
    pub probability: f64,
    /// How uncertain that is, from 0 to 1.
    pub uncertainty: f64,
    /// How well known the row is, where the model can tell: the share of known rows that are at least as strange.
    pub known: Option<f64>,
}

impl Consolidation {
    /// The `count` rows that are most worth a label, the most worthwhile first; all rows, if there are fewer.
    pub fn ask<E, B>(&self, batches: B, count: usize, observer: &mut dyn Observer) -> Result<Vec<Question>, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<Table, E>>,
    {
        let deployed = self.deployed().ok_or(Error::NothingLearned)?;
        if !(1..=MOST_ASKED).contains(&count) {
            let (name, value) = ("count".to_owned(), count.to_string());
            let allowed = format!("must be from 1 to {MOST_ASKED}");
            return Err(Error::Parameter { name, value, allowed }.into());
        }
        // Only then does each answer say how well known the row is.
        let reject = match deployed.check_rejects() {
            Ok(()) => f64::MIN_POSITIVE,
            Err(_) => 0.0,
        };
        let mut sample = Sample::new(SAMPLE.max(SAMPLED_FOR_EACH * count));
        let mut go_on = watched(observer, None);
        for batch in batches {
            let batch = batch?;
            let x = batch.rows();
            check_rows(x, deployed.pool.n_inputs())?;
            for rows in x.chunks(SAMPLE) {
                let answers = deployed.answers(rows, reject)?;
                for (row, answer) in rows.iter().zip(&answers) {
                    sample.take(row, answer);
                }
                if is_stopped() {
                    return Err(Error::Interrupted.into());
                }
                go_on(rows.len())?;
            }
        }
        let (members, weights) = sample.finish();
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let values = members.iter().flat_map(|member| member.row.iter().copied());
        let rows = Table::from_whole_rows(values.collect(), deployed.pool.n_inputs());
        let h = deployed.pool.outputs(rows.rows(), self.params.precision);
        let ridge = deployed.readout.ridge;
        let products = self.centred()?.examine(self.wanted(), ridge, |examiner| {
            let roots = examiner.roots(h.rows());
            product(roots.t(), roots.view())
        });
        let products = products
            .filter(|_| !is_stopped())
            .ok_or_else(|| unsolved(ridge))?;
        let chosen = choose(products, &members, &weights, count);
        if is_stopped() {
            return Err(Error::Interrupted.into());
        }
        Ok(chosen.into_iter().map(|i| members[i].question).collect())
    }
}

/// How uncertain an answer is: 1 less how far the most probable class is ahead of the second, as far as the row is known at
/// all.
fn uncertainty(answer: &Answer) -> f64 {
    let (mut first, mut second) = (0f32, 0f32);
    for &p in &answer.probabilities {
        if p > first {
            (first, second) = (p, first);
        } else {
            second = second.max(p);
        }
    }
    let ahead = f64::from(first - second) * answer.known.map_or(1.0, |share| odds_of_known(f64::from(share)));
    (1.0 - ahead).clamp(HARDLY, 1.0)
}

/// The least odds for a row to be of a known class if only this share of known rows is as strange: -e p ln p, by Sellke,
/// Bayarri and Berger; even from 1/e on.
fn odds_of_known(share: f64) -> f64 {
    if share < (-1f64).exp() {
        -share * share.max(f64::MIN_POSITIVE).ln() * 1f64.exp()
    } else {
        1.0
    }
}

/// A row of the sample.
struct Member {
    question: Question,
    /// Its uncertainty, divided by a number from 0 to 1 that its content determines.
    priority: f64,
    row: Vec<f32>,
}

/// A sample of rows in proportion to their uncertainty, by priority (Duffield, Lund and Thorup). It does not depend on the
/// order of rows.
struct Sample {
    limit: usize,
    n_rows: usize,
    /// Rows of lower priority are not kept.
    bound: f64,
    members: Vec<Member>,
}

impl Sample {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            n_rows: 0,
            bound: 0.0,
            members: Vec::new(),
        }
    }

    fn take(&mut self, row: &[f32], answer: &Answer) {
        let number = self.n_rows;
        self.n_rows += 1;
        let uncertainty = uncertainty(answer);
        let priority = uncertainty / ((hash(row) >> 11) as f64 + 1.0) * (1u64 << 53) as f64;
        if priority <= self.bound {
            return;
        }
        let likeliest = answer.probabilities.iter().zip(0..);
        let (probability, class) =
            likeliest.fold((0f32, 0), |best, (&p, c)| if p > best.0 { (p, c) } else { best });
        self.members.push(Member {
            question: Question {
                row: number,
                class,
                probability: f64::from(probability),
                uncertainty,
                known: answer.known.map(f64::from),
            },
            priority,
            row: row.to_vec(),
        });
        if self.members.len() > 2 * self.limit {
            self.cut();
        }
    }

    /// Leaves out the rows of the lowest priority, the highest of which is the bound.
    fn cut(&mut self) {
        let by_priority = |a: &Member, b: &Member| {
            let rows = (a.question.row, b.question.row);
            b.priority.total_cmp(&a.priority).then(rows.0.cmp(&rows.1))
        };
        self.members.sort_unstable_by(by_priority);
        if let Some(first_out) = self.members.get(self.limit) {
            self.bound = first_out.priority;
            self.members.truncate(self.limit);
        }
    }

    /// The sample, and for how much uncertainty each member stands.
    fn finish(mut self) -> (Vec<Member>, Vec<f64>) {
        self.cut();
        let weight = |member: &Member| member.question.uncertainty.max(self.bound);
        let weights = self.members.iter().map(weight).collect();
        (self.members, weights)
    }
}

/// Brings rows that are longer than half of all to that length. A row where nothing was learned is very long, but it says no
/// more about others for that; a few of these would be all that is chosen.
fn shorten(products: &mut Matrix<f32>) {
    let n = products.n_cols();
    let mut lengths: Vec<f32> = (0..n).map(|i| products[(i, i)].max(0.0)).collect();
    let own = lengths.clone();
    let (_, &mut usual, _) = lengths.select_nth_unstable_by(n / 2, f32::total_cmp);
    let scale = |i: usize| {
        if own[i] > usual {
            (usual / own[i]).sqrt()
        } else {
            1.0
        }
    };
    let scales: Vec<f32> = (0..n).map(scale).collect();
    for j in 0..n {
        let column = products.col_mut(j).iter_mut().zip(&scales);
        column.for_each(|(k, scale)| *k *= scale * scales[j]);
    }
}

/// The places of `count` members with these products k, chosen one by one. Each is the i with the highest
/// u_i Σ_j w_j k_ij² / (k_ii + σ²): how uncertain it is, times what its label would take from the uncertainties w_j of all.
fn choose(mut products: Matrix<f32>, members: &[Member], weights: &[f64], count: usize) -> Vec<usize> {
    let n = weights.len();
    let all: f64 = weights.iter().sum();
    shorten(&mut products);
    let own = |products: &Matrix<f32>, i: usize| f64::from(products[(i, i)]).max(0.0);
    let usual: f64 = (0..n).map(|i| weights[i] * own(&products, i)).sum::<f64>() / all;
    let noise = (LEFT_OPEN * usual).max(f64::MIN_POSITIVE);
    let mut chosen = Vec::with_capacity(count.min(n));
    let mut is_free = vec![true; n];
    while chosen.len() < count.min(n) && !is_stopped() {
        let gain = |i: usize| {
            let of_all = products.col(i).iter().zip(weights);
            let taken: f64 = of_all.map(|(&k, w)| w * f64::from(k) * f64::from(k)).sum();
            members[i].question.uncertainty * taken / (own(&products, i) + noise)
        };
        let gains: Vec<f64> = (0..n)
            .into_par_iter()
            .map(|i| if is_free[i] { gain(i) } else { f64::NEG_INFINITY })
            .collect();
        let best = (0..n).reduce(|best, i| if gains[i] > gains[best] { i } else { best });
        let Some(best) = best else { break };
        chosen.push(best);
        is_free[best] = false;
        let of_best = products.col(best).to_vec();
        let scale = 1.0 / (own(&products, best) + noise) as f32;
        let columns = products.values_mut().par_chunks_mut(n.max(1)).zip(&of_best);
        columns.for_each(|(column, &k)| {
            let known = k * scale;
            column
                .iter_mut()
                .zip(&of_best)
                .for_each(|(v, of_best)| *v -= known * of_best);
        });
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidation::ConsolidationParams;
    use crate::data::Labels;
    use crate::learner::Learner;
    use crate::math::{Random, Stream};
    use crate::params::Check;

    /// Two numbers around a centre.
    fn around(centres: &[[f32; 2]], each: usize, seed: u64) -> Vec<[f32; 2]> {
        let mut random = Random::new(seed, Stream::Pool { layer: 0 });
        let mut rows = Vec::new();
        for centre in centres {
            rows.extend((0..each).map(|_| centre.map(|v| v + 0.2 * random.normal())));
        }
        rows
    }

    fn table(rows: &[[f32; 2]]) -> Table {
        Table::new(rows.concat(), 2).unwrap()
    }

    /// A model of two classes, around (0, 0) and (4, 0).
    fn learner(params: ConsolidationParams) -> Consolidation {
        let mut learner = Consolidation::new(params.check().unwrap());
        let rows = around(&[[0.0, 0.0], [4.0, 0.0]], 40, 1);
        let names: Vec<&str> = (0..80).map(|i| if i < 40 { "left" } else { "right" }).collect();
        learner
            .learn(table(&rows).rows(), &Labels::from_names(names), &mut ())
            .unwrap();
        learner
    }

    fn asked(learner: &Consolidation, rows: &[[f32; 2]], count: usize, together: usize) -> Vec<usize> {
        let batches = rows.chunks(together).map(|some| Ok::<_, Error>(table(some)));
        let questions = learner.ask(batches, count, &mut ()).unwrap();
        questions.iter().map(|question| question.row).collect()
    }

    #[test]
    fn what_is_uncertain_is_asked_first_and_not_twice() {
        let learner = learner(ConsolidationParams::default());
        // Of four groups, two are between the classes, and one lies where nothing was learned.
        let rows = around(&[[0.0, 0.0], [4.0, 0.0], [2.0, 0.0], [2.0, 6.0]], 30, 2);
        let found = asked(&learner, &rows, 6, 120);
        let of_group = |group: usize| found.iter().filter(|&&row| row / 30 == group).count();
        assert!(of_group(0) + of_group(1) <= 1, "{found:?}");
        assert!(of_group(2) >= 1 && of_group(3) >= 1, "{found:?}");
        assert_ne!(found[0] / 30, found[1] / 30, "{found:?}");
    }

    #[test]
    fn order_and_batches_make_no_difference() {
        let learner = learner(ConsolidationParams::default());
        let mut rows = around(&[[0.0, 0.0], [2.0, 1.0], [3.0, 3.0]], 900, 3);
        let first: Vec<[f32; 2]> = asked(&learner, &rows, 5, 10_000)
            .into_iter()
            .map(|i| rows[i])
            .collect();
        assert_eq!(
            first,
            asked(&learner, &rows, 5, 77)
                .into_iter()
                .map(|i| rows[i])
                .collect::<Vec<_>>()
        );
        rows.reverse();
        let again: Vec<[f32; 2]> = asked(&learner, &rows, 5, 500)
            .into_iter()
            .map(|i| rows[i])
            .collect();
        assert_eq!(first, again);
    }

    #[test]
    fn a_few_rows_one_class_and_private_models_are_fine() {
        let usual = learner(ConsolidationParams::default());
        assert_eq!(asked(&usual, &[], 3, 1), [0usize; 0]);
        assert_eq!(asked(&usual, &[[1.0, 1.0]], 3, 1), [0]);
        let same = asked(&usual, &[[1.0, 1.0]; 4], 4, 4);
        assert_eq!(same.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
        let private = learner(ConsolidationParams {
            private: true,
            ..Default::default()
        });
        assert_eq!(asked(&private, &around(&[[2.0, 0.0]], 9, 4), 3, 9).len(), 3);
        let mut one = Consolidation::new(ConsolidationParams::default().check().unwrap());
        let rows = table(&around(&[[0.0, 0.0]], 5, 5));
        one.learn(rows.rows(), &Labels::from_names(["a"; 5]), &mut ())
            .unwrap();
        assert_eq!(asked(&one, &around(&[[2.0, 0.0]], 9, 4), 3, 9).len(), 3);
        for count in [0, MOST_ASKED + 1] {
            let nothing = std::iter::empty::<Result<Table, Error>>();
            assert!(
                usual
                    .ask(nothing, count, &mut ())
                    .unwrap_err()
                    .to_string()
                    .contains("count")
            );
        }
    }

    #[test]
    fn a_strange_row_may_be_of_any_class() {
        assert_eq!(odds_of_known(0.5), 1.0);
        assert!((odds_of_known((-1f64).exp()) - 1.0).abs() < 1e-9);
        assert!(odds_of_known(0.01) < 0.2 && odds_of_known(0.0).abs() < 1e-12);
        let answer = |known| Answer {
            class: Some(0),
            probabilities: vec![0.9, 0.1],
            known,
        };
        assert!(uncertainty(&answer(Some(0.001))) > 0.9);
        assert!((uncertainty(&answer(Some(0.9))) - 0.2).abs() < 1e-6);
        assert!((uncertainty(&answer(None)) - 0.2).abs() < 1e-6);
    }
}
