//! From a sentence to its tokens, by a `tokenizer.json` as Hugging Face's libraries write it.
//!
//! The file may come from anybody: it may be huge, nonsense, or make its library panic. All of that is an error here.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tokenizers::TruncationParams;

use crate::error::{Error, bad};

/// The tokens of one sentence, framed as the model expects it.
pub(super) struct Encoded {
    pub(super) ids: Vec<i32>,
    pub(super) types: Vec<i32>,
}

/// A tokenizer that is ready to use.
pub(super) struct Tokenizer(tokenizers::Tokenizer);

impl Tokenizer {
    /// Reads the content of the file `path`.
    pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        let read = guarded(|| tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| error.to_string()));
        let mut inner =
            read.map_err(|reason| bad(path, format!("is not a usable tokenizer.json: {reason}")))?;
        // Sentences are grouped by their number of tokens, so none is padded.
        inner.with_padding(None);
        Ok(Self(inner))
    }

    /// The length to which the file cuts sentences, if it does.
    pub(super) fn stated_length(&self) -> Option<usize> {
        self.0.get_truncation().map(|truncation| truncation.max_length)
    }

    /// Cuts sentences to this many tokens.
    pub(super) fn cut(&mut self, max_tokens: usize) -> Result<(), String> {
        let truncation = TruncationParams {
            max_length: max_tokens,
            ..TruncationParams::default()
        };
        let cut = guarded(|| {
            self.0
                .with_truncation(Some(truncation))
                .map(|_| ())
                .map_err(|error| error.to_string())
        });
        cut.map_err(|reason| format!("cannot cut sentences to {max_tokens} tokens: {reason}"))
    }

    /// The largest number that a token can have.
    pub(super) fn largest(&self) -> Result<i32, String> {
        let largest = guarded(|| Ok(self.0.get_vocab(true).into_values().max()))?;
        let largest = largest.ok_or("has no words")?;
        i32::try_from(largest).map_err(|_| format!("numbers a word {largest}, which is too large"))
    }

    /// The tokens of a sentence.
    pub(super) fn tokens(&self, text: &str) -> Result<Encoded, String> {
        let encoded = guarded(|| self.0.encode_fast(text, true).map_err(|error| error.to_string()))?;
        let numbers = |values: &[u32]| values.iter().map(|&value| i32::try_from(value).ok()).collect();
        let ids: Option<Vec<i32>> = numbers(encoded.get_ids());
        let types: Option<Vec<i32>> = numbers(encoded.get_type_ids());
        match (ids, types) {
            (Some(ids), Some(types)) if !ids.is_empty() => Ok(Encoded { ids, types }),
            (Some(_), Some(_)) => Err("it has no tokens".to_owned()),
            _ => Err("its tokens have impossible numbers".to_owned()),
        }
    }
}

/// What the library returns, with its panics turned into errors.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("the tokenizer fails".to_owned()))
}
