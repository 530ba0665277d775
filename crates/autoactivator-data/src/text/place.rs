//! Where a sentence encoder is: its ONNX file, and the `tokenizer.json` beside it.
//!
//! [`find`] looks for one that the user names, or for the usual one; [`find_again`] for the one that a model was learned
//! with, whose files must have the same content.

use std::path::{Path, PathBuf};

use crate::dataset::{folders, user_cache};
use crate::error::{Error, bad, io_error};
use crate::hash::sha256_of_file;
use crate::origin::TextIdentity;

/// The encoder that is looked for where none is named.
const USUAL: &str = "minilm";

/// Folder of backbones in a data folder.
const FOLDER: &str = "backbones";

const MODEL: &str = "model.onnx";
const TOKENIZER: &str = "tokenizer.json";

/// The two files of an encoder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncoderFiles {
    /// The model.
    pub onnx: PathBuf,
    /// Its tokenizer.
    pub tokenizer: PathBuf,
}

/// An encoder of a model that is not where it was looked for.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Lost {
    message: String,
    /// Whether there was another one in its place.
    pub changed: bool,
}

impl EncoderFiles {
    /// The files of a path: an ONNX file with a `tokenizer.json` beside it or in the folder above, or a folder of both.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let found = std::fs::metadata(path).map_err(|cause| io_error(path, cause))?;
        let onnx = if found.is_dir() {
            let usual = [path.join(MODEL), path.join("onnx").join(MODEL)];
            let model = usual.into_iter().find(|model| model.is_file());
            model.ok_or_else(|| {
                bad(
                    path,
                    "holds no `model.onnx`: give the ONNX file of a sentence encoder",
                )
            })?
        } else {
            path.to_owned()
        };
        let beside = onnx.with_file_name(TOKENIZER);
        let above = onnx
            .parent()
            .and_then(Path::parent)
            .map(|folder| folder.join(TOKENIZER));
        // Only a model in the folder `onnx` of its repository has its tokenizer above it.
        let in_repository = onnx.parent().is_some_and(|folder| folder.ends_with("onnx"));
        let places = [Some(beside), above.filter(|_| in_repository)];
        let tokenizer = places.into_iter().flatten().find(|place| place.is_file());
        let tokenizer = tokenizer.ok_or_else(|| {
            bad(
                &onnx,
                "has no `tokenizer.json` beside it: a sentence encoder needs one; images take the file alone",
            )
        })?;
        Ok(Self { onnx, tokenizer })
    }

    /// What the model is called: the name of its file, or of its folder if the file is only called `model`.
    pub(super) fn name(&self) -> String {
        let stem = self.onnx.file_stem().unwrap_or_default();
        let folders = self.onnx.ancestors().skip(1);
        let named = folders.filter_map(Path::file_name).find(|name| *name != "onnx");
        let name = if stem == "model" {
            named.unwrap_or(stem)
        } else {
            stem
        };
        name.to_string_lossy().into_owned()
    }

    /// The hashes of both files.
    fn hashes(&self) -> Result<(String, String), Error> {
        Ok((sha256_of_file(&self.onnx)?, sha256_of_file(&self.tokenizer)?))
    }

    /// Whether these files are those of an encoder.
    pub fn are(&self, identity: &TextIdentity) -> Result<bool, Error> {
        let (onnx, tokenizer) = self.hashes()?;
        Ok(onnx == identity.sha256 && tokenizer == identity.tokenizer)
    }
}

/// Finds the encoder that the user names: a file, a folder, or what is called so in the folder of backbones of a data
/// folder. Without a name it is the usual one.
pub fn find(named: Option<&Path>, data_dir: Option<&Path>) -> Result<EncoderFiles, Error> {
    let name = named.unwrap_or(Path::new(USUAL));
    if named.is_some() && name.exists() {
        return EncoderFiles::of(name);
    }
    let mut looked = Vec::new();
    for folder in folders_of_backbones(data_dir) {
        for place in [folder.join(name), folder.join(name).with_added_extension("onnx")] {
            if place.exists() {
                return EncoderFiles::of(&place);
            }
        }
        looked.push(folder.display().to_string());
    }
    let shown = name.display();
    let reason = format!(
        "no sentence encoder of this name was found in {}: fetch one with `autoactivator backbone get {USUAL}`, or give \
         an ONNX file with a tokenizer.json beside it (--backbone)",
        looked.join(" or ")
    );
    Err(bad(Path::new(&shown.to_string()), reason))
}

