//! Which backbones turn images into features, and where are they? Those of the options, or those that the model
//! remembers.
//!
//! The hash of a file decides which backbone it is. If the model was learned with it, its settings come from the model,
//! whatever the file is called.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use autoactivator_data::dataset;
use autoactivator_data::{
    Backbone, BackboneSpec, Extractor, Identity, Known, Origin, Preset, Runtime, Settings, Trust,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args::DataArgs;
use crate::image_args::ImageArgs;
use crate::rows::Expected;

/// Settings that a preset decides. Its size and output are only what is usual: those of the graph win.
const OF_PRESET: [&str; 4] = ["mean", "scale", "resize", "filter"];

/// What is given in place of a backbone by those who want pixels.
const NONE: &str = "none";

/// A backbone that is to be opened.
struct Chosen<'a> {
    path: PathBuf,
    /// The preset that comes with its name.
    preset: Option<Preset>,
    /// The same backbone as the model was learned with.
    learned: Option<&'a Identity>,
}

/// Opens the backbones of the options, or else those that the model was learned with; none if there are neither, or if
/// pixels are wanted.
pub fn open(args: &ImageArgs, data: &DataArgs, expected: &Expected<'_>) -> Result<Option<Extractor>> {
    if args.backbones.iter().any(|name| name.as_os_str() == NONE) {
        if args.backbones.len() > 1 {
            bail!("--backbone none takes the pixels, so it cannot stand beside another --backbone");
        }
        return Ok(None);
    }
    let remembered = remembered(expected.origin);
    let mut chosen = Vec::new();
    for name in &args.backbones {
        let (path, preset) = named(name, data)?;
        let learned = of_content(&remembered, &path)?;
        chosen.push(Chosen {
            path,
            preset,
            learned,
        });
    }
    if chosen.is_empty() {
        for identity in &remembered {
            chosen.push(Chosen {
                path: find(identity, data, expected.file)?,
                preset: None,
                learned: Some(identity),
            });
        }
    }
    let backbones = chosen.iter().map(|chosen| {
        let runtime = runtime(args, chosen.learned.filter(|_| expected.exact));
        open_one(args, chosen, runtime)
    });
    let backbones: Vec<Backbone> = backbones.collect::<Result<_>>()?;
    Ok((!backbones.is_empty()).then_some(Extractor::Backbones(backbones)))
}

/// Opens the backbone that photographs are shown to if nobody names one, with its name; none if there is none here.
pub fn open_default(args: &ImageArgs, data: &DataArgs) -> Result<Option<(Extractor, &'static str)>> {
    let folders = dataset::folders(data.dir().as_deref());
    let Some((known, path)) = Known::default_for_photographs(&folders) else {
        return Ok(None);
    };
    known.check(&path)?;
    let chosen = Chosen {
        path,
        preset: known.preset,
        learned: None,
    };
    let backbone = open_one(args, &chosen, args.runtime)?;
    Ok(Some((Extractor::Backbones(vec![backbone]), known.name)))
}

/// Refuses settings of a backbone where there is none.
pub fn refuse_settings(args: &ImageArgs) -> Result<()> {
    match args.setting_of_backbone() {
        None => Ok(()),
        Some(option) => bail!("{option} is a setting of a backbone: give the backbone with --backbone"),
    }
}

/// The file of a backbone that was given, and the preset that its name stands for.
pub fn named(name: &Path, data: &DataArgs) -> Result<(PathBuf, Option<Preset>)> {
    let Some(known) = name.to_str().and_then(Known::named) else {
        return Ok((name.to_owned(), None));
    };
    if known.preset.is_none() {
        bail!("backbone '{}' takes no images: {}", known.name, known.about);
    }
    let folders = dataset::folders(data.dir().as_deref());
    let Some(path) = known.find(&folders) else {
        let looked: Vec<String> = folders
            .iter()
            .map(|folder| folder.join(Known::FOLDER).display().to_string())
            .collect();
        bail!(
            "backbone '{}' is not in {}: {}",
            known.name,
            looked.join(" or "),
            known.remedy()
        );
    };
    if known.check(&path)? == Trust::Unverified {
        say!(
            "note: {}: no checksum of it is published, and its folder cannot be written to pin one",
            path.display()
        );
    }
    Ok((path, known.preset))
}

/// Opens the backbones for a server. Without them it still takes rows of features, so one that is nowhere to be found is
/// only told.
#[cfg(feature = "server")]
pub fn open_to_serve(
    args: &ImageArgs,
    data: &DataArgs,
    expected: &Expected<'_>,
) -> Result<Option<Extractor>> {
    match open(args, data, expected) {
        Err(error) if error.downcast_ref::<Lost>().is_some_and(|lost| !lost.changed) => {
            say!("note: no images are taken: {error}");
            Ok(None)
        }
        Ok(None) => refuse_settings(args).map(|()| None),
        opened => opened,
    }
}

/// The backbones that a model was learned with.
fn remembered(origin: Option<&Value>) -> Vec<Identity> {
    match origin.map(Origin::deserialize) {
        Some(Ok(Origin::Backbones(identities))) => identities,
        _ => Vec::new(),
    }
}

