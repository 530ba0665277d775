//! Which images there are, and the class of each: one folder per class.
//!
//! A folder of images without folders in it, or a single image, is a source without classes.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::foreign;
use crate::error::{Error, bad, io_error};
use crate::hash::{sha256_of_file, sha256_of_texts};
use crate::part::Part;

/// The extensions of images.
const EXTENSIONS: [&str; 4] = ["jpg", "jpeg", "png", "webp"];

/// Folders nested deeper than this can only come from a link to a folder above. macOS follows at most 32 links in a path,
/// so that a larger number would never be reached there.
const DEEPEST: usize = 24;

/// The images of a folder, in the order of class and name. Files that are not images are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageFolder {
    pub(super) root: PathBuf,
    pub(super) images: Vec<ImageFile>,
    pub(super) left_out: LeftOut,
}

/// Files that look like images and were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LeftOut {
    /// Those of kinds that are not read.
    pub(super) foreign: Vec<PathBuf>,
    /// How many lie beside class folders and so have no class.
    pub(super) loose: usize,
}

/// One image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageFile {
    /// Its class, the name of the folder; none in a source without classes.
    pub class: Option<String>,
    /// Its path below the folder that was opened, with `/` between folders.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}

impl Part {
    fn folders(self) -> &'static [&'static str] {
        match self {
            Self::Train => &["train"],
            Self::Test => &["test", "val"],
        }
    }

    fn folder(self, dir: &Path) -> Option<PathBuf> {
        self.folders()
            .iter()
            .map(|name| dir.join(name))
            .find(|folder| folder.is_dir())
    }
}

