//! What does the accuracy matrix of an exam sum up to? Accuracy, backward transfer and forgetting.
//!
//! `R[i][t]` is the accuracy on task `t` after learning task `i`, in percent, so that row `i` has `i + 1` entries;
//! [`Marks`](crate::marks::Marks) give its rows, a [`Record`](crate::record::Record) keeps it.
//! `T` is the last task.
//!
//! ```
//! use autoactivator_exam::metrics::{aca, aia, bwt, forgetting};
//!
//! let r = [vec![90.0], vec![80.0, 100.0]];
//! assert_eq!((aca(&r), aia(&r)), (90.0, 90.0));
//! assert_eq!((bwt(&r), forgetting(&r)), (-0.1, 0.1));
//! ```

use crate::record::Stat;

/// Average classification accuracy: the mean of the last row, in percent.
pub fn aca(r: &[Vec<f64>]) -> f64 {
    r.last().map_or(0.0, |last| mean(last.iter().copied()))
}

/// Average incremental accuracy: the mean of all rows' means, in percent.
pub fn aia(r: &[Vec<f64>]) -> f64 {
    mean(r.iter().map(|row| mean(row.iter().copied())))
}

/// Backward transfer: the mean over `t < T` of `R[T][t] − R[t][t]`, as a fraction; 0 for a single task.
pub fn bwt(r: &[Vec<f64>]) -> f64 {
    let Some((last, earlier)) = r.split_last() else {
        return 0.0;
    };
    let learned = earlier.iter().filter_map(|row| row.last());
    mean(
        last.iter()
            .zip(learned)
            .map(|(end, learned)| (end - learned) / 100.0),
    )
}

/// Forgetting (Chaudhry et al., 2018): the mean over `t < T` of `max_{l < T} R[l][t] − R[T][t]`, as a fraction; 0 for a
/// single task.
///
/// The best accuracy is taken over the models before the last one, so a task that the last model does better than all
/// before it counts as negative. The last task has no earlier model and does not count.
pub fn forgetting(r: &[Vec<f64>]) -> f64 {
    let Some((last, earlier)) = r.split_last() else {
        return 0.0;
    };
    let best = |t: usize| {
        let accuracies = earlier.iter().filter_map(|row| row.get(t)).copied();
        accuracies.reduce(f64::max)
    };
    let lost = |(t, end): (usize, &f64)| Some((best(t)? - end) / 100.0);
    mean(last.iter().enumerate().filter_map(lost))
}

impl Stat {
    /// Mean and sample standard deviation; the latter is 0 for fewer than two values.
    pub fn of(values: &[f64]) -> Self {
        let mean = mean(values.iter().copied());
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let freedom = values.len().saturating_sub(1).max(1);
        Self {
            mean,
            std: (squares / freedom as f64).sqrt(),
        }
    }
}

/// The mean, 0 when there is nothing to average.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0_usize), |(sum, n), value| (sum + value, n + 1));
    sum / n.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    fn three_tasks() -> Vec<Vec<f64>> {
        vec![vec![90.0], vec![80.0, 100.0], vec![85.0, 70.0, 95.0]]
    }

    #[test]
    fn three_tasks_by_hand() {
        let r = three_tasks();
        close(aca(&r), 250.0 / 3.0);
        close(aia(&r), (90.0 + 90.0 + 250.0 / 3.0) / 3.0);
        close(bwt(&r), (-0.05 - 0.30) / 2.0);
        close(forgetting(&r), (0.05 + 0.30) / 2.0);
    }

    #[test]
    fn forgetting_compares_with_the_best_earlier_model() {
        let better = vec![vec![50.0], vec![80.0, 60.0]];
        close(bwt(&better), 0.30);
        close(forgetting(&better), -0.30);
        let r = vec![vec![50.0], vec![80.0, 60.0], vec![60.0, 60.0, 60.0]];
        close(forgetting(&r), 0.20 / 2.0);
    }

    #[test]
    fn a_single_task_forgets_nothing() {
        let r = vec![vec![75.0]];
        close(aca(&r), 75.0);
        close(aia(&r), 75.0);
        close(bwt(&r), 0.0);
        close(forgetting(&r), 0.0);
    }

    #[test]
    fn no_task_at_all_is_zero() {
        for metric in [aca, aia, bwt, forgetting] {
            close(metric(&[]), 0.0);
        }
    }

    #[test]
    fn mean_and_sample_deviation_by_hand() {
        let stat = Stat::of(&[2.0, 4.0, 6.0]);
        close(stat.mean, 4.0);
        close(stat.std, 2.0);
        assert_eq!(Stat::of(&[3.0]), Stat { mean: 3.0, std: 0.0 });
        assert_eq!(Stat::of(&[]), Stat { mean: 0.0, std: 0.0 });
    }
}