/// The backbone of the model that has the content of a file.
fn of_content<'a>(remembered: &'a [Identity], path: &Path) -> Result<Option<&'a Identity>> {
    if remembered.is_empty() {
        return Ok(None);
    }
    let sha256 = Backbone::sha256_of(path)?;
    Ok(remembered.iter().find(|identity| identity.sha256 == sha256))
}

/// The runtime to use. Rows that must be `the_same` to the last bit come from the runtime that computed them before; a
/// model that does not name it comes from a time when that was `rten`.
fn runtime(args: &ImageArgs, the_same: Option<&Identity>) -> Runtime {
    let by_rten = |identity: &Identity| {
        let before = identity.runtime.as_deref();
        before.is_none_or(|name| Runtime::of_name(name) == Some(Runtime::Rten))
    };
    match args.runtime {
        Runtime::Auto if the_same.is_some_and(by_rten) => Runtime::Rten,
        asked => asked,
    }
}

fn open_one(args: &ImageArgs, chosen: &Chosen<'_>, runtime: Runtime) -> Result<Backbone> {
    let (path, given) = (&chosen.path, args.backbone_spec());
    let spec = match chosen.learned {
        Some(identity) => {
            refuse_other(path, &given, &identity.settings)?;
            BackboneSpec::from(&identity.settings)
        }
        None => BackboneSpec {
            preset: given.preset.or(chosen.preset),
            ..given
        },
    };
    let backbone = Backbone::open(path, spec, runtime)?;
    for note in backbone.notes() {
        say!("note: {note}");
    }
    Ok(backbone)
}

/// Refuses options that contradict the settings that the model was learned with.
fn refuse_other(path: &Path, given: &BackboneSpec, settings: &Settings) -> Result<()> {
    let learned = fields(json!(settings));
    let typed = fields(json!(given));
    let preset = given.preset.map(|preset| fields(json!(preset.spec())));
    let of_preset = preset.into_iter().flatten();
    let of_preset =
        of_preset.filter(|(key, _)| OF_PRESET.contains(&key.as_str()) && !typed.contains_key(key));
    let of_preset = of_preset.map(|(key, value)| (format!("{key} of --preset"), key, value));
    let typed = typed.iter().filter(|(key, _)| *key != "preset");
    let typed = typed.map(|(key, value)| (option(key), key.clone(), value.clone()));
    let other = typed
        .chain(of_preset)
        .find(|(_, key, value)| learned.get(key) != Some(value));
    match other {
        None => Ok(()),
        Some((option, key, value)) => bail!(
            "{}: {option} is {}, but the model was learned with {}: leave the option out, or begin a new model",
            path.display(),
            plain(&value),
            plain(&learned[&key]),
        ),
    }
}

/// The option of a setting.
fn option(key: &str) -> String {
    match key {
        "output" => "--backbone-output".to_owned(),
        key => format!("--{key}"),
    }
}

fn fields(settings: Value) -> Map<String, Value> {
    match settings {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// A value as a user would type it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A backbone that is not where it was looked for.
#[derive(Debug)]
struct Lost {
    message: String,
    /// Whether there was a file in its place.
    #[cfg_attr(
        not(feature = "server"),
        allow(dead_code, reason = "only a server makes a difference")
    )]
    changed: bool,
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Lost {}

/// Finds the file of a backbone: where it was, beside the model, or in a data folder. Its hash must be the same.
fn find(identity: &Identity, data: &DataArgs, model: Option<&Path>) -> Result<PathBuf> {
    let (mut looked, mut changed) = (Vec::new(), false);
    for path in places(identity, data, model) {
        if !path.is_file() {
            looked.push(format!("there is no {}", path.display()));
            continue;
        }
        let sha256 = Backbone::sha256_of(&path)?;
        if sha256 == identity.sha256 {
            return Ok(path);
        }
        changed = true;
        let start = sha256.get(..8).unwrap_or(&sha256);
        looked.push(format!("{} has another content (sha256 {start})", path.display()));
    }
    let message = format!(
        "the model was learned from {identity}, which was not found ({}): give it with --backbone",
        looked.join("; ")
    );
    bail!(Lost { message, changed })
}

/// The places where a backbone may be, each once.
fn places(identity: &Identity, data: &DataArgs, model: Option<&Path>) -> Vec<PathBuf> {
    let last = identity.place.as_ref().map(PathBuf::from);
    let name = match last.as_deref().and_then(Path::file_name) {
        Some(name) => PathBuf::from(name),
        None => PathBuf::from(format!("{}.onnx", identity.name)),
    };
    let beside = model.map(|model| model.with_file_name(&name));
    let dirs = dataset::folders(data.dir().as_deref());
    // Backbones by name have a folder of their own.
    let own = last.as_deref().and_then(Path::parent).and_then(Path::file_name);
    let in_dirs = dirs.iter().flat_map(|dir| {
        let all = dir.join(Known::FOLDER);
        let own = own.map(|own| all.join(own).join(&name));
        [dir.join(&name), all.join(&name)].into_iter().chain(own)
    });
    let mut places: Vec<PathBuf> = Vec::new();
    for place in last.iter().cloned().chain(beside).chain(in_dirs) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}
