//! An image in memory.

use super::resize::to_size;
use crate::origin::Filter;

/// Red, green and blue of each pixel, row by row from the top left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbImage {
    width: u32,
    height: u32,
    values: Vec<u8>,
}

impl RgbImage {
    /// Values of a pixel.
    pub(crate) const CHANNELS: usize = 3;

    /// An image of these values; none when they are not three a pixel.
    pub fn new(width: u32, height: u32, values: Vec<u8>) -> Option<Self> {
        let wanted = (width as usize)
            .checked_mul(height as usize)?
            .checked_mul(Self::CHANNELS)?;
        (values.len() == wanted).then_some(Self {
            width,
            height,
            values,
        })
    }

    /// An image of this size in black.
    pub(crate) fn black(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            values: vec![0; Self::CHANNELS * width as usize * height as usize],
        }
    }

    /// The whole image, made smaller until its longer side has this many pixels.
    pub fn thumbnail(&self, longest: u32) -> Self {
        let long = self.width.max(self.height).max(1);
        if long <= longest {
            return self.clone();
        }
        let side = |length: u32| {
            let scaled = u64::from(length) * u64::from(longest) / u64::from(long);
            (scaled as u32).max(1)
        };
        to_size(self, side(self.width), side(self.height), Filter::Bilinear)
    }

    /// Pixels of a row.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All values.
    pub fn as_raw(&self) -> &[u8] {
        &self.values
    }

    /// All values, to be written.
    pub(crate) fn as_raw_mut(&mut self) -> &mut [u8] {
        &mut self.values
    }

    /// Red, green and blue of each pixel.
    pub fn pixels(&self) -> &[[u8; Self::CHANNELS]] {
        self.values.as_chunks().0
    }
}
