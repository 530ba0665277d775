//! Frozen sentence encoders: an ONNX model and its tokenizer, which turn each sentence into a row of length 1.

use std::path::{Path, PathBuf};

use autoactivator::{Observer, Table};
use sha2::{Digest, Sha256};

use super::groups::groups;
use super::place::EncoderFiles;
use super::pooling;
use super::spec::TextSpec;
use super::tokenizer::{Encoded, Tokenizer};
use crate::backbone::runtime::{self, Graph, Network, Runtime, Tokens, list};
use crate::error::{Error, bad, io_error};
use crate::hash::hex;
use crate::origin::{Origin, TextIdentity};
use crate::sentences::check_sentence;

/// The largest tokenizer.json, in bytes: those of a million words have about 50 MB.
const LARGEST_TOKENIZER: u64 = 128 << 20;

/// A sentence encoder, ready to turn sentences into rows.
pub struct Encoder {
    path: PathBuf,
    identity: TextIdentity,
    network: Box<dyn Network>,
    tokenizer: Tokenizer,
    inputs: Vec<(String, Input)>,
    n_features: usize,
    notes: Vec<String>,
}

/// What an encoder is shown of the tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Ids,
    /// Which tokens count: all, since nothing is padded.
    Mask,
    /// Which part of a pair a token belongs to.
    Types,
}

impl Encoder {
    /// Loads an encoder, and runs it once on the largest token of its tokenizer, so that a pair that does not fit is
    /// refused here.
    pub fn open(files: &EncoderFiles, given: TextSpec, runtime: Runtime) -> Result<Self, Error> {
        let path = &files.onnx;
        let onnx = std::fs::read(path).map_err(|cause| io_error(path, cause))?;
        if onnx.is_empty() {
            return Err(bad(path, "is an empty file, not an ONNX model"));
        }
        let words = read_tokenizer(&files.tokenizer)?;
        let mut tokenizer = Tokenizer::read(&files.tokenizer, &words)?;
        let sha256 = hex(&Sha256::digest(&onnx));
        let (network, fallback) = runtime::load(runtime, onnx).map_err(|reason| bad(path, reason))?;
        let graph = network.graph();
        let name = files.name();
        let settings = given
            .resolve(&name, &graph.outputs, tokenizer.stated_length())
            .map_err(|reason| bad(path, reason))?;
        let unfit = |reason: String| bad(&files.tokenizer, reason);
        tokenizer.cut(settings.max_tokens).map_err(unfit)?;
        let largest = tokenizer.largest().map_err(unfit)?;
        let mut encoder = Self {
            path: path.clone(),
            inputs: inputs(&graph).map_err(|reason| bad(path, reason))?,
            identity: TextIdentity {
                name,
                sha256,
                tokenizer: hex(&Sha256::digest(&words)),
                settings,
                place: None,
                runtime: Some(network.runtime()),
                column: None,
            },
            network,
            tokenizer,
            n_features: 0,
            notes: fallback.into_iter().collect(),
        };
        encoder.n_features = encoder.probe(largest).map_err(|reason| {
            let words = i64::from(largest) + 1;
            let tokenizer = files.tokenizer.display();
            bad(
                path,
                format!("does not run with the {words} words of {tokenizer}: {reason}"),
            )
        })?;
        Ok(encoder)
    }

    /// The number of features of a sentence of two of the largest tokens.
    fn probe(&self, largest: i32) -> Result<usize, String> {
        let pair = Encoded {
            ids: vec![largest; 2],
            types: vec![0; 2],
        };
        Ok(self.run(&[&pair])?.len())
    }

    /// What tells it from other encoders, and where its file is.
    pub fn placed_identity(&self) -> TextIdentity {
        let place = std::path::absolute(&self.path).ok();
        TextIdentity {
            // A place that is not UTF-8 cannot be kept in a model file.
            place: place.and_then(|place| place.to_str().map(str::to_owned)),
            ..self.identity.clone()
        }
    }

    /// What tells it from other encoders.
    pub fn identity(&self) -> &TextIdentity {
        &self.identity
    }

    /// Where its rows come from.
    pub fn origin(&self) -> Origin {
        Origin::Text(self.identity.clone())
    }

    /// Where its rows come from, and where its file is: for a model to find it again.
    pub fn placed_origin(&self) -> Origin {
        Origin::Text(self.placed_identity())
    }

