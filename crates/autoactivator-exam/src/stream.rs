//! How does a learner do while it learns? A stream of rows without tasks: each is predicted before it is learned.
//!
//! Nobody says where a task ends. A class begins with its task, and from then on its rows come back at any time
//! ([`rows`]). The learner is shown some rows at a time, all of them predicted before any of them is learned. Rows of
//! classes that it knows and first sights of a class, which no learner can name, are counted apart, in [`Window`]s.
//!
//! ```
//! use autoactivator_data::dataset;
//! use autoactivator_exam::experiment::Experiment;
//!
//! let text = "learners = ['streaming-lda']\nprotocols = ['instance']\nseeds = 1\nstream = 20";
//! let digits = dataset::open("digits", None)?;
//! let record = Experiment::parse(text, &[])?.exam(&digits)?.run(&mut ())?;
//! let run = &record.results[0].runs[0];
//! let rows: usize = run.stream.iter().map(|window| window.known + window.first_sights).sum();
//! assert_eq!(rows, 1438);
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use std::num::NonZeroUsize;
use std::time::Instant;

use autoactivator::{Labels, Learner, Rows};
use autoactivator_data::dataset::Dataset;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::run::{Progress, Relay};
use crate::scenario::Task;
use crate::supply::Order;

/// The most windows that a stream is cut into: points of its curve.
const MOST_WINDOWS: usize = 50;

/// What happened in one part of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Window {
    /// Rows of classes that the learner knew.
    pub known: usize,
    /// How many of these were predicted right before they were learned.
    pub right: usize,
    /// Rows of classes that it did not know yet.
    pub first_sights: usize,
}

impl Window {
    /// Everything that happened in these windows.
    pub fn sum(windows: &[Self]) -> Self {
        windows.iter().fold(Self::default(), |sum, window| Self {
            known: sum.known + window.known,
            right: sum.right + window.right,
            first_sights: sum.first_sights + window.first_sights,
        })
    }

    /// Percentage of rows of known classes that are right; 0 where there is no such row.
    pub fn percent(self) -> f64 {
        100.0 * self.right as f64 / self.known.max(1) as f64
    }
}

/// The training rows of these tasks in the order of the stream.
///
/// Rows of task `t` of `T` get a random time between `t / T` and 1: a class begins with its task, and then comes back
/// until the end. In natural order, rows come as the data has them.
pub fn rows(tasks: &[Task], order: Order, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // The streams before this one ordered the classes, drew the groups of the exam, and the rows that are learned.
    rng.set_stream(4);
    let mut timed: Vec<(f64, usize)> = Vec::new();
    for (t, task) in tasks.iter().enumerate() {
        let start = t as f64 / tasks.len() as f64;
        timed.extend(task.train.iter().map(|&row| match order {
            Order::Natural => (0.0, row),
            Order::Shuffled => (start + (1.0 - start) * rng.random::<f64>(), row),
        }));
    }
    timed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    timed.into_iter().map(|(_, row)| row).collect()
}

/// Cuts the rows of a stream into windows of about the same size, each a whole number of chunks.
pub fn windows(rows: &[usize], chunk: NonZeroUsize) -> Vec<Vec<usize>> {
    let chunks_in_window = rows.len().div_ceil(chunk.get()).div_ceil(MOST_WINDOWS).max(1);
    let in_window = chunks_in_window * chunk.get();
    rows.chunks(in_window).map(<[usize]>::to_vec).collect()
}

/// Follows a learner through one window, `chunk` rows at a time; also how many seconds it learned.
pub(crate) fn follow(
    learner: &mut dyn Learner,
    dataset: &Dataset,
    rows: &[usize],
    chunk: NonZeroUsize,
    progress: &mut dyn Progress,
) -> Result<(Window, f64), Error> {
    let (mut window, mut seconds) = (Window::default(), 0.0);
    for (nth, rows_of_chunk) in rows.chunks(chunk.get()).enumerate() {
        progress.observed(nth * chunk.get(), Some(rows.len()));
        if progress.interrupted() {
            return Err(autoactivator::Error::Interrupted.into());
        }
        let x = dataset.train.x.rows().gather(rows_of_chunk);
        let y = dataset.train.y.gather(rows_of_chunk);
        judge(learner, x.rows(), &y, &mut window)?;
        let start = Instant::now();
        learner.learn(x.rows(), &y, &mut Relay(progress))?;
        seconds += start.elapsed().as_secs_f64();
    }
    Ok((window, seconds))
}

