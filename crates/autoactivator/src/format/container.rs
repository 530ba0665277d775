//! The container of every model file: named tensors and one JSON description, under a checksum.
//!
//! A file is safetensors: a JSON header and raw tensors, nothing that can run. The header's one metadata entry holds
//! the format version, the description, and a SHA-256 over the whole file, so that a truncated file or a flipped byte
//! is refused, never half-loaded.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use half::f16;
use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::FORMAT_VERSION;
use crate::error::Error;
use crate::learner::{Input, Origin};
use crate::math::Matrix;

/// The only metadata entry: a map of several has no fixed order, and the bytes must have one.
const ENTRY: &str = "autoactivator";

/// Placeholder for the checksum while it is computed.
const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Number of bytes that are passed on at a time.
const PIECE: usize = 1 << 20;

/// If the largest number of a matrix is smaller, half precision leaves fewer than 64 different ones, or only zeros.
const TOO_SMALL: f32 = 64.0 / (1 << 24) as f32;

/// Tensors and their description.
#[derive(Debug, PartialEq)]
pub struct Container {
    /// Kind of learner.
    pub learner: String,
    /// What a row is.
    pub input: Input,
    description: Value,
    /// Whether matrices and lists are stored in half precision.
    half: bool,
    /// The oldest format version that has all of its content.
    version: u32,
    tensors: Vec<(String, Tensor)>,
    /// Why the content cannot be stored: the first reason found.
    refused: Option<String>,
}

#[derive(Debug, PartialEq)]
struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    content: Content,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    format_version: u32,
    written_by: String,
    sha256: String,
    learner: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    features: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<String>,
    description: Value,
}

impl Container {
    /// An empty container for a learner of this kind.
    pub fn new(learner: &str) -> Self {
        Self {
            learner: learner.to_owned(),
            input: Input::default(),
            description: Value::Null,
            half: false,
            version: 1,
            tensors: Vec::new(),
            refused: None,
        }
    }

    /// States that programs which read only versions before this one cannot read the file.
    pub fn needs_version(&mut self, version: u32) {
        self.version = self.version.max(version);
    }

