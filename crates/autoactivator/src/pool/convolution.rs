//! Convolutional nodes: a filter cut from an image of the first task, read over one cell of a grid.
//!
//! Response at a position: correlation with the filter, divided by the local contrast (the deviation of the patch
//! under it, as a length, plus a constant), minus a threshold, rectified. A node is a power, by default the square
//! root, of the mean response over its cell. A filter shared by many nodes is stored and evaluated once.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{FirstTask, NodePool, Pool};
use crate::error::Error;
use crate::linalg::{Matrix, product_into};
use crate::params::Precision;
use crate::rng::Random;
use crate::rows::{ImageShape, Rows, Table};
use crate::simd::vectorised;

/// Draws after which a patch with less contrast is taken too.
const ATTEMPTS: usize = 200;

/// How filters are cut and read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConvolutionSpec {
    /// Number of filters.
    pub filters: usize,
    /// Sides of the square filters; the filters are shared out among them.
    pub sides: Vec<usize>,
    /// Whether zeros around the image let every pixel be the middle of a patch.
    pub padded: bool,
    /// Deviation of pixel values that a patch needs to become a filter.
    pub min_deviation: f32,
    /// Added to the local contrast.
    pub contrast: f32,
    /// Subtracted from the normalised response.
    pub threshold: f32,
    /// Whether the negative response is a node of its own.
    pub both_signs: bool,
    /// Cells along each side of the grid.
    pub grid: usize,
    /// Positions by which each cell reaches into its neighbours.
    pub overlap: usize,
    /// Power that the mean response is raised to.
    pub power: f32,
}

impl Default for ConvolutionSpec {
    fn default() -> Self {
        Self {
            filters: 128,
            sides: vec![7],
            padded: false,
            min_deviation: 0.15,
            contrast: 1.0,
            threshold: 0.2,
            both_signs: false,
            grid: 4,
            overlap: 2,
            power: 0.5,
        }
    }
}

impl ConvolutionSpec {
    /// Everything that can be wrong with a specification for images of this shape.
    pub(crate) fn check(&self, image: ImageShape) -> Result<(), Error> {
        let wrong = |name, value: String, allowed| Err(Error::Parameter { name, value, allowed });
        let smallest = image.height.min(image.width);
        if self.filters == 0 {
            return wrong("filters", self.filters.to_string(), "at least 1");
        }
        if self.sides.is_empty() || self.sides.iter().any(|&side| !(2..=smallest).contains(&side)) {
            return wrong(
                "sides",
                format!("{:?}", self.sides),
                "one or more, each from 2 to the side of the image",
            );
        }
        if self.padded && self.sides.iter().any(|side| side % 2 == 0) {
            return wrong("sides", format!("{:?}", self.sides), "odd while `padded` is on");
        }
        let positions = self
            .sides
            .iter()
            .map(|side| {
                if self.padded {
                    smallest
                } else {
                    smallest - side + 1
                }
            })
            .min();
        if self.grid == 0 || positions.is_some_and(|positions| self.grid > positions) {
            return wrong(
                "grid",
                self.grid.to_string(),
                "from 1 to the number of positions of the largest filter",
            );
        }
        if !(self.contrast > 0.0 && self.contrast.is_finite()) {
            return wrong("contrast", self.contrast.to_string(), "a finite number above 0");
        }
        if !(self.threshold >= 0.0 && self.threshold.is_finite()) {
            return wrong(
                "threshold",
                self.threshold.to_string(),
                "a finite number of at least 0",
            );
        }
        if !(self.power > 0.0 && self.power <= 2.0) {
            return wrong("power", self.power.to_string(), "above 0 and at most 2");
        }
        Ok(())
    }

    /// Nodes it makes: one for each filter, sign and cell.
    pub(crate) fn n_nodes(&self) -> usize {
        let signs = if self.both_signs { 2 } else { 1 };
        self.filters
            .saturating_mul(signs)
            .saturating_mul(self.grid.saturating_mul(self.grid))
    }

    /// Zeros on each side of the image for filters of this side.
    pub(crate) fn padding(&self, side: usize) -> usize {
        if self.padded { side / 2 } else { 0 }
    }
}

