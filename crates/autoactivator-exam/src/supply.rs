//! In which order do classes come, and with how many rows? A [`Supply`] makes an exam less even than its data.
//!
//! A [`Scenario`] says how many classes each task brings; this says which ones, and which of their training rows are
//! learned. Test rows are never left out, so figures over classes stay comparable.
//!
//! ```
//! use autoactivator_exam::supply::Supply;
//!
//! // Long-tailed CIFAR-100: 500 rows of the class that comes first, 5 of the one that comes last.
//! let supply = Supply { imbalance: Some(100.0), ..Supply::default() };
//! let rows = supply.rows(&[500; 100], 10)?;
//! assert_eq!((rows[0], rows[99], rows.iter().sum::<usize>()), (500, 5, 10_847));
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use std::fmt;
use std::num::NonZeroUsize;

use autoactivator_data::dataset::Dataset;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use crate::error::Error;
use crate::scenario::{Scenario, Task, shuffled_classes};

/// The order of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Order {
    /// Drawn anew for each seed.
    #[default]
    Shuffled,
    /// That in which classes first appear in the training rows.
    Natural,
}

/// In which order classes come, and how many training rows of each are learned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Supply {
    /// The order of classes.
    pub order: Order,
    /// How many times as many rows the first class has as the last one; in between, numbers fall by equal ratios.
    pub imbalance: Option<f64>,
    /// Rows of each class after the first task.
    pub shots: Option<NonZeroUsize>,
}

impl Supply {
    /// Refuses an imbalance that is none.
    pub fn check(&self) -> Result<(), Error> {
        match self.imbalance {
            Some(ratio) if !(ratio.is_finite() && ratio >= 1.0) => Err(Error::Scenario(format!(
                "parameter `imbalance` is {ratio}: at least 1, where all classes have as many rows"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether all training rows are learned.
    pub fn is_everything(&self) -> bool {
        self.imbalance.is_none() && self.shots.is_none()
    }

    /// How many rows of each class are learned, from how many there are of each, both in order of arrival; the first `base`
    /// classes are those of the first task.
    ///
    /// With an imbalance, class `i` of `C` has `n · imbalance^(-i / (C - 1))` rows, rounded down. `n` is the largest
    /// number for which every class has that many.
    pub fn rows(&self, there: &[usize], base: usize) -> Result<Vec<usize>, Error> {
        self.check()?;
        let mut rows = match self.imbalance {
            Some(ratio) => long_tail(there, ratio)?,
            None => there.to_vec(),
        };
        if let Some(shots) = self.shots {
            if base >= there.len() {
                return Err(Error::Scenario(
                    "`shots` holds for the tasks after the first, and there is only one task: write `tasks` as B60/8, \
                     say, which learns 60 classes first"
                        .to_owned(),
                ));
            }
            rows[base..].iter_mut().for_each(|n| *n = (*n).min(shots.get()));
        }
        Ok(rows)
    }

    /// The tasks of a run: classes in their order, with the rows that are learned.
    pub fn tasks(&self, scenario: &Scenario, dataset: &Dataset, seed: u64) -> Result<Vec<Task>, Error> {
        let order = match self.order {
            Order::Shuffled => shuffled_classes(dataset.n_classes(), seed),
            Order::Natural => in_order_of_appearance(dataset),
        };
        let mut tasks = scenario.tasks_in(&order, dataset)?;
        if !self.is_everything() {
            self.leave_out(&mut tasks, dataset, seed)?;
        }
        Ok(tasks)
    }

    /// Leaves out training rows, drawn at random.
    fn leave_out(&self, tasks: &mut [Task], dataset: &Dataset, seed: u64) -> Result<(), Error> {
        let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); dataset.n_classes()];
        for (row, &class) in dataset.train.y.codes().iter().enumerate() {
            of_class[class as usize].push(row);
        }
        let order = || tasks.iter().flat_map(|task| &task.classes);
        let there: Vec<usize> = order().map(|&class| of_class[class as usize].len()).collect();
        let base = tasks.first().map_or(0, |task| task.classes.len());
        let rows = self.rows(&there, base)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // The streams before this one ordered the classes, drew the groups of the exam and the parts of an online run.
        rng.set_stream(3);
        for (&class, n) in order().zip(rows) {
            let of_class = &mut of_class[class as usize];
            of_class.shuffle(&mut rng);
            of_class.truncate(n);
        }
        for task in tasks {
            let rows = task.classes.iter().flat_map(|&class| &of_class[class as usize]);
            task.train = rows.copied().collect();
            task.train.sort_unstable();
        }
        Ok(())
    }
}

/// What differs from all rows in random order, for the name of a scenario: `, natural order, imbalance 100, 5 shots`.
impl fmt::Display for Supply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.order == Order::Natural {
            f.write_str(", natural order")?;
        }
        if let Some(ratio) = self.imbalance {
            write!(f, ", imbalance {ratio}")?;
        }
        match self.shots {
            Some(shots) => write!(f, ", {}", autoactivator::counted(shots.get(), "shot")),
            None => Ok(()),
        }
    }
}

/// Rows of each class that fall from the first to the last by equal ratios.
fn long_tail(there: &[usize], ratio: f64) -> Result<Vec<usize>, Error> {
    let last = there.len().saturating_sub(1).max(1) as f64;
    let share = |i: usize| ratio.powf(-(i as f64) / last);
    let most = there.iter().enumerate().map(|(i, &n)| n as f64 / share(i));
    let most = most.fold(f64::INFINITY, f64::min);
    // A share that is a whole number of rows must not be rounded down for a last digit that is not exact.
    let rows = |i: usize| (most * share(i) + 1e-6).floor() as usize;
    if rows(there.len().saturating_sub(1)) == 0 {
        return Err(Error::Scenario(format!(
            "with an imbalance of {ratio}, the last class would have no row, since the first one has {} at most: choose an \
             imbalance of at most {}",
            most.floor(),
            most.floor()
        )));
    }
    Ok((0..there.len()).map(rows).collect())
}

/// The classes in the order in which they first appear in the training rows; those that never do come last.
fn in_order_of_appearance(dataset: &Dataset) -> Vec<u32> {
    let codes = dataset.train.y.codes();
    let mut first = vec![codes.len(); dataset.n_classes()];
    for (row, &class) in codes.iter().enumerate().rev() {
        first[class as usize] = row;
    }
    let mut order: Vec<u32> = (0..dataset.n_classes() as u32).collect();
    order.sort_by_key(|&class| first[class as usize]);
    order
}

#[cfg(test)]
mod tests {
    use autoactivator::{Labels, Table};
    use autoactivator_data::dataset::Split;

