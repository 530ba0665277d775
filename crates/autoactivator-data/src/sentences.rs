//! Sentences on their way to an encoder: what every source of text yields, some at a time.

use crate::batch::Stream;

/// Some consecutive sentences of a source.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Sentences {
    /// The sentences, none of them empty.
    pub texts: Vec<String>,
    /// The class of each; none when the source carries no classes.
    pub y: Option<Vec<String>>,
    /// The weight of each; none when each counts once.
    pub weights: Option<Vec<f64>>,
    /// The name of each, such as the path of a file; none when sentences are only numbered.
    pub names: Option<Vec<String>>,
}

/// A stream of sentences, in the order of the source.
pub type SentenceBatches = Stream<Sentences>;

/// The longest sentence, in bytes. Only its first few hundred words are ever read.
const LONGEST: usize = 1 << 20;

impl Sentences {
    /// Sentences without classes, weights and names.
    pub fn of(texts: Vec<String>) -> Self {
        Self {
            texts,
            ..Self::default()
        }
    }

    /// Number of sentences.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

/// Refuses a sentence that nothing can be made of, with the reason.
pub fn check_sentence(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the sentence is empty: leave it out, or fill it in".to_owned());
    }
    if text.len() > LONGEST {
        let n_bytes = text.len();
        return Err(format!(
            "the sentence has {n_bytes} bytes, more than the {LONGEST} allowed: divide it"
        ));
    }
    Ok(())
}
