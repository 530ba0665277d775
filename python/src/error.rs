//! Errors of the crates as exceptions: each its own class of `autoactivator.error`, with the same message.

use std::fmt::{Debug, Display};

use pyo3::prelude::*;

/// The exception for an error of the method or of the exam.
pub fn raise(py: Python<'_>, error: &(impl Debug + Display)) -> PyErr {
    exception(py, error).unwrap_or_else(|trouble| trouble)
}

/// `NotFinite { .. }` becomes `NotFiniteError`; what has no class of its own is an `AutoActivatorError`.
fn exception(py: Python<'_>, error: &(impl Debug + Display)) -> PyResult<PyErr> {
    let variant = autoactivator::kind(error);
    let classes = py.import("autoactivator.error")?;
    let class = classes
        .getattr(format!("{variant}Error").as_str())
        .or_else(|_| classes.getattr("AutoActivatorError"))?;
    Ok(PyErr::from_value(class.call1((error.to_string(),))?))
}

/// The exception for an error of the exam: one that only carries an error of the method or of the rows is that.
pub fn raise_exam(py: Python<'_>, error: &autoactivator_exam::Error) -> PyErr {
    match error {
        autoactivator_exam::Error::Method(error) => raise(py, error),
        autoactivator_exam::Error::Features(error) => raise_features(py, error),
        error => raise(py, error),
    }
}

/// The exception for an error of rows in files.
pub fn raise_features(py: Python<'_>, error: &autoactivator_data::Error) -> PyErr {
    match error {
        autoactivator_data::Error::Method(error) => raise(py, error),
        error => raise(py, error),
    }
}
