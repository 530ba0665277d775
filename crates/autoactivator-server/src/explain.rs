//! Why a row is what it is: what the nodes of each task say, or how far each unit is from waking.

use autoactivator::{Deployed, Error, Model, Reactivation, Rows};
use serde_json::{Value, json};

use crate::answer::{self, Detail, by_class, class_of, detailed};
use crate::tasks::{Task, tasks};

/// Nodes that are shown one by one at the most.
const SHOWN: usize = 512;

/// How a model judges one row, which it may call unknown.
pub(crate) fn explain(model: &Model, row: &[f32], reject: f64) -> Result<Value, Error> {
    match model {
        Model::Consolidation(learner) => {
            let deployed = learner.deployed().ok_or(Error::NothingLearned)?;
            by_nodes(model, deployed, tasks(model), row, reject)
        }
        Model::Deployed(deployed) => {
            let whole = Task {
                task: 1,
                nodes: deployed.pool.as_pool().n_nodes(),
                classes: deployed.classes.names().to_vec(),
            };
            by_nodes(model, deployed, vec![whole], row, reject)
        }
        Model::Reactivation(learner) => by_units(model, learner, row),
    }
}

/// Evidence of the nodes that each task recruited, and node by node for the class that is answered.
fn by_nodes(
    model: &Model,
    deployed: &Deployed,
    tasks: Vec<Task>,
    row: &[f32],
    reject: f64,
) -> Result<Value, Error> {
    let contributions = deployed.contributions(row)?;
    let (class, probabilities, winner) = judged(model, row, reject)?;
    let classes = model.learner().classes();
    let n_nodes = contributions.outputs.len();
    let (mut groups, mut nodes) = (Vec::new(), Vec::new());
    let mut start = 0;
    for task in tasks {
        let end = (start + task.nodes).min(n_nodes);
        let sum = |c: usize| contributions.evidence.col(c)[start..end].iter().sum::<f32>();
        let evidence: Vec<(&str, f32)> = (0..classes.len())
            .map(|c| (classes[c].as_str(), sum(c)))
            .collect();
        groups.push(json!({
            "task": task.task,
            "nodes": end - start,
            "classes": task.classes,
            "evidence": by_class(&evidence),
        }));
        let shown = (start..end).take(SHOWN.saturating_sub(nodes.len()));
        nodes.extend(shown.map(|j| {
            let evidence = contributions.evidence[(j, winner)];
            json!({ "task": task.task, "output": contributions.outputs[j], "evidence": evidence })
        }));
        start = end;
    }
    Ok(json!({
        "kind": "consolidation",
        "class": class,
        "probabilities": probabilities,
        "groups": groups,
        "nodes": nodes,
    }))
}

/// What the row gives each unit, beside the threshold that would wake it.
fn by_units(model: &Model, learner: &Reactivation, row: &[f32]) -> Result<Value, Error> {
    let awakening = learner.reactivate(Rows::new(row, row.len())?)?;
    let (class, probabilities, _) = judged(model, row, 0.0)?;
    let units = learner.units().iter().enumerate().map(|(u, unit)| {
        json!({
            "task": unit.growth.task,
            "nodes": unit.n_nodes(),
            "classes": unit.growth.classes,
            "threshold": unit.threshold,
            "given": awakening.given[u],
            "distance": awakening.distances[u],
            "awake": u == awakening.unit,
        })
    });
    Ok(json!({
        "kind": "reactivation",
        "class": class,
        "probabilities": probabilities,
        "units": units.collect::<Vec<Value>>(),
    }))
}

/// Class, probabilities, and the place of the most probable class, which is the one answered unless that is "unknown".
fn judged(model: &Model, row: &[f32], reject: f64) -> Result<(Value, Value, usize), Error> {
    let x = Rows::new(row, row.len())?;
    let answers = answer::answers(model, x, Detail::All, reject)?;
    let answer = answers.first().ok_or(Error::NothingLearned)?;
    let classes = model.learner().classes();
    let probabilities = by_class(&detailed(classes, answer, Detail::All));
    let likeliest = answer
        .probabilities
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.total_cmp(b.1));
    let winner = answer
        .class
        .map_or_else(|| likeliest.map_or(0, |(place, _)| place), |class| class as usize);
    Ok((json!(class_of(classes, answer)), probabilities, winner))
}
