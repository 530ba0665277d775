//! A bank of filters at work: contrast, patches, responses and their means over the cells, image after image.

use super::{Bank, ConvolutionSpec};
use crate::data::ImageShape;
use crate::math::{Matrix, product_into};

pub(super) fn padded_shape(image: ImageShape, padding: usize) -> ImageShape {
    ImageShape {
        height: image.height + 2 * padding,
        width: image.width + 2 * padding,
        ..image
    }
}

/// Copies an image into the middle of `padded`, which has zeros around it.
pub(super) fn pad(pixels: &[f32], image: ImageShape, padding: usize, padded: &mut [f32]) {
    let shape = padded_shape(image, padding);
    let (line, margin) = (image.width * image.channels, padding * image.channels);
    for (y, row) in pixels.chunks_exact(line).enumerate() {
        let start = (y + padding) * shape.width * image.channels + margin;
        padded[start..start + line].copy_from_slice(row);
    }
}

/// A bank at work, with all buffers it needs for one image.
pub(super) struct Responder<'a> {
    bank: &'a Bank,
    spec: &'a ConvolutionSpec,
    image: ImageShape,
    /// Shape of the padded image.
    shape: ImageShape,
    /// The cells down the image.
    rows: Vec<(usize, usize)>,
    /// The cells across it.
    columns: Vec<(usize, usize)>,
    padded: Vec<f32>,
    /// The patch under the filters at each position, `(n_positions, n_weights)`.
    patches: Matrix<f32>,
    /// 1 / (contrast + constant) at each position.
    gains: Vec<f32>,
    /// `(n_filters, n_positions)`.
    responses: Matrix<f32>,
    /// Sums over the cells of one line of positions, `n_responses` each.
    line: Vec<f32>,
    /// Mean responses, cell after cell, `n_responses` each.
    pooled: Vec<f32>,
}

impl<'a> Responder<'a> {
    pub(super) fn new(bank: &'a Bank, image: ImageShape, spec: &'a ConvolutionSpec) -> Self {
        let shape = padded_shape(image, spec.padding(bank.side));
        let (height, width) = (shape.height - bank.side + 1, shape.width - bank.side + 1);
        let n_responses = bank.filters.n_cols() * if spec.both_signs { 2 } else { 1 };
        Self {
            bank,
            spec,
            image,
            shape,
            rows: cells(height, spec.grid, spec.overlap),
            columns: cells(width, spec.grid, spec.overlap),
            padded: vec![0.0; shape.n_values()],
            patches: Matrix::zeros(height * width, bank.filters.n_rows()),
            gains: vec![0.0; height * width],
            responses: Matrix::zeros(bank.filters.n_cols(), height * width),
            line: vec![0.0; spec.grid * n_responses],
            pooled: vec![0.0; spec.grid * spec.grid * n_responses],
        }
    }

    pub(super) fn at(&self, cell: u32, response: u32) -> f32 {
        let n_responses = self.line.len() / self.spec.grid;
        self.pooled[cell as usize * n_responses + response as usize]
    }

    /// Fills `pooled` for one image.
    #[inline(always)]
    pub(super) fn respond(&mut self, pixels: &[f32]) {
        // No filter of this bank is read any more.
        if self.line.is_empty() {
            return;
        }
        pad(
            pixels,
            self.image,
            self.spec.padding(self.bank.side),
            &mut self.padded,
        );
        self.measure_contrast();
        self.copy_patches();
        product_into(&mut self.responses, self.bank.filters.t(), self.patches.t());
        self.pool();
    }

    /// Number of filter positions across the padded image.
    fn width(&self) -> usize {
        self.shape.width - self.bank.side + 1
    }

    /// Each weight of the filter sees the image shifted by its own offset.
    #[inline(always)]
    fn copy_patches(&mut self) {
        let (width, side, channels) = (self.width(), self.bank.side, self.shape.channels);
        let line = self.shape.width * channels;
        for weight in 0..self.patches.n_cols() {
            let (dy, dx) = (weight / (side * channels), weight % (side * channels));
            let column = self.patches.col_mut(weight).chunks_exact_mut(width).enumerate();
            for (y, to) in column {
                let from = &self.padded[(y + dy) * line + dx..];
                if channels == 1 {
                    to.copy_from_slice(&from[..width]);
                } else {
                    let pixels = to.iter_mut().zip(from.iter().step_by(channels));
                    pixels.for_each(|(to, from)| *to = *from);
                }
            }
        }
    }

