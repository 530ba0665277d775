//! How a learner grew, task by task: the first and the newest tasks, and one entry for all those between.
//!
//! A model that is taught for years must not grow by its own history.

use serde::{Deserialize, Serialize};

use super::forward::Ended;

/// Number of first tasks, and of newest ones, that have an entry each.
const EACH: usize = 100;

/// How the learner changed in one task, or in several that share an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskGrowth {
    /// Task, from 1; the last one of several.
    pub task: usize,
    /// Number of tasks that share this entry.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub tasks: usize,
    /// Total number of rows learned by the end of the task, each counted as often as it weighs.
    pub rows: f64,
    /// Number of classes known by the end of the task.
    pub classes: usize,
    /// Names of the classes that the task brought, sorted; empty in older files, which do not record them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_classes: Vec<String>,
    /// Number of nodes that the task recruited.
    pub recruited: usize,
    /// Number of nodes after the task.
    pub nodes: usize,
    /// Why recruitment ended; none when the whole pool is read.
    pub ended: Option<Ended>,
    /// Ridge constant of the readout, relative to the mean diagonal of G.
    pub ridge: f64,
}

fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The signature is serde's.
fn is_one(tasks: &usize) -> bool {
    *tasks == 1
}

impl TaskGrowth {
    /// One entry for this task and the one after it.
    fn followed_by(self, after: Self) -> Self {
        let mut new_classes = self.new_classes;
        new_classes.extend(after.new_classes);
        new_classes.sort();
        new_classes.dedup();
        Self {
            tasks: self.tasks + after.tasks,
            new_classes,
            recruited: self.recruited + after.recruited,
            ..after
        }
    }
}

/// Number of tasks so far.
pub(super) fn n_tasks(growth: &[TaskGrowth]) -> usize {
    growth.last().map_or(0, |last| last.task)
}

/// Folds what lies between the first and the newest tasks into one entry.
pub(super) fn fold(growth: &mut Vec<TaskGrowth>) {
    if growth.len() <= 2 * EACH + 1 {
        return;
    }
    let newest = growth.split_off(growth.len() - EACH);
    let between = growth.drain(EACH..).reduce(TaskGrowth::followed_by);
    growth.extend(between);
    growth.extend(newest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(task: usize) -> TaskGrowth {
        TaskGrowth {
            task,
            tasks: 1,
            rows: 10.0 * task as f64,
            classes: task,
            new_classes: vec![format!("class {task}")],
            recruited: 2,
            nodes: 2 * task,
            ended: None,
            ridge: 0.1,
        }
    }

    fn grown(n: usize) -> Vec<TaskGrowth> {
        let mut growth = Vec::new();
        for at in 1..=n {
            growth.push(task(at));
            fold(&mut growth);
        }
        growth
    }

    #[test]
    fn few_tasks_have_an_entry_each() {
        assert_eq!(
            grown(2 * EACH + 1),
            (1..=2 * EACH + 1).map(task).collect::<Vec<_>>()
        );
    }

    #[test]
    fn many_tasks_are_folded_in_the_middle() {
        let growth = grown(1000);
        assert_eq!((growth.len(), n_tasks(&growth)), (2 * EACH + 1, 1000));
        assert_eq!(growth[..EACH], (1..=EACH).map(task).collect::<Vec<_>>());
        assert_eq!(growth[EACH + 1..], (901..=1000).map(task).collect::<Vec<_>>());
        let between = &growth[EACH];
        assert_eq!((between.task, between.tasks, between.recruited), (900, 800, 1600));
        assert_eq!(
            (between.nodes, between.classes, between.new_classes.len()),
            (1800, 900, 800)
        );
        let tasks: usize = growth.iter().map(|entry| entry.tasks).sum();
        assert_eq!(tasks, 1000);
    }

    #[test]
    fn entries_of_one_task_are_written_as_before() {
        let text = serde_json::to_string(&task(3)).unwrap();
        assert!(!text.contains("tasks"), "{text}");
        assert_eq!(serde_json::from_str::<TaskGrowth>(&text).unwrap(), task(3));
    }
}
