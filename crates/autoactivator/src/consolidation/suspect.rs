//! Which labels does the memory not believe?
//!
//! A row is judged as if it had not been learned: leaving it out is a change of rank one, so no row costs a second solve.
//! [`Consolidation::suspect`] goes through labelled rows batch by batch and ranks them by how improbable their label is
//! found. What the scores mean while some labels are wrong is found by the witnesses, in `readout/noise`.

use super::learner::{Consolidation, SUMMED_TOGETHER, outputs_of, unsolved, watched};
use super::readout::{BEFOREHAND, Doubter, Opinion, by_chance, wrong};
use super::witness::{LookedUp, Witness};
use crate::data::{Labels, Rows, Table, check_rows};
use crate::error::Error;
use crate::learner::Observer;
use crate::math::is_stopped;
use crate::pool::Pool;

/// Most suspects that are kept.
const MOST: usize = 1 << 20;

/// Scores of rows that are held at a time, at most.
const SCORES_TOGETHER: usize = 1 << 22;

/// A row whose label is doubted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suspect {
    /// The row, from 0.
    pub row: usize,
    /// Place of the class that is its label.
    pub label: u32,
    /// Probability of that class.
    pub of_label: f64,
    /// Place of the most probable other class.
    pub other: u32,
    /// Probability of that class.
    pub of_other: f64,
    /// How probable it is that the label is wrong.
    pub wrong: f64,
}

/// What was found among labelled rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suspects {
    /// The rows that are doubted, the most doubtful first.
    pub rows: Vec<Suspect>,
    /// Number of rows.
    pub n_rows: usize,
    /// Number of rows that the model has learned, and is judged without.
    pub n_learned: usize,
    /// Number of rows that could not be judged because no other row has their label.
    pub n_single: usize,
    /// Number of rows that could not be judged because the model does not know their label.
    pub n_unknown: usize,
    /// The share of the labels that is wrong, as an estimate.
    pub share: f64,
}

/// Which of the rows the memory has learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    /// All of them, as they are.
    All,
    /// The rows that it keeps tell.
    LookUp,
}

impl Consolidation {
    /// Ranks labelled rows by how improbable this memory finds their labels, judging every row that it has learned as if it had
    /// not. `batches` is called once, or twice when the rows that are kept must tell whether the others were learned.
    /// Of all rows, those for which another class is more probable are returned, or the `count` most doubtful ones.
    pub fn suspect<E, B>(
        &self,
        mut batches: impl FnMut() -> Result<B, E>,
        learned: Membership,
        count: Option<usize>,
        observer: &mut dyn Observer,
    ) -> Result<Suspects, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        let deployed = self.deployed().ok_or(Error::NothingLearned)?;
        self.check_doubts()?;
        let others_learned = match learned {
            Membership::All => true,
            Membership::LookUp => self.has_learned_most(batches()?, observer)?,
        };
        let centred = self.centred()?;
        let found = centred.examine(self.wanted(), deployed.readout.ridge, |examiner| {
            let witnesses = self.memory.witnesses.in_use();
            let rows: Vec<&Witness> = witnesses.iter().collect();
            let h = outputs_of(&*deployed.pool, &rows, self.params.precision);
            let doubter = Doubter::new(examiner, witnesses, &h)?;
            let review = Review {
                learner: self,
                pool: &*deployed.pool,
                doubter,
                looks_up: learned == Membership::LookUp,
                others_learned,
                usual: self.memory.witnesses.usual_units(self.memory.counts.len()),
                ranking: Ranking::new(count),
                found: Suspects::default(),
            };
            Some(review.of(batches(), observer))
        });
        found.flatten().ok_or_else(|| unsolved(deployed.readout.ridge))?
    }

    /// Refuses a memory that cannot doubt labels, or not yet.
    fn check_doubts(&self) -> Result<(), Error> {
        let cannot = |reason| Err(Error::CannotDoubt { reason });
        if self.memory.classes.len() < 2 {
            return cannot("only one class is known; add rows of a second one");
        }
        let counts = &self.memory.counts;
        let witnesses = self.memory.witnesses.in_use();
        if witnesses.is_empty() {
            return cannot("the model keeps no rows to judge by; leave it out to judge rows by each other");
        }
        let can = |w: &Witness| counts[w.place as usize] - w.unit() > 1e-6;
        if !witnesses.iter().any(can) {
            return cannot("no class has more than one row; give more rows of each class");
        }
        Ok(())
    }

    /// Whether most of the rows were learned that can be looked up.
    fn has_learned_most<E, B>(&self, batches: B, observer: &mut dyn Observer) -> Result<bool, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        let (mut learned, mut never) = (0_usize, 0_usize);
        for batch in batches {
            let (x, y) = batch?;
            for (i, row) in x.rows().iter().enumerate() {
                match self.memory.witnesses.look_up(row, self.place_of(&y, i)) {
                    LookedUp::Learned(_) => learned += 1,
                    LookedUp::Never => never += 1,
                    LookedUp::Untold => {}
                }
            }
            watched(observer, None)(0)?;
        }
        Ok(learned > never)
    }

    /// The place of the label of row `i`; none if it is no class of the memory.
    fn place_of(&self, y: &Labels, i: usize) -> Option<u32> {
        self.memory.classes.place(y.name(i))
    }
}