/// Predicts rows that are yet to be learned.
fn judge(learner: &dyn Learner, x: Rows<'_>, y: &Labels, window: &mut Window) -> Result<(), Error> {
    let classes = learner.classes();
    let answers = if classes.is_empty() {
        Vec::new()
    } else {
        learner.predict(x)?
    };
    for row in 0..y.len() {
        let class = y.name(row);
        if classes.iter().any(|known| known == class) {
            let answer = answers.get(row).and_then(|&answer| classes.get(answer as usize));
            window.known += 1;
            window.right += usize::from(answer.is_some_and(|answer| answer == class));
        } else {
            window.first_sights += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use autoactivator::{Observer, Size, Table};
    use autoactivator_data::dataset::Split;

    use super::*;

    fn task(classes: &[u32], train: std::ops::Range<usize>) -> Task {
        Task {
            classes: classes.to_vec(),
            train: train.collect(),
            test: Vec::new(),
        }
    }

    #[test]
    fn a_class_begins_with_its_task_and_comes_back_until_the_end() {
        let tasks = [task(&[0], 0..400), task(&[1], 400..800)];
        let stream = rows(&tasks, Order::Shuffled, 3);
        let mut sorted = stream.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..800).collect::<Vec<usize>>());
        let first = stream.iter().position(|&row| row >= 400).unwrap();
        // Half of the first class comes in the first half of the time, alone.
        assert!((150..250).contains(&first), "{first}");
        let late = stream[600..].iter().filter(|&&row| row < 400).count();
        assert!((40..100).contains(&late), "a third of the last rows: {late}");
        assert_eq!(stream, rows(&tasks, Order::Shuffled, 3));
        assert_ne!(stream, rows(&tasks, Order::Shuffled, 4));
    }

    #[test]
    fn in_natural_order_rows_come_as_the_data_has_them() {
        let mixed = [task(&[0], 3..5), task(&[1], 0..3)];
        assert_eq!(rows(&mixed, Order::Natural, 3), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn windows_are_whole_chunks_and_not_too_many() {
        let lengths = |n: usize, chunk: usize| -> Vec<usize> {
            let rows: Vec<usize> = (0..n).collect();
            let windows = windows(&rows, NonZeroUsize::new(chunk).unwrap());
            assert_eq!(windows.concat(), rows);
            windows.iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(25, 10), [10, 10, 5]);
        assert_eq!(lengths(100, 1), [2; 50]);
        assert_eq!(lengths(0, 4), [0; 0]);
        assert_eq!(lengths(101, 1).len(), 34);
    }

    /// Answers with the class of the last row that it learned.
    #[derive(Default)]
    struct Parrot(Vec<String>, u32);

    impl Learner for Parrot {
        fn name(&self) -> &'static str {
            "parrot"
        }

        fn learn(
            &mut self,
            _: Rows<'_>,
            y: &Labels,
            _: &mut dyn Observer,
        ) -> Result<(), autoactivator::Error> {
            for row in 0..y.len() {
                let place = self.0.iter().position(|class| class == y.name(row));
                self.1 = place.unwrap_or(self.0.len()) as u32;
                if place.is_none() {
                    self.0.push(y.name(row).to_owned());
                }
            }
            Ok(())
        }

        fn n_features(&self) -> Option<usize> {
            None
        }

        fn classes(&self) -> &[String] {
            &self.0
        }

        fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, autoactivator::Error> {
            Ok(vec![self.1; x.len()])
        }

        fn predict_among(&self, x: Rows<'_>, _: &[u32]) -> Result<Vec<u32>, autoactivator::Error> {
            self.predict(x)
        }

        fn size(&self) -> Size {
            Size::default()
        }
    }

    #[test]
    fn a_stream_by_hand() {
        let split = Split {
            x: Table::new(vec![0.0; 8], 1).unwrap(),
            y: Labels::from_names(["a", "a", "b", "a", "b", "b", "c", "b"]),
        };
        let data = Dataset {
            name: "made up".into(),
            train: split.clone(),
            test: split,
            image: None,
        };
        let follow = |chunk| {
            let chunk = NonZeroUsize::new(chunk).unwrap();
            let rows: Vec<usize> = (0..8).collect();
            let (window, _) = follow(&mut Parrot::default(), &data, &rows, chunk, &mut ()).unwrap();
            (window.known, window.right, window.first_sights)
        };
        // One by one: a is new, a right, b new, a answered b, b answered a, b right, c new, b answered c.
        assert_eq!(follow(1), (5, 2, 3));
        // In pairs: two new a; b new, a right; both b answered a; c new, b right.
        assert_eq!(follow(2), (4, 2, 4));
        assert_eq!(follow(8), (0, 0, 8));
    }

    #[test]
    fn windows_add_up() {
        let window = |known, right, first_sights| Window {
            known,
            right,
            first_sights,
        };
        let sum = Window::sum(&[window(4, 1, 2), window(6, 4, 0)]);
        assert_eq!(sum, window(10, 5, 2));
        assert_eq!((sum.percent(), window(0, 0, 3).percent()), (50.0, 0.0));
    }
}
