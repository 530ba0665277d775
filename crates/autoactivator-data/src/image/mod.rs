//! Images on disk: which ones there are, what class each has, and their pixels.
//!
//! [`ImageFolder`] lists them, [`decode`] reads one, [`square`] brings it to the size that a backbone takes, and [`Pixels`]
//! takes the pixels as features.

mod codecs;
mod decode;
mod folder;
mod foreign;
mod jpeg;
mod list;
mod orientation;
mod pixels;
mod resample;
mod resize;
mod rgb;
mod split;
mod thumbnail;

pub use decode::decode;
pub(crate) use decode::decode_within;
pub use folder::{ImageFile, ImageFolder, is_image, is_readable};
pub use list::names_images;
pub use pixels::Pixels;
pub(crate) use resize::square;
pub use rgb::RgbImage;
pub use thumbnail::{drawn, thumbnail, thumbnail_of};
