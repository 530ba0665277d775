//! Values between pixels: a part of an image at another size, one direction after the other.
//!
//! The sums are Pillow's, rounded after each direction as there. A part is sampled directly, so that the middle of a very
//! long image costs no more than that of a square one.

use super::RgbImage;
use crate::origin::Filter;

/// Values of a pixel.
const CHANNELS: usize = RgbImage::CHANNELS;

/// Which part of one side of an image is taken, and how many pixels it becomes.
#[derive(Clone, Copy)]
pub(super) struct Span {
    start: f32,
    length: f32,
    pixels: u32,
}

impl Span {
    /// The whole side.
    pub(super) fn whole(length: u32, pixels: u32) -> Self {
        Self {
            start: 0.0,
            length: length as f32,
            pixels,
        }
    }

    /// The part that the middle `pixels` show once the side is scaled.
    pub(super) fn middle(length: u32, scale: f32, pixels: u32) -> Self {
        let scaled = (length as f32 * scale).round().max(pixels as f32);
        let before = ((scaled - pixels as f32) / 2.0).floor();
        let step = length as f32 / scaled;
        Self {
            start: before * step,
            length: pixels as f32 * step,
            pixels,
        }
    }

    /// For each new pixel, the weights of the `n` old ones.
    fn taps(self, n: u32, filter: Filter) -> Vec<Taps> {
        let step = self.length / self.pixels as f32;
        // When an image shrinks, the filter widens until every old pixel counts.
        let width = step.max(1.0);
        let reach = filter.radius() * width;
        (0..self.pixels)
            .map(|pixel| {
                let centre = self.start + (pixel as f32 + 0.5) * step;
                let last = n.saturating_sub(1) as usize;
                let first = ((centre - reach + 0.5).max(0.0) as usize).min(last);
                let end = ((centre + reach + 0.5).max(0.0) as usize).clamp(first + 1, last + 1);
                let weights = (first..end).map(|old| filter.at((old as f32 + 0.5 - centre) / width));
                Taps::new(first, weights.collect())
            })
            .collect()
    }
}

/// The old pixels whose weighted mean is a new one.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

impl Taps {
    fn new(first: usize, mut weights: Vec<f32>) -> Self {
        let total: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        Self { first, weights }
    }

    fn end(&self) -> usize {
        self.first + self.weights.len()
    }
}

impl Filter {
    fn radius(self) -> f32 {
        match self {
            Self::Bilinear => 1.0,
            Self::Bicubic => 2.0,
        }
    }

    fn at(self, distance: f32) -> f32 {
        let x = distance.abs();
        match self {
            Self::Bilinear => (1.0 - x).max(0.0),
            Self::Bicubic if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Self::Bicubic if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
            Self::Bicubic => 0.0,
        }
    }
}

/// A part of an image at another size.
pub(super) fn resample(image: &RgbImage, across: Span, down: Span, filter: Filter) -> RgbImage {
    let columns = across.taps(image.width(), filter);
    let rows = down.taps(image.height(), filter);
    // Only the rows that the second step needs are narrowed.
    let first = rows.first().map_or(0, |taps| taps.first);
    let end = rows.iter().map(Taps::end).max().unwrap_or(0);
    let row_length = CHANNELS * image.width() as usize;
    let narrowed: Vec<u8> = image.as_raw()[first * row_length..end * row_length]
        .chunks_exact(row_length)
        .flat_map(|row| columns.iter().flat_map(|taps| narrow(row, taps)))
        .collect();
    let mut resampled = RgbImage::black(across.pixels, down.pixels);
    let mut sums = vec![0.0_f32; columns.len() * CHANNELS];
    let new_rows = resampled.as_raw_mut().chunks_exact_mut(sums.len());
    for (taps, new_row) in rows.iter().zip(new_rows) {
        sums.fill(0.0);
        let below = narrowed.chunks_exact(sums.len()).skip(taps.first - first);
        for (row, weight) in below.zip(&taps.weights) {
            sums.iter_mut()
                .zip(row)
                .for_each(|(sum, &value)| *sum += weight * f32::from(value));
        }
        new_row
            .iter_mut()
            .zip(&sums)
            .for_each(|(value, &sum)| *value = rounded(sum));
    }
    resampled
}

/// One new pixel of a row.
fn narrow(row: &[u8], taps: &Taps) -> [u8; CHANNELS] {
    let old = row[CHANNELS * taps.first..].chunks_exact(CHANNELS);
    let mut sums = [0.0; CHANNELS];
    for (pixel, weight) in old.zip(&taps.weights) {
        for (sum, &value) in sums.iter_mut().zip(pixel) {
            *sum += weight * f32::from(value);
        }
    }
    sums.map(rounded)
}

fn rounded(value: f32) -> u8 {
    (value + 0.5) as u8 // The cast saturates: a cubic filter may overshoot.
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Red and blue ramps, so that a place can be told from its colour.
    fn ramp(width: u32, height: u32) -> RgbImage {
        let row = |y: u32| (0..width).flat_map(move |x| [(10 * x) as u8, 7, (10 * y) as u8]);
        image(width, (0..height).flat_map(row).collect())
    }

    fn image(width: u32, values: Vec<u8>) -> RgbImage {
        let height = values.len() / CHANNELS / width as usize;
        RgbImage::new(width, height as u32, values).expect("whole rows")
    }

    fn resized(image: &RgbImage, width: u32, height: u32, filter: Filter) -> RgbImage {
        let spans = (
            Span::whole(image.width(), width),
            Span::whole(image.height(), height),
        );
        resample(image, spans.0, spans.1, filter)
    }

    #[test]
    fn the_same_size_changes_nothing() {
        let image = ramp(7, 5);
        for filter in [Filter::Bilinear, Filter::Bicubic] {
            assert_eq!(resized(&image, 7, 5, filter), image);
        }
    }

    #[test]
    fn values_that_pillow_gives() {
        // `Image.fromarray(...).resize((5, 1), ...)` of the red values 0, 100, 200, and `(2, 1)` of 0, 60, 120, 255.
        let row = |values: &[u8]| {
            let grey = values.iter().flat_map(|&value| [value; CHANNELS]);
            image(values.len() as u32, grey.collect())
        };
        let red = |image: &RgbImage| image.pixels().iter().map(|pixel| pixel[0]).collect::<Vec<_>>();
        let (up, down) = (row(&[0, 100, 200]), row(&[0, 60, 120, 255]));
        assert_eq!(red(&resized(&up, 5, 1, Filter::Bilinear)), [0, 40, 100, 160, 200]);
        assert_eq!(red(&resized(&up, 5, 1, Filter::Bicubic)), [0, 31, 100, 169, 208]);
        assert_eq!(red(&resized(&down, 2, 1, Filter::Bilinear)), [43, 169]);
        assert_eq!(red(&resized(&down, 2, 1, Filter::Bicubic)), [32, 179]);
    }

    #[test]
    fn a_very_long_image_and_a_single_pixel() {
        let long = resample(
            &ramp(4000, 1),
            Span::middle(4000, 8.0, 8),
            Span::middle(1, 8.0, 8),
            Filter::Bilinear,
        );
        assert_eq!((long.width(), long.height()), (8, 8));
        let point = resized(&image(1, vec![1, 2, 3]), 4, 4, Filter::Bicubic);
        assert!(point.pixels().iter().all(|pixel| pixel == &[1, 2, 3]));
    }
}