/// The rows on their way past a doubter.
struct Review<'a> {
    learner: &'a Consolidation,
    /// The recruited nodes.
    pool: &'a dyn Pool,
    doubter: Doubter<'a>,
    looks_up: bool,
    /// Whether rows that cannot be looked up were learned.
    others_learned: bool,
    /// What a row of each class usually weighs.
    usual: Vec<f64>,
    ranking: Ranking,
    found: Suspects,
}

impl Review<'_> {
    fn of<E, B>(mut self, batches: Result<B, E>, observer: &mut dyn Observer) -> Result<Suspects, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        let n_classes = self.learner.memory.classes.len();
        let together = (SCORES_TOGETHER / n_classes).clamp(1, SUMMED_TOGETHER / 4);
        let n_inputs = self.pool.n_inputs();
        let mut go_on = watched(observer, None);
        for batch in batches? {
            let (x, y) = batch?;
            check_rows(x.rows(), n_inputs)?;
            for (lot, rows) in x.rows().chunks(together).enumerate() {
                self.judge(rows, &y, lot * together);
                if is_stopped() {
                    return Err(Error::Interrupted.into());
                }
                go_on(rows.len())?;
            }
        }
        let share = self.ranking.share(n_classes, self.doubter.share());
        self.found.share = self.ranking.mean(|of_label| wrong(share, of_label, n_classes));
        self.found.rows = self.ranking.ranked();
        for suspect in &mut self.found.rows {
            suspect.wrong = wrong(share, suspect.of_label, n_classes);
            suspect.of_label = suspect.of_label.exp();
        }
        Ok(self.found)
    }

    /// Judges rows that have the labels from `first` on.
    fn judge(&mut self, x: Rows<'_>, y: &Labels, first: usize) {
        let (learner, begun) = (self.learner, self.found.n_rows);
        self.found.n_rows += x.len();
        let mut judged: Vec<(usize, u32, Witness)> = Vec::with_capacity(x.len());
        for (i, row) in x.iter().enumerate() {
            let Some(label) = learner.place_of(y, first + i) else {
                self.found.n_unknown += 1;
                continue;
            };
            let as_learned = self.as_learned(row, label, y.weight(first + i));
            self.found.n_learned += usize::from(as_learned.weight > 0.0);
            judged.push((begun + i, label, as_learned));
        }
        let (numbers, witnesses): (Vec<(usize, u32)>, Vec<Witness>) = judged
            .into_iter()
            .map(|(row, label, witness)| ((row, label), witness))
            .unzip();
        if witnesses.is_empty() {
            return;
        }
        let rows: Vec<&Witness> = witnesses.iter().collect();
        let h = outputs_of(self.pool, &rows, learner.params.precision);
        let labels: Vec<u32> = numbers.iter().map(|(_, label)| *label).collect();
        let opinions = self.doubter.opinions(&witnesses, &labels, &h);
        for ((row, label), opinion) in numbers.into_iter().zip(opinions) {
            match opinion {
                Some(opinion) => self.ranking.add(row, label, opinion),
                None => self.found.n_single += 1,
            }
        }
    }

    /// A row as the memory has learned it; of no weight if it has not.
    fn as_learned(&self, row: &[f32], label: u32, copies: f64) -> Witness {
        let usual = self.usual[label as usize] * copies.min(1.0);
        let looked_up = if self.looks_up {
            self.learner.memory.witnesses.look_up(row, Some(label))
        } else {
            LookedUp::Untold
        };
        match looked_up {
            LookedUp::Learned(witness) => witness.clone(),
            LookedUp::Untold if self.others_learned => Witness::new(row, label, 1.0, usual),
            LookedUp::Untold | LookedUp::Never => Witness::new(row, label, 1.0, 0.0),
        }
    }
}

