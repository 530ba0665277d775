//! The model behind the estimators: it learns, predicts, and uses the same file format as the command line.
//!
//! Many threads may predict at once. A thread that learns has exclusive access, so nobody sees a half-learned model.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use autoactivator::consolidation::Membership;
use autoactivator::math::Matrix;
use autoactivator::model::suspect_object;
use autoactivator::{Binding, Consolidation, Error, Model as CoreModel, Rows};
use autoactivator_data::{Origin, shard};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyTuple};
use serde::Serialize;

use crate::arrays::{Array, codes, doubles};
use crate::error::raise;
use crate::partial::{chosen, read_partial};
use crate::threads::threads;
use crate::work::{Signals, work, work_on, work_on_files};

/// Number of rows that are predicted before checking Python for signals.
const PIECE: usize = 1 << 14;

/// The code for "none of the known classes".
const UNKNOWN: u32 = u32::MAX;

/// A learner of any kind.
#[pyclass(frozen, module = "autoactivator._core")]
pub struct Model {
    model: RwLock<CoreModel>,
    /// How many threads it works on; 0 for all of them.
    threads: AtomicUsize,
}

impl Model {
    fn new(model: CoreModel) -> Self {
        Self {
            model: RwLock::new(model),
            threads: AtomicUsize::new(0),
        }
    }

