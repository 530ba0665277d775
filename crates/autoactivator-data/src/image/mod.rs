//! Images on disk: which ones there are, what class each has, and their pixels.
//!
//! [`ImageFolder`] lists, [`decode`] gives pixels, [`Resize`] brings them to the size that a backbone wants, and
//! [`Pixels`] takes them as features.

mod codecs;
mod decode;
mod folder;
mod jpeg;
mod orientation;
mod pixels;
mod resample;
mod resize;
mod rgb;
mod split;

pub use decode::{decode, decode_within};
pub use folder::{ImageFile, ImageFolder, is_image};
pub use pixels::Pixels;
pub use resize::{Filter, Resize};
pub use rgb::RgbImage;
