//! Behind `autoactivator.cil`: the scenarios, protocols, metrics and records of the exam crate.

use std::path::{Path, PathBuf};

use autoactivator::{Labels, Table};
use autoactivator_data::dataset::{self, Dataset, Split, natural_order};
use autoactivator_exam::Error;
use autoactivator_exam::admission::Outline;
use autoactivator_exam::experiment::{Changes, Experiment, Overlay};
use autoactivator_exam::metrics::{aca, aia, bwt, forgetting};
use autoactivator_exam::protocol::Protocol;
use autoactivator_exam::scenario::{Scenario, Task};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::arrays::{Array, codes, singles};
use crate::error::{raise, raise_exam};
use crate::model::Model;
use crate::parameters;
use crate::work::{examine, work_on_files};

/// A data set in memory: its name, then features and class names for training, then for testing.
type InMemory = (String, Array<f32>, Vec<String>, Array<f32>, Vec<String>);

/// Runs an exam and returns its record as JSON. `name` is an experiment file or a data set, whose rows are read unless
/// `rows` are given. `changes` is JSON with the keys of experiment files.
#[pyfunction]
#[pyo3(signature = (name, sections, changes, data_dir=None, rows=None))]
pub fn run(
    py: Python<'_>,
    name: &str,
    sections: Vec<String>,
    changes: &str,
    data_dir: Option<PathBuf>,
    rows: Option<InMemory>,
) -> PyResult<String> {
    let changes: Changes = parameters::read(py, changes)?;
    let experiment = asked(name, &sections, &changes).map_err(|e| raise_exam(py, &e))?;
    let given = rows.map(|rows| in_memory(py, rows)).transpose()?;
    examine(py, |signals| {
        let dataset = match given {
            Some((name, train, test)) => {
                Dataset::from_rows(name.clone(), Path::new(&name), train, test, None)?
            }
            None => dataset::open(&experiment.dataset, data_dir.as_deref())?,
        };
        let mut experiment = experiment;
        experiment.admit(&Outline::of(&dataset))?;
        let record = experiment.exam(&dataset)?.run(signals)?;
        Ok(serde_json::to_string(&record).unwrap_or_default())
    })
}

/// One part of a data set in Python: the bytes of its rows, their width, and the bytes of a code for each row's class.
type Rows = (Py<PyByteArray>, usize, Py<PyByteArray>);

/// A data set by name or path: its class names, rows to learn from, and rows to be examined on.
#[pyfunction]
#[pyo3(signature = (name, data_dir=None))]
pub fn data(py: Python<'_>, name: &str, data_dir: Option<PathBuf>) -> PyResult<(Vec<String>, Rows, Rows)> {
    let found = work_on_files(py, |_| dataset::open(name, data_dir.as_deref()))?;
    let part = |part: &Split| -> PyResult<Rows> {
        let x = part.x.rows();
        Ok((
            singles(py, x.values())?,
            x.n_features(),
            codes(py, part.y.codes())?,
        ))
    };
    Ok((
        found.train.y.names().to_vec(),
        part(&found.train)?,
        part(&found.test)?,
    ))
}

/// The requested experiment, if Python can run it.
fn asked(name: &str, sections: &[String], changes: &Changes) -> Result<Experiment, Error> {
    let overlays = sections.iter().map(|section| section.parse());
    let overlays = overlays.collect::<Result<Vec<Overlay>, Error>>()?;
    let mut experiment = Experiment::named(name, &overlays)?;
    experiment.change(changes)?;
    experiment.check_is_exam()?;
    if !experiment.backbones.is_empty() {
        return Err(Error::Experiment {
            place: name.to_owned(),
            reason: format!("Python does not compute features of images: `autoactivator run {name}` does"),
        });
    }
    experiment.check()?;
    Ok(experiment)
}

type NamedRows = (Table, Vec<String>);

fn in_memory(py: Python<'_>, rows: InMemory) -> PyResult<(String, NamedRows, NamedRows)> {
    let (name, x_train, y_train, x_test, y_test) = rows;
    let (train, test) = (table(py, &x_train)?, table(py, &x_test)?);
    Ok((name, (train, y_train), (test, y_test)))
}

fn table(py: Python<'_>, x: &Array<f32>) -> PyResult<Table> {
    let rows = x.rows(py)?;
    Table::new(rows.values().to_vec(), rows.n_features()).map_err(|e| raise(py, &e))
}

/// The number of classes of each task.
#[pyfunction]
pub fn task_sizes(py: Python<'_>, scenario: &str, n_classes: usize) -> PyResult<Vec<usize>> {
    let sizes = parse::<Scenario>(py, scenario)?.task_sizes(n_classes);
    sizes.map_err(|e| raise_exam(py, &e))
}

/// The classes of each task, as indices into the given list of distinct names.
#[pyfunction]
pub fn deal(py: Python<'_>, scenario: &str, names: Vec<String>, seed: u64) -> PyResult<Vec<Vec<usize>>> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| natural_order(&names[a], &names[b]));
    let tasks = parse::<Scenario>(py, scenario)?.deal(names.len(), seed);
    let tasks = tasks.map_err(|e| raise_exam(py, &e))?;
    let places = |task: Vec<u32>| task.into_iter().map(|code| order[code as usize]).collect();
    Ok(tasks.into_iter().map(places).collect())
}

/// A protocol as written in records, and what it tells the learner.
#[pyfunction]
pub fn protocol(py: Python<'_>, protocol: &str) -> PyResult<(String, &'static str)> {
    let protocol: Protocol = parse(py, protocol)?;
    Ok((protocol.to_string(), protocol.meaning()))
}

/// ACA, AIA, BWT and forgetting of an accuracy matrix.
#[pyfunction]
pub fn metrics(accuracy: Vec<Vec<f64>>) -> (f64, f64, f64, f64) {
    (
        aca(&accuracy),
        aia(&accuracy),
        bwt(&accuracy),
        forgetting(&accuracy),
    )
}

/// The percentage of right answers for each task. `y` has a code into `names` for each row, `tasks` the codes of each
/// task.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // An exam is all of these.
pub fn accuracy(
    py: Python<'_>,
    model: &Model,
    x: Array<f32>,
    names: Vec<String>,
    y: Array<u32>,
    tasks: Vec<Vec<u32>>,
    protocol: &str,
    seed: u64,
) -> PyResult<Vec<f64>> {
    let protocol: Protocol = parse(py, protocol)?;
    let test = Split {
        x: table(py, &x)?,
        y: y.labels(py, names, None)?,
    };
    let tasks: Vec<Task> = tasks.into_iter().map(|classes| task(&test.y, classes)).collect();
    let dataset = Dataset {
        name: String::new(),
        train: test.clone(),
        test,
        image: None,
    };
    examine(py, |_| {
        autoactivator_exam::protocol::accuracy(&**model.read(), &dataset, &tasks, protocol, seed)
    })
}

fn task(y: &Labels, classes: Vec<u32>) -> Task {
    let rows = y.codes().iter().enumerate();
    let test = rows
        .filter(|(_, code)| classes.contains(code))
        .map(|(row, _)| row);
    Task {
        test: test.collect(),
        train: Vec::new(),
        classes,
    }
}

fn parse<T: std::str::FromStr<Err = Error>>(py: Python<'_>, text: &str) -> PyResult<T> {
    text.parse().map_err(|e| raise_exam(py, &e))
}
