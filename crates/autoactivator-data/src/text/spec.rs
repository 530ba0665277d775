//! How sentences are shown to an encoder, as far as anybody stated it, and what follows where nobody did.
//!
//! Each setting comes from the first of these that states it: the caller, what is known of the model by its name, its
//! `tokenizer.json`, and what is usual.

use crate::backbone::runtime::{Port, list};
use crate::origin::{Pooling, TextSettings};

/// Settings of an encoder, each of them optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextSpec {
    /// Name of the output that is read.
    pub output: Option<String>,
    /// How the tokens of a sentence become one row.
    pub pooling: Option<Pooling>,
    /// The most tokens of a sentence.
    pub max_tokens: Option<usize>,
}

/// The names that exporters give to outputs, the most likely first. What was pooled already comes first.
const USUAL_OUTPUTS: [&str; 4] = [
    "sentence_embedding",
    "last_hidden_state",
    "token_embeddings",
    "hidden_states",
];

/// The most tokens of a sentence where neither the model's name nor its tokenizer tells.
const USUAL_TOKENS: usize = 256;

/// More tokens than this are probably a mistake.
const MOST_TOKENS: usize = 8192;

/// Settings that leave nothing open.
impl From<&TextSettings> for TextSpec {
    fn from(settings: &TextSettings) -> Self {
        Self {
            output: Some(settings.output.clone()),
            pooling: Some(settings.pooling),
            max_tokens: Some(settings.max_tokens),
        }
    }
}

impl TextSpec {
    /// Fills in what is open for a model of this name and outputs, whose tokenizer states a length or none.
    pub(super) fn resolve(
        self,
        name: &str,
        outputs: &[Port],
        stated: Option<usize>,
    ) -> Result<TextSettings, String> {
        let max_tokens = self
            .max_tokens
            .or(tokens_of_name(name))
            .or(stated)
            .unwrap_or(USUAL_TOKENS);
        // The first and the last token only frame the sentence.
        if !(3..=MOST_TOKENS).contains(&max_tokens) {
            return Err(format!(
                "the most tokens are {max_tokens}, but must be 3 to {MOST_TOKENS}"
            ));
        }
        Ok(TextSettings {
            output: output(outputs, self.output.as_deref())?,
            pooling: self.pooling.unwrap_or(Pooling::Mean),
            max_tokens,
        })
    }

    /// Refuses what contradicts the settings that a model was learned with.
    pub fn check_same(&self, learned: &TextSettings) -> Result<(), String> {
        let other = |what: &str, given: &str, learned: &str| {
            Err(format!(
                "{what} is {given}, but the model was learned with {learned}: leave it out, or begin a new model"
            ))
        };
        if let Some(given) = self.output.as_ref().filter(|given| **given != learned.output) {
            return other("the output", given, &learned.output);
        }
        if let Some(given) = self.pooling.filter(|given| *given != learned.pooling) {
            return other("pooling", &given.to_string(), &learned.pooling.to_string());
        }
        if let Some(given) = self.max_tokens.filter(|given| *given != learned.max_tokens) {
            return other("max tokens", &given.to_string(), &learned.max_tokens.to_string());
        }
        Ok(())
    }
}

/// The length that a known model was made for. MiniLM's tokenizer states 128, which is not it.
fn tokens_of_name(name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    ["minilm", "all-minilm-l6", "all-minilm-l12"]
        .iter()
        .any(|known| name == *known || (name.starts_with(known) && known.contains('-')))
        .then_some(256)
}

/// The output that was asked for, else one with a usual name, else the only one.
fn output(outputs: &[Port], asked: Option<&str>) -> Result<String, String> {
    let named = |name: &str| outputs.iter().find(|output| output.name == name);
    let chosen = match (asked, outputs) {
        (Some(name), _) => named(name),
        (None, [only]) => Some(only),
        (None, _) => USUAL_OUTPUTS.into_iter().find_map(named),
    };
    let Some(output) = chosen else {
        let wanted = asked.map_or("no output is known to hold sentences".to_owned(), |name| {
            format!("there is no output `{name}`")
        });
        return Err(format!("{wanted}: name one of {}", list(outputs)));
    };
    let fits = |sides: &Vec<Option<usize>>| (2..=3).contains(&sides.len());
    if !output.is_float || !output.shape.as_ref().is_none_or(fits) {
        return Err(format!(
            "the output {output} does not hold features of sentences: those are 32-bit floats, of sentences x features \
             or sentences x tokens x features"
        ));
    }
    Ok(output.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, sides: usize) -> Port {
        Port {
            name: name.to_owned(),
            is_float: true,
            is_integer: false,
            shape: Some(vec![None; sides]),
        }
    }

    fn tokens(name: &str, stated: Option<usize>) -> usize {
        let settings = TextSpec::default().resolve(name, &[port("y", 3)], stated);
        settings.unwrap().max_tokens
    }

    #[test]
    fn the_length_is_that_of_the_name_or_the_tokenizer_or_usual() {
        assert_eq!(tokens("minilm", Some(128)), 256);
        assert_eq!(tokens("all-MiniLM-L6-v2", Some(128)), 256);
        assert_eq!(tokens("other", Some(128)), 128);
        assert_eq!(tokens("other", None), 256);
        let none = TextSpec {
            max_tokens: Some(2),
            ..TextSpec::default()
        };
        assert!(
            none.resolve("x", &[port("y", 3)], None)
                .unwrap_err()
                .contains("3 to 8192")
        );
    }

    #[test]
    fn the_output_is_asked_for_or_usual() {
        let both = [port("token_embeddings", 3), port("sentence_embedding", 2)];
        assert_eq!(output(&both, None).unwrap(), "sentence_embedding");
        assert_eq!(
            output(&both, Some("token_embeddings")).unwrap(),
            "token_embeddings"
        );
        assert!(
            output(&both, Some("x"))
                .unwrap_err()
                .contains("`token_embeddings`")
        );
        assert!(
            output(&[port("x", 4)], None)
                .unwrap_err()
                .contains("32-bit floats")
        );
    }

    #[test]
    fn settings_that_a_model_was_not_learned_with_are_refused() {
        let learned = TextSpec::default().resolve("x", &[port("y", 3)], None).unwrap();
        assert_eq!(TextSpec::default().check_same(&learned), Ok(()));
        assert_eq!(TextSpec::from(&learned).check_same(&learned), Ok(()));
        let first = TextSpec {
            pooling: Some(Pooling::First),
            ..TextSpec::default()
        };
        assert!(
            first
                .check_same(&learned)
                .unwrap_err()
                .contains("pooling is first")
        );
    }
}
