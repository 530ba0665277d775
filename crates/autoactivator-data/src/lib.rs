//! Where rows come from: feature tables of all common formats, and image folders behind frozen backbones.
//!
//! Whatever the source, rows arrive as a stream of [`Batch`]es, so that data larger than memory can be learned from.

mod backbone;
mod batch;
mod cache;
pub mod dataset;
mod error;
mod extractor;
mod image;
pub mod origin;
mod part;
pub mod shard;
pub mod table;

pub use backbone::{Backbone, BackboneSpec, Channels, Engine, Identity, Layout, Preset, Settings};
pub use batch::{Batch, Batches};
pub use cache::Cache;
pub use error::Error;
pub use extractor::{ExtractOptions, Extractor, ImageRows, Skipped};
pub use image::{Filter, ImageFile, ImageFolder, Pixels, Resize, RgbImage, decode, is_image};
pub use origin::Origin;
pub use part::Part;
pub use shard::Shard;
pub use table::{Columns, FeatureTable};
