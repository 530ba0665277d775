//! How a model grew, task by task: which classes each task brought, and which nodes.

use autoactivator::{Consolidation, Learner, Model};
use serde_json::{Value, json};

/// One task of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// From 1.
    pub task: usize,
    /// Nodes that it recruited.
    pub nodes: usize,
    /// Classes that it brought, as far as that is known and they have not been dropped.
    pub classes: Vec<String>,
}

/// The tasks of a model; none for a deployed one.
pub fn tasks(model: &Model) -> Vec<Task> {
    match model {
        Model::Consolidation(learner) => of_consolidation(learner),
        Model::Reactivation(learner) => {
            let units = learner.units().iter();
            let tasks = units.map(|unit| Task {
                task: unit.growth.task,
                nodes: unit.n_nodes(),
                classes: unit.growth.classes.clone(),
            });
            tasks.collect()
        }
        Model::Deployed(_) => Vec::new(),
    }
}

fn of_consolidation(learner: &Consolidation) -> Vec<Task> {
    let (mut nodes, known) = (0, learner.classes());
    let tasks = learner.task_growth().iter().map(|growth| {
        // A merge takes over nodes before it recruits: what counts is how many there were afterwards.
        let recruited = growth.nodes.saturating_sub(nodes);
        nodes = growth.nodes;
        let classes = growth.new_classes.iter().filter(|class| known.contains(class));
        Task {
            task: growth.task,
            nodes: recruited,
            classes: classes.cloned().collect(),
        }
    });
    tasks.collect()
}

/// What the learner recorded of each task, and the classes that the task brought.
pub fn growth(model: &Model) -> Vec<Value> {
    let entries = model.learner().growth().into_iter().zip(tasks(model));
    let with_classes = entries.map(|(mut entry, task)| {
        if let Some(entry) = entry.as_object_mut() {
            entry.insert("new_classes".to_owned(), json!(task.classes));
        }
        entry
    });
    with_classes.collect()
}
