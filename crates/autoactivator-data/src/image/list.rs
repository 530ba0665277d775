//! A list of image files, one path a line, as another program prints it.
//!
//! [`names_images`] tells such a list from a table; [`ImageFolder::listed`] opens it.

use std::collections::HashSet;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::folder::LeftOut;
use super::{ImageFile, ImageFolder, foreign, is_image, is_readable};
use crate::error::{Error, bad, io_error};

/// What separates the cells of a table: a line with one of them is a path only if there is such a file.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];

/// Whether a text is a list of image files and not a table: every line ends like an image file, and the first either has
/// nothing that separates cells or is a file that exists.
pub fn names_images(text: &Path) -> Result<bool, Error> {
    let file = std::fs::File::open(text).map_err(|cause| io_error(text, cause))?;
    let mut n_lines = 0;
    for line in std::io::BufReader::new(file).lines() {
        // Bytes that are no text are no list.
        let Ok(line) = line else { return Ok(false) };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let path = Path::new(line);
        if !is_image(path) || (n_lines == 0 && line.contains(SEPARATORS) && !path.is_file()) {
            return Ok(false);
        }
        n_lines += 1;
    }
    Ok(n_lines > 0)
}

impl ImageFolder {
    /// The images that a text lists, in its order, as one source without classes. `name` is what it is called in messages.
    pub fn listed(text: &Path, name: &Path) -> Result<Self, Error> {
        let lines = std::fs::read_to_string(text).map_err(|cause| io_error(name, cause))?;
        let mut folder = Self {
            root: name.to_owned(),
            images: Vec::new(),
            left_out: LeftOut::default(),
        };
        let mut seen = HashSet::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let path = PathBuf::from(line);
            if !seen.insert(line) {
                return Err(bad(name, format!("lists {line} twice")));
            }
            if is_readable(&path) {
                folder.images.push(ImageFile {
                    class: None,
                    name: line.to_owned(),
                    path,
                });
            } else {
                folder.left_out.foreign.push(path);
            }
        }
        if folder.images.is_empty() {
            let told = foreign::told(&folder.left_out.foreign).unwrap_or_default();
            return Err(bad(name, format!("lists no image that can be read; {told}")));
        }
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_list_is_told_from_a_table() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("stdin");
        let there = folder.path().join("a,b.jpg");
        fs::write(&there, "").unwrap();
        for (lines, expected) in [
            ("photos/1.jpg\n\n  photos/2.PNG\n", true),
            ("1.heic\n", true),
            ("1.jpg\nwidth\n", false),
            ("5.1,3.5,1.jpg\n4.9,3.0,2.jpg\n", false),
            (&format!("{}\n", there.display()), true),
            ("", false),
            ("5.1,3.5,setosa\n", false),
        ] {
            fs::write(&text, lines).unwrap();
            assert_eq!(names_images(&text).unwrap(), expected, "{lines}");
        }
        fs::write(&text, b"PAR1\xff\xfe.jpg").unwrap();
        assert!(!names_images(&text).unwrap());
    }

    #[test]
    fn listed_images_stay_in_order_and_none_counts_twice() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("stdin");
        let listed = |lines: &str| {
            fs::write(&text, lines).unwrap();
            ImageFolder::listed(&text, Path::new("-"))
        };
        let images = listed("b.png\na.jpg\nc.gif\n").unwrap();
        let names: Vec<&str> = images.images().iter().map(|image| image.name.as_str()).collect();
        assert_eq!((names, images.n_left_out()), (vec!["b.png", "a.jpg"], 1));
        let twice = listed("b.png\nb.png\n").unwrap_err().to_string();
        assert!(twice.contains("lists b.png twice"), "{twice}");
        let none = listed("b.heic\n").unwrap_err().to_string();
        assert!(none.contains("1 .heic"), "{none}");
    }
}
