//! Which texts there are, and the class of each: `.txt` files in one folder per class.
//!
//! A folder of texts without folders in it is a source without classes. One file is one text.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, bad, io_error};
use crate::hash::{sha256_of_file, sha256_of_texts};
use crate::held_out::hold_out;
use crate::image::is_image;
use crate::part::Part;
use crate::sentences::{SentenceBatches, Sentences, check_sentence};

/// How many texts are handed over together.
const TOGETHER: usize = 2048;

/// Folders nested deeper than this can only come from a link to a folder above.
const DEEPEST: usize = 24;

/// The texts of a folder, in the order of class and name. Files that do not end in `.txt` are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct TextFolder {
    root: PathBuf,
    texts: Vec<TextFile>,
}

/// One text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TextFile {
    class: Option<String>,
    /// Its path below the folder, with `/` between folders.
    name: String,
    path: PathBuf,
}

impl TextFolder {
    /// Whether a folder holds texts: files that end in `.txt`, itself or in the folders in it, and no images.
    pub fn is_one(path: &Path) -> bool {
        let mut waiting = vec![(path.to_owned(), 0)];
        let mut found = false;
        while let Some((folder, depth)) = waiting.pop() {
            for entry in visible_entries(&folder).unwrap_or_default() {
                if entry.is_dir() && depth < DEEPEST {
                    waiting.push((entry, depth + 1));
                } else if is_image(&entry) {
                    return false;
                } else {
                    found |= is_text(&entry);
                }
            }
        }
        found
    }

    /// Lists the texts of a folder with a folder per class, or of a folder of texts.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if Self::has_parts(path) {
            let reason = "holds a data set of the parts `train` and `test`: give one of those folders";
            return Err(bad(path, reason));
        }
        Self::list(path)
    }

    /// Lists one part of a data set with the folders `train` and `test`.
    pub fn open_part(path: &Path, part: Part) -> Result<Self, Error> {
        Self::list(&path.join(match part {
            Part::Train => "train",
            Part::Test => "test",
        }))
    }

    /// Whether a folder is a data set with the parts `train`, with folders in it, and `test`.
    pub fn has_parts(path: &Path) -> bool {
        let train = fs::read_dir(path.join("train"));
        let holds_folders =
            train.is_ok_and(|mut train| train.any(|entry| entry.is_ok_and(|entry| entry.path().is_dir())));
        holds_folders && path.join("test").is_dir()
    }

    /// Splits the texts 80/20 into training and test texts, class by class; the same seed gives the same split.
    pub fn split(&self, seed: u64) -> Result<(Self, Self), Error> {
        let mut texts: BTreeMap<&str, Vec<&TextFile>> = BTreeMap::new();
        for text in &self.texts {
            let class = text.class.as_deref();
            let class = class.ok_or_else(|| bad(&self.root, "has no folder per class to learn from"))?;
            texts.entry(class).or_default().push(text);
        }
        let (train, test) = hold_out(texts, seed).map_err(|class| {
            bad(
                &self.root,
                format!(
                    "class '{class}' has only one text, but needs one to learn from and one for the exam: add texts, \
                     remove it, or give a folder with `train` and `test`"
                ),
            )
        })?;
        let folder = |texts: Vec<&TextFile>| Self {
            root: self.root.clone(),
            texts: texts.into_iter().cloned().collect(),
        };
        Ok((folder(train), folder(test)))
    }

    /// The folder that was opened.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Whether each text has a class.
    pub fn has_classes(&self) -> bool {
        self.texts.iter().all(|text| text.class.is_some())
    }

    /// SHA-256 over the class and the content of every text, in hexadecimal; names and order do not count.
    pub fn sha256(&self) -> Result<String, Error> {
        let one = |text: &TextFile| {
            let class = text.class.as_deref().unwrap_or_default();
            Ok(format!("{} {class}", sha256_of_file(&text.path)?))
        };
        let mut all = self
            .texts
            .iter()
            .map(one)
            .collect::<Result<Vec<String>, Error>>()?;
        all.sort();
        Ok(sha256_of_texts(all.iter().map(String::as_str)))
    }

    /// Streams the texts in order. After an error the stream ends.
    pub fn sentences(&self) -> SentenceBatches {
        let folder = self.clone();
        let (mut at, mut ended) = (0, false);
        Box::new(std::iter::from_fn(move || {
            let texts = folder.texts.get(at..).filter(|rest| !ended && !rest.is_empty())?;
            let texts = &texts[..texts.len().min(TOGETHER)];
            at += texts.len();
            let piece = read(texts);
            ended = piece.is_err();
            Some(piece)
        }))
    }

    fn list(root: &Path) -> Result<Self, Error> {
        let (mut texts, mut loose) = (Vec::new(), Vec::new());
        for entry in visible_entries(root)? {
            if entry.is_dir() {
                let class = utf8(&entry, entry.file_name().unwrap_or_default().to_str())?.to_owned();
                walk(root, &entry, &class, 0, &mut texts)?;
            } else if is_text(&entry) {
                loose.push(TextFile::new(root, &entry, None)?);
            }
        }
        // Beside class folders, a text in none of them has no class and is left out.
        if texts.is_empty() {
            texts = loose;
        }
        if texts.is_empty() {
            return Err(bad(root, "holds no text that ends in .txt"));
        }
        texts.sort_unstable();
        Ok(Self {
            root: root.to_owned(),
            texts,
        })
    }
}