/// Filters and the cells they are read over.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    /// The images.
    pub image: ImageShape,
    /// How filters are read.
    pub spec: ConvolutionSpec,
    /// Filters by side.
    pub banks: Vec<Bank>,
    /// The nodes.
    pub nodes: Vec<Reading>,
}

/// Filters of one side.
#[derive(Clone, Debug, PartialEq)]
pub struct Bank {
    /// Side of its filters.
    pub side: usize,
    /// Mean 0, length 1; `(side · side · channels, n_filters)`.
    pub filters: Matrix<f32>,
}

/// A node: one response over one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Bank of its filter.
    pub bank: u32,
    /// Filter within the bank; negative responses come after all positive ones.
    pub response: u32,
    /// Cell, row after row.
    pub cell: u32,
}

impl Convolution {
    /// Cuts filters from the images of the first task.
    pub fn cut(
        random: &mut Random,
        task: &FirstTask<'_>,
        image: ImageShape,
        spec: &ConvolutionSpec,
    ) -> Result<Self, Error> {
        spec.check(image)?;
        let mut banks = Vec::new();
        for (i, &side) in spec.sides.iter().enumerate() {
            let n = spec.filters / spec.sides.len() + usize::from(i < spec.filters % spec.sides.len());
            banks.push(Bank {
                side,
                filters: cut_bank(random, task, image, spec, side, n)?,
            });
        }
        let signs = if spec.both_signs { 2 } else { 1 };
        let mut nodes = Vec::new();
        for (b, bank) in banks.iter().enumerate() {
            for response in 0..bank.filters.n_cols() * signs {
                for cell in 0..spec.grid * spec.grid {
                    nodes.push(Reading {
                        bank: b as u32,
                        response: response as u32,
                        cell: cell as u32,
                    });
                }
            }
        }
        Ok(Self {
            image,
            spec: spec.clone(),
            banks,
            nodes,
        })
    }

    /// Outputs of one image.
    #[inline(always)]
    fn outputs_of(&self, pixels: &[f32], responders: &mut [Responder<'_>], out: &mut [f32]) {
        responders
            .iter_mut()
            .for_each(|responder| responder.respond(pixels));
        for (value, node) in out.iter_mut().zip(&self.nodes) {
            *value = responders[node.bank as usize].at(node.cell, node.response);
        }
        if self.spec.power == 0.5 {
            out.iter_mut().for_each(|v| *v = v.sqrt());
        } else {
            out.iter_mut().for_each(|v| *v = v.powf(self.spec.power));
        }
    }

    /// What answers one image after the other, bank by bank.
    fn responders(&self) -> Vec<Responder<'_>> {
        self.banks
            .iter()
            .map(|bank| Responder::new(bank, self.image, &self.spec))
            .collect()
    }
}

fn padded_shape(image: ImageShape, padding: usize) -> ImageShape {
    ImageShape {
        height: image.height + 2 * padding,
        width: image.width + 2 * padding,
        ..image
    }
}

/// Copies an image into the middle of `padded`, which has zeros around it.
fn pad(pixels: &[f32], image: ImageShape, padding: usize, padded: &mut [f32]) {
    let shape = padded_shape(image, padding);
    let (line, margin) = (image.width * image.channels, padding * image.channels);
    for (y, row) in pixels.chunks_exact(line).enumerate() {
        let start = (y + padding) * shape.width * image.channels + margin;
        padded[start..start + line].copy_from_slice(row);
    }
}

