//! One model behind the estimators: learns, predicts, and is kept in the same file as the command line's.
//!
//! Many threads may predict at once; one that learns has the model for itself, and nobody sees it half learned.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use autoactivator::linalg::{Matrix, Real};
use autoactivator::{
    Binding, Check, Consolidation, ConsolidationParams, Deployed, Error, Model as CoreModel, Reactivation,
    ReactivationParams, RepeatedClasses, Rows,
};
use autoactivator_data::shard;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyTuple};
use serde::Serialize;

use crate::arrays::{Array, codes, doubles};
use crate::error::raise;
use crate::parameters;
use crate::partial::{chosen, read_partial};
use crate::work::{work, work_on_files};

/// Rows that are predicted before Python is asked for signals.
const PIECE: usize = 1 << 14;

/// What stands for "none of the classes I know" among codes.
const UNKNOWN: u32 = u32::MAX;

/// A learner of any kind.
#[pyclass(frozen, module = "autoactivator._core")]
pub struct Model(RwLock<CoreModel>);

impl Model {
    fn new(model: CoreModel) -> Self {
        Self(RwLock::new(model))
    }

    /// What was there before a panic is whole: learning replaces it at the very end.
    pub fn read(&self) -> RwLockReadGuard<'_, CoreModel> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, CoreModel> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the model about rows, some at a time.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        x: &Array<f32>,
        question: impl Fn(&CoreModel, Rows<'_>) -> Result<Vec<T>, Error> + Send + Sync,
    ) -> PyResult<Vec<T>> {
        let rows = x.rows(py)?;
        work(py, |signals| {
            let model = self.read();
            if rows.len() <= PIECE {
                return question(&model, rows);
            }
            let mut answers = Vec::new();
            for piece in rows.chunks(PIECE) {
                answers.extend(question(&model, piece)?);
                signals.go_on()?;
            }
            Ok(answers)
        })
    }

    /// Changes the memory of consolidation.
    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Consolidation) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        work(py, |_| match &mut *self.write() {
            CoreModel::Consolidation(learner) => change(learner),
            _ => Err(Error::NoMemory),
        })
    }
}

#[pymethods]
impl Model {
    /// A consolidation that has seen nothing, with parameters as JSON.
    #[staticmethod]
    fn consolidation(py: Python<'_>, parameters: &str) -> PyResult<Self> {
        let params: ConsolidationParams = parameters::read(py, parameters)?;
        let params = params.check().map_err(|e| raise(py, &e))?;
        Ok(Self::new(CoreModel::Consolidation(Consolidation::new(params))))
    }

    /// A reactivation that has seen nothing, with parameters as JSON.
    #[staticmethod]
    fn reactivation(py: Python<'_>, parameters: &str) -> PyResult<Self> {
        let params: ReactivationParams = parameters::read(py, parameters)?;
        let params = params.check().map_err(|e| raise(py, &e))?;
        Ok(Self::new(CoreModel::Reactivation(Reactivation::new(params))))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        work(py, |_| CoreModel::load(&path)).map(Self::new)
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let model = CoreModel::from_bytes(bytes).map_err(|reason| Error::BadModel {
            path: PathBuf::from("bytes"),
            reason,
        });
        model.map(Self::new).map_err(|e| raise(py, &e))
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work(py, |_| self.read().save(&path))
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.read().to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// A model is pickled as its file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let bytes = slf.get().to_bytes(py);
        (py.get_type::<Self>().getattr("from_bytes")?, (bytes,)).into_pyobject(py)
    }

