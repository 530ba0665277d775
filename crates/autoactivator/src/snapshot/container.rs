//! The container of every model file: named tensors and one JSON description, under a checksum.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::FORMAT_VERSION;
use crate::linalg::Matrix;

/// The one metadata entry; one, because a map of several has no fixed order and the bytes must have one.
const ENTRY: &str = "autoactivator";

/// What stands in place of the checksum while it is computed.
const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Tensors and their description.
#[derive(Debug)]
pub struct Container {
    /// Kind of learner.
    pub learner: String,
    /// Everything that is not a tensor.
    pub description: Value,
    tensors: Vec<(String, Tensor)>,
}

#[derive(Debug, PartialEq)]
struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    format_version: u32,
    written_by: String,
    sha256: String,
    learner: String,
    description: Value,
}

impl Container {
    /// An empty container for a learner of this kind.
    pub fn new(learner: &str, description: Value) -> Self {
        Self {
            learner: learner.to_owned(),
            description,
            tensors: Vec::new(),
        }
    }

    /// Adds a matrix; it is stored transposed, `(n_cols, n_rows)` row after row, which is the same bytes.
    pub fn put_f32(&mut self, name: String, matrix: &Matrix<f32>) {
        let bytes = matrix.values().iter().flat_map(|v| v.to_le_bytes()).collect();
        self.put(name, Dtype::F32, vec![matrix.n_cols(), matrix.n_rows()], bytes);
    }

    /// Adds a list of numbers.
    pub fn put_f64(&mut self, name: String, values: &[f64]) {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.put(name, Dtype::F64, vec![values.len()], bytes);
    }

    fn put(&mut self, name: String, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) {
        self.tensors.push((name, Tensor { dtype, shape, bytes }));
    }

    /// The finite matrix `name`.
    pub fn matrix_f32(&self, name: &str) -> Result<Matrix<f32>, String> {
        let tensor = self.get(name, Dtype::F32)?;
        let &[n_cols, n_rows] = tensor.shape.as_slice() else {
            return Err(format!("tensor '{name}' is not a matrix"));
        };
        let values: Vec<f32> = tensor
            .bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect();
        if !values.iter().all(|v| v.is_finite()) {
            return Err(format!("tensor '{name}' holds values that are not finite"));
        }
        Matrix::from_columns(values, n_rows, n_cols)
            .ok_or_else(|| format!("tensor '{name}' has the wrong size"))
    }

    /// The finite numbers `name`.
    pub fn list_f64(&self, name: &str) -> Result<Vec<f64>, String> {
        let tensor = self.get(name, Dtype::F64)?;
        let values: Vec<f64> = tensor
            .bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect();
        if !values.iter().all(|v| v.is_finite()) {
            return Err(format!("tensor '{name}' holds values that are not finite"));
        }
        Ok(values)
    }

    fn get(&self, name: &str, dtype: Dtype) -> Result<&Tensor, String> {
        let found = self.tensors.iter().find(|(n, _)| n == name);
        let (_, tensor) = found.ok_or_else(|| format!("tensor '{name}' is missing"))?;
        if tensor.dtype != dtype {
            return Err(format!("tensor '{name}' is {:?}, not {dtype:?}", tensor.dtype));
        }
        Ok(tensor)
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let entry = Entry {
            format_version: FORMAT_VERSION,
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            sha256: BLANK.to_owned(),
            learner: self.learner.clone(),
            description: self.description.clone(),
        };
        let text = serde_json::to_string(&entry).unwrap_or_default();
        let metadata = HashMap::from([(ENTRY.to_owned(), text)]);
        let views = self.tensors.iter().filter_map(|(name, tensor)| {
            let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes).ok()?;
            Some((name.clone(), view))
        });
        let mut bytes = safetensors::serialize(views, Some(metadata)).unwrap_or_default();
        if let Some(at) = find(&bytes, BLANK) {
            let digest = digest(&bytes, at);
            bytes[at..at + BLANK.len()].copy_from_slice(digest.as_bytes());
        }
        bytes
    }

    /// Reads the bytes of a file, or says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let damaged =
            |e: safetensors::SafeTensorError| format!("it is truncated, damaged or of another kind ({e})");
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let file = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let text = header.metadata().as_ref().and_then(|m| m.get(ENTRY));
        let text = text.ok_or("it was not written by AutoActivator")?;
        let version = serde_json::from_str::<Value>(text)
            .ok()
            .and_then(|v| v["format_version"].as_u64());
        if version.is_some_and(|v| v > u64::from(FORMAT_VERSION)) {
            return Err(format!(
                "it has format version {}, this program reads up to {FORMAT_VERSION}: use a newer AutoActivator",
                version.unwrap_or_default()
            ));
        }
        let entry: Entry =
            serde_json::from_str(text).map_err(|e| format!("its description is damaged ({e})"))?;
        verify(bytes, &entry.sha256)?;
        let tensors = file.tensors().into_iter().map(|(name, view)| {
            let tensor = Tensor {
                dtype: view.dtype(),
                shape: view.shape().to_vec(),
                bytes: view.data().to_vec(),
            };
            (name, tensor)
        });
        Ok(Self {
            learner: entry.learner,
            description: entry.description,
            tensors: tensors.collect(),
        })
    }
}

fn verify(bytes: &[u8], expected: &str) -> Result<(), String> {
    let at = find(bytes, expected).filter(|_| expected.len() == BLANK.len());
    match at {
        Some(at) if digest(bytes, at) == expected => Ok(()),
        _ => Err("its checksum does not match: it is damaged, take a copy that is not".to_owned()),
    }
}

/// SHA-256 of the file with the checksum at `at` blanked.
fn digest(bytes: &[u8], at: usize) -> String {
    let mut sha = Sha256::new();
    sha.update(&bytes[..at]);
    sha.update(BLANK);
    sha.update(&bytes[at + BLANK.len()..]);
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn find(bytes: &[u8], text: &str) -> Option<usize> {
    bytes
        .windows(text.len().max(1))
        .position(|window| window == text.as_bytes())
}