impl ImageFolder {
    /// Lists the images of `path`: a folder with a folder per class, a folder of images, or one image.
    ///
    /// Images are files that end in `.jpg`, `.jpeg`, `.png` or `.webp`, in upper or lower case. Those of other kinds are
    /// left out, as [`notes`](Self::notes) tells. What begins with a dot is skipped.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let found = fs::metadata(path).map_err(|cause| io_error(path, cause))?;
        if !found.is_dir() {
            return Self::single(path);
        }
        if Self::has_parts(path) {
            let reason =
                "holds a data set of the parts `train` and `test` (or `val`): give one of those folders";
            return Err(bad(path, reason));
        }
        Self::list(path)
    }

    /// Lists one part of a data set with the folders `train` and `test` (or `val`).
    pub fn open_part(dir: &Path, part: Part) -> Result<Self, Error> {
        fs::metadata(dir).map_err(|cause| io_error(dir, cause))?;
        match part.folder(dir) {
            Some(folder) => Self::list(&folder),
            None => Err(bad(
                dir,
                format!("has no folder `{}`", part.folders().join("` or `")),
            )),
        }
    }

    /// Whether `dir` is a data set with parts: `train` with folders in it, and `test` or `val`.
    ///
    /// A `train` without folders in it is a class of that name, perhaps of vehicles.
    pub fn has_parts(dir: &Path) -> bool {
        let holds_folders = |folder: PathBuf| {
            fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(|entry| entry.path().is_dir()))
        };
        Part::Test.folder(dir).is_some() && Part::Train.folder(dir).is_some_and(holds_folders)
    }

    /// SHA-256 over the class and the content of every image, in hexadecimal; names and order do not count.
    pub fn sha256(&self) -> Result<String, Error> {
        let one = |image: &ImageFile| {
            let class = image.class.as_deref().unwrap_or_default();
            Ok(format!("{} {class}", sha256_of_file(&image.path)?))
        };
        let mut all = self
            .images
            .iter()
            .map(one)
            .collect::<Result<Vec<String>, Error>>()?;
        all.sort();
        Ok(sha256_of_texts(all.iter().map(String::as_str)))
    }

    fn single(path: &Path) -> Result<Self, Error> {
        if foreign::is_foreign(path) {
            return Err(bad(
                path,
                format!("is an image of a kind that is not read: {}", foreign::REMEDY),
            ));
        }
        if !is_readable(path) {
            let reason = "is neither a folder nor an image that ends in .jpg, .jpeg, .png or .webp";
            return Err(bad(path, reason));
        }
        let image = ImageFile {
            class: None,
            name: utf8(path, path.file_name().unwrap_or_default())?.to_owned(),
            path: path.to_owned(),
        };
        Ok(Self {
            root: path.to_owned(),
            images: vec![image],
            left_out: LeftOut::default(),
        })
    }

    fn list(root: &Path) -> Result<Self, Error> {
        let mut folder = Self {
            root: root.to_owned(),
            images: Vec::new(),
            left_out: LeftOut::default(),
        };
        let mut loose = Vec::new();
        for entry in visible_entries(root)? {
            if entry.is_dir() {
                folder.add_class(&entry)?;
            } else if is_readable(&entry) {
                loose.push(entry);
            } else if foreign::is_foreign(&entry) {
                folder.left_out.foreign.push(entry);
            }
        }
        if folder.images.is_empty() {
            for path in &loose {
                folder.add(None, path)?;
            }
        } else {
            folder.left_out.loose = loose.len();
        }
        if folder.images.is_empty() {
            let none = "holds no image that ends in .jpg, .jpeg, .png or .webp";
            let foreign = foreign::told(&folder.left_out.foreign).map(|told| format!("; {told}"));
            return Err(bad(root, format!("{none}{}", foreign.unwrap_or_default())));
        }
        folder.images.sort_unstable();
        Ok(folder)
    }

    fn add_class(&mut self, dir: &Path) -> Result<(), Error> {
        let class = utf8(dir, dir.file_name().unwrap_or_default())?;
        self.walk(class, dir, 0)
    }

    fn walk(&mut self, class: &str, dir: &Path, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST {
            let reason = format!(
                "is nested more than {DEEPEST} folders deep: look for a link that leads back to a folder above"
            );
            return Err(bad(dir, reason));
        }
        for entry in visible_entries(dir)? {
            if entry.is_dir() {
                self.walk(class, &entry, depth + 1)?;
            } else if is_readable(&entry) {
                self.add(Some(class), &entry)?;
            } else if foreign::is_foreign(&entry) {
                self.left_out.foreign.push(entry);
            }
        }
        Ok(())
    }

    fn add(&mut self, class: Option<&str>, path: &Path) -> Result<(), Error> {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let folders: Result<Vec<&str>, Error> = below.iter().map(|component| utf8(path, component)).collect();
        self.images.push(ImageFile {
            class: class.map(str::to_owned),
            name: folders?.join("/"),
            path: path.to_owned(),
        });
        Ok(())
    }

    /// The folder or image that was opened.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The images, in the order of class and name.
    pub fn images(&self) -> &[ImageFile] {
        &self.images
    }

    /// The classes in the order of their names; none in a source without classes.
    pub fn classes(&self) -> Option<Vec<&str>> {
        let mut classes: Vec<&str> = self
            .images
            .iter()
            .map(|image| image.class.as_deref())
            .collect::<Option<_>>()?;
        classes.dedup();
        Some(classes)
    }

    /// Gives all images this class. They must have none yet.
    pub fn of_class(mut self, class: &str) -> Result<Self, Error> {
        if class.is_empty() {
            return Err(bad(&self.root, "a class cannot have an empty name"));
        }
        if let Some(known) = self.images.iter().find_map(|image| image.class.as_ref()) {
            let reason = format!(
                "has a folder per class, such as '{known}', so its images cannot all be of class '{class}': give the \
                 folder of one class"
            );
            return Err(bad(&self.root, reason));
        }
        for image in &mut self.images {
            image.class = Some(class.to_owned());
        }
        Ok(self)
    }

    /// What the user should know of files that look like images and were left out.
    pub fn notes(&self) -> Vec<String> {
        let loose = match self.left_out.loose {
            0 => None,
            1 => Some("1 image lies beside the class folders, has no class and is left out".to_owned()),
            n => Some(format!(
                "{n} images lie beside the class folders, have no class and are left out"
            )),
        };
        foreign::told(&self.left_out.foreign)
            .into_iter()
            .chain(loose)
            .collect()
    }

    /// How many files look like images and were left out.
    pub fn n_left_out(&self) -> usize {
        self.left_out.foreign.len() + self.left_out.loose
    }

    /// The same folder with other images of it.
    pub(super) fn with_images(&self, images: Vec<ImageFile>) -> Self {
        Self {
            images,
            ..self.clone()
        }
    }
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

/// Whether a file is taken for an image, judged by its extension alone; it may be of a kind that is not read.
pub fn is_image(path: &Path) -> bool {
    is_readable(path) || foreign::is_foreign(path)
}

/// Whether a file is taken for an image of a kind that is read, judged by its extension alone.
pub fn is_readable(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| EXTENSIONS.iter().any(|image| end.eq_ignore_ascii_case(image)))
}