fn cut_bank(
    random: &mut Random,
    task: &FirstTask<'_>,
    image: ImageShape,
    spec: &ConvolutionSpec,
    side: usize,
    n_filters: usize,
) -> Result<Matrix<f32>, Error> {
    let padding = spec.padding(side);
    let shape = padded_shape(image, padding);
    let mut filters = Matrix::zeros(side * side * image.channels, 0);
    let mut padded = vec![0.0; shape.n_values()];
    let (mut needed, mut failed) = (spec.min_deviation, 0);
    while filters.n_cols() < n_filters {
        pad(
            task.x.row(random.below(task.x.len())),
            image,
            padding,
            &mut padded,
        );
        let top = random.below(shape.height - side + 1);
        let left = random.below(shape.width - side + 1);
        let mut patch = Vec::with_capacity(filters.n_rows());
        copy_patch(&padded, shape, side, top, left, &mut patch);
        let mean = patch.iter().sum::<f32>() / patch.len() as f32;
        patch.iter_mut().for_each(|v| *v -= mean);
        let length = patch.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length > needed * (patch.len() as f32).sqrt() && length > 1e-6 {
            patch.iter_mut().for_each(|v| *v /= length);
            filters.push(&patch);
            failed = 0;
            continue;
        }
        failed += 1;
        if failed >= ATTEMPTS {
            (needed, failed) = (needed * 0.5, 0);
            if needed < 1e-6 {
                return Err(Error::NothingToCut {
                    what: "patches with contrast",
                });
            }
        }
    }
    Ok(filters)
}

fn copy_patch(padded: &[f32], shape: ImageShape, side: usize, top: usize, left: usize, patch: &mut Vec<f32>) {
    let (line, run) = (shape.width * shape.channels, side * shape.channels);
    for y in top..top + side {
        let start = y * line + left * shape.channels;
        patch.extend_from_slice(&padded[start..start + run]);
    }
}

