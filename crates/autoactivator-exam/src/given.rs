//! Why does a unit wake for rows of another task? Under the paper's gate, what counts is how near the *given* threshold
//! of a unit, its mean certainty over a group, is to the threshold of its own training rows.
//!
//! [`given`] learns the tasks of one class order and asks every unit about groups of every task.
//!
//! ```
//! use autoactivator::{Check, ReactivationParams};
//! use autoactivator_data::dataset;
//! use autoactivator_exam::given::given;
//!
//! let digits = dataset::open("digits", None)?.thinned(300, 200);
//! let params = ReactivationParams { t_max: 5, l_max: 20, ..ReactivationParams::default() };
//! let order = given(&digits, &"10/2".parse()?, params.check()?, 10, &mut ())?;
//! assert_eq!((order.thresholds.len(), order.tasks.len()), (2, 2));
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use autoactivator::{Checked, Error as MethodError, Learner, Reactivation, ReactivationParams, Rows};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::record::Stat;
use crate::run::{Progress, Relay};
use crate::scenario::Scenario;
use autoactivator_data::dataset::Dataset;

/// What every unit makes of every task, in one class order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Order {
    /// The seed of the order.
    pub seed: u64,
    /// threshold(t) of each unit, from its training rows.
    pub thresholds: Vec<f64>,
    /// The test rows of each task.
    pub tasks: Vec<Groups>,
}

/// What units make of the test rows of one task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Groups {
    /// The given threshold of each unit, over all rows of the task.
    pub given: Vec<f64>,
    /// How much the given threshold of each unit varies among small groups: the sample deviation.
    pub spread: Vec<f64>,
    /// The unit that all rows together wake.
    pub awake: usize,
}

impl Order {
    /// The tasks whose rows, all together, wake the unit of another task.
    pub fn lost(&self) -> impl Iterator<Item = usize> {
        let tasks = self.tasks.iter().enumerate();
        tasks.filter(|(t, groups)| groups.awake != *t).map(|(t, _)| t)
    }

    /// The tasks for which a wrong unit is given its own threshold to within what small groups vary by in the right unit:
    /// such a group may wake either.
    pub fn doubtful(&self) -> impl Iterator<Item = usize> {
        let is_doubtful = |t: usize, groups: &Groups| {
            let distances = self.thresholds.iter().zip(&groups.given);
            let mut wrong = distances.enumerate().filter(|(unit, _)| *unit != t);
            wrong.any(|(_, (threshold, given))| (threshold - given).abs() < groups.spread[t])
        };
        let tasks = self.tasks.iter().enumerate();
        tasks
            .filter(move |(t, groups)| is_doubtful(*t, groups))
            .map(|(t, _)| t)
    }
}

/// Learns all tasks in the order of the parameters' seed, and asks every unit about groups of `size` test rows.
pub fn given(
    dataset: &Dataset,
    scenario: &Scenario,
    params: Checked<ReactivationParams>,
    size: usize,
    progress: &mut dyn Progress,
) -> Result<Order, Error> {
    let seed = params.seed;
    let tasks = scenario.tasks(dataset, seed)?;
    let mut learner = Reactivation::new(params);
    for (t, task) in tasks.iter().enumerate() {
        progress.task("thresholds", seed, t + 1, tasks.len());
        let x = dataset.train.x.rows().gather(&task.train);
        let y = dataset.train.y.gather(&task.train);
        learner.learn(x.rows(), &y, &mut Relay(progress))?;
        if progress.interrupted() {
            return Err(MethodError::Interrupted.into());
        }
    }
    let groups = |test: &[usize]| groups(&learner, dataset.test.x.rows().gather(test).rows(), size);
    let tasks = tasks.iter().map(|task| groups(&task.test));
    Ok(Order {
        seed,
        thresholds: learner.units().iter().map(|unit| unit.threshold).collect(),
        tasks: tasks.collect::<Result<_, Error>>()?,
    })
}

fn groups(learner: &Reactivation, x: Rows<'_>, size: usize) -> Result<Groups, Error> {
    let all = learner.reactivate(x)?;
    let small = x
        .chunks(size.max(1))
        .map(|group| Ok(learner.reactivate(group)?.given));
    let small = small.collect::<Result<Vec<Vec<f64>>, Error>>()?;
    let spread = |unit: usize| {
        let values: Vec<f64> = small.iter().map(|given| given[unit]).collect();
        Stat::of(&values).std
    };
    Ok(Groups {
        spread: (0..all.given.len()).map(spread).collect(),
        given: all.given,
        awake: all.unit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_and_doubtful_tasks_by_hand() {
        let groups = |given: [f64; 2], awake| Groups {
            given: given.to_vec(),
            spread: vec![0.02, 0.02],
            awake,
        };
        let order = Order {
            seed: 0,
            thresholds: vec![0.2, 0.1],
            tasks: vec![groups([0.19, 0.11], 0), groups([0.23, 0.05], 0)],
        };
        assert_eq!(order.lost().collect::<Vec<usize>>(), [1]);
        assert_eq!(order.doubtful().collect::<Vec<usize>>(), [0]);
    }
}