fn utf8<'a>(path: &Path, name: &'a OsStr) -> Result<&'a str, Error> {
    name.to_str()
        .ok_or_else(|| bad(path, "has a name that is not UTF-8: rename it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes empty files; listing does not look into them.
    fn folder(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        dir
    }

    fn names(folder: &ImageFolder) -> Vec<&str> {
        folder.images().iter().map(|image| image.name.as_str()).collect()
    }

    fn error(result: Result<ImageFolder, Error>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_folder_per_class_walked_and_sorted() {
        let dir = folder(&[
            "b/2.PNG",
            "b/1.jpeg",
            "b/deeper/3.webp",
            "a/x.jpg",
            "a/.hidden.jpg",
            ".cache/1.png",
            "a/notes.txt",
            "loose.png",
            "none/readme.md",
        ]);
        let images = ImageFolder::open(dir.path()).unwrap();
        assert_eq!(
            names(&images),
            ["a/x.jpg", "b/1.jpeg", "b/2.PNG", "b/deeper/3.webp"]
        );
        assert_eq!(images.classes().unwrap(), ["a", "b"]);
    }

    #[test]
    fn images_without_class_folders_have_no_class() {
        let dir = folder(&["2.png", "1.png"]);
        let images = ImageFolder::open(dir.path()).unwrap();
        assert_eq!((names(&images), images.classes()), (vec!["1.png", "2.png"], None));
        let one = ImageFolder::open(&dir.path().join("2.png")).unwrap();
        assert_eq!((names(&one), one.classes()), (vec!["2.png"], None));
    }

    #[test]
    fn no_image_is_left_out_in_silence() {
        let dir = folder(&[
            "a/1.png",
            "a/2.HEIC",
            "b/deep/3.gif",
            "b/4.png",
            "loose.png",
            "5.bmp",
        ]);
        let images = ImageFolder::open(dir.path()).unwrap();
        assert_eq!(names(&images), ["a/1.png", "b/4.png"]);
        assert_eq!(images.n_left_out(), 4);
        let notes = images.notes().join("\n");
        for part in [
            "3 files are not read (1 .bmp, 1 .gif, 1 .heic)",
            "1 image lies beside",
        ] {
            assert!(notes.contains(part), "{notes}");
        }
        let phone = folder(&["1.heic"]);
        assert!(error(ImageFolder::open(phone.path())).contains("1 file is not read (1 .heic): convert"));
        assert!(error(ImageFolder::open(&phone.path().join("1.heic"))).contains("not read"));
    }

    #[test]
    fn a_flat_folder_becomes_one_class() {
        let dir = folder(&["2.png", "1.png"]);
        let images = ImageFolder::open(dir.path()).unwrap();
        let forks = images.clone().of_class("fork").unwrap();
        assert_eq!(forks.classes().unwrap(), ["fork"]);
        assert_ne!(forks.sha256().unwrap(), images.sha256().unwrap());
        assert!(error(images.of_class("")).contains("empty name"));
        let classes = folder(&["a/1.png", "b/2.png"]);
        let classes = ImageFolder::open(classes.path()).unwrap();
        assert!(error(classes.of_class("fork")).contains("such as 'a'"));
    }

    #[test]
    fn parts_of_a_data_set() {
        let dir = folder(&["train/a/1.png", "train/b/2.png", "val/a/3.png"]);
        assert!(ImageFolder::has_parts(dir.path()));
        let train = ImageFolder::open_part(dir.path(), Part::Train).unwrap();
        let test = ImageFolder::open_part(dir.path(), Part::Test).unwrap();
        assert_eq!(
            (names(&train), names(&test)),
            (vec!["a/1.png", "b/2.png"], vec!["a/3.png"])
        );
        assert!(error(ImageFolder::open(dir.path())).contains("give one of those folders"));
    }

    #[test]
    fn a_class_may_be_called_train() {
        let dir = folder(&["train/1.png", "test/2.png"]);
        let images = ImageFolder::open(dir.path()).unwrap();
        assert_eq!(images.classes().unwrap(), ["test", "train"]);
    }

    #[test]
    fn what_cannot_be_listed_is_named() {
        let dir = folder(&["text/notes.txt"]);
        let missing = dir.path().join("missing");
        assert!(error(ImageFolder::open(&missing)).contains("missing"));
        assert!(error(ImageFolder::open_part(&missing, Part::Train)).contains("missing"));
        assert!(error(ImageFolder::open(&dir.path().join("text"))).contains("holds no image"));
        assert!(error(ImageFolder::open(dir.path())).contains("holds no image"));
        assert!(error(ImageFolder::open(tempfile::tempdir().unwrap().path())).contains("holds no image"));
        let text = dir.path().join("text/notes.txt");
        assert!(error(ImageFolder::open(&text)).contains("neither a folder nor an image"));
        let part = error(ImageFolder::open_part(dir.path(), Part::Test));
        assert!(part.contains("no folder `test` or `val`"), "{part}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_back_is_named() {
        let dir = folder(&["a/1.png"]);
        std::os::unix::fs::symlink(dir.path().join("a"), dir.path().join("a/again")).unwrap();
        assert!(error(ImageFolder::open(dir.path())).contains("leads back"));
    }

    /// macOS has no such names.
    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn names_that_are_not_utf8_are_named() {
        use std::os::unix::ffi::OsStrExt;

        let dir = folder(&["a/1.png"]);
        let file = dir.path().join("a").join(OsStr::from_bytes(b"\xff.png"));
        fs::write(&file, "").unwrap();
        let message = error(ImageFolder::open(dir.path()));
        assert!(
            message.contains("\u{fffd}.png") && message.contains("not UTF-8"),
            "{message}"
        );
        fs::remove_file(&file).unwrap();
        fs::create_dir(dir.path().join(OsStr::from_bytes(b"class\xff"))).unwrap();
        let message = error(ImageFolder::open(dir.path()));
        assert!(message.contains("class\u{fffd}"), "{message}");
    }
}
