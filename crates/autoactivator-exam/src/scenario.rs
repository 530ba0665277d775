//! How do classes arrive? A [`Scenario`] deals the classes of a data set, in shuffled order, to [`Task`]s.
//!
//! Comes after [`dataset`](autoactivator_data::dataset); learners see one task after the other, and
//! [`protocol`](crate::protocol) examines them on the tasks seen so far.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use autoactivator::counted;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

use crate::admission::no_rows;
use crate::error::Error;
use autoactivator_data::dataset::{Dataset, Split};

/// How many classes each task brings.
///
/// ```
/// use autoactivator_exam::scenario::Scenario;
///
/// let sizes = |text: &str, n_classes| text.parse::<Scenario>()?.task_sizes(n_classes);
/// assert_eq!(sizes("10/5", 10)?, [2, 2, 2, 2, 2]);
/// assert_eq!(sizes("10,20,30,40", 100)?, [10, 20, 30, 40]);
/// assert_eq!(sizes("2,4,6,...", 20)?, [2, 4, 6, 8]);
/// assert_eq!(sizes("B50/10", 100)?, [50, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]);
/// # Ok::<(), autoactivator_exam::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
#[non_exhaustive]
pub enum Scenario {
    /// `10/5` or `5`: five tasks of equal size. When the classes cannot be dealt evenly, the first tasks get one
    /// more.
    Even {
        /// Number of classes, a check on the data, when given.
        classes: Option<NonZeroUsize>,
        /// Number of tasks.
        tasks: NonZeroUsize,
    },
    /// `10,20,30,40`: the number of classes of each task.
    Sizes(Vec<NonZeroUsize>),
    /// `2,4,6,...`: the sizes go on with the last step, and the last task takes what is left.
    Progression(Vec<NonZeroUsize>),
    /// `B50/10`: fifty classes first, the others dealt evenly to ten tasks.
    Base {
        /// Number of classes of the first task.
        base: NonZeroUsize,
        /// Number of tasks after the first.
        tasks: NonZeroUsize,
    },
    /// `single`: one class at a time.
    Single,
}

/// One task: its classes and where their rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its classes, as codes into the class names of the data set.
    pub classes: Vec<u32>,
    /// Rows of the training split, ascending.
    pub train: Vec<usize>,
    /// Rows of the test split, ascending.
    pub test: Vec<usize>,
}

impl Scenario {
    /// Number of tasks when none is given and there are few classes.
    pub const FEW_TASKS: usize = 5;
    /// Number of tasks when none is given and there are many classes.
    pub const MANY_TASKS: usize = 10;
    /// The fewest classes that count as many.
    pub const MANY_CLASSES: usize = 20;

    /// The scenario when none is given: even tasks, of two classes or more where there are four, and at least two, since one
    /// task alone shows nothing about what is remembered.
    pub fn for_classes(n_classes: usize) -> Self {
        let tasks = if n_classes >= Self::MANY_CLASSES {
            Self::MANY_TASKS
        } else {
            (n_classes / 2).clamp(2, Self::FEW_TASKS)
        };
        Self::Even {
            classes: None,
            tasks: NonZeroUsize::new(tasks).unwrap_or(NonZeroUsize::MIN),
        }
    }

    /// The number of classes of each task; they sum up to `n_classes`.
    pub fn task_sizes(&self, n_classes: usize) -> Result<Vec<usize>, Error> {
        match self {
            Self::Even { classes, tasks } => {
                self.check_classes(*classes, n_classes)?;
                self.deal_evenly(n_classes, tasks.get())
            }
            Self::Sizes(sizes) => self.check_sum(sizes, n_classes),
            Self::Progression(sizes) => self.progression(sizes, n_classes),
            Self::Base { base, tasks } => {
                let rest = n_classes.saturating_sub(base.get());
                Ok([vec![base.get()], self.deal_evenly(rest, tasks.get())?].concat())
            }
            Self::Single => Ok(vec![1; n_classes]),
        }
    }

    /// Deals the classes of a data set, in the order that `seed` gives them.
    pub fn tasks(&self, dataset: &Dataset, seed: u64) -> Result<Vec<Task>, Error> {
        self.tasks_in(&shuffled_classes(dataset.n_classes(), seed), dataset)
    }

    /// Deals the classes of a data set in this order.
    pub(crate) fn tasks_in(&self, order: &[u32], dataset: &Dataset) -> Result<Vec<Task>, Error> {
        let dealt = self.deal_in(order)?;
        let train = rows_by_class(&dataset.train, "training")?;
        let test = rows_by_class(&dataset.test, "test")?;
        let task = |classes: Vec<u32>| Task {
            train: rows_of(&classes, &train),
            test: rows_of(&classes, &test),
            classes,
        };
        Ok(dealt.into_iter().map(task).collect())
    }