    /// The oldest format version that has all of its content so far.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.iter().any(|(n, _)| n == name)
    }

    /// An empty container that stores matrices and lists in half precision.
    pub fn half(learner: &str) -> Self {
        Self {
            half: true,
            ..Self::new(learner)
        }
    }

    /// Sets the description: everything that is not a tensor.
    pub fn describe(&mut self, description: &impl Serialize) {
        match serde_json::to_value(description) {
            Ok(description) => self.description = description,
            Err(error) => self.refuse(format!("its description is not valid JSON ({error})")),
        }
    }

    /// Remembers why the content cannot be stored; [`to_bytes`](Self::to_bytes) reports it.
    fn refuse(&mut self, reason: String) {
        self.refused.get_or_insert(reason);
    }

    /// Reads the description: everything that is not a tensor.
    pub fn description<T: DeserializeOwned>(&self) -> Result<T, String> {
        T::deserialize(&self.description).map_err(|e| format!("its description is damaged ({e})"))
    }

    /// Adds a matrix. It is stored transposed, `(n_cols, n_rows)` row after row, which is the same bytes.
    pub fn put_matrix(&mut self, name: String, matrix: &Matrix<f32>) {
        let largest = matrix.values().iter().fold(0.0_f32, |most, v| most.max(v.abs()));
        if self.half && largest > 0.0 && largest < TOO_SMALL {
            self.refuse(format!(
                "'{name}' holds {largest:e} at most, which is too small for half precision: store it in single precision"
            ));
        }
        self.put_floats(name, vec![matrix.n_cols(), matrix.n_rows()], matrix.values());
    }

    /// Adds a list of numbers.
    pub fn put_list(&mut self, name: String, values: &[f32]) {
        self.put_floats(name, vec![values.len()], values);
    }

    fn put_floats(&mut self, name: String, shape: Vec<usize>, values: &[f32]) {
        if self.half {
            let halves: Vec<f16> = values.iter().map(|&v| f16::from_f32(v)).collect();
            if let Some(at) = halves.iter().position(|half| !half.is_finite()) {
                let value = values[at];
                self.refuse(format!(
                    "'{name}' holds {value:e}, which is too large for half precision: store it in single precision"
                ));
            }
            let bytes = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
            self.put(name, Dtype::F16, shape, bytes);
        } else {
            let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            self.put(name, Dtype::F32, shape, bytes);
        }
    }

    /// Adds a list of numbers that stay in single precision even where others are halved.
    pub fn put_single(&mut self, name: &str, values: &[f32]) {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.put(name.to_owned(), Dtype::F32, vec![values.len()], bytes);
    }

    /// Adds a list of numbers in double precision.
    pub fn put_f64(&mut self, name: String, values: &[f64]) {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.put(name, Dtype::F64, vec![values.len()], bytes);
    }

    /// Adds a long list of numbers that stay in their precision, and become bytes only when they are written.
    pub fn put_numbers<N: Numbers + 'static>(&mut self, name: &str, numbers: N) {
        let tensor = Tensor {
            dtype: N::Number::DTYPE,
            shape: vec![numbers.count()],
            content: Content::Numbers(Box::new(numbers)),
        };
        self.tensors.push((name.to_owned(), tensor));
    }

    fn put(&mut self, name: String, dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) {
        let content = Content::Bytes(bytes);
        self.tensors.push((
            name,
            Tensor {
                dtype,
                shape,
                content,
            },
        ));
    }

    /// Reads the matrix `name`; refuses values that are not finite.
    pub fn matrix(&self, name: &str) -> Result<Matrix<f32>, String> {
        let &[n_cols, n_rows] = self.get(name)?.shape.as_slice() else {
            return Err(format!("tensor '{name}' is not a matrix"));
        };
        let values = self.list(name)?;
        Matrix::from_columns(values, n_rows, n_cols)
            .ok_or_else(|| format!("tensor '{name}' has the wrong size"))
    }

    /// Reads the list `name`, stored in single or half precision; refuses values that are not finite.
    pub fn list(&self, name: &str) -> Result<Vec<f32>, String> {
        let tensor = self.get(name)?;
        let values: Vec<f32> = match tensor.dtype {
            Dtype::F32 => tensor
                .content
                .bytes()
                .as_chunks()
                .0
                .iter()
                .map(|b| f32::from_le_bytes(*b))
                .collect(),
            Dtype::F16 => tensor
                .content
                .bytes()
                .as_chunks()
                .0
                .iter()
                .map(|b| f16::from_le_bytes(*b).to_f32())
                .collect(),
            other => return Err(format!("tensor '{name}' is {other:?}, not a number")),
        };
        finite(name, values, |v| v.is_finite())
    }

    /// Reads the list `name` in double precision, in whichever precision it is stored; refuses values that are not finite.
    pub fn list_f64(&self, name: &str) -> Result<Vec<f64>, String> {
        let tensor = self.get(name)?;
        if tensor.dtype != Dtype::F64 {
            return Ok(self.list(name)?.into_iter().map(f64::from).collect());
        }
        let values = tensor
            .content
            .bytes()
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect();
        finite(name, values, |v: &f64| v.is_finite())
    }

    fn get(&self, name: &str) -> Result<&Tensor, String> {
        let found = self.tensors.iter().find(|(n, _)| n == name);
        found
            .map(|(_, tensor)| tensor)
            .ok_or_else(|| format!("tensor '{name}' is missing"))
    }

    /// SHA-256 of the bytes of the file.
    pub fn sha256(&self) -> Result<String, Error> {
        let mut sha = Sha256::new();
        self.write(&mut |piece| {
            sha.update(piece);
            Ok(())
        })?;
        Ok(hexadecimal(sha.finalize()))
    }

    /// The bytes of the file; the same content gives the same bytes. Fails when something cannot be stored,
    /// such as a number too large for half precision.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.write(&mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Passes the bytes of the file on, piece by piece: a large file is never in memory as a whole.
    pub fn write(&self, to: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        let storable = self.refused.clone().map_or(Ok(()), Err);
        let header = storable.and_then(|()| self.header());
        let (mut header, order) = header.map_err(|reason| Error::NotStorable { reason })?;
        let mut sha = Sha256::new();
        sha.update(&header);
        for &tensor in &order {
            self.tensors[tensor].1.content.each(&mut |piece| {
                sha.update(piece);
                Ok(())
            })?;
        }
        let digest = hexadecimal(sha.finalize());
        if let Some(at) = find(&header, BLANK) {
            header[at..at + BLANK.len()].copy_from_slice(digest.as_bytes());
        }
        to(&header)?;
        let mut tensors = order.iter().map(|&tensor| &self.tensors[tensor].1);
        tensors.try_for_each(|tensor| tensor.content.each(to))
    }

    /// The header of the file with a blank for the checksum, and the order of the tensors after it.
    fn header(&self) -> Result<(Vec<u8>, Vec<usize>), String> {
        let entry = Entry {
            format_version: self.version,
            written_by: env!("CARGO_PKG_VERSION").to_owned(),
            sha256: BLANK.to_owned(),
            learner: self.learner.clone(),
            origin: self.input.origin.clone(),
            features: self.input.features.clone(),
            labels: self.input.labels.clone(),
            description: self.description.clone(),
        };
        let text = serde_json::to_string(&entry).map_err(|e| e.to_string())?;
        let metadata = HashMap::from([(ENTRY.to_owned(), text)]);
        let tensors = self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor));
        let header = safetensors::serialize(tensors, Some(metadata)).map_err(|e| e.to_string())?;
        find(&header, BLANK).ok_or("there is no room for its checksum")?;
        // The first eight bytes are the length of the rest.
        let read: Value = serde_json::from_slice(&header[8..]).map_err(|e| e.to_string())?;
        let place = |&tensor: &usize| read[&self.tensors[tensor].0]["data_offsets"][0].as_u64();
        let mut order: Vec<usize> = (0..self.tensors.len()).collect();
        // Of two at one place, the first is empty.
        order.sort_by_key(|tensor| (place(tensor), self.tensors[*tensor].1.content.n_bytes()));
        Ok((header, order))
    }

    /// Reads the bytes of a file; the error says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        Self::from_whole(bytes.to_vec())
    }

    /// The same without a copy: tensors stay where they are in the file.
    pub fn from_whole(bytes: Vec<u8>) -> Result<Self, String> {
        let bytes = Arc::new(bytes);
        let damaged =
            |e: safetensors::SafeTensorError| format!("it is truncated, damaged or of another kind ({e})");
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(damaged)?;
        let file = SafeTensors::deserialize(&bytes).map_err(damaged)?;
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
        verify(&bytes, &entry.sha256)?;
        if is_too_large(&entry.description) {
            return Err("its description is damaged (a number is too large)".to_owned());
        }
        let tensors = file.tensors().into_iter().map(|(name, view)| {
            let tensor = Tensor {
                dtype: view.dtype(),
                shape: view.shape().to_vec(),
                content: Content::of_file(&bytes, view.data()),
            };
            (name, tensor)
        });
        Ok(Self {
            learner: entry.learner,
            input: Input {
                origin: entry.origin,
                features: entry.features,
                labels: entry.labels,
            },
            description: entry.description,
            half: false,
            version: entry.format_version,
            tensors: tensors.collect(),
            refused: None,
        })
    }
}

