//! From a folder of images to rows: order, damage, cache, interruption.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use autoactivator_data::{
    Backbone, BackboneSpec, Batch, Cache, Error, ExtractOptions, Extractor, ImageFolder, ImageRows, Origin,
    Pixels, Runtime,
};
use common::*;
use image::{GrayImage, Luma};

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// Two classes of nine images each, and room for backbones and a cache.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        write_images(&dir.path().join("images"), &["ant", "bee"], 9);
        fs::create_dir(dir.path().join("backbones")).unwrap();
        Self { dir }
    }

    fn images(&self) -> ImageFolder {
        ImageFolder::open(&self.dir.path().join("images")).unwrap()
    }

    fn image(&self, name: &str) -> PathBuf {
        self.dir.path().join("images").join(name)
    }

    fn extractor(&self, seeds: &[u32]) -> Extractor {
        let open = |seed: &u32| {
            let path = write_tiny(&self.dir.path().join("backbones"), &format!("tiny{seed}"), *seed);
            Backbone::open(&path, BackboneSpec::default(), Runtime::Rten).unwrap()
        };
        Extractor::Backbones(seeds.iter().map(open).collect())
    }

    fn cache(&self) -> Cache {
        Cache::new(&self.cache_folder())
    }

    fn cache_folder(&self) -> PathBuf {
        self.dir.path().join("deep/cache")
    }

    fn cache_file(&self) -> PathBuf {
        fs::read_dir(self.cache_folder())
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
    }
}

fn with_cache(cache: &Cache) -> ExtractOptions<'_> {
    ExtractOptions {
        cache: Some(cache),
        batch: 4,
        ..ExtractOptions::default()
    }
}

/// All batches as one.
fn all(rows: &mut ImageRows<'_>) -> Batch {
    let batches: Vec<Batch> = rows.map(Result::unwrap).collect();
    joined(&batches)
}

fn joined(batches: &[Batch]) -> Batch {
    let values = batches.iter().flat_map(|batch| batch.x.rows().values().to_vec());
    let n_features = batches[0].x.rows().n_features();
    let texts = |of: fn(&Batch) -> &Option<Vec<String>>| {
        batches[0].x.rows().len();
        let texts: Option<Vec<Vec<String>>> = batches.iter().map(|batch| of(batch).clone()).collect();
        texts.map(|texts| texts.concat())
    };
    Batch {
        x: autoactivator::Table::new(values.collect(), n_features).unwrap(),
        y: texts(|batch| &batch.y),
        weights: None,
        names: texts(|batch| &batch.names),
    }
}

