//! Why a row is answered as it is: what the nodes of each task say, or how far each unit is from waking.

use serde::{Serialize, Serializer};

use super::Learned;
use super::answer::{class_of, judged};
use super::task::Task;
use crate::consolidation::Deployed;
use crate::data::Rows;
use crate::error::Error;
use crate::learner::Learner;
use crate::reactivation::Reactivation;

/// Most nodes that are shown one by one.
const NODES_SHOWN: usize = 512;

/// How one row is judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Explanation {
    /// By evidence of nodes.
    Consolidation {
        /// The class; none for "unknown".
        class: Option<String>,
        /// Probability of every class.
        #[serde(serialize_with = "by_class")]
        probabilities: Vec<(String, f32)>,
        /// What the nodes of each task say.
        groups: Vec<TaskEvidence>,
        /// What single nodes say about the class that is answered.
        nodes: Vec<NodeEvidence>,
    },
    /// By the unit that wakes.
    Reactivation {
        /// The class.
        class: Option<String>,
        /// Probability of every class.
        #[serde(serialize_with = "by_class")]
        probabilities: Vec<(String, f32)>,
        /// How near each unit is to waking.
        units: Vec<UnitEvidence>,
    },
}

/// What the nodes that one task recruited say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskEvidence {
    /// Task, from 1.
    pub task: usize,
    /// Nodes that it recruited.
    pub nodes: usize,
    /// Classes that it brought.
    pub classes: Vec<String>,
    /// Their part of the score of every class.
    #[serde(serialize_with = "by_class")]
    pub evidence: Vec<(String, f32)>,
}

/// What one node says about the class that is answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeEvidence {
    /// Task that recruited it, from 1.
    pub task: usize,
    /// Its output.
    pub output: f32,
    /// Output times weight.
    pub evidence: f32,
}

/// How near one unit is to waking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitEvidence {
    /// Task that grew it, from 1.
    pub task: usize,
    /// Its nodes.
    pub nodes: usize,
    /// Its classes.
    pub classes: Vec<String>,
    /// How sure it is of its own rows, on average.
    pub threshold: f64,
    /// How sure it is of this one.
    pub given: f64,
    /// The distance between the two, Eq. (threshold_dis).
    pub distance: f64,
    /// Whether it wakes.
    pub awake: bool,
}

/// Evidence of the nodes that each task recruited, and node by node for the class that is answered.
pub(super) fn by_nodes(
    model: &dyn Learned,
    deployed: &Deployed,
    tasks: Vec<Task>,
    row: &[f32],
    reject: f64,
) -> Result<Explanation, Error> {
    let contributions = deployed.contributions(row)?;
    let (answer, winner) = judged(model, row, reject)?;
    let classes = model.classes();
    let n_nodes = contributions.outputs.len();
    let (mut groups, mut nodes) = (Vec::new(), Vec::new());
    let mut start = 0;
    for task in tasks {
        let end = (start + task.nodes).min(n_nodes);
        let sum = |c: usize| contributions.evidence.col(c)[start..end].iter().sum::<f32>();
        groups.push(TaskEvidence {
            task: task.task,
            nodes: end - start,
            classes: task.classes,
            evidence: (0..classes.len()).map(|c| (classes[c].clone(), sum(c))).collect(),
        });
        let shown = (start..end).take(NODES_SHOWN.saturating_sub(nodes.len()));
        nodes.extend(shown.map(|j| NodeEvidence {
            task: task.task,
            output: contributions.outputs[j],
            evidence: contributions.evidence[(j, winner)],
        }));
        start = end;
    }
    Ok(Explanation::Consolidation {
        class: class_of(classes, &answer).map(str::to_owned),
        probabilities: classes.iter().cloned().zip(answer.probabilities).collect(),
        groups,
        nodes,
    })
}

/// What the row gives each unit, beside the threshold that would wake it.
pub(super) fn by_units(learner: &Reactivation, row: &[f32]) -> Result<Explanation, Error> {
    let awakening = learner.reactivate(Rows::new(row, row.len())?)?;
    let (answer, _) = judged(learner, row, 0.0)?;
    let classes = Learner::classes(learner);
    let units = learner.units().iter().enumerate().map(|(u, unit)| UnitEvidence {
        task: unit.growth.task,
        nodes: unit.n_nodes(),
        classes: unit.growth.classes.clone(),
        threshold: unit.threshold,
        given: awakening.given[u],
        distance: awakening.distances[u],
        awake: u == awakening.unit,
    });
    Ok(Explanation::Reactivation {
        class: class_of(classes, &answer).map(str::to_owned),
        probabilities: classes.iter().cloned().zip(answer.probabilities).collect(),
        units: units.collect(),
    })
}

/// Numbers under the names of their classes.
fn by_class<S: Serializer>(numbers: &[(String, f32)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(numbers.iter().map(|(class, number)| (class, number)))
}
