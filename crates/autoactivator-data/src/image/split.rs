//! How one folder becomes two: a fixed share of each class is kept for the exam, as for tables.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{ImageFile, ImageFolder};
use crate::error::{Error, bad};

/// One image in five goes to the test part.
const TEST_SHARE: f64 = 0.2;

impl ImageFolder {
    /// Splits the images 80/20 into training and test images, class by class, both in the order of the folder.
    pub fn split(&self, seed: u64) -> Result<(Self, Self), Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut train, mut test) = (Vec::new(), Vec::new());
        for (class, mut members) in self.images_by_class()? {
            if members.len() < 2 {
                return Err(bad(&self.root, one_image(class)));
            }
            members.shuffle(&mut rng);
            let n_test = (members.len() as f64 * TEST_SHARE).round().max(1.0) as usize;
            train.extend(members[n_test..].iter().copied().cloned());
            test.extend(members[..n_test].iter().copied().cloned());
        }
        train.sort_unstable();
        test.sort_unstable();
        Ok((self.with_images(train), self.with_images(test)))
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
        "class '{class}' has one image, but needs one to learn from and one for the exam: add images, remove it, or \
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
        assert!(message(&folder(&[("a", 2), ("b", 1)])).contains("'b' has one image"));
        let flat = tempfile::tempdir().unwrap();
        fs::write(flat.path().join("1.png"), "").unwrap();
        assert!(message(&flat).contains("no folder per class"));
    }
}