    /// The classes of each task, as codes, in the order that `seed` gives them.
    pub fn deal(&self, n_classes: usize, seed: u64) -> Result<Vec<Vec<u32>>, Error> {
        self.deal_in(&shuffled_classes(n_classes, seed))
    }

    /// The classes of each task, in this order.
    fn deal_in(&self, order: &[u32]) -> Result<Vec<Vec<u32>>, Error> {
        let sizes = self.task_sizes(order.len())?;
        let mut order = order.iter().copied();
        Ok(sizes
            .iter()
            .map(|&size| order.by_ref().take(size).collect())
            .collect())
    }

    /// The name in tables, with the number of classes: `10/5` also when only `5` was given.
    pub fn label(&self, n_classes: usize) -> String {
        match self {
            Self::Even { tasks, .. } => format!("{n_classes}/{tasks}"),
            Self::Single => format!("{n_classes}/{n_classes}"),
            _ => self.to_string(),
        }
    }

    fn check_classes(&self, expected: Option<NonZeroUsize>, n_classes: usize) -> Result<(), Error> {
        match expected {
            Some(expected) if expected.get() != n_classes => Err(Error::Scenario(format!(
                "scenario {self} is for {expected} classes, the data set has {n_classes}: write {}",
                self.label(n_classes)
            ))),
            _ => Ok(()),
        }
    }

    fn deal_evenly(&self, n_classes: usize, n_tasks: usize) -> Result<Vec<usize>, Error> {
        if n_tasks > n_classes {
            return Err(Error::Scenario(format!(
                "scenario {self} has {} for {}: each task needs at least one class",
                counted(n_tasks, "task"),
                counted(n_classes, "class")
            )));
        }
        let (size, larger) = (n_classes / n_tasks, n_classes % n_tasks);
        Ok((0..n_tasks)
            .map(|task| size + usize::from(task < larger))
            .collect())
    }

    fn check_sum(&self, sizes: &[NonZeroUsize], n_classes: usize) -> Result<Vec<usize>, Error> {
        let sum = sum(sizes);
        if sum != n_classes {
            return Err(Error::Scenario(format!(
                "the tasks of scenario {self} have {sum} classes together, the data set has {n_classes}: \
                 both must be the same (a list may end in `,...` to go on until the classes run out)"
            )));
        }
        Ok(sizes.iter().map(|size| size.get()).collect())
    }

    fn progression(&self, given: &[NonZeroUsize], n_classes: usize) -> Result<Vec<usize>, Error> {
        let mut left = n_classes.checked_sub(sum(given)).ok_or_else(|| {
            let sum = sum(given);
            Error::Scenario(format!(
                "scenario {self} starts with {sum} classes, the data set has {n_classes}"
            ))
        })?;
        let mut sizes: Vec<usize> = given.iter().map(|size| size.get()).collect();
        while left > 0 {
            let size = next_size(&sizes).ok_or_else(|| {
                Error::Scenario(format!(
                    "scenario {self} runs down to empty tasks with {left} classes left: list the sizes of all tasks"
                ))
            })?;
            sizes.push(size.min(left));
            left -= size.min(left);
        }
        Ok(sizes)
    }
}

/// All classes, as codes, in the order that `seed` gives them.
pub(crate) fn shuffled_classes(n_classes: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n_classes as u32).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    order
}

/// The size after the last, by the last step; nothing when that would be an empty task.
fn next_size(sizes: &[usize]) -> Option<usize> {
    match *sizes {
        [.., before, last] => last
            .saturating_mul(2)
            .checked_sub(before)
            .filter(|&size| size > 0),
        [only] => Some(only),
        [] => None,
    }
}

/// Saturating, because the sizes are whatever the user typed.
fn sum(sizes: &[NonZeroUsize]) -> usize {
    sizes.iter().fold(0, |sum, size| sum.saturating_add(size.get()))
}

/// The rows of each class; a class without any is refused.
fn rows_by_class(split: &Split, which: &str) -> Result<Vec<Vec<usize>>, Error> {
    let mut rows = vec![Vec::new(); split.y.names().len()];
    for (row, &class) in split.y.codes().iter().enumerate() {
        rows[class as usize].push(row);
    }
    match rows.iter().zip(split.y.names()).find(|(rows, _)| rows.is_empty()) {
        None => Ok(rows),
        Some((_, class)) => Err(no_rows(class, which)),
    }
}

fn rows_of(classes: &[u32], rows_by_class: &[Vec<usize>]) -> Vec<usize> {
    let mut rows: Vec<usize> = classes
        .iter()
        .flat_map(|&class| &rows_by_class[class as usize])
        .copied()
        .collect();
    rows.sort_unstable();
    rows
}