/// A bank at work, with all the room it needs for one image.
struct Responder<'a> {
    bank: &'a Bank,
    spec: &'a ConvolutionSpec,
    image: ImageShape,
    /// Of the padded image.
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
    fn new(bank: &'a Bank, image: ImageShape, spec: &'a ConvolutionSpec) -> Self {
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

    fn at(&self, cell: u32, response: u32) -> f32 {
        let n_responses = self.line.len() / self.spec.grid;
        self.pooled[cell as usize * n_responses + response as usize]
    }

    /// Fills `pooled` for one image.
    #[inline(always)]
    fn respond(&mut self, pixels: &[f32]) {
        // A bank of which no filter is read any more.
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

    /// Positions of the filter across the padded image.
    fn width(&self) -> usize {
        self.shape.width - self.bank.side + 1
    }

    /// Each place of the filter sees the image shifted by as much.
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

    /// Means of the rectified responses over all cells.
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

/// First and last-but-one position of each cell along a side.
pub(crate) fn cells(length: usize, grid: usize, overlap: usize) -> Vec<(usize, usize)> {
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

impl Pool for Convolution {
    fn n_inputs(&self) -> usize {
        self.image.n_values()
    }

    fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Each image is a product of its own, which rounds the same in whatever company.
    fn outputs(&self, x: Rows<'_>, _: Precision) -> Table {
        let mut values = vec![0.0; x.len() * self.n_nodes()];
        values
            .par_chunks_mut(self.n_nodes().max(1))
            .zip(x.values().par_chunks(x.n_features()))
            .for_each_init(
                || self.responders(),
                |responders, (out, pixels)| {
                    vectorised(
                        #[inline(always)]
                        || self.outputs_of(pixels, responders, out),
                    );
                },
            );
        Table::from_whole_rows(values, self.n_nodes())
    }

    /// Filters that no selected node reads are left out.
    fn select(&self, nodes: &[usize]) -> NodePool {
        let mut selected = Self {
            nodes: nodes.iter().map(|&node| self.nodes[node]).collect(),
            ..self.clone()
        };
        for (b, bank) in selected.banks.iter_mut().enumerate() {
            let n_filters = bank.filters.n_cols();
            let readers = || selected.nodes.iter().filter(|node| node.bank as usize == b);
            let mut used: Vec<usize> = readers().map(|node| node.response as usize % n_filters).collect();
            used.sort_unstable();
            used.dedup();
            bank.filters = bank.filters.gather(used.iter().copied());
            for node in selected.nodes.iter_mut().filter(|node| node.bank as usize == b) {
                let (sign, filter) = (
                    node.response as usize / n_filters,
                    node.response as usize % n_filters,
                );
                let place = used.partition_point(|&u| u < filter);
                node.response = (sign * used.len() + place) as u32;
            }
        }
        NodePool::Convolution(selected)
    }

    fn n_floats(&self) -> usize {
        self.banks.iter().map(|bank| bank.filters.values().len()).sum()
    }

    fn multiply_adds(&self) -> usize {
        let positions = |bank: &Bank| {
            let shape = padded_shape(self.image, self.spec.padding(bank.side));
            (shape.height - bank.side + 1) * (shape.width - bank.side + 1)
        };
        self.banks
            .iter()
            .map(|bank| bank.filters.values().len() * positions(bank))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One node, position by position, as it is defined.
    fn slow_output(pool: &Convolution, pixels: &[f32], node: &Reading) -> f64 {
        let (image, spec, bank) = (pool.image, &pool.spec, &pool.banks[node.bank as usize]);
        let (side, padding) = (bank.side as isize, spec.padding(bank.side) as isize);
        let pixel = |y: isize, x: isize, channel: usize| {
            let inside = (0..image.height as isize).contains(&y) && (0..image.width as isize).contains(&x);
            let at = (y * image.width as isize + x) * image.channels as isize + channel as isize;
            if inside {
                f64::from(pixels[at as usize])
            } else {
                0.0
            }
        };
        let n_filters = bank.filters.n_cols();
        let filter = bank.filters.col(node.response as usize % n_filters);
        let sign = if node.response as usize >= n_filters {
            -1.0
        } else {
            1.0
        };
        let shape = padded_shape(image, padding as usize);
        let down =
            cells(shape.height - bank.side + 1, spec.grid, spec.overlap)[node.cell as usize / spec.grid];
        let across =
            cells(shape.width - bank.side + 1, spec.grid, spec.overlap)[node.cell as usize % spec.grid];
        let mut sum = 0.0;
        for y in down.0..down.1 {
            for x in across.0..across.1 {
                let mut patch = Vec::new();
                for dy in 0..side {
                    for dx in 0..side {
                        let (y, x) = (y as isize + dy - padding, x as isize + dx - padding);
                        patch.extend((0..image.channels).map(|channel| pixel(y, x, channel)));
                    }
                }
                let mean = patch.iter().sum::<f64>() / patch.len() as f64;
                let contrast = patch.iter().map(|v| (v - mean).powi(2)).sum::<f64>().sqrt();
                let response: f64 = patch.iter().zip(filter).map(|(v, w)| v * f64::from(*w)).sum();
                let normalised = sign * response / (contrast + f64::from(spec.contrast));
                sum += (normalised - f64::from(spec.threshold)).max(0.0);
            }
        }
        let n_positions = (down.1 - down.0) * (across.1 - across.0);
        (sum / n_positions as f64).powf(f64::from(spec.power))
    }

    #[test]
    fn many_positions_at_a_time_are_one_after_the_other() {
        for (channels, padded, both_signs, power) in
            [(1, false, false, 0.5), (1, true, true, 0.7), (3, true, true, 0.5)]
        {
            let image = ImageShape {
                height: 9,
                width: 8,
                channels,
            };
            let mut random = Random::new(1, crate::rng::Stream::Pool { layer: 0 });
            let values: Vec<f32> = (0..20 * image.n_values()).map(|_| random.normal()).collect();
            let x = Rows::new(&values, image.n_values()).unwrap();
            let task = FirstTask {
                x,
                places: &[],
                image: Some(image),
                seed: 0,
            };
            let spec = ConvolutionSpec {
                filters: 7,
                sides: vec![3, 5],
                padded,
                both_signs,
                grid: 2,
                overlap: 1,
                power,
                ..ConvolutionSpec::default()
            };
            let pool = Convolution::cut(&mut random, &task, image, &spec).unwrap();
            let outputs = pool.outputs(x, Precision::F32);
            for (pixels, outputs) in x.iter().zip(outputs.rows().iter()) {
                for (node, &output) in pool.nodes.iter().zip(outputs) {
                    let truth = slow_output(&pool, pixels, node);
                    assert!(
                        (f64::from(output) - truth).abs() < 1e-4,
                        "{node:?}: {output}, not {truth}"
                    );
                }
            }
        }
    }
}