    use super::*;

    fn dataset(train: &[&str], test: &[&str]) -> Dataset {
        let mut names: Vec<String> = test.iter().map(|&name| name.to_owned()).collect();
        names.sort();
        let split = |classes: &[&str]| {
            let code = |class: &&str| names.iter().position(|name| name == class).unwrap() as u32;
            Split {
                x: Table::new(vec![0.0; classes.len()], 1).unwrap(),
                y: Labels::new(names.clone(), classes.iter().map(code).collect()).unwrap(),
            }
        };
        Dataset {
            name: "made up".into(),
            train: split(train),
            test: split(test),
            image: None,
        }
    }

    fn with(imbalance: Option<f64>, shots: Option<usize>) -> Supply {
        Supply {
            imbalance,
            shots: shots.and_then(NonZeroUsize::new),
            ..Supply::default()
        }
    }

    #[test]
    fn rows_by_hand() {
        // 100, 100/√10 = 31.6, 10: equal ratios from the first to the last.
        assert_eq!(
            with(Some(10.0), None).rows(&[100, 100, 100], 1).unwrap(),
            [100, 31, 10]
        );
        // The second class has 20 rows where 31.6 % of the first are wanted: so the first has 63.2.
        assert_eq!(
            with(Some(10.0), None).rows(&[100, 20, 100], 1).unwrap(),
            [63, 20, 6]
        );
        assert_eq!(with(Some(1.0), None).rows(&[7, 9], 1).unwrap(), [7, 7]);
        assert_eq!(with(Some(5.0), None).rows(&[7], 1).unwrap(), [7]);
        assert_eq!(with(None, Some(5)).rows(&[9, 9, 3, 8], 2).unwrap(), [9, 9, 3, 5]);
        assert_eq!(
            with(Some(4.0), Some(3)).rows(&[16, 16, 16], 1).unwrap(),
            [16, 3, 3]
        );
        assert_eq!(with(None, None).rows(&[2, 3], 1).unwrap(), [2, 3]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        let problem = |supply: Supply| supply.rows(&[50, 50], 2).unwrap_err().to_string();
        assert!(problem(with(Some(0.5), None)).contains("`imbalance` is 0.5: at least 1"));
        assert!(problem(with(Some(f64::NAN), None)).contains("`imbalance` is NaN"));
        assert!(problem(with(Some(51.0), None)).contains("at most 50"));
        assert!(problem(with(None, Some(5))).contains("only one task"));
    }

    #[test]
    fn classes_come_in_the_order_of_their_first_rows() {
        let data = dataset(&["b", "b", "c", "a", "c"], &["a", "b", "c"]);
        let supply = Supply {
            order: Order::Natural,
            ..Supply::default()
        };
        let tasks = supply.tasks(&Scenario::Single, &data, 4).unwrap();
        let classes: Vec<u32> = tasks.iter().flat_map(|task| task.classes.clone()).collect();
        assert_eq!(classes, [1, 2, 0]);
        let rows: Vec<Vec<usize>> = tasks.into_iter().map(|task| task.train).collect();
        assert_eq!(rows, [vec![0, 1], vec![2, 4], vec![3]]);
    }

    #[test]
    fn rows_are_drawn_by_the_seed_and_test_rows_stay() {
        let train: Vec<&str> = ["a", "b", "c", "d"].repeat(20);
        let data = dataset(&train, &["a", "b", "c", "d"]);
        let scenario: Scenario = "B2/2".parse().unwrap();
        let deal = |shots, seed| with(None, Some(shots)).tasks(&scenario, &data, seed).unwrap();
        let tasks = deal(3, 1);
        let n_rows: Vec<usize> = tasks.iter().map(|task| task.train.len()).collect();
        assert_eq!(n_rows, [40, 3, 3]);
        assert_eq!(tasks.iter().map(|task| task.test.len()).sum::<usize>(), 4);
        for task in &tasks {
            let codes = data.train.y.codes();
            assert!(task.train.iter().all(|&row| task.classes.contains(&codes[row])));
            assert!(task.train.is_sorted());
        }
        assert_eq!(tasks, deal(3, 1));
        assert_ne!(tasks[1].train, deal(3, 2)[1].train);
        // More shots are the same rows and others.
        let more = deal(4, 1);
        assert!(tasks[2].train.iter().all(|row| more[2].train.contains(row)));
    }

    #[test]
    fn a_supply_is_named_by_what_it_changes() {
        let all = Supply {
            order: Order::Natural,
            ..with(Some(100.0), Some(1))
        };
        assert_eq!(all.to_string(), ", natural order, imbalance 100, 1 shot");
        assert_eq!(Supply::default().to_string(), "");
    }
}
