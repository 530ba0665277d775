//! Sentence encoders: lists of texts in, rows out, by the encoder that is named or the one that a model was learned with.

use std::path::PathBuf;

use autoactivator_data::origin::{difference, encoder_of};
use autoactivator_data::sentences::{SentenceBatches, Sentences, check_sentence};
use autoactivator_data::text::{self, TextOptions};
use autoactivator_data::{Encoder as CoreEncoder, Error, TextSpec};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use serde_json::Value;

use crate::arrays::singles;
use crate::model::Model;
use crate::work::work_on_files;

/// How many sentences are handed over together.
const TOGETHER: usize = 2048;

/// A sentence encoder.
#[pyclass(frozen, module = "autoactivator._core")]
pub struct Encoder(CoreEncoder);

#[pymethods]
impl Encoder {
    /// Opens the encoder that is named, or else the one that `model` was learned with, or else the usual one.
    #[new]
    #[pyo3(signature = (backbone=None, pooling=None, max_tokens=None, runtime="auto", model=None))]
    fn open(
        py: Python<'_>,
        backbone: Option<PathBuf>,
        pooling: Option<&str>,
        max_tokens: Option<usize>,
        runtime: &str,
        model: Option<&Model>,
    ) -> PyResult<Self> {
        let wrong = PyValueError::new_err::<String>;
        let runtime = runtime.parse().map_err(wrong)?;
        let given = TextSpec {
            pooling: pooling.map(str::parse).transpose().map_err(wrong)?,
            max_tokens,
            ..TextSpec::default()
        };
        let origin = model.and_then(|model| py.detach(|| model.read().origin().cloned()));
        let known = origin.as_ref().and_then(encoder_of);
        let data = std::env::var_os("AUTOACTIVATOR_DATA").filter(|name| !name.is_empty());
        let data = data.map(PathBuf::from);
        let encoder = work_on_files(py, |_| {
            let files = match (&backbone, &known) {
                (None, Some(known)) => {
                    text::find_again(known, None, data.as_deref())?.map_err(|lost| Error::BadData {
                        path: "backbone".into(),
                        reason: lost.to_string(),
                    })?
                }
                _ => text::find(backbone.as_deref(), data.as_deref())?,
            };
            let spec = match known {
                Some(known) if files.are(&known)? => {
                    let same = given.check_same(&known.settings);
                    same.map_err(|reason| Error::BadData {
                        path: "backbone".into(),
                        reason,
                    })?;
                    TextSpec::from(&known.settings)
                }
                _ => given,
            };
            CoreEncoder::open(&files, spec, runtime)
        })?;
        Ok(Self(encoder))
    }

    /// Where its rows come from, as JSON.
    #[getter]
    fn origin(&self) -> String {
        serde_json::to_string(&self.0.placed_origin()).unwrap_or_default()
    }

    /// How many features it computes for a sentence.
    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    /// The rows of sentences on all cores, as the bytes of floats. Sentences of another encoder than that of `model` are
    /// refused.
    fn encode(&self, py: Python<'_>, texts: Vec<String>, model: Option<&Model>) -> PyResult<Py<PyByteArray>> {
        let expected = model.and_then(|model| py.detach(|| model.read().origin().cloned()));
        let values = work_on_files(py, |signals| {
            let found: Option<Value> = serde_json::to_value(self.0.origin()).ok();
            if let Some(reason) = difference(expected.as_ref(), found.as_ref()) {
                return Err(in_x(reason));
            }
            let heard = || signals.heard();
            let options = TextOptions {
                interrupted: Some(&heard),
                ..TextOptions::default()
            };
            let mut values = Vec::with_capacity(texts.len() * self.0.n_features());
            for batch in self.0.rows(pieces(texts)?, options) {
                values.extend(batch?.x.into_values());
            }
            Ok(values)
        })?;
        singles(py, &values)
    }
}

/// Sentences on their way to the encoder; one that nothing can be made of is refused by its row.
fn pieces(texts: Vec<String>) -> Result<SentenceBatches, Error> {
    for (row, text) in texts.iter().enumerate() {
        check_sentence(text).map_err(|reason| in_x(format!("row {row}: {reason}")))?;
    }
    let mut texts = texts.into_iter();
    Ok(Box::new(std::iter::from_fn(move || {
        let piece = Sentences::of(texts.by_ref().take(TOGETHER).collect());
        (!piece.is_empty()).then_some(Ok(piece))
    })))
}

fn in_x(reason: String) -> Error {
    Error::BadData {
        path: "X".into(),
        reason,
    }
}