impl TextFile {
    fn new(root: &Path, path: &Path, class: Option<&str>) -> Result<Self, Error> {
        let below = path.strip_prefix(root).unwrap_or(path);
        let folders: Result<Vec<&str>, Error> = below.iter().map(|part| utf8(path, part.to_str())).collect();
        Ok(Self {
            class: class.map(str::to_owned),
            name: folders?.join("/"),
            path: path.to_owned(),
        })
    }
}

fn walk(root: &Path, dir: &Path, class: &str, depth: usize, texts: &mut Vec<TextFile>) -> Result<(), Error> {
    if depth > DEEPEST {
        let reason = format!(
            "is nested more than {DEEPEST} folders deep: look for a link that leads back to a folder above"
        );
        return Err(bad(dir, reason));
    }
    for entry in visible_entries(dir)? {
        if entry.is_dir() {
            walk(root, &entry, class, depth + 1, texts)?;
        } else if is_text(&entry) {
            texts.push(TextFile::new(root, &entry, Some(class))?);
        }
    }
    Ok(())
}

fn read(files: &[TextFile]) -> Result<Sentences, Error> {
    let mut found = Sentences::default();
    for file in files {
        let bytes = fs::read(&file.path).map_err(|cause| io_error(&file.path, cause))?;
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| bad(&file.path, "not UTF-8 text; save the file as UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        check_sentence(text).map_err(|reason| bad(&file.path, reason))?;
        found.texts.push(text.to_owned());
    }
    let classes: Option<Vec<String>> = files.iter().map(|file| file.class.clone()).collect();
    found.y = classes;
    found.names = Some(files.iter().map(|file| file.name.clone()).collect());
    Ok(found)
}

/// The entries of a folder in the order of their names, without those that begin with a dot.
fn visible_entries(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir).map_err(|cause| io_error(dir, cause))? {
        let entry = entry.map_err(|cause| io_error(dir, cause))?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            entries.push(entry.path());
        }
    }
    entries.sort_unstable();
    Ok(entries)
}

fn is_text(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("txt"))
}

fn utf8<'a>(path: &Path, name: Option<&'a str>) -> Result<&'a str, Error> {
    name.ok_or_else(|| bad(path, "has a name that is not UTF-8: rename it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (file, content) in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        dir
    }

    fn read_all(folder: &TextFolder) -> Result<Sentences, String> {
        let pieces: Result<Vec<Sentences>, Error> = folder.sentences().collect();
        let mut pieces = pieces.map_err(|error| error.to_string())?;
        assert_eq!(pieces.len(), 1);
        Ok(pieces.remove(0))
    }

    #[test]
    fn a_folder_per_class_and_a_folder_of_texts() {
        let dir = folder(&[
            ("b/1.txt", " one\n"),
            ("b/deep/2.TXT", "two"),
            ("a/3.txt", "three"),
            ("loose.txt", "no"),
        ]);
        assert!(TextFolder::is_one(dir.path()));
        let texts = TextFolder::open(dir.path()).unwrap();
        let read = read_all(&texts).unwrap();
        assert_eq!(read.texts, ["three", "one", "two"]);
        assert_eq!(read.y.unwrap(), ["a", "b", "b"]);
        assert_eq!(read.names.unwrap(), ["a/3.txt", "b/1.txt", "b/deep/2.TXT"]);
        let flat = TextFolder::open(&dir.path().join("b/deep")).unwrap();
        assert_eq!((flat.has_classes(), read_all(&flat).unwrap().y), (false, None));
    }

    #[test]
    fn images_beside_texts_make_it_a_folder_of_images() {
        let dir = folder(&[("a/1.txt", "x"), ("a/deep/2.png", "y")]);
        assert!(!TextFolder::is_one(dir.path()));
        assert!(!TextFolder::is_one(folder(&[("a/table.csv", "1,a")]).path()));
    }

    #[test]
    fn parts_and_splits() {
        let files: Vec<(String, &str)> = (0..20)
            .map(|i| (format!("train/{}/{i}.txt", i % 2), "x"))
            .collect();
        let mut files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        files.push(("test/0/1.txt", "x"));
        let dir = folder(&files);
        assert!(
            TextFolder::open(dir.path())
                .unwrap_err()
                .to_string()
                .contains("one of those folders")
        );
        let train = TextFolder::open_part(dir.path(), Part::Train).unwrap();
        assert_eq!(train.len(), 20);
        assert_eq!(TextFolder::open_part(dir.path(), Part::Test).unwrap().len(), 1);
        let (most, rest) = train.split(0).unwrap();
        assert_eq!((most.len(), rest.len()), (16, 4));
        let single = TextFolder::open_part(dir.path(), Part::Test).unwrap();
        assert!(single.split(0).unwrap_err().to_string().contains("only one text"));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let dir = folder(&[("a/1.txt", " \n"), ("none/readme.md", "x")]);
        let read = |path: &Path| read_all(&TextFolder::open(path).unwrap()).unwrap_err();
        assert!(read(dir.path()).contains("1.txt: the sentence is empty"));
        fs::write(dir.path().join("a/1.txt"), b"\xff").unwrap();
        assert!(read(dir.path()).contains("1.txt: not UTF-8"));
        let none = TextFolder::open(&dir.path().join("none"))
            .unwrap_err()
            .to_string();
        assert!(none.contains("holds no text"), "{none}");
        assert!(TextFolder::open(&dir.path().join("gone")).is_err());
    }
}