/// The most doubtful rows so far, and how probable all labels were found.
struct Ranking {
    /// Whether rows are kept only if another class is more probable.
    only_doubted: bool,
    limit: usize,
    rows: Vec<Suspect>,
    /// Number of labels by -ln of their probability.
    by_probability: Vec<u64>,
}

/// Steps of -ln p in which labels are counted, and its largest value.
const STEPS: usize = 16;
const LEAST: usize = 64;

/// Rounds in which the share of wrong labels is found.
const ROUNDS: usize = 200;

impl Ranking {
    fn new(count: Option<usize>) -> Self {
        Self {
            only_doubted: count.is_none(),
            limit: count.unwrap_or(MOST).min(MOST),
            rows: Vec::new(),
            by_probability: vec![0; STEPS * LEAST + 1],
        }
    }

    fn add(&mut self, row: usize, label: u32, opinion: Opinion) {
        let step = (-opinion.of_label * STEPS as f64).clamp(0.0, (STEPS * LEAST) as f64);
        self.by_probability[step as usize] += 1;
        if self.only_doubted && opinion.of_other <= opinion.of_label {
            return;
        }
        self.rows.push(Suspect {
            row,
            label,
            of_label: opinion.of_label,
            other: opinion.other,
            of_other: opinion.of_other.exp(),
            wrong: 0.0,
        });
        if self.rows.len() >= 2 * self.limit.max(1024) {
            self.cut();
        }
    }

    /// Sorts the rows, and leaves out those beyond the limit.
    fn cut(&mut self) {
        let key = |suspect: &Suspect| (suspect.of_label, suspect.row);
        self.rows.sort_unstable_by(|a, b| {
            let ((a, row), (b, other)) = (key(a), key(b));
            a.total_cmp(&b).then(row.cmp(&other))
        });
        self.rows.truncate(self.limit);
    }

    /// The share of labels that say nothing under which these probabilities are most likely, if `start` is that of the
    /// witnesses.
    fn share(&self, n_classes: usize, start: f64) -> f64 {
        let n: u64 = self.by_probability.iter().sum();
        let (n, mut share) = (n as f64, start);
        for _ in 0..ROUNDS {
            let sum = n * self.mean(|of_label| by_chance(share, of_label, n_classes));
            share = (sum + BEFOREHAND * start) / (n + BEFOREHAND);
        }
        share
    }

