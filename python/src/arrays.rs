//! NumPy arrays in and out: rows are borrowed from the caller's memory, results are bytes for NumPy to wrap.

use autoactivator::{Labels, Rows};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::error::raise;

/// A C-contiguous array, borrowed for as long as this lives.
pub struct Array<T: Element>(PyBuffer<T>);

impl<'a, 'py, T: Element> FromPyObject<'a, 'py> for Array<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::get(&object)?;
        if buffer.is_c_contiguous() {
            Ok(Self(buffer))
        } else {
            Err(PyTypeError::new_err("the array is not C-contiguous"))
        }
    }
}

impl<T: Element> Array<T> {
    fn values(&self) -> &[T] {
        let n_values = self.0.item_count();
        if n_values == 0 {
            return &[];
        }
        // SAFETY: the buffer holds this many values of this type, contiguous and aligned (`PyBuffer::get` and
        // `is_c_contiguous` have checked all of this), and keeps them alive. As with every library that releases the
        // GIL while it reads an array, nobody may write to the array meanwhile.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast(), n_values) }
    }
}

impl Array<f32> {
    /// The rows of a matrix, not copied.
    pub fn rows(&self, py: Python<'_>) -> PyResult<Rows<'_>> {
        let &[_, n_features] = self.0.shape() else {
            return Err(PyTypeError::new_err("the array is not a matrix"));
        };
        Rows::new(self.values(), n_features).map_err(|error| raise(py, &error))
    }
}

impl Array<u32> {
    /// Labels as codes into these class names, of rows with these weights.
    pub fn labels(
        &self,
        py: Python<'_>,
        names: Vec<String>,
        weights: Option<&Array<f64>>,
    ) -> PyResult<Labels> {
        let labels = Labels::new(names, self.values().to_vec()).and_then(|labels| match weights {
            Some(weights) => labels.weighed(weights.values().to_vec()),
            None => Ok(labels),
        });
        labels.map_err(|error| raise(py, &error))
    }
}

/// The bytes of unsigned numbers.
pub fn codes(py: Python<'_>, codes: &[u32]) -> PyResult<Py<PyByteArray>> {
    bytes(py, codes.len(), codes.iter().map(|code| code.to_ne_bytes()))
}

/// The bytes of numbers in single precision.
pub fn singles(py: Python<'_>, numbers: &[f32]) -> PyResult<Py<PyByteArray>> {
    bytes(
        py,
        numbers.len(),
        numbers.iter().map(|number| number.to_ne_bytes()),
    )
}

/// The bytes of numbers in double precision.
pub fn doubles(py: Python<'_>, numbers: &[f64]) -> PyResult<Py<PyByteArray>> {
    bytes(
        py,
        numbers.len(),
        numbers.iter().map(|number| number.to_ne_bytes()),
    )
}

fn bytes<const N: usize>(
    py: Python<'_>,
    len: usize,
    values: impl Iterator<Item = [u8; N]>,
) -> PyResult<Py<PyByteArray>> {
    let array = PyByteArray::new_with(py, len * N, |bytes| {
        for (place, value) in bytes.chunks_exact_mut(N).zip(values) {
            place.copy_from_slice(&value);
        }
        Ok(())
    })?;
    Ok(array.unbind())
}