impl TryFrom<String> for Scenario {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl FromStr for Scenario {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text.trim()).ok_or_else(|| {
            Error::Scenario(format!(
                "'{text}' is not a scenario: write 10/5 (classes/tasks), 5 (tasks), 10,20,30,40 (classes of each \
                 task), 2,4,6,... (and so on), B50/10 (first classes/tasks after) or single, with numbers above 0"
            ))
        })
    }
}

fn parse(text: &str) -> Option<Scenario> {
    if text == "single" {
        Some(Scenario::Single)
    } else if let Some(rest) = text.strip_prefix('B') {
        let (base, tasks) = parse_pair(rest)?;
        Some(Scenario::Base { base, tasks })
    } else if let Some((classes, tasks)) = parse_pair(text) {
        Some(Scenario::Even {
            classes: Some(classes),
            tasks,
        })
    } else if let Some(start) = text.strip_suffix("...") {
        Some(Scenario::Progression(parse_sizes(
            start.trim_end().strip_suffix(',')?,
        )?))
    } else if text.contains(',') {
        Some(Scenario::Sizes(parse_sizes(text)?))
    } else {
        let tasks = text.parse().ok()?;
        Some(Scenario::Even { classes: None, tasks })
    }
}

fn parse_pair(text: &str) -> Option<(NonZeroUsize, NonZeroUsize)> {
    let (first, second) = text.split_once('/')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

fn parse_sizes(text: &str) -> Option<Vec<NonZeroUsize>> {
    text.split(',').map(|size| size.trim().parse().ok()).collect()
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Even {
                classes: Some(classes),
                tasks,
            } => write!(f, "{classes}/{tasks}"),
            Self::Even { classes: None, tasks } => write!(f, "{tasks}"),
            Self::Sizes(sizes) => f.write_str(&join(sizes)),
            Self::Progression(sizes) => write!(f, "{},...", join(sizes)),
            Self::Base { base, tasks } => write!(f, "B{base}/{tasks}"),
            Self::Single => f.write_str("single"),
        }
    }
}

