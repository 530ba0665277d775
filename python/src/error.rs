//! Turns the crates' errors into exceptions: each has its own class in `autoactivator.error`, with the same message.

use std::fmt::{Debug, Display};

use pyo3::prelude::*;

/// The exception for an error of the method or of the exam.
pub fn raise(py: Python<'_>, error: &(impl Debug + Display)) -> PyErr {
    exception(py, error).unwrap_or_else(|trouble| trouble)
}

/// `NotFinite { .. }` becomes `NotFiniteError`; an error without a class of its own becomes an `AutoActivatorError`.
fn exception(py: Python<'_>, error: &(impl Debug + Display)) -> PyResult<PyErr> {
    let variant = autoactivator::kind(error);
    let classes = py.import("autoactivator.error")?;
    let class = classes
        .getattr(format!("{variant}Error").as_str())
        .or_else(|_| classes.getattr("AutoActivatorError"))?;
    Ok(PyErr::from_value(class.call1((error.to_string(),))?))
}

/// The exception for an error of the exam. If it wraps an error of the method or of the rows, that error is raised.
pub fn raise_exam(py: Python<'_>, error: &autoactivator_exam::Error) -> PyErr {
    match error {
        autoactivator_exam::Error::Method(error) => raise(py, error),
        autoactivator_exam::Error::Features(error) => raise_features(py, error),
        error => raise(py, error),
    }
}

/// The exception for an error in reading rows from files.
pub fn raise_features(py: Python<'_>, error: &autoactivator_data::Error) -> PyErr {
    match error {
        autoactivator_data::Error::Method(error) => raise(py, error),
        error => raise(py, error),
    }
}
