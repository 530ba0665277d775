//! Behind `autoactivator.distributed`: what a worker sums, and how partial memories add up. They reach Python, and
//! travel between machines, as the bytes of their files.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use autoactivator::{Error, Partial, Share as CoreShare};
use autoactivator_data::{Columns, Shard, shard};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::error::raise;
use crate::model::Model;
use crate::work::{work, work_on_files};

/// The sums of one worker. It is empty once its sums have been taken.
#[pyclass(frozen, module = "autoactivator._core")]
pub struct Share(Mutex<Option<CoreShare>>);

impl Share {
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(
            &mut CoreShare,
            &mut dyn autoactivator::Observer,
        ) -> Result<T, autoactivator_data::Error>
        + Send,
    ) -> PyResult<T> {
        work_on_files(py, |signals| {
            let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            change(share.as_mut().ok_or(Error::NoPool)?, signals)
        })
    }
}

#[pymethods]
impl Share {
    /// An empty share over the pool of a model.
    #[new]
    fn new(py: Python<'_>, pool: &Model) -> PyResult<Self> {
        let share = work(py, |_| CoreShare::of(pool.read().consolidation()?))?;
        Ok(Self(Mutex::new(Some(share))))
    }

    /// Adds the rows of a file under `name`. Returns false if its content is already known.
    fn add_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        name: &str,
        label: Option<String>,
        columns: Vec<String>,
    ) -> PyResult<bool> {
        let columns = chosen(label, columns);
        self.change(py, |share, observer| {
            Shard::find(&path)?.add_to(share, name, &columns, observer)
        })
    }

    /// Adds the rows of a table without listing it as a file.
    fn add_rows(
        &self,
        py: Python<'_>,
        path: PathBuf,
        label: Option<String>,
        columns: Vec<String>,
    ) -> PyResult<()> {
        let columns = chosen(label, columns);
        self.change(py, |share, observer| {
            shard::add_rows(share, &path, &columns, observer)
        })
    }

    /// The sums, as the bytes of a partial memory.
    fn to_bytes<'py>(&self, py: Python<'py>, single: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work(py, |_| {
            let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let partial = share.take().ok_or(Error::NoPool)?.into_partial()?;
            partial.to_bytes(single)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// The sum of partial memories; a file that is in several of them counts once.
#[pyfunction]
pub fn add_up<'py>(
    py: Python<'py>,
    partials: Vec<PyBackedBytes>,
    single: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = work(py, |_| {
        let mut partials = partials.iter().map(|bytes| Partial::received("bytes", bytes));
        let mut sum = partials.next().ok_or(Error::NothingLearned)??;
        for partial in partials {
            sum.merge(&partial?)?;
        }
        sum.to_bytes(single)
    })?;
    Ok(PyBytes::new(py, &bytes))
}

/// SHA-256 of a file's content.
#[pyfunction]
pub fn sha256(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    work_on_files(py, |_| Ok(Shard::find(&path)?.sha256().to_owned()))
}

/// Which columns to read.
pub fn chosen(label: Option<String>, columns: Vec<String>) -> Columns {
    Columns {
        features: columns,
        label,
        ..Columns::default()
    }
}

/// A partial memory from its bytes.
pub fn read_partial(py: Python<'_>, bytes: &[u8]) -> PyResult<Partial> {
    Partial::received("bytes", bytes).map_err(|error| raise(py, &error))
}
