//! Features of a folder of images, and how long they take:
//! `cargo run --release -p autoactivator-data --example extract BACKBONE.onnx FOLDER [CACHE]`.

use std::path::Path;
use std::time::Instant;

use autoactivator_data::{
    Backbone, BackboneSpec, Cache, Error, ExtractOptions, Extractor, ImageFolder, Runtime,
};

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [backbone, folder, cache @ ..] = arguments.as_slice() else {
        eprintln!("usage: extract BACKBONE.onnx FOLDER [CACHE]");
        return Ok(());
    };
    let start = Instant::now();
    let backbone = Backbone::open(Path::new(backbone), BackboneSpec::default(), Runtime::default())?;
    println!("{} is ready after {:.2?}", backbone.identity(), start.elapsed());
    for note in backbone.notes() {
        println!("{note}");
    }
    let folder = ImageFolder::open(Path::new(folder))?;
    let cache = cache.first().map(|cache| Cache::new(Path::new(cache)));

    let start = Instant::now();
    let extractor = Extractor::Backbones(vec![backbone]);
    let options = ExtractOptions {
        cache: cache.as_ref(),
        ..ExtractOptions::default()
    };
    let mut rows = extractor.rows(&folder, options);
    let mut n_rows = 0;
    for batch in rows.by_ref() {
        n_rows += batch?.x.rows().len();
    }
    let each = start.elapsed() / n_rows as u32;
    println!(
        "{n_rows} rows of {} features, {each:.2?} an image, {} computed",
        extractor.n_features(),
        rows.computed()
    );
    for skipped in rows.skipped() {
        println!("skipped: {}", skipped.reason);
    }
    for warning in rows.warnings() {
        println!("warning: {warning}");
    }
    Ok(())
}