    /// Runs a job of the method on the model's threads.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&mut Signals) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        match self.threads.load(Ordering::Relaxed) {
            0 => work(py, job),
            n => work_on(py, &*threads(n)?, job),
        }
    }

    /// Reads the model, even after a panic: learning replaces it only at the very end, so it is always whole.
    pub fn read(&self) -> RwLockReadGuard<'_, CoreModel> {
        self.model.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, CoreModel> {
        self.model.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the model about rows, a piece at a time.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        x: &Array<f32>,
        question: impl Fn(&CoreModel, Rows<'_>) -> Result<Vec<T>, Error> + Send + Sync,
    ) -> PyResult<Vec<T>> {
        let rows = x.rows(py)?;
        self.work(py, |signals| {
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

    /// Changes the model.
    fn change(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut CoreModel) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        self.work(py, |_| change(&mut self.write()))
    }
}

#[pymethods]
impl Model {
    /// A new model of a kind, with parameters as JSON.
    #[new]
    fn begin_new(py: Python<'_>, kind: &str, parameters: &str) -> PyResult<Self> {
        let parameters =
            serde_json::from_str(parameters).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let model = CoreModel::new(kind, &parameters).map_err(|e| raise(py, &e))?;
        Ok(Self::new(model))
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        work(py, |_| CoreModel::load(&path)).map(Self::new)
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let model = CoreModel::received("bytes", bytes);
        model.map(Self::new).map_err(|e| raise(py, &e))
    }

    /// Writes a model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.work(py, |_| self.read().save(&path))
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.work(py, |_| self.read().to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Pickles a model as the bytes of its file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let bytes = slf.get().to_bytes(py)?;
        (py.get_type::<Self>().getattr("from_bytes")?, (bytes,)).into_pyobject(py)
    }

    /// `consolidation`, `reactivation` or `deployed`.
    #[getter]
    fn kind(&self, py: Python<'_>) -> &'static str {
        py.detach(|| self.read().name())
    }

    /// Sets on how many threads it works; 0 for all of them. The numbers are the same either way.
    fn set_threads(&self, threads: usize) {
        self.threads.store(threads, Ordering::Relaxed);
    }

    /// Class names in order of arrival.
    #[getter]
    fn classes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.read().classes().to_vec())
    }

    /// The places of the classes when they are sorted, as in an ONNX file.
    #[getter]
    fn sorted(&self, py: Python<'_>) -> Vec<usize> {
        py.detach(|| self.read().sorted())
    }

    /// The kind of labels that the classes are named after; None if the names tell.
    #[getter]
    fn labels(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.read().input().labels.clone())
    }

    /// Records the kind of labels that the classes are named after.
    fn set_labels(&self, py: Python<'_>, kind: Option<String>) {
        py.detach(|| self.write().set_labels(kind));
    }

    /// Where its rows come from, as JSON; None if that is not recorded.
    #[getter]
    fn origin(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.read().origin().map(json))
    }

    /// Records where its rows come from, given as JSON.
    fn set_origin(&self, py: Python<'_>, origin: &str) -> PyResult<()> {
        let origin = serde_json::from_str(origin).map_err(|e| PyValueError::new_err(e.to_string()))?;
        py.detach(|| self.write().set_origin(Some(origin)));
        Ok(())
    }

    /// Where its rows come from, for others: as JSON without the places of files, and in words.
    #[getter]
    fn public_origin(&self, py: Python<'_>) -> Option<(String, String)> {
        let origin = py.detach(|| self.read().origin().cloned())?;
        let known = serde_json::from_value::<Origin>(origin).ok()?.without_places();
        Some((json(&known), known.to_string()))
    }

    /// Number of features; none before the first task.
    #[getter]
    fn n_features(&self, py: Python<'_>) -> Option<usize> {
        py.detach(|| self.read().n_features())
    }

    /// Parameters as JSON; null for a deployed model.
    #[getter]
    fn parameters(&self, py: Python<'_>) -> String {
        py.detach(|| json(&self.read().parameters()))
    }

    /// How it grew, as JSON with one object per task.
    #[getter]
    fn growth(&self, py: Python<'_>) -> String {
        py.detach(|| json(&self.read().growth()))
    }

    /// How large it is, as JSON.
    #[getter]
    fn size(&self, py: Python<'_>) -> String {
        py.detach(|| json(&self.read().size()))
    }

    /// Learns one task, given its rows, its class names, a code into these for each row, the names of the features, and
    /// the weights of the rows. Returns what was understood: one line for people, and JSON.
    fn learn(
        &self,
        py: Python<'_>,
        x: Array<f32>,
        names: Vec<String>,
        y: Array<u32>,
        features: Option<Vec<String>>,
        weights: Option<Array<f64>>,
    ) -> PyResult<(String, String)> {
        let (rows, labels) = (x.rows(py)?, y.labels(py, names, weights.as_ref())?);
        self.work(py, |signals| {
            let mut model = self.write();
            let new = model.n_features().is_none();
            if new {
                model.input_mut().features = features;
            }
            let taught = model.teach(rows, &labels, signals);
            if new && taught.is_err() {
                model.input_mut().features = None;
            }
            taught.map(|mut receipt| {
                receipt.weighed_by = labels.weights().map(|_| "sample_weight".to_owned());
                (receipt.to_string(), json(&receipt))
            })
        })
    }

    /// Names of the features, if they have any.
    #[getter]
    fn features(&self, py: Python<'_>) -> Option<Vec<String>> {
        py.detach(|| self.read().features().map(<[String]>::to_vec))
    }

    /// The place of each of the model's features among columns of these names; None if they are in order.
    fn places(&self, py: Python<'_>, columns: Vec<String>) -> PyResult<Option<Vec<usize>>> {
        self.work(py, |_| self.read().input().places(&columns))
    }

    /// Sets parameters, given as a JSON object. A parameter that may not change is refused by name.
    fn set_parameters(&self, py: Python<'_>, parameters: &str) -> PyResult<()> {
        let asked = serde_json::from_str(parameters).map_err(|e| PyValueError::new_err(e.to_string()))?;
        self.change(py, |model| model.set_parameters(&asked))
    }

    /// The class of each row, as the bytes of codes.
    fn predict(&self, py: Python<'_>, x: Array<f32>) -> PyResult<Py<PyByteArray>> {
        let found = self.ask(py, &x, |model, rows| model.predict(rows))?;
        codes(py, &found)
    }

    /// The class of each row, where every `rows_per_group` rows are known to belong together; all rows are by default.
    #[pyo3(signature = (x, rows_per_group=None))]
    fn predict_groups(
        &self,
        py: Python<'_>,
        x: Array<f32>,
        rows_per_group: Option<usize>,
    ) -> PyResult<Py<PyByteArray>> {
        let rows = x.rows(py)?;
        let found = self.work(py, |signals| {
            let model = self.read();
            let mut found = Vec::with_capacity(rows.len());
            for group in rows.chunks(rows_per_group.unwrap_or(rows.len())) {
                found.extend(model.predict_group(group)?);
                signals.go_on()?;
            }
            Ok(found)
        })?;
        codes(py, &found)
    }

    /// How well known each row is, as the bytes of doubles.
    fn known(&self, py: Python<'_>, x: Array<f32>) -> PyResult<Py<PyByteArray>> {
        let known = self.ask(py, &x, |model, rows| model.known(rows))?;
        let known: Vec<f64> = known.into_iter().map(f64::from).collect();
        doubles(py, &known)
    }

    /// The class of each row, or `UNKNOWN` if it is stranger than all but the `reject` fraction of known rows.
    fn predict_known(&self, py: Python<'_>, x: Array<f32>, reject: f64) -> PyResult<Py<PyByteArray>> {
        let found = self.ask(py, &x, |model, rows| {
            model.check_reject(reject)?;
            let answers = model.answers(rows, reject)?;
            Ok(answers.iter().map(|a| a.class.unwrap_or(UNKNOWN)).collect())
        })?;
        codes(py, &found)
    }

    /// Groups rows that look like no known class: the groups as JSON, and the group of each row, or `UNKNOWN`.
    fn discover(&self, py: Python<'_>, x: Array<f32>) -> PyResult<(String, Py<PyByteArray>)> {
        let rows = x.rows(py)?;
        let (groups, placed) = work(py, |_| {
            let model = self.read();
            let found = model.discover(rows)?;
            let placed = found.placed.iter();
            let placed: Vec<u32> = placed
                .map(|row| row.group.map_or(UNKNOWN, |group| group as u32))
                .collect();
            Ok((serde_json::json!(&*found.groups).to_string(), placed))
        })?;
        Ok((groups, codes(py, &placed)?))
    }

    /// Scores of every class, row by row, as the bytes of doubles.
    fn scores(&self, py: Python<'_>, x: Array<f32>) -> PyResult<Py<PyByteArray>> {
        let scores = self.ask(py, &x, |model, rows| Ok(row_by_row(&model.scores(rows)?)))?;
        doubles(py, &scores)
    }

    /// Probabilities of every class, row by row, as the bytes of doubles.
    fn probabilities(&self, py: Python<'_>, x: Array<f32>) -> PyResult<Py<PyByteArray>> {
        let probabilities = self.ask(py, &x, |model, rows| Ok(row_by_row(&model.probabilities(rows)?)))?;
        doubles(py, &probabilities)
    }

    /// Adds what other models over the same pool have learned, with one solve. What `base` had learned counts once.
    #[pyo3(signature = (others, base=None))]
    fn merge(&self, py: Python<'_>, others: Vec<Py<Self>>, base: Option<&Self>) -> PyResult<()> {
        // All of them are copied first, because any of them may be this same model.
        let others: Vec<CoreModel> = others.iter().map(|other| other.get().read().clone()).collect();
        let base = base.map(|base| base.read().clone());
        self.change(py, |model| {
            model.merge(&others.iter().collect::<Vec<_>>(), base.as_ref())
        })
    }

    /// The rows whose labels are doubted, and the share of labels that is wrong, as JSON.
    fn suspect(
        &self,
        py: Python<'_>,
        x: Array<f32>,
        names: Vec<String>,
        y: Array<u32>,
        count: Option<usize>,
    ) -> PyResult<String> {
        let (rows, labels) = (x.rows(py)?, y.labels(py, names, None)?);
        work(py, |signals| {
            let model = self.read();
            let pieces = || {
                let first = (0..rows.len()).step_by(PIECE);
                let piece = |(x, first): (Rows<'_>, usize)| {
                    let places: Vec<usize> = (first..first + x.len()).collect();
                    Ok::<_, Error>((rows.gather(&places), labels.gather(&places)))
                };
                Ok::<_, Error>(rows.chunks(PIECE).zip(first).map(piece))
            };
            let found = model.suspect(pieces, Membership::LookUp, count, signals)?;
            let object = |suspect| suspect_object(model.classes(), suspect, None);
            let suspects: Vec<_> = found.rows.iter().map(object).collect();
            Ok(json(
                &serde_json::json!({ "share": found.share, "rows": suspects }),
            ))
        })
    }

    /// The rows that are most worth a label, as the bytes of codes.
    fn ask_for(&self, py: Python<'_>, x: Array<f32>, count: usize) -> PyResult<Py<PyByteArray>> {
        let rows = x.rows(py)?;
        let found = work(py, |signals| {
            let piece = |x: Rows<'_>| Ok::<_, Error>(x.gather(&(0..x.len()).collect::<Vec<usize>>()));
            let asked = self.read().ask(rows.chunks(PIECE).map(piece), count, signals)?;
            Ok(asked
                .iter()
                .map(|question| question.row as u32)
                .collect::<Vec<u32>>())
        })?;
        codes(py, &found)
    }

    /// Unlearns rows, which weigh what they weighed when they were learned.
    fn unlearn(
        &self,
        py: Python<'_>,
        x: Array<f32>,
        names: Vec<String>,
        y: Array<u32>,
        weights: Option<Array<f64>>,
    ) -> PyResult<()> {
        let (rows, labels) = (x.rows(py)?, y.labels(py, names, weights.as_ref())?);
        self.change(py, |model| model.unlearn(rows, &labels))
    }

    /// Forgets a class.
    fn drop_class(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.change(py, |model| model.drop_class(name))
    }

    /// Renames a class.
    fn rename_class(&self, py: Python<'_>, old: &str, new: &str) -> PyResult<()> {
        self.change(py, |model| model.rename_class(old, new))
    }

    /// A model with the same pool, parameters and ledger, but nothing learned.
    fn pool_alone(&self, py: Python<'_>) -> PyResult<Self> {
        self.work(py, |_| Ok(self.read().consolidation()?.pool_alone()))
            .map(|learner| Self::new(learner.into()))
    }

    /// What sums must share with this memory to be added, as JSON.
    #[getter]
    fn binding(&self, py: Python<'_>) -> PyResult<String> {
        self.work(py, |_| Ok(json(&self.read().consolidation()?.binding()?)))
    }

    /// Refuses a binding other than this model's, and names what differs.
    fn check_binding(&self, py: Python<'_>, binding: &str) -> PyResult<()> {
        let expected: Binding =
            serde_json::from_str(binding).map_err(|e| PyValueError::new_err(e.to_string()))?;
        self.work(py, |_| expected.check(&self.read().consolidation()?.binding()?))
    }

    /// The files learned from partial memories: hash and name of each.
    #[getter]
    fn ledger(&self, py: Python<'_>) -> Vec<(String, String)> {
        py.detach(|| match self.read().consolidation() {
            Ok(learner) => owned(learner.ledger().files()),
            Err(_) => Vec::new(),
        })
    }

    /// Makes the pool from evenly spaced rows of tables, without learning anything yet.
    fn begin(
        &self,
        py: Python<'_>,
        tables: Vec<PathBuf>,
        label: Option<String>,
        columns: Vec<String>,
    ) -> PyResult<()> {
        let columns = chosen(label, columns);
        work_on_files(py, |signals| {
            let mut learner = memory(&self.read())?;
            shard::begin(&mut learner, &tables, &columns, signals)?;
            *self.write() = learner.into();
            Ok(())
        })
    }

    /// Learns a partial memory, and returns whether it held anything new.
    fn absorb(&self, py: Python<'_>, partial: &[u8]) -> PyResult<bool> {
        let partial = read_partial(py, partial)?;
        self.work(py, |_| {
            let mut learner = memory(&self.read())?;
            let new = learner.absorb(&partial)?;
            *self.write() = learner.into();
            Ok(new)
        })
    }

    /// Writes only the deployed model.
    fn export(&self, py: Python<'_>, path: PathBuf, half: bool) -> PyResult<()> {
        self.work(py, |_| self.read().export(&path, half).map(|_| ()))
    }

    /// The deployed model as the bytes of an ONNX file.
    fn to_onnx<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.work(py, |_| Ok(self.read().deployed()?.to_onnx()))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

fn owned<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    files
        .map(|(sha256, name)| (sha256.to_owned(), name.to_owned()))
        .collect()
}

/// A copy of the learner with its memory, so that changes do not affect the model.
fn memory(model: &CoreModel) -> Result<Consolidation, Error> {
    model.consolidation().cloned()
}

fn row_by_row(matrix: &Matrix<f64>) -> Vec<f64> {
    let row = |i| (0..matrix.n_cols()).map(move |c| matrix[(i, c)]);
    (0..matrix.n_rows()).flat_map(row).collect()
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
