//! Which encoder turns sentences into features, and where is it? That of the options, or the one that the model
//! remembers, or the usual one.
//!
//! As for images, the hash of the files decides which encoder it is. If the model was learned with it, its settings come
//! from the model.

use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator_data::origin::encoder_of;
use autoactivator_data::text::{self, EncoderFiles};
use autoactivator_data::{Encoder, Runtime, TextIdentity, TextSpec};

use crate::args::DataArgs;
use crate::image_args::ImageArgs;
use crate::rows::Expected;
use crate::text_args::TextArgs;

/// Opens the encoder of the options, or else the one that the model was learned with, or else the usual one.
pub fn open(
    images: &ImageArgs,
    texts: &TextArgs,
    data: &DataArgs,
    expected: &Expected<'_>,
) -> Result<Encoder> {
    refuse_image_options(images)?;
    let known = expected.origin.and_then(encoder_of);
    let dir = data.dir();
    let files = match (&images.backbones[..], &known) {
        ([], Some(known)) => text::find_again(known, expected.file, dir.as_deref())??,
        ([], None) => text::find(None, dir.as_deref())?,
        ([one], _) => text::find(Some(one), dir.as_deref())?,
        _ => bail!("sentences go through one encoder: give --backbone once"),
    };
    let known = known.map(|known| Ok::<_, anyhow::Error>((files.are(&known)?, known)));
    let known = known
        .transpose()?
        .filter(|(same, _)| *same)
        .map(|(_, known)| known);
    open_one(images, texts, &files, known.as_ref(), expected.exact)
}

/// Opens the encoder for a server: that of the model, or the one that is named for a new model. None if the model does
/// not take sentences.
#[cfg(feature = "server")]
pub fn open_to_serve(
    images: &ImageArgs,
    texts: &TextArgs,
    data: &DataArgs,
    expected: &Expected<'_>,
) -> Result<Option<Encoder>> {
    if !is_of_sentences(images, data, expected) {
        if let Some(option) = texts.about_sentences() {
            bail!("{option} is a setting of a sentence encoder: give the encoder with --backbone");
        }
        return Ok(None);
    }
    match open(images, texts, data, expected) {
        Err(error)
            if error
                .downcast_ref::<text::Lost>()
                .is_some_and(|lost| !lost.changed) =>
        {
            say!("note: no sentences are taken: {error}");
            Ok(None)
        }
        opened => opened.map(Some),
    }
}

/// Whether a model takes sentences, or the backbone that is named is a sentence encoder.
#[cfg(feature = "server")]
pub fn is_of_sentences(images: &ImageArgs, data: &DataArgs, expected: &Expected<'_>) -> bool {
    if expected.origin.is_some() {
        return expected.origin.and_then(encoder_of).is_some();
    }
    match &images.backbones[..] {
        [one] => text::find(Some(one), data.dir().as_deref()).is_ok(),
        _ => false,
    }
}

fn open_one(
    images: &ImageArgs,
    texts: &TextArgs,
    files: &EncoderFiles,
    known: Option<&TextIdentity>,
    exact: bool,
) -> Result<Encoder> {
    let given = texts.spec(images);
    let spec = match known {
        Some(known) => {
            let place = || files.onnx.display().to_string();
            let same = given.check_same(&known.settings).map_err(anyhow::Error::msg);
            same.with_context(place)?;
            TextSpec::from(&known.settings)
        }
        None => given,
    };
    let encoder = Encoder::open(files, spec, runtime(images, known.filter(|_| exact)))?;
    for note in encoder.notes() {
        say!("note: {note}");
    }
    Ok(encoder)
}

/// The runtime to use. Rows that must be `the_same` to the last bit come from the runtime that computed them before.
fn runtime(images: &ImageArgs, the_same: Option<&TextIdentity>) -> Runtime {
    let before = the_same.and_then(|known| known.runtime.as_deref());
    match images.runtime {
        Runtime::Auto => before.and_then(Runtime::of_name).unwrap_or(Runtime::Auto),
        asked => asked,
    }
}

/// Refuses settings that only images have.
fn refuse_image_options(images: &ImageArgs) -> Result<()> {
    match images.about_pixels() {
        None => Ok(()),
        Some(option) => bail!("{option} is a setting of images, and these are sentences"),
    }
}

/// Refuses sentences for a model that was learned from images.
pub fn refuse_others(rows: &Path, expected: &Expected<'_>) -> Result<()> {
    use autoactivator_data::Origin;
    use serde::Deserialize;

    let origin = expected
        .origin
        .and_then(|origin| Origin::deserialize(origin).ok());
    match origin {
        Some(origin @ (Origin::Backbones(_) | Origin::Pixels(_))) => bail!(
            "{}: these are sentences, and the model was learned from images ({origin}): begin a new model",
            rows.display()
        ),
        _ => Ok(()),
    }
}