    /// The mean of a figure over all labels, given the logarithms of their probabilities.
    fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        let all: u64 = self.by_probability.iter().sum();
        let middle = |step: usize| -(step as f64 + 0.5) / STEPS as f64;
        let counted = self.by_probability.iter().enumerate();
        let sum: f64 = counted.map(|(step, &n)| n as f64 * of(middle(step))).sum();
        sum / all.max(1) as f64
    }

    /// All of them; the probabilities of labels are still logarithms.
    fn ranked(mut self) -> Vec<Suspect> {
        self.cut();
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidation::ConsolidationParams;
    use crate::learner::Learner;
    use crate::math::{Random, Stream};
    use crate::params::Check;

    const WIDTH: usize = 4;
    const CLASSES: [&str; 3] = ["a", "b", "c"];

    /// Rows of three classes in turn, and their labels, every 20th of which is that of the next class.
    fn mislabelled(n: usize, seed: u64) -> (Table, Vec<&'static str>, Vec<usize>) {
        let mut random = Random::new(seed, Stream::Pool { layer: 0 });
        let value = |i: usize, j: usize, random: &mut Random| {
            3.0 * f32::from(u8::from(i % 3 == j)) + 0.7 * random.normal()
        };
        let values = (0..n * WIDTH).map(|at| value(at / WIDTH, at % WIDTH, &mut random));
        let table = Table::new(values.collect(), WIDTH).unwrap();
        let is_wrong = |i: usize| i % 20 == 7;
        let labels = (0..n).map(|i| CLASSES[(i + usize::from(is_wrong(i))) % 3]);
        (table, labels.collect(), (0..n).filter(|&i| is_wrong(i)).collect())
    }

    fn learned(x: &Table, y: &[&str], params: ConsolidationParams) -> Consolidation {
        let mut learner = Consolidation::new(params.check().unwrap());
        learner.learn(x.rows(), &Labels::from_names(y), &mut ()).unwrap();
        learner
    }

    fn suspects(
        learner: &Consolidation,
        x: &Table,
        y: &[&str],
        learned: Membership,
        together: usize,
        count: Option<usize>,
    ) -> Result<Suspects, Error> {
        let batches = || {
            let of_lot = |first: usize| {
                let rows: Vec<usize> = (first..y.len().min(first + together)).collect();
                Ok((x.rows().gather(&rows), Labels::from_names(y).gather(&rows)))
            };
            Ok((0..y.len())
                .step_by(together)
                .map(of_lot)
                .collect::<Vec<_>>()
                .into_iter())
        };
        learner.suspect(batches, learned, count, &mut ())
    }

    fn rows(found: &Suspects) -> Vec<usize> {
        found.rows.iter().map(|suspect| suspect.row).collect()
    }

    #[test]
    fn wrong_labels_come_first() {
        let (x, y, wrong) = mislabelled(600, 1);
        let learner = learned(&x, &y, ConsolidationParams::default());
        let found = suspects(&learner, &x, &y, Membership::All, 600, None).unwrap();
        let mut first = rows(&found)[..wrong.len()].to_vec();
        first.sort_unstable();
        let right = first.iter().filter(|row| wrong.contains(row)).count();
        assert!(right + 2 >= wrong.len(), "{right} of {}", wrong.len());
        assert!((found.share - 0.05).abs() < 0.015, "{}", found.share);
        assert_eq!((found.n_rows, found.n_learned, found.n_single), (600, 600, 0));
        for suspect in &found.rows[..10] {
            assert_eq!(suspect.other as usize, suspect.row % 3, "what it really is");
            assert!(suspect.wrong > 0.9 && suspect.of_label < suspect.of_other);
        }
        assert!(
            found
                .rows
                .is_sorted_by(|a, b| a.of_label <= b.of_label && a.wrong >= b.wrong)
        );
    }

    #[test]
    fn batches_and_lookups_make_no_difference() {
        let (x, y, _) = mislabelled(300, 2);
        let learner = learned(&x, &y, ConsolidationParams::default());
        let whole = suspects(&learner, &x, &y, Membership::All, 300, Some(300)).unwrap();
        let few = suspects(&learner, &x, &y, Membership::LookUp, 7, Some(300)).unwrap();
        assert_eq!((rows(&whole).len(), few.n_learned), (300, 300));
        for (a, b) in whole.rows.iter().zip(&few.rows) {
            assert!(a.row == b.row && (a.wrong - b.wrong).abs() < 1e-6, "{a:?} {b:?}");
        }
        let first = suspects(&learner, &x, &y, Membership::All, 300, Some(5)).unwrap();
        assert_eq!(rows(&first), rows(&whole)[..5]);
    }

    /// A model that learned its own wrong labels judges these rows as one would that never saw them.
    #[test]
    fn what_was_learned_is_left_out_and_nothing_else() {
        let (x, y, _) = mislabelled(400, 3);
        let (half, labels): (Vec<usize>, Vec<&str>) = (0..200).map(|i| (i, y[i])).unzip();
        let part = x.rows().gather(&half);
        for witnesses in [2048, 40] {
            let learner = learned(
                &part,
                &labels,
                ConsolidationParams {
                    witnesses,
                    ..Default::default()
                },
            );
            let both = suspects(&learner, &x, &y, Membership::LookUp, 64, Some(400)).unwrap();
            let expected = if witnesses == 2048 { 200 } else { both.n_learned };
            assert_eq!(both.n_learned, expected);
            let seen = suspects(&learner, &part, &labels, Membership::LookUp, 64, Some(400)).unwrap();
            assert_eq!(
                seen.n_learned, 200,
                "most of what can be looked up was learned, so all of it was"
            );
            let rest: Vec<usize> = (200..400).collect();
            let others = suspects(
                &learner,
                &x.rows().gather(&rest),
                &y[200..],
                Membership::LookUp,
                64,
                None,
            );
            assert_eq!(others.unwrap().n_learned, 0);
        }
        let learner = learned(&part, &labels, ConsolidationParams::default());
        let without = |left_out: usize| {
            let others: Vec<usize> = (0..200).filter(|&i| i != left_out).collect();
            let y: Vec<&str> = others.iter().map(|&i| labels[i]).collect();
            let ridge = Some(learner.deployed().unwrap().readout.ridge);
            learned(
                &part.rows().gather(&others),
                &y,
                ConsolidationParams {
                    ridge,
                    ..Default::default()
                },
            )
        };
        let all = suspects(&learner, &part, &labels, Membership::All, 200, Some(200)).unwrap();
        for suspect in all.rows.iter().filter(|suspect| suspect.row % 60 == 7) {
            let row = part.rows().gather(&[suspect.row]);
            let alone = suspects(
                &without(suspect.row),
                &row,
                &[labels[suspect.row]],
                Membership::LookUp,
                1,
                Some(1),
            );
            let alone = alone.unwrap();
            assert_eq!(alone.n_learned, 0);
            let (a, b) = (suspect.of_label.ln(), alone.rows[0].of_label.ln());
            assert!((a - b).abs() < 0.5 + 0.2 * a.abs(), "{a} {b}");
        }
    }

    #[test]
    fn what_cannot_be_judged_is_counted() {
        let (x, mut y, _) = mislabelled(120, 4);
        y[0] = "alone";
        let learner = learned(&x, &y, ConsolidationParams::default());
        y[1] = "never seen";
        let found = suspects(&learner, &x, &y, Membership::LookUp, 50, None).unwrap();
        assert_eq!((found.n_single, found.n_unknown, found.n_rows), (1, 1, 120));
        let nothing = suspects(&learner, &x, &[], Membership::LookUp, 50, None).unwrap();
        assert_eq!((nothing.rows.len(), nothing.n_rows), (0, 0));
    }

    #[test]
    fn a_memory_that_cannot_judge_says_so() {
        let (x, y, _) = mislabelled(60, 5);
        let refused = |params: ConsolidationParams, y: &[&str], n: usize| {
            let x = x.rows().gather(&(0..n).collect::<Vec<usize>>());
            let learner = learned(&x, &y[..n], params);
            suspects(&learner, &x, &y[..n], Membership::All, 60, None)
                .unwrap_err()
                .to_string()
        };
        let private = ConsolidationParams {
            private: true,
            ..Default::default()
        };
        assert!(refused(private, &y, 60).contains("keeps no rows"));
        assert!(refused(ConsolidationParams::default(), &["a"; 60], 60).contains("only one class"));
        assert!(refused(ConsolidationParams::default(), &CLASSES, 3).contains("more than one row"));
        assert!(refused(ConsolidationParams::default(), &["a"], 1).contains("only one class"));
    }
}
