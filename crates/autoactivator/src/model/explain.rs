//! Why a row is answered as it is: what the nodes of each task say, or how close each unit is to waking.

use serde::{Serialize, Serializer};

use super::Learned;
use super::answer::{class_of, judged};
use super::task::Task;
use crate::consolidation::Deployed;
use crate::data::Rows;
use crate::error::Error;
use crate::learner::Learner;
use crate::reactivation::Reactivation;

/// Largest number of nodes that are shown one by one.
const NODES_SHOWN: usize = 512;

/// Why one row is answered as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Explanation {
    /// By the evidence of nodes.
    Consolidation {
        /// The class; none for "unknown".
        class: Option<String>,
        /// Probability of every class.
        #[serde(serialize_with = "by_class")]
        probabilities: Vec<(String, f32)>,
        /// What the nodes of each task say.
        groups: Vec<TaskEvidence>,
        /// What single nodes say about the answered class.
        nodes: Vec<NodeEvidence>,
    },
    /// By the unit that wakes up.
    Reactivation {
        /// The class.
        class: Option<String>,
        /// Probability of every class.
        #[serde(serialize_with = "by_class")]
        probabilities: Vec<(String, f32)>,
        /// How close each unit is to waking.
        units: Vec<UnitEvidence>,
    },
}

impl Explanation {
    /// The same with evidence for no more than the `k` most probable classes: with many classes and tasks, most of an
    /// explanation is evidence that nobody looks at.
    #[must_use]
    pub fn of_top(mut self, k: usize) -> Self {
        if let Self::Consolidation {
            probabilities,
            groups,
            ..
        } = &mut self
        {
            let mut ranked: Vec<&(String, f32)> = probabilities.iter().collect();
            ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            let top: Vec<&str> = ranked.iter().take(k).map(|(class, _)| class.as_str()).collect();
            for group in groups {
                group.evidence.retain(|(class, _)| top.contains(&class.as_str()));
            }
        }
        self
    }
}

/// What the nodes that one task recruited say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskEvidence {
    /// Task, from 1.
    pub task: usize,
    /// Number of nodes that the task recruited.
    pub nodes: usize,
    /// Classes that the task brought.
    pub classes: Vec<String>,
    /// The nodes' contribution to the score of every class.
    #[serde(serialize_with = "by_class")]
    pub evidence: Vec<(String, f32)>,
}

/// What one node says about the answered class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeEvidence {
    /// Task that recruited the node, from 1.
    pub task: usize,
    /// Output of the node.
    pub output: f32,
    /// Output times weight: the node's contribution to the score.
    pub evidence: f32,
}

/// How close one unit is to waking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitEvidence {
    /// Task that grew the unit, from 1.
    pub task: usize,
    /// Number of nodes of the unit.
    pub nodes: usize,
    /// Classes of the unit.
    pub classes: Vec<String>,
    /// How sure the unit is of its own rows, on average.
    pub threshold: f64,
    /// How sure the unit is of this row.
    pub given: f64,
    /// The distance between the two, Eq. (threshold_dis).
    pub distance: f64,
    /// With `gate = density`, how likely the row is the unit's; this decides, not the distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub likely: Option<f64>,
    /// Whether the unit wakes.
    pub awake: bool,
}

/// The evidence of the nodes that each task recruited, and node by node for the answered class.
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

/// How sure each unit is of the row, beside the threshold that would wake it, and how likely the row is the unit's.
pub(super) fn by_units(learner: &Reactivation, row: &[f32], reject: f64) -> Result<Explanation, Error> {
    let awakening = learner.reactivate(Rows::new(row, row.len())?)?;
    let (answer, _) = judged(learner, row, reject)?;
    let classes = Learner::classes(learner);
    let units = learner.units().iter().enumerate().map(|(u, unit)| UnitEvidence {
        task: unit.growth.task,
        nodes: unit.n_nodes(),
        classes: unit.growth.classes.clone(),
        threshold: unit.threshold,
        given: awakening.given[u],
        distance: awakening.distances[u],
        likely: awakening.likely.get(u).copied(),
        awake: u == awakening.unit,
    });
    Ok(Explanation::Reactivation {
        class: class_of(classes, &answer).map(str::to_owned),
        probabilities: classes.iter().cloned().zip(answer.probabilities).collect(),
        units: units.collect(),
    })
}

/// Serialises numbers as an object keyed by class name.
fn by_class<S: Serializer>(numbers: &[(String, f32)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(numbers.iter().map(|(class, number)| (class, number)))
}