/// Finds the encoder that a model was learned with: where it was, beside the model, or in a data folder.
pub fn find_again(
    identity: &TextIdentity,
    model: Option<&Path>,
    data_dir: Option<&Path>,
) -> Result<Result<EncoderFiles, Lost>, Error> {
    let (mut looked, mut changed) = (Vec::new(), false);
    for place in places(identity, model, data_dir) {
        let Ok(files) = EncoderFiles::of(&place) else {
            looked.push(format!("there is none at {}", place.display()));
            continue;
        };
        if files.are(identity)? {
            return Ok(Ok(files));
        }
        changed = true;
        looked.push(format!("{} has another content", place.display()));
    }
    let message = format!(
        "the model was learned from {identity}, and the encoder was not found ({}): give it with --backbone",
        looked.join("; ")
    );
    Ok(Err(Lost { message, changed }))
}

/// The places where an encoder may be, each once.
fn places(identity: &TextIdentity, model: Option<&Path>, data_dir: Option<&Path>) -> Vec<PathBuf> {
    let last = identity.place.as_ref().map(PathBuf::from);
    let beside = model.map(|model| model.with_file_name(&identity.name));
    let known = folders_of_backbones(data_dir)
        .into_iter()
        .map(|folder| folder.join(&identity.name));
    let mut places: Vec<PathBuf> = Vec::new();
    for place in last.into_iter().chain(beside).chain(known) {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

fn folders_of_backbones(data_dir: Option<&Path>) -> Vec<PathBuf> {
    let data = folders(data_dir).into_iter();
    data.chain(user_cache())
        .map(|folder| folder.join(FOLDER))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        dir
    }

    fn identity(files: &EncoderFiles) -> TextIdentity {
        let settings = serde_json::json!({ "output": "y", "pooling": "mean", "max_tokens": 9 });
        let (sha256, tokenizer) = files.hashes().unwrap();
        TextIdentity {
            name: files.name(),
            sha256,
            tokenizer,
            settings: serde_json::from_value(settings).unwrap(),
            place: files.onnx.to_str().map(str::to_owned),
            runtime: None,
            column: None,
        }
    }

    #[test]
    fn a_folder_a_file_or_a_repository_has_both_files() {
        let dir = folder(&[
            "small/model.onnx",
            "small/tokenizer.json",
            "repository/onnx/model.onnx",
            "repository/tokenizer.json",
            "alone/net.onnx",
            "empty/readme",
        ]);
        let of = |path: &str| EncoderFiles::of(&dir.path().join(path));
        assert_eq!(of("small").unwrap(), of("small/model.onnx").unwrap());
        assert_eq!(of("small").unwrap().name(), "small");
        let repository = of("repository").unwrap();
        assert_eq!(repository.name(), "repository");
        assert_eq!(repository.tokenizer, dir.path().join("repository/tokenizer.json"));
        assert!(
            of("alone/net.onnx")
                .unwrap_err()
                .to_string()
                .contains("no `tokenizer.json`")
        );
        assert!(of("empty").unwrap_err().to_string().contains("no `model.onnx`"));
        assert!(of("missing").unwrap_err().to_string().contains("missing"));
    }

    #[test]
    fn names_are_looked_for_in_the_folders_of_backbones() {
        let dir = folder(&["backbones/minilm/model.onnx", "backbones/minilm/tokenizer.json"]);
        let usual = find(None, Some(dir.path())).unwrap();
        assert_eq!(usual, find(Some(Path::new("minilm")), Some(dir.path())).unwrap());
        assert_eq!(usual.onnx, dir.path().join("backbones/minilm/model.onnx"));
        let error = find(Some(Path::new("no-such-net")), Some(dir.path()))
            .unwrap_err()
            .to_string();
        let there = dir.path().join("backbones").display().to_string();
        assert!(error.contains("no-such-net") && error.contains(&there), "{error}");
    }

    #[test]
    fn an_encoder_is_found_again_by_its_content() {
        let dir = folder(&["here/model.onnx", "here/tokenizer.json"]);
        let files = EncoderFiles::of(&dir.path().join("here")).unwrap();
        let identity = identity(&files);
        let again = |model: &Path| find_again(&identity, Some(model), None).unwrap();
        assert_eq!(again(Path::new("m.aact")).unwrap(), files);
        // It has moved beside the model.
        let other = folder(&[]);
        fs::rename(dir.path().join("here"), other.path().join("here")).unwrap();
        let model = other.path().join("m.aact");
        assert_eq!(again(&model).unwrap().onnx, other.path().join("here/model.onnx"));
        assert!(!again(Path::new("m.aact")).unwrap_err().changed);
        fs::write(other.path().join("here/tokenizer.json"), "changed").unwrap();
        let lost = again(&model).unwrap_err();
        assert!(
            lost.changed && lost.to_string().contains("another content"),
            "{lost}"
        );
    }
}
