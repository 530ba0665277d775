//! The arguments about sentences: how an encoder turns them into features.

use autoactivator_data::{Pooling, TextSpec};
use clap::Args;

use crate::image_args::ImageArgs;

/// How sentences become features. Which encoder it is, its runtime and its cache are options of backbones.
#[derive(Clone, Debug, Default, Args)]
pub struct TextArgs {
    /// How the tokens of a sentence become one row: mean or first [default: mean]
    #[arg(long, help_heading = "Sentences")]
    pub pooling: Option<Pooling>,

    /// The most tokens of a sentence, about words; what follows them is not read [default: that of the encoder]
    #[arg(long, value_name = "N", help_heading = "Sentences")]
    pub max_tokens: Option<usize>,
}

impl TextArgs {
    /// An option about sentences that was given, by name.
    pub fn about_sentences(&self) -> Option<&'static str> {
        let given = [
            (self.pooling.is_some(), "--pooling"),
            (self.max_tokens.is_some(), "--max-tokens"),
        ];
        given.iter().find(|(given, _)| *given).map(|(_, option)| *option)
    }

    /// The options about the encoder.
    pub fn spec(&self, images: &ImageArgs) -> TextSpec {
        TextSpec {
            output: images.backbone_output.as_ref().map(ToString::to_string),
            pooling: self.pooling,
            max_tokens: self.max_tokens,
        }
    }
}
