//! How one folder becomes two: a fixed share of each class is kept for the exam, as for tables.

use std::collections::BTreeMap;

use super::folder::LeftOut;
use super::{ImageFile, ImageFolder};
use crate::error::{Error, bad};
use crate::held_out::hold_out;

impl ImageFolder {
    /// Splits the images 80/20 into training and test images, class by class, both in the order of the folder.
    ///
    /// The same seed gives the same split. A class of one image, or a folder without classes, is refused.
    pub fn split(&self, seed: u64) -> Result<(Self, Self), Error> {
        let parts = hold_out(self.images_by_class()?, seed);
        let (train, test) = parts.map_err(|class| bad(&self.root, one_image(class)))?;
        let folder = |images: Vec<&ImageFile>| self.with_images(images.into_iter().cloned().collect());
        // What was left out of the whole is told once.
        let test = Self {
            left_out: LeftOut::default(),
            ..folder(test)
        };
        Ok((folder(train), test))
    }

    fn images_by_class(&self) -> Result<BTreeMap<&str, Vec<&ImageFile>>, Error> {
        let mut images: BTreeMap<&str, Vec<&ImageFile>> = BTreeMap::new();
        for image in &self.images {
            let class = image.class.as_deref();
            let class = class.ok_or_else(|| bad(&self.root, "has no folder per class to learn from"))?;
            images.entry(class).or_default().push(image);
        }
        Ok(images)
    }
}

fn one_image(class: &str) -> String {
    format!(
        "class '{class}' has only one image, but needs one to learn from and one for the exam: add images, remove it, or \
         give a folder with `train` and `test`"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(counts: &[(&str, usize)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (class, count) in counts {
            fs::create_dir(dir.path().join(class)).unwrap();
            for i in 0..*count {
                fs::write(dir.path().join(format!("{class}/{i:02}.png")), "").unwrap();
            }
        }
        dir
    }

    #[test]
    fn each_class_gives_a_fifth_and_no_image_is_lost() {
        let dir = folder(&[("common", 50), ("rare", 10)]);
        let images = ImageFolder::open(dir.path()).unwrap();
        let (train, test) = images.split(0).unwrap();
        let count = |part: &ImageFolder, class: &str| {
            let of_class = |image: &&ImageFile| image.class.as_deref() == Some(class);
            part.images().iter().filter(of_class).count()
        };
        assert_eq!((count(&train, "rare"), count(&test, "rare")), (8, 2));
        assert_eq!((count(&train, "common"), count(&test, "common")), (40, 10));
        let mut all = [train.images(), test.images()].concat();
        all.sort_unstable();
        assert_eq!(all, images.images());
        assert_eq!(images.split(0).unwrap(), (train, test));
        assert_ne!(images.split(1).unwrap(), images.split(0).unwrap());
    }

    #[test]
    fn a_class_with_one_image_and_a_folder_without_classes_are_named() {
        let message = |dir: &tempfile::TempDir| {
            let images = ImageFolder::open(dir.path()).unwrap();
            images.split(0).unwrap_err().to_string()
        };
        assert!(message(&folder(&[("a", 2), ("b", 1)])).contains("'b' has only one image"));
        let flat = tempfile::tempdir().unwrap();
        fs::write(flat.path().join("1.png"), "").unwrap();
        assert!(message(&flat).contains("no folder per class"));
    }
}
