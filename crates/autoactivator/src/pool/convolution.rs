//! Convolutional nodes: a filter cut from an image of the first task, read over one cell of a grid.
//!
//! Response at a position: correlation with the filter, divided by the local contrast (the deviation of the patch
//! under it, as a length, plus a constant), minus a threshold, rectified. A node is a power, by default the square
//! root, of the mean response over its cell. A filter shared by many nodes is stored and evaluated once.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{FirstTask, NodePool, Pool};
use crate::error::Error;
use crate::linalg::{Matrix, product};
use crate::params::Precision;
use crate::rng::Random;
use crate::rows::{ImageShape, Rows, Table};

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
    fn outputs_of(&self, pixels: &[f32], out: &mut [f32]) {
        let respond = |bank: &Bank| bank.respond(pixels, self.image, &self.spec);
        let pooled: Vec<Pooled> = self.banks.iter().map(respond).collect();
        for (value, node) in out.iter_mut().zip(&self.nodes) {
            *value = pooled[node.bank as usize].at(node.cell, node.response);
        }
        if self.spec.power == 0.5 {
            out.iter_mut().for_each(|v| *v = v.sqrt());
        } else {
            out.iter_mut().for_each(|v| *v = v.powf(self.spec.power));
        }
    }
}

fn padded_shape(image: ImageShape, padding: usize) -> ImageShape {
    ImageShape {
        height: image.height + 2 * padding,
        width: image.width + 2 * padding,
        ..image
    }
}

fn pad(pixels: &[f32], image: ImageShape, padding: usize) -> Vec<f32> {
    let shape = padded_shape(image, padding);
    let (line, margin) = (image.width * image.channels, padding * image.channels);
    let mut padded = vec![0.0; shape.n_values()];
    for (y, row) in pixels.chunks_exact(line).enumerate() {
        let start = (y + padding) * shape.width * image.channels + margin;
        padded[start..start + line].copy_from_slice(row);
    }
    padded
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
    let (mut needed, mut failed) = (spec.min_deviation, 0);
    while filters.n_cols() < n_filters {
        let padded = pad(task.x.row(random.below(task.x.len())), image, padding);
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

/// Mean responses of one bank over all cells.
struct Pooled {
    n_responses: usize,
    /// Cell after cell, `n_responses` each.
    values: Vec<f32>,
}

impl Pooled {
    fn at(&self, cell: u32, response: u32) -> f32 {
        self.values[cell as usize * self.n_responses + response as usize]
    }
}

impl Bank {
    #[inline(always)]
    fn respond(&self, pixels: &[f32], image: ImageShape, spec: &ConvolutionSpec) -> Pooled {
        let padding = spec.padding(self.side);
        let shape = padded_shape(image, padding);
        let (height, width) = (shape.height - self.side + 1, shape.width - self.side + 1);
        let (patches, gains) = self.patches(&pad(pixels, image, padding), shape, spec.contrast);
        let responses = product(self.filters.t(), patches.view());
        let n_filters = self.filters.n_cols();
        let n_responses = n_filters * if spec.both_signs { 2 } else { 1 };
        let (rows, columns) = (
            cells(height, spec.grid, spec.overlap),
            cells(width, spec.grid, spec.overlap),
        );
        let mut values = vec![0.0; spec.grid * spec.grid * n_responses];
        let mut line = vec![0.0; spec.grid * n_responses];
        for y in 0..height {
            line.fill(0.0);
            for x in 0..width {
                let at = y * width + x;
                let holding = columns
                    .iter()
                    .enumerate()
                    .filter(|(_, (start, end))| (*start..*end).contains(&x));
                for (cell, _) in holding {
                    let sums = &mut line[cell * n_responses..(cell + 1) * n_responses];
                    rectify(responses.col(at), gains[at], spec.threshold, sums);
                }
            }
            let holding = rows
                .iter()
                .enumerate()
                .filter(|(_, (start, end))| (*start..*end).contains(&y));
            for (cell, _) in holding {
                let sums = &mut values[cell * line.len()..(cell + 1) * line.len()];
                sums.iter_mut().zip(&line).for_each(|(sum, v)| *sum += v);
            }
        }
        for (cell, sums) in values.chunks_mut(n_responses.max(1)).enumerate() {
            let ((top, bottom), (left, right)) = (rows[cell / spec.grid], columns[cell % spec.grid]);
            let share = 1.0 / ((bottom - top) * (right - left)) as f32;
            sums.iter_mut().for_each(|sum| *sum *= share);
        }
        Pooled { n_responses, values }
    }

    /// All patches under the filters, `(n_weights, n_positions)`, and 1 / (contrast + constant) of each.
    fn patches(&self, padded: &[f32], shape: ImageShape, constant: f32) -> (Matrix<f32>, Vec<f32>) {
        let (height, width) = (shape.height - self.side + 1, shape.width - self.side + 1);
        let n_weights = self.filters.n_rows();
        let mut values = Vec::with_capacity(n_weights * height * width);
        let mut gains = Vec::with_capacity(height * width);
        for y in 0..height {
            for x in 0..width {
                let start = values.len();
                copy_patch(padded, shape, self.side, y, x, &mut values);
                let (sum, square) = values[start..]
                    .iter()
                    .fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
                let contrast = (square - sum * sum / n_weights as f32).max(0.0).sqrt();
                gains.push(1.0 / (contrast + constant));
            }
        }
        let patches = Matrix::from_columns(values, n_weights, height * width);
        (patches.unwrap_or_else(|| Matrix::zeros(n_weights, 0)), gains)
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
        let images: Vec<&[f32]> = x.iter().collect();
        values
            .par_chunks_mut(self.n_nodes().max(1))
            .zip(images)
            .for_each(|(out, pixels)| {
                pulp::Arch::new().dispatch(|| self.outputs_of(pixels, out));
            });
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