fn join(sizes: &[NonZeroUsize]) -> String {
    sizes
        .iter()
        .map(NonZeroUsize::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use autoactivator::{Labels, Table};
    use proptest::prelude::*;

    use super::*;

    fn sizes(text: &str, n_classes: usize) -> Result<Vec<usize>, String> {
        let scenario: Scenario = text.parse().map_err(|error: Error| error.to_string())?;
        scenario.task_sizes(n_classes).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn refused(text: &str, n_classes: usize, expected: &str) {
        let error = sizes(text, n_classes).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    /// One row per entry of `train` and `test`, each a class code.
    fn dataset(n_classes: usize, train: &[u32], test: &[u32]) -> Dataset {
        let names: Vec<String> = (0..n_classes).map(|class| class.to_string()).collect();
        let split = |codes: &[u32]| Split {
            x: Table::new(vec![0.0; codes.len()], 1).unwrap(),
            y: Labels::new(names.clone(), codes.to_vec()).unwrap(),
        };
        Dataset {
            name: "made up".into(),
            train: split(train),
            test: split(test),
            image: None,
        }
    }

    #[test]
    fn sizes_by_hand() {
        assert_eq!(sizes("10/5", 10).unwrap(), [2; 5]);
        assert_eq!(sizes("5", 10).unwrap(), [2; 5]);
        assert_eq!(sizes("10/4", 10).unwrap(), [3, 3, 2, 2]);
        assert_eq!(sizes("10/10", 10).unwrap(), [1; 10]);
        assert_eq!(sizes("single", 3).unwrap(), [1; 3]);
        assert_eq!(sizes("10, 20,30,40", 100).unwrap(), [10, 20, 30, 40]);
        assert_eq!(
            sizes("2,4,6,...", 100).unwrap(),
            [2, 4, 6, 8, 10, 12, 14, 16, 18, 10]
        );
        assert_eq!(sizes("2,4,...", 6).unwrap(), [2, 4]);
        assert_eq!(sizes("3,...", 7).unwrap(), [3, 3, 1]);
        assert_eq!(sizes("B50/10", 100).unwrap(), [vec![50], vec![5; 10]].concat());
    }

    /// The first sizes are those of digits, MNIST and FashionMNIST, the last those of CIFAR-100.
    #[test]
    fn a_scenario_that_nobody_chose_has_several_tasks() {
        let sizes = |n_classes| Scenario::for_classes(n_classes).task_sizes(n_classes).unwrap();
        assert_eq!(sizes(10), [2; 5]);
        assert_eq!(sizes(2), [1, 1]);
        assert_eq!(sizes(3), [2, 1]);
        assert_eq!(sizes(4), [2, 2]);
        assert_eq!(sizes(5), [3, 2]);
        assert_eq!(sizes(7), [3, 2, 2]);
        assert_eq!(sizes(19), [4, 4, 4, 4, 3]);
        assert_eq!(sizes(26), [3, 3, 3, 3, 3, 3, 2, 2, 2, 2]);
        assert_eq!(sizes(100), [10; 10]);
    }

    #[test]
    fn impossible_scenarios_say_why() {
        refused("11", 10, "11 tasks for 10 classes");
        refused("100/5", 10, "write 10/5");
        refused("10,20", 100, "30 classes together, the data set has 100");
        refused("60,60,...", 100, "starts with 120 classes");
        refused("6,4,2,...", 20, "empty tasks with 8 classes left");
        refused("B10/1", 10, "1 task for 0 classes");
        refused("B8/3", 10, "3 tasks for 2 classes");
        refused(
            &format!("{},{}", usize::MAX, usize::MAX),
            10,
            "the data set has 10",
        );
        for text in [
            "", "0", "10/0", "0/5", "B/5", "B50", "1,,2", "...", ",...", "-1", "five", "1/2/3", "2,4...",
        ] {
            refused(text, 10, "is not a scenario");
        }
    }

    #[test]
    fn labels_name_the_number_of_classes() {
        let label = |text: &str| text.parse::<Scenario>().unwrap().label(10);
        assert_eq!(label("5"), "10/5");
        assert_eq!(label("single"), "10/10");
        assert_eq!(label("B4/3"), "B4/3");
        assert_eq!(label("1,2,..."), "1,2,...");
    }

    #[test]
    fn a_class_without_rows_is_named() {
        let single = Scenario::Single;
        let error = single
            .tasks(&dataset(3, &[0, 2], &[0, 1, 2]), 0)
            .unwrap_err()
            .to_string();
        assert!(error.contains("class '1' has no training rows"), "{error}");
        let error = single
            .tasks(&dataset(3, &[0, 1, 2], &[0, 1]), 0)
            .unwrap_err()
            .to_string();
        assert!(error.contains("class '2' has no test rows"), "{error}");
    }

    #[test]
    fn a_seed_fixes_the_order_of_classes() {
        let codes: Vec<u32> = (0..20).collect();
        let data = dataset(20, &codes, &codes);
        let deal = |seed| Scenario::Single.tasks(&data, seed).unwrap();
        assert_eq!(deal(7), deal(7));
        assert_ne!(deal(7), deal(8));
    }

    fn any_scenario() -> impl Strategy<Value = Scenario> {
        let size = || (1..30_usize).prop_map(|size| NonZeroUsize::new(size).unwrap());
        let list = || prop::collection::vec(size(), 2..6);
        prop_oneof![
            (prop::option::of(size()), size()).prop_map(|(classes, tasks)| Scenario::Even { classes, tasks }),
            list().prop_map(Scenario::Sizes),
            list().prop_map(Scenario::Progression),
            (size(), size()).prop_map(|(base, tasks)| Scenario::Base { base, tasks }),
            Just(Scenario::Single),
        ]
    }

    proptest! {
        #[test]
        fn text_and_scenario_are_the_same(scenario in any_scenario()) {
            prop_assert_eq!(scenario.to_string().parse::<Scenario>().unwrap(), scenario);
        }

        #[test]
        fn sizes_are_positive_and_sum_up(scenario in any_scenario(), n_classes in 1..100_usize) {
            if let Ok(sizes) = scenario.task_sizes(n_classes) {
                prop_assert_eq!(sizes.iter().sum::<usize>(), n_classes);
                prop_assert!(sizes.iter().all(|&size| size > 0));
            }
        }

        #[test]
        fn every_class_and_row_is_dealt_once(n_classes in 2..30_u32, n_tasks in 1..30_usize, seed: u64) {
            prop_assume!(n_tasks <= n_classes as usize);
            let codes: Vec<u32> = (0..3 * n_classes).map(|row| row % n_classes).collect();
            let data = dataset(n_classes as usize, &codes, &codes[..n_classes as usize]);
            let scenario = Scenario::Even { classes: None, tasks: NonZeroUsize::new(n_tasks).unwrap() };
            let tasks = scenario.tasks(&data, seed).unwrap();
            let sorted = |mut all: Vec<usize>| { all.sort_unstable(); all };
            let classes = tasks.iter().flat_map(|task| &task.classes).map(|&class| class as usize).collect();
            let train = tasks.iter().flat_map(|task| task.train.clone()).collect();
            let test = tasks.iter().flat_map(|task| task.test.clone()).collect();
            prop_assert_eq!(sorted(classes), (0..n_classes as usize).collect::<Vec<_>>());
            prop_assert_eq!(sorted(train), (0..codes.len()).collect::<Vec<_>>());
            prop_assert_eq!(sorted(test), (0..n_classes as usize).collect::<Vec<_>>());
            for task in &tasks {
                prop_assert!(task.train.iter().all(|&row| task.classes.contains(&codes[row])));
            }
        }
    }
}