/// A number in single or double precision.
pub trait Number: Copy {
    /// What the file calls its precision.
    const DTYPE: Dtype;

    /// Appends the bytes of some numbers.
    fn append(numbers: &[Self], to: &mut Vec<u8>);
}

impl Number for f32 {
    const DTYPE: Dtype = Dtype::F32;

    fn append(numbers: &[Self], to: &mut Vec<u8>) {
        to.extend(numbers.iter().flat_map(|v| v.to_le_bytes()));
    }
}

impl Number for f64 {
    const DTYPE: Dtype = Dtype::F64;

    fn append(numbers: &[Self], to: &mut Vec<u8>) {
        to.extend(numbers.iter().flat_map(|v| v.to_le_bytes()));
    }
}

/// Numbers that become bytes only when they are written.
pub trait Numbers: fmt::Debug + Send + Sync {
    /// What they are.
    type Number: Number;

    /// How many there are.
    fn count(&self) -> usize;

    /// Passes all of them on, in pieces.
    fn each(&self, to: &mut dyn FnMut(&[Self::Number]));
}

/// Numbers of either precision, as bytes.
trait Bytes: fmt::Debug + Send + Sync {
    /// How many there are.
    fn n_bytes(&self) -> usize;

    /// Passes all of them on, in pieces of bounded size.
    fn each_piece(&self, to: &mut dyn FnMut(&[u8]));
}

impl<N: Numbers> Bytes for N {
    fn n_bytes(&self) -> usize {
        size_of::<N::Number>() * self.count()
    }

    fn each_piece(&self, to: &mut dyn FnMut(&[u8])) {
        let mut piece = Vec::with_capacity(2 * PIECE);
        self.each(&mut |numbers| {
            for numbers in numbers.chunks(PIECE / size_of::<N::Number>()) {
                Number::append(numbers, &mut piece);
                if piece.len() >= PIECE {
                    to(&piece);
                    piece.clear();
                }
            }
        });
        to(&piece);
    }
}

