//! How a model grew, task by task: which classes each task brought, and how many nodes.

use serde_json::{Value, json};

use super::Learned;

/// One task of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Number of the task, from 1.
    pub task: usize,
    /// Number of nodes that the task recruited.
    pub nodes: usize,
    /// Classes that the task brought, as far as that is known and they have not been dropped.
    pub classes: Vec<String>,
}

/// What the learner recorded about each task, and the classes that the task brought.
pub fn growth(model: &dyn Learned) -> Vec<Value> {
    let entries = model.growth().into_iter().zip(model.tasks());
    let with_classes = entries.map(|(mut entry, task)| {
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("new_classes".to_owned(), json!(task.classes));
        }
        entry
    });
    with_classes.collect()
}