    /// How many features it computes for a sentence.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Notes for the user: why another runtime runs it than was to be expected.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The rows of sentences, on this thread. Errors call the first sentence `sentence 0`. The observer may interrupt.
    pub fn of_texts(&self, texts: &[&str], observer: &dyn Observer) -> Result<Table, Error> {
        let mut encoded = Vec::with_capacity(texts.len());
        for (place, text) in texts.iter().enumerate() {
            if observer.interrupted() {
                return Err(autoactivator::Error::Interrupted.into());
            }
            let name = format!("sentence {place}");
            let wrong = |reason| bad(Path::new(&name), reason);
            check_sentence(text).map_err(wrong)?;
            encoded.push(self.tokens(text).map_err(wrong)?);
        }
        let lengths: Vec<usize> = encoded.iter().map(|tokens| tokens.ids.len()).collect();
        let mut values = vec![0.0; texts.len() * self.n_features];
        for group in groups(&lengths, 1) {
            if observer.interrupted() {
                return Err(autoactivator::Error::Interrupted.into());
            }
            let tokens: Vec<&Encoded> = group.iter().map(|&place| &encoded[place]).collect();
            let rows = self.rows_of(&tokens)?;
            for (&place, row) in group.iter().zip(rows.chunks_exact(self.n_features)) {
                values[place * self.n_features..][..self.n_features].copy_from_slice(row);
            }
        }
        Ok(Table::new(values, self.n_features)?)
    }

    pub(super) fn tokens(&self, text: &str) -> Result<Encoded, String> {
        let tokens = self.tokenizer.tokens(text);
        tokens.map_err(|reason| format!("the sentence cannot be divided into tokens: {reason}"))
    }

    /// The rows of sentences of equally many tokens, all of them finite.
    pub(super) fn rows_of(&self, sentences: &[&Encoded]) -> Result<Vec<f32>, Error> {
        let rows = self.run(sentences).map_err(|reason| {
            let n_tokens = sentences.first().map_or(0, |tokens| tokens.ids.len());
            bad(
                &self.path,
                format!(
                    "cannot be run on a sentence of {n_tokens} tokens: {reason}; if it is too long, set a smaller number \
                     of tokens (--max-tokens)"
                ),
            )
        })?;
        if rows.iter().all(|value| value.is_finite()) && rows.len() == sentences.len() * self.n_features {
            return Ok(rows);
        }
        Err(bad(
            &self.path,
            "computes features that are not finite, or not equally many: it cannot be used",
        ))
    }

    fn run(&self, sentences: &[&Encoded]) -> Result<Vec<f32>, String> {
        let shape = [
            sentences.len(),
            sentences.first().map_or(0, |tokens| tokens.ids.len()),
        ];
        let matrix = |input: Input| Tokens {
            shape,
            values: match input {
                Input::Ids => sentences.iter().flat_map(|tokens| tokens.ids.clone()).collect(),
                Input::Types => sentences.iter().flat_map(|tokens| tokens.types.clone()).collect(),
                Input::Mask => vec![1; shape[0] * shape[1]],
            },
        };
        let inputs: Vec<(&str, Tokens)> = self
            .inputs
            .iter()
            .map(|(name, input)| (name.as_str(), matrix(*input)))
            .collect();
        let settings = &self.identity.settings;
        let output = self.network.run_on_tokens(&inputs, &settings.output)?;
        pooling::rows(output, settings.pooling, sentences.len())
    }
}

fn read_tokenizer(path: &Path) -> Result<Vec<u8>, Error> {
    let size = std::fs::metadata(path)
        .map_err(|cause| io_error(path, cause))?
        .len();
    if size > LARGEST_TOKENIZER {
        return Err(bad(
            path,
            format!(
                "has {size} bytes, more than the {LARGEST_TOKENIZER} allowed: it is probably another file"
            ),
        ));
    }
    std::fs::read(path).map_err(|cause| io_error(path, cause))
}

/// What each input of the model is shown, by its name.
fn inputs(graph: &Graph) -> Result<Vec<(String, Input)>, String> {
    let refused = || {
        format!(
            "takes {}: a sentence encoder takes whole numbers called `input_ids`, and `attention_mask` and \
             `token_type_ids` if it needs them",
            list(&graph.inputs)
        )
    };
    let mut found = Vec::new();
    for port in &graph.inputs {
        let input = match port.name.as_str() {
            "input_ids" => Input::Ids,
            "attention_mask" => Input::Mask,
            "token_type_ids" => Input::Types,
            _ => return Err(refused()),
        };
        if !port.is_integer {
            return Err(refused());
        }
        found.push((port.name.clone(), input));
    }
    if found.iter().any(|(_, input)| *input == Input::Ids) {
        Ok(found)
    } else {
        Err(refused())
    }
}