#[derive(Debug)]
enum Content {
    Bytes(Vec<u8>),
    /// Some bytes of a file.
    OfFile(Arc<Vec<u8>>, Range<usize>),
    Numbers(Box<dyn Bytes>),
}

impl Content {
    /// The bytes of `part`, which is a part of `file`.
    fn of_file(file: &Arc<Vec<u8>>, part: &[u8]) -> Self {
        let start = part.as_ptr().addr() - file.as_ptr().addr();
        Self::OfFile(Arc::clone(file), start..start + part.len())
    }

    fn n_bytes(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::OfFile(_, range) => range.len(),
            Self::Numbers(numbers) => numbers.n_bytes(),
        }
    }

    /// Passes the bytes on, in pieces.
    fn each(&self, to: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        match self {
            Self::Bytes(bytes) => to(bytes),
            Self::OfFile(file, range) => to(&file[range.clone()]),
            Self::Numbers(numbers) => {
                let mut written = Ok(());
                numbers.each_piece(&mut |piece| {
                    if written.is_ok() {
                        written = to(piece);
                    }
                });
                written
            }
        }
    }

    fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Bytes(bytes) => Cow::Borrowed(bytes),
            Self::OfFile(file, range) => Cow::Borrowed(&file[range.clone()]),
            Self::Numbers(numbers) => {
                let mut bytes = Vec::with_capacity(self.n_bytes());
                numbers.each_piece(&mut |piece| bytes.extend_from_slice(piece));
                Cow::Owned(bytes)
            }
        }
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

/// What the header says of a tensor. Its bytes are left out here, and written afterwards.
impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&[])
    }

    fn data_len(&self) -> usize {
        self.content.n_bytes()
    }
}

/// Whether a number would become infinite, which JSON cannot represent.
fn is_too_large(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|v| !(v as f32).is_finite()),
        Value::Array(values) => values.iter().any(is_too_large),
        Value::Object(values) => values.values().any(is_too_large),
        _ => false,
    }
}

fn finite<T>(name: &str, values: Vec<T>, is_finite: impl Fn(&T) -> bool) -> Result<Vec<T>, String> {
    if values.iter().all(is_finite) {
        return Ok(values);
    }
    Err(format!("tensor '{name}' holds values that are not finite"))
}

fn verify(bytes: &[u8], expected: &str) -> Result<(), String> {
    let at = find(bytes, expected).filter(|_| expected.len() == BLANK.len());
    match at {
        Some(at) if digest(bytes, at) == expected => Ok(()),
        _ => Err("its checksum does not match: it is damaged; use an undamaged copy".to_owned()),
    }
}

/// SHA-256 of the file with the checksum at `at` blanked.
fn digest(bytes: &[u8], at: usize) -> String {
    let mut sha = Sha256::new();
    sha.update(&bytes[..at]);
    sha.update(BLANK);
    sha.update(&bytes[at + BLANK.len()..]);
    hexadecimal(sha.finalize())
}

fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn find(bytes: &[u8], text: &str) -> Option<usize> {
    bytes
        .windows(text.len().max(1))
        .position(|window| window == text.as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // A test may fail loudly.

    use super::*;

    #[test]
    fn numbers_that_would_become_infinite_are_refused() {
        for (number, accepted) in [(1e38, true), (1e39, false), (-1e300, false)] {
            let mut container = Container::new("any");
            container.describe(&serde_json::json!({ "pool": [{ "contrast": number }] }));
            let read = Container::from_bytes(&container.to_bytes().unwrap());
            assert_eq!(read.is_ok(), accepted, "{number}");
        }
    }

    #[test]
    fn what_half_precision_cannot_hold_is_refused_when_it_is_written() {
        for (number, accepted) in [
            (65504.0, true),
            (-65519.0, true),
            (65520.0, false),
            (1e-5, true),
            (1e-6, false),
        ] {
            let mut container = Container::half("any");
            let matrix = Matrix::from_columns(vec![1e-7, number], 1, 2).unwrap();
            container.put_matrix("numbers".to_owned(), &matrix);
            let written = container.to_bytes();
            assert_eq!(written.is_ok(), accepted, "{number}");
            if let Err(error) = written {
                assert!(error.to_string().contains("'numbers'"), "{error}");
            }
        }
    }
}
