//! How many test rows of each class are right? [`Marks`], which figures over tasks and over classes come from.
//!
//! [`protocol::examine`](crate::protocol::examine) gives them. A mean over tasks counts a task of five classes as much as
//! a task of sixty; a mean over classes does not, nor does it count a class by its number of rows.
//!
//! ```
//! use autoactivator_exam::marks::{Mark, Marks};
//!
//! let mark = |right, of| Mark { right, of };
//! let marks = Marks { tasks: vec![vec![mark(9, 10), mark(0, 30)], vec![mark(5, 5)]] };
//! assert_eq!(marks.by_task(), [22.5, 100.0]);
//! assert_eq!(marks.balanced(), (90.0 + 0.0 + 100.0) / 3.0);
//! ```

use crate::metrics::mean;

/// The test rows of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Rows that are right.
    pub right: usize,
    /// Rows in all.
    pub of: usize,
}

/// One exam: a mark for each class of each task, in order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The marks of each task.
    pub tasks: Vec<Vec<Mark>>,
}

impl Mark {
    /// Percentage of rows that are right; 0 where there is no row.
    pub fn percent(self) -> f64 {
        100.0 * self.right as f64 / self.of.max(1) as f64
    }
}

impl Marks {
    /// Percentage of each task's rows that are right.
    pub fn by_task(&self) -> Vec<f64> {
        let whole = |marks: &Vec<Mark>| {
            let sum = |of: fn(&Mark) -> usize| marks.iter().map(of).sum();
            Mark {
                right: sum(|mark| mark.right),
                of: sum(|mark| mark.of),
            }
        };
        self.tasks.iter().map(|marks| whole(marks).percent()).collect()
    }

    /// Percentage of each class's rows that are right.
    pub fn by_class(&self) -> Vec<f64> {
        self.tasks.iter().flatten().map(|mark| mark.percent()).collect()
    }

    /// Balanced accuracy: the mean of the classes' percentages.
    pub fn balanced(&self) -> f64 {
        mean(self.by_class().into_iter())
    }
}