    /// Sums of the values and of their squares under the filter, first down, then across.
    #[inline(always)]
    fn measure_contrast(&mut self) {
        let (width, side, channels) = (self.width(), self.bank.side, self.shape.channels);
        let line = self.shape.width * channels;
        let n_weights = self.bank.filters.n_rows() as f32;
        let (mut sums, mut squares) = (vec![0.0; line], vec![0.0; line]);
        for (y, gains) in self.gains.chunks_exact_mut(width).enumerate() {
            sums.fill(0.0);
            squares.fill(0.0);
            for row in self.padded[y * line..].chunks_exact(line).take(side) {
                for ((sum, square), v) in sums.iter_mut().zip(&mut squares).zip(row) {
                    *sum += v;
                    *square += v * v;
                }
            }
            for (x, gain) in gains.iter_mut().enumerate() {
                let under = x * channels..(x + side) * channels;
                let sum: f32 = sums[under.clone()].iter().sum();
                let square: f32 = squares[under].iter().sum();
                let contrast = (square - sum * sum / n_weights).max(0.0).sqrt();
                *gain = 1.0 / (contrast + self.spec.contrast);
            }
        }
    }

    /// Computes the means of the rectified responses over all cells.
    #[inline(always)]
    fn pool(&mut self) {
        let (width, grid) = (self.width(), self.spec.grid);
        let n_responses = self.line.len() / grid;
        let (rows, columns) = (&self.rows, &self.columns);
        self.pooled.fill(0.0);
        for (y, gains) in self.gains.chunks_exact(width).enumerate() {
            self.line.fill(0.0);
            for (x, &gain) in gains.iter().enumerate() {
                let responses = self.responses.col(y * width + x);
                let sums = self.line.chunks_exact_mut(n_responses).zip(columns);
                for (sums, _) in sums.filter(|(_, (start, end))| (*start..*end).contains(&x)) {
                    rectify(responses, gain, self.spec.threshold, sums);
                }
            }
            let sums = self.pooled.chunks_exact_mut(self.line.len()).zip(rows);
            for (sums, _) in sums.filter(|(_, (start, end))| (*start..*end).contains(&y)) {
                sums.iter_mut().zip(&self.line).for_each(|(sum, v)| *sum += v);
            }
        }
        for (cell, sums) in self.pooled.chunks_exact_mut(n_responses).enumerate() {
            let ((top, bottom), (left, right)) = (rows[cell / grid], columns[cell % grid]);
            let share = 1.0 / ((bottom - top) * (right - left)) as f32;
            sums.iter_mut().for_each(|sum| *sum *= share);
        }
    }
}

/// Adds max(0, ±gain · response - threshold) to the sums, the negative responses after the positive ones.
#[inline(always)]
fn rectify(responses: &[f32], gain: f32, threshold: f32, sums: &mut [f32]) {
    let (positive, negative) = sums.split_at_mut(responses.len());
    for (sum, response) in positive.iter_mut().zip(responses) {
        *sum += (gain * response - threshold).max(0.0);
    }
    for (sum, response) in negative.iter_mut().zip(responses) {
        *sum += (-gain * response - threshold).max(0.0);
    }
}

/// The first position of each cell along a side, and the position after its last.
pub(super) fn cells(length: usize, grid: usize, overlap: usize) -> Vec<(usize, usize)> {
    let edge = |i: usize| (i * length + grid / 2) / grid;
    (0..grid)
        .map(|i| {
            let (start, end) = (edge(i).min(length - 1), edge(i + 1).clamp(1, length));
            (
                start.min(end - 1).saturating_sub(overlap),
                (end + overlap).min(length),
            )
        })
        .collect()
}