    /// `consolidation`, `reactivation` or `deployed`.
    #[getter]
    fn kind(&self, py: Python<'_>) -> &'static str {
        py.detach(|| self.read().learner().name())
    }

    /// Class names in the order of their arrival.
    #[getter]
    fn classes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.read().learner().classes().to_vec())
    }

    /// Features of a row; none before the first task.
    #[getter]
    fn n_features(&self, py: Python<'_>) -> Option<usize> {
        py.detach(|| self.read().learner().n_features())
    }

    /// Parameters as JSON; null for a deployed model.
    #[getter]
    fn parameters(&self, py: Python<'_>) -> String {
        py.detach(|| match &*self.read() {
            CoreModel::Consolidation(learner) => json(learner.params()),
            CoreModel::Reactivation(learner) => json(learner.params()),
            CoreModel::Deployed(_) => json(&()),
        })
    }

    /// How it grew, one JSON object a task.
    #[getter]
    fn growth(&self, py: Python<'_>) -> String {
        py.detach(|| json(&self.read().learner().growth()))
    }

    /// How large it is, as JSON.
    #[getter]
    fn size(&self, py: Python<'_>) -> String {
        py.detach(|| json(&self.read().learner().size()))
    }

    /// Learns one task: rows, the names of its classes, and a code into these for each row.
    fn learn(&self, py: Python<'_>, x: Array<f32>, names: Vec<String>, y: Array<u32>) -> PyResult<()> {
        let (rows, labels) = (x.rows(py)?, y.labels(py, names)?);
        work(py, |signals| {
            self.write().learner_mut().learn(rows, &labels, signals)
        })
    }

    /// Whether classes that come again are accepted; for reactivation alone.
    fn accept_repeated_classes(&self, py: Python<'_>, accept: bool) {
        let choice = if accept {
            RepeatedClasses::Accept
        } else {
            RepeatedClasses::Refuse
        };
        py.detach(|| {
            if let CoreModel::Reactivation(learner) = &mut *self.write() {
                learner.set_repeated_classes(choice);
            }
        });
    }

    /// The class of each row, as the bytes of codes.
    fn predict(&self, py: Python<'_>, x: Array<f32>) -> PyResult<Py<PyByteArray>> {
        let found = self.ask(py, &x, |model, rows| model.learner().predict(rows))?;
        codes(py, &found)
    }

    /// The class of each row, so many rows at a time known to belong together; all of them without a number.
    #[pyo3(signature = (x, rows_per_group=None))]
    fn predict_groups(
        &self,
        py: Python<'_>,
        x: Array<f32>,
        rows_per_group: Option<usize>,
    ) -> PyResult<Py<PyByteArray>> {
        let rows = x.rows(py)?;
        let found = work(py, |signals| {
            let model = self.read();
            let mut found = Vec::with_capacity(rows.len());
            for group in rows.chunks(rows_per_group.unwrap_or(rows.len())) {
                found.extend(model.learner().predict_group(group)?);
                signals.go_on()?;
            }
            Ok(found)
        })?;
        codes(py, &found)
    }

    /// The class of each row, or the highest code of all where it is like the `reject` part of known rows least like
    /// their class.
    fn predict_known(&self, py: Python<'_>, x: Array<f32>, reject: f64) -> PyResult<Py<PyByteArray>> {
        let found = self.ask(py, &x, |model, rows| {
            let answers = deployed(model)?.answers(rows, reject)?;
            Ok(answers.iter().map(|a| a.class.unwrap_or(UNKNOWN)).collect())
        })?;
        codes(py, &found)
    }

    /// Scores of every class, row after row, as the bytes of doubles.
    fn scores(&self, py: Python<'_>, x: Array<f32>) -> PyResult<Py<PyByteArray>> {
        let scores = self.ask(py, &x, |model, rows| match model {
            CoreModel::Reactivation(learner) => learner.scores(rows).map(|s| row_by_row(&s)),
            model => Ok(row_by_row(&deployed(model)?.scores(rows)?)),
        })?;
        doubles(py, &scores)
    }

    /// Probabilities of every class, row after row, as the bytes of doubles.
    fn probabilities(&self, py: Python<'_>, x: Array<f32>) -> PyResult<Py<PyByteArray>> {
        let probabilities = self.ask(py, &x, |model, rows| match model {
            CoreModel::Reactivation(learner) => learner.probabilities(rows).map(|p| row_by_row(&p)),
            model => {
                let answers = deployed(model)?.answers(rows, 0.0)?;
                let all = answers.iter().flat_map(|answer| &answer.probabilities);
                Ok(all.map(|&p| f64::from(p)).collect())
            }
        })?;
        doubles(py, &probabilities)
    }

    /// Takes in what other models over the same pool have learned; what all of them learned from `base` counts once.
    #[pyo3(signature = (other, base=None))]
    fn merge(&self, py: Python<'_>, other: &Self, base: Option<&Self>) -> PyResult<()> {
        // Both are read first: each of them may be this very model.
        let other = work(py, |_| {
            let mut other = consolidation(&other.read())?;
            if let Some(base) = base {
                other.subtract(&consolidation(&base.read())?)?;
            }
            Ok(other)
        })?;
        self.change(py, |learner| learner.merge(&other))
    }

    /// Takes rows back that were learned.
    fn unlearn(&self, py: Python<'_>, x: Array<f32>, names: Vec<String>, y: Array<u32>) -> PyResult<()> {
        let (rows, labels) = (x.rows(py)?, y.labels(py, names)?);
        self.change(py, |learner| learner.unlearn(rows, &labels))
    }

    /// Forgets a class.
    fn drop_class(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.change(py, |learner| learner.drop_class(name))
    }

    /// The same pool, parameters and ledger without anything learned.
    fn pool_alone(&self, py: Python<'_>) -> PyResult<Self> {
        work(py, |_| Ok(consolidation(&self.read())?.pool_alone()))
            .map(|learner| Self::new(CoreModel::Consolidation(learner)))
    }

    /// What sums must have in common with this memory to be added, as JSON.
    #[getter]
    fn binding(&self, py: Python<'_>) -> PyResult<String> {
        work(py, |_| Ok(json(&consolidation(&self.read())?.binding()?)))
    }

    /// Refuses a binding that is not this one, and names what differs.
    fn check_binding(&self, py: Python<'_>, binding: &str) -> PyResult<()> {
        let expected: Binding =
            serde_json::from_str(binding).map_err(|e| PyValueError::new_err(e.to_string()))?;
        work(py, |_| expected.check(&consolidation(&self.read())?.binding()?))
    }

    /// The files that came as partial memories: hash and name of each.
    #[getter]
    fn ledger(&self, py: Python<'_>) -> Vec<(String, String)> {
        py.detach(|| match &*self.read() {
            CoreModel::Consolidation(learner) => owned(learner.ledger().files()),
            _ => Vec::new(),
        })
    }

    /// Makes the pool from evenly spaced rows of tables, and learns nothing yet.
    fn begin(
        &self,
        py: Python<'_>,
        tables: Vec<PathBuf>,
        label: Option<String>,
        columns: Vec<String>,
    ) -> PyResult<()> {
        let columns = chosen(label, columns);
        work_on_files(py, |signals| {
            let mut learner = consolidation(&self.read())?;
            shard::begin(&mut learner, &tables, &columns, signals)?;
            *self.write() = CoreModel::Consolidation(learner);
            Ok(())
        })
    }

    /// Learns what a partial memory holds, and says whether it held anything new; some rows of `tables` calibrate.
    fn absorb(
        &self,
        py: Python<'_>,
        partial: &[u8],
        tables: Vec<PathBuf>,
        label: Option<String>,
        columns: Vec<String>,
    ) -> PyResult<bool> {
        let (partial, columns) = (read_partial(py, partial)?, chosen(label, columns));
        work_on_files(py, |signals| {
            let mut learner = consolidation(&self.read())?;
            let rows = if tables.is_empty() {
                None
            } else {
                let rows = shard::all_labelled(&tables, &columns, &learner)?;
                Some(learner.fresh::<autoactivator_data::Error, _>(rows, signals)?)
            };
            let new = learner.absorb(&partial, rows.as_ref().map(|(x, y)| (x, y)))?;
            *self.write() = CoreModel::Consolidation(learner);
            Ok(new)
        })
    }

    /// Writes the deployed model alone.
    fn export(&self, py: Python<'_>, path: PathBuf, half: bool) -> PyResult<()> {
        work(py, |_| deployed(&self.read())?.save(&path, half))
    }

    /// The deployed model as the bytes of an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work(py, |_| Ok(deployed(&self.read())?.to_onnx()))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

fn deployed(model: &CoreModel) -> Result<&Deployed, Error> {
    match model {
        CoreModel::Consolidation(learner) => learner.deployed().ok_or(Error::NothingLearned),
        CoreModel::Deployed(deployed) => Ok(deployed),
        CoreModel::Reactivation(_) => Err(Error::NoMemory),
    }
}

fn owned<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    files
        .map(|(sha256, name)| (sha256.to_owned(), name.to_owned()))
        .collect()
}

pub fn consolidation(model: &CoreModel) -> Result<Consolidation, Error> {
    match model {
        CoreModel::Consolidation(learner) => Ok(learner.clone()),
        _ => Err(Error::NoMemory),
    }
}

fn row_by_row<T: Real>(matrix: &Matrix<T>) -> Vec<f64> {
    let row = |i| (0..matrix.n_cols()).map(move |c| matrix[(i, c)].into());
    (0..matrix.n_rows()).flat_map(row).collect()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
