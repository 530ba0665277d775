//! Where rows come from: feature tables of all common formats, folders of images behind frozen backbones, sentences
//! behind a frozen encoder, and data sets known by name.
//!
//! Whatever the source, rows arrive as a stream of [`Batch`]es, so that data larger than memory can be learned.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use autoactivator_data::{Columns, FeatureTable};
//!
//! let path = std::env::temp_dir().join(format!("flowers-{}.csv", std::process::id()));
//! std::fs::write(&path, "length,width,kind\n5.1,3.5,setosa\n6.3,3.3,virginica\n")?;
//! let table = FeatureTable::open(&path, &Columns::default())?;
//! for batch in table.batches()? {
//!     let batch = batch?;
//!     assert_eq!(batch.x.rows().row(1), [6.3, 3.3]);
//!     assert_eq!(batch.y.unwrap_or_default(), ["setosa", "virginica"]);
//! }
//! # std::fs::remove_file(path)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! All are on by default. Tables of csv, npy, idx and safetensors need none of them. A file that a build
//! cannot read is refused with the name of the missing feature.
//!
//! | feature | what it adds |
//! |---|---|
//! | `parquet` | Parquet and Arrow tables, read and written |
//! | `npz` | arrays in NumPy's npz files |
//! | `images` | folders of images: decoded, resized, taken as pixels |
//! | `backbones` | frozen ONNX models that turn images into features, on a runtime written in Rust |
//! | `ort` | the same on ONNX Runtime where that is installed |
//! | `text` | frozen ONNX models that turn sentences into features, with their `tokenizer.json` |
//! | `fetch` | `dataset::fetch`: data sets known by name, over HTTP |

#[cfg(feature = "images")]
mod backbone;
mod batch;
#[cfg(feature = "images")]
mod cache;
pub mod dataset;
mod error;
#[cfg(feature = "images")]
mod extractor;
mod hash;
mod held_out;
#[cfg(feature = "images")]
mod image;
pub mod origin;
mod part;
mod pin;
pub mod sentences;
pub mod shard;
pub mod table;
#[cfg(feature = "images")]
pub mod text;

#[cfg(feature = "images")]
pub use backbone::{Backbone, BackboneSpec, Known, KnownFile, Outline, Preset, Runtime, Trust};
pub use batch::{Batch, Batches};
#[cfg(feature = "images")]
pub use cache::Cache;
pub use error::Error;
#[cfg(feature = "images")]
pub use extractor::{ExtractOptions, Extractor, ImageRows, Skipped};
#[cfg(feature = "images")]
pub use image::{
    ImageFile, ImageFolder, Pixels, RgbImage, decode, drawn, is_image, names_images, thumbnail, thumbnail_of,
};
pub use origin::{
    Channels, Filter, Identity, Layout, Origin, Outputs, Pooling, Resize, Settings, TextIdentity,
    TextSettings, Tokens,
};
pub use part::Part;
pub use shard::Shard;
pub use table::{Columns, FeatureTable};
#[cfg(feature = "images")]
pub use text::{Encoder, TextSpec};

/// The README's snippets are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