#[test]
fn rows_come_in_the_order_of_the_folder() {
    let place = Place::new();
    let (images, extractor) = (place.images(), place.extractor(&[1]));
    let batch = all(&mut extractor.rows(&images, ExtractOptions::default()));
    assert_eq!(batch.x.rows().len(), 18);
    assert_eq!(batch.y.as_ref().unwrap()[8..10], ["ant", "bee"]);
    assert_eq!(batch.names.as_ref().unwrap()[9], "bee/000.png");
    let Extractor::Backbones(backbones) = &extractor else {
        unreachable!()
    };
    let ninth = read(&place.image("bee/000.png"));
    let expected = backbones[0].features(&[&ninth]).unwrap();
    for (a, b) in batch.x.rows().row(9).iter().zip(&expected) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn several_backbones_are_concatenated() {
    let place = Place::new();
    let images = place.images();
    let both = place.extractor(&[1, 2]);
    let rows = |extractor: &Extractor| all(&mut extractor.rows(&images, ExtractOptions::default())).x;
    let (both, first, second) = (
        rows(&both),
        rows(&place.extractor(&[1])),
        rows(&place.extractor(&[2])),
    );
    for i in 0..18 {
        let row = [first.rows().row(i), second.rows().row(i)].concat();
        assert_eq!(both.rows().row(i), row);
    }
}

#[test]
fn origins_tell_backbones_apart() {
    let place = Place::new();
    let origin = |seeds: &[u32]| place.extractor(seeds).origin();
    assert_eq!(origin(&[1, 2]), origin(&[1, 2]));
    assert_ne!(origin(&[1, 2]), origin(&[2, 1]));
    assert_ne!(origin(&[1]), origin(&[2]));
    let origin = origin(&[1, 2]);
    let json = serde_json::to_string(&origin).unwrap();
    assert_eq!(serde_json::from_str::<Origin>(&json).unwrap(), origin);
    assert!(origin.to_string().contains("px) + tiny2 (sha256"), "{origin}");
}

#[test]
fn a_second_run_computes_nothing() {
    let place = Place::new();
    let (images, extractor, cache) = (place.images(), place.extractor(&[1]), place.cache());
    let mut first = extractor.rows(&images, with_cache(&cache));
    let fresh = all(&mut first);
    assert_eq!((first.computed(), first.warnings()), (18, &[][..]));
    let mut second = extractor.rows(&images, with_cache(&cache));
    assert_eq!((all(&mut second), second.computed()), (fresh, 0));

    // Content decides, not the name: a copy is known, a change is seen.
    fs::copy(place.image("ant/000.png"), place.image("bee/copy.png")).unwrap();
    to_write(&picture(9, 9, 77))
        .save(place.image("ant/001.png"))
        .unwrap();
    let images = place.images();
    let mut third = extractor.rows(&images, with_cache(&cache));
    assert_eq!((all(&mut third).x.rows().len(), third.computed()), (19, 1));

    // Another backbone knows nothing of this one; together, only the new one computes.
    let both = place.extractor(&[1, 2]);
    let mut rows = both.rows(&images, with_cache(&cache));
    all(&mut rows);
    assert_eq!(rows.computed(), 19);
}

/// What the cache gives after its file was changed, and how many rows were computed again.
fn after_damage(damage: impl Fn(&mut Vec<u8>)) -> usize {
    let place = Place::new();
    let (images, extractor, cache) = (place.images(), place.extractor(&[1]), place.cache());
    let fresh = all(&mut extractor.rows(&images, with_cache(&cache)));
    let mut bytes = fs::read(place.cache_file()).unwrap();
    damage(&mut bytes);
    fs::write(place.cache_file(), bytes).unwrap();
    let mut again = extractor.rows(&images, with_cache(&cache));
    assert_close(&all(&mut again), &fresh);
    let mut last = extractor.rows(&images, with_cache(&cache));
    assert_close(&all(&mut last), &fresh);
    assert_eq!((last.computed(), last.warnings()), (0, &[][..]));
    again.computed()
}

/// The same but for the rounding of another batch.
fn assert_close(a: &Batch, b: &Batch) {
    assert_eq!((&a.y, &a.names), (&b.y, &b.names));
    for (a, b) in a.x.rows().values().iter().zip(b.x.rows().values()) {
        assert!((a - b).abs() <= 1e-5 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn a_damaged_cache_is_made_anew() {
    let record = 32 + 4 * TINY_FEATURES + 16;
    assert_eq!(after_damage(|bytes| bytes[48 + 3 * record + 40] ^= 1), 1); // a feature
    assert_eq!(after_damage(|bytes| bytes[48 + 3 * record] ^= 1), 1); // a key
    assert_eq!(after_damage(|bytes| bytes.truncate(bytes.len() - 7)), 1); // killed while writing
    assert_eq!(after_damage(|bytes| bytes.extend([9; 11])), 0); // killed while writing the next
    assert_eq!(after_damage(|bytes| bytes[10] ^= 1), 18); // of another backbone
    assert_eq!(after_damage(Vec::clear), 18);
    assert_eq!(
        after_damage(|bytes| *bytes = b"something else altogether".to_vec()),
        18
    );
}

#[test]
fn two_writers_share_a_cache() {
    let place = Place::new();
    let (images, extractor, cache) = (place.images(), place.extractor(&[1]), place.cache());
    // Both look before either writes.
    let mut first = extractor.rows(&images, with_cache(&cache));
    let mut second = extractor.rows(&images, with_cache(&cache));
    let (a, b) = (all(&mut first), all(&mut second));
    assert_eq!(a, b);
    let mut third = extractor.rows(&images, with_cache(&cache));
    assert_eq!((all(&mut third), third.computed()), (a, 0));
}

#[test]
fn a_cache_that_cannot_be_written_is_a_warning() {
    let place = Place::new();
    let (images, extractor) = (place.images(), place.extractor(&[1]));
    // A file stands where the folder should be.
    fs::write(place.dir.path().join("deep"), "").unwrap();
    let cache = place.cache();
    let mut rows = extractor.rows(&images, with_cache(&cache));
    assert_eq!(all(&mut rows).x.rows().len(), 18);
    assert!(
        matches!(rows.warnings(), [warning] if warning.contains("not kept")),
        "{:?}",
        rows.warnings()
    );
}

#[test]
fn damaged_images_are_skipped_and_told() {
    let place = Place::new();
    fs::write(place.image("ant/003.png"), "").unwrap();
    fs::write(place.image("bee/000.png"), "no image").unwrap();
    let (images, extractor) = (place.images(), place.extractor(&[1]));
    let mut rows = extractor.rows(&images, ExtractOptions::default());
    let batch = all(&mut rows);
    assert_eq!(
        (
            batch.x.rows().len(),
            batch.names.unwrap().len(),
            batch.y.unwrap().len()
        ),
        (16, 16, 16)
    );
    let skipped: Vec<&Path> = rows
        .skipped()
        .iter()
        .map(|skipped| skipped.path.as_path())
        .collect();
    assert_eq!(skipped, [place.image("ant/003.png"), place.image("bee/000.png")]);
    assert!(
        rows.skipped()[0].reason.contains("empty file"),
        "{:?}",
        rows.skipped()
    );

    let strict = ExtractOptions {
        strict: true,
        ..ExtractOptions::default()
    };
    let mut rows = extractor.rows(&images, strict);
    let error = rows.find_map(Result::err).unwrap().to_string();
    assert!(error.contains(".png: is "), "{error}");
    assert!(rows.next().is_none());
}

#[test]
fn a_folder_of_damaged_images_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("1.png"), "no image").unwrap();
    let images = ImageFolder::open(dir.path()).unwrap();
    let place = Place::new();
    let extractor = place.extractor(&[1]);
    let error = extractor
        .rows(&images, ExtractOptions::default())
        .next()
        .unwrap()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("none of the 1 images can be read") && error.contains("1.png"),
        "{error}"
    );
    assert!(
        Pixels::like(&images)
            .unwrap_err()
            .to_string()
            .contains("no image that can be read")
    );
}

#[test]
fn progress_is_told_and_interruption_honoured() {
    let place = Place::new();
    let (images, extractor) = (place.images(), place.extractor(&[1]));
    let mut told = Vec::new();
    let progress = |done, total| told.push((done, total));
    let options = ExtractOptions {
        progress: Some(Box::new(progress)),
        ..ExtractOptions::default()
    };
    all(&mut extractor.rows(&images, options));
    assert!(told.is_sorted() && told.last() == Some(&(18, 18)), "{told:?}");

    let options = ExtractOptions {
        interrupted: Some(&|| true),
        ..ExtractOptions::default()
    };
    let stopped = extractor.rows(&images, options).next().unwrap();
    assert!(matches!(
        stopped,
        Err(Error::Method(autoactivator::Error::Interrupted))
    ));
}

#[test]
fn a_source_without_classes_has_none() {
    let place = Place::new();
    let one = ImageFolder::open(&place.image("ant/000.png")).unwrap();
    let batch = all(&mut place.extractor(&[1]).rows(&one, ExtractOptions::default()));
    assert_eq!((batch.y, batch.names), (None, Some(vec!["000.png".to_owned()])));
}

#[test]
fn pixels_are_rows_of_the_image_shape() {
    let place = Place::new();
    let images = place.images();
    let pixels = Pixels::like(&images).unwrap();
    assert_eq!(pixels.shape.to_string(), "18x20x3");
    let batch = all(&mut Extractor::Pixels(pixels).rows(&images, ExtractOptions::default()));
    let first = read(&place.image("ant/000.png"));
    let expected: Vec<f32> = first
        .as_raw()
        .iter()
        .map(|&value| f32::from(value) / 255.0)
        .collect();
    assert_eq!(batch.x.rows().row(0), expected);

    let grey = tempfile::tempdir().unwrap();
    GrayImage::from_fn(100, 3, |x, y| Luma([(x + y) as u8]))
        .save(grey.path().join("grey.png"))
        .unwrap();
    let images = ImageFolder::open(grey.path()).unwrap();
    assert_eq!(Pixels::like(&images).unwrap().shape.to_string(), "3x64x1");
    assert!(Pixels::new("8x8x2".parse().unwrap()).is_err());
    assert!(Pixels::new("8x2000x3".parse().unwrap()).is_err());
}
