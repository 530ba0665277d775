//! Convolutional nodes: a filter cut from an image of the first task, read over one cell of a grid.
//!
//! The response at a position is the correlation with the filter, divided by the local contrast (the
//! deviation of the patch under it, as a length, plus a constant), minus a threshold, rectified. A node is a
//! power, by default the square root, of the mean response over its cell. A filter shared by many nodes is
//! stored and evaluated once.
//!
//! `spec` says which filters are cut and how they are read, `respond` computes responses, `onnx` writes the
//! same steps into a graph.

mod onnx;
mod respond;
mod spec;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{FirstTask, Pool, check_image, described, fits, read_description};
use crate::data::{ImageShape, Rows, Table};
use crate::error::Error;
use crate::format::Container;
use crate::math::{Matrix, Random, alone, vectorised};
use crate::onnx::{Graph, Value};
use crate::params::Precision;
use respond::{Responder, pad, padded_shape};

pub use spec::ConvolutionSpec;

/// Name of this kind in a file.
pub(super) const KIND: &str = "convolution";

/// Number of draws after which a patch with less contrast is accepted too.
const DRAWS_BEFORE_LESS_CONTRAST: usize = 200;

/// Filters and the cells they are read over.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    /// Shape of the images.
    pub image: ImageShape,
    /// How filters are read.
    pub spec: ConvolutionSpec,
    /// Filters, grouped by side.
    pub banks: Vec<Bank>,
    /// The nodes.
    pub nodes: Vec<Reading>,
}

/// Filters of the same side.
#[derive(Clone, Debug, PartialEq)]
pub struct Bank {
    /// Side of the filters.
    pub side: usize,
    /// Filters of mean 0 and length 1; `(side · side · channels, n_filters)`.
    pub filters: Matrix<f32>,
}

/// A node: one response averaged over one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Index of the filter's bank.
    pub bank: u32,
    /// Index of the filter within the bank; negative responses come after all positive ones.
    pub response: u32,
    /// Index of the cell, row after row.
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
        Self::with_banks(image, spec, |side, n| {
            cut_bank(random, task, image, spec, side, n)
        })
    }

    /// Draws filters at random: they depend on nothing that was learned.
    pub fn draw(random: &mut Random, image: ImageShape, spec: &ConvolutionSpec) -> Result<Self, Error> {
        Self::with_banks(image, spec, |side, n| {
            Ok(draw_bank(random, image.channels, side, n))
        })
    }

    /// All nodes of these filters; `bank` makes those of one side.
    fn with_banks(
        image: ImageShape,
        spec: &ConvolutionSpec,
        mut bank: impl FnMut(usize, usize) -> Result<Matrix<f32>, Error>,
    ) -> Result<Self, Error> {
        spec.check(image)?;
        let mut banks = Vec::new();
        for (i, &side) in spec.sides.iter().enumerate() {
            let n = spec.filters / spec.sides.len() + usize::from(i < spec.filters % spec.sides.len());
            banks.push(Bank {
                side,
                filters: bank(side, n)?,
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

    /// Outputs for one image.
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

    /// The workers that answer one image after the other, one per bank.
    fn responders(&self) -> Vec<Responder<'_>> {
        self.banks
            .iter()
            .map(|bank| Responder::new(bank, self.image, &self.spec))
            .collect()
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
        let length = centre(&mut patch);
        if length > needed * (patch.len() as f32).sqrt() && length > 1e-6 {
            patch.iter_mut().for_each(|v| *v /= length);
            filters.push(&patch);
            failed = 0;
            continue;
        }
        failed += 1;
        if failed >= DRAWS_BEFORE_LESS_CONTRAST {
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

/// Random filters, smoothed by (1, 2, 1) down and across: neighbouring pixels of an image are alike, and a filter that
/// jumps between them responds to little but noise.
fn draw_bank(random: &mut Random, channels: usize, side: usize, n_filters: usize) -> Matrix<f32> {
    let mut filters = Matrix::zeros(side * side * channels, 0);
    let wide = side + 2;
    let mut noise = vec![0.0; wide * wide * channels];
    while filters.n_cols() < n_filters {
        random.fill_symmetric(&mut noise, 1.0);
        let at = |y: usize, x: usize, channel: usize| noise[(y * wide + x) * channels + channel];
        let across = |y, x, channel| at(y, x, channel) + 2.0 * at(y, x + 1, channel) + at(y, x + 2, channel);
        let mut filter: Vec<f32> = (0..side * side * channels)
            .map(|weight| {
                let (pixel, channel) = (weight / channels, weight % channels);
                let (y, x) = (pixel / side, pixel % side);
                across(y, x, channel) + 2.0 * across(y + 1, x, channel) + across(y + 2, x, channel)
            })
            .collect();
        let length = centre(&mut filter);
        filter.iter_mut().for_each(|v| *v /= length);
        filters.push(&filter);
    }
    filters
}

/// Removes the mean, and returns the length.
fn centre(values: &mut [f32]) -> f32 {
    let mean = values.iter().sum::<f32>() / values.len() as f32;
    values.iter_mut().for_each(|v| *v -= mean);
    values.iter().map(|v| v * v).sum::<f32>().sqrt()
}

fn copy_patch(padded: &[f32], shape: ImageShape, side: usize, top: usize, left: usize, patch: &mut Vec<f32>) {
    let (line, run) = (shape.width * shape.channels, side * shape.channels);
    for y in top..top + side {
        let start = y * line + left * shape.channels;
        patch.extend_from_slice(&padded[start..start + run]);
    }
}

impl Pool for Convolution {
    fn n_inputs(&self) -> usize {
        self.image.n_values()
    }

    fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Each image is its own product, so its outputs do not depend on the other rows.
    fn outputs(&self, x: Rows<'_>, _: Precision) -> Table {
        let mut values = vec![0.0; x.len() * self.n_nodes()];
        values
            .par_chunks_mut(self.n_nodes().max(1))
            .zip(x.values().par_chunks(x.n_features()))
            .for_each_init(
                || self.responders(),
                |responders, (out, pixels)| {
                    alone(|| {
                        vectorised(
                            #[inline(always)]
                            || self.outputs_of(pixels, responders, out),
                        );
                    });
                },
            );
        Table::from_whole_rows(values, self.n_nodes())
    }

    /// Leaves out filters that no selected node reads.
    fn select(&self, nodes: &[usize]) -> Box<dyn Pool> {
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
        Box::new(selected)
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

    fn pack(&self, container: &mut Container, prefix: &str) -> Json {
        for (b, bank) in self.banks.iter().enumerate() {
            container.put_matrix(format!("{prefix}.filters.{b}"), &bank.filters);
        }
        described(
            KIND,
            &Description {
                image: self.image,
                spec: self.spec.clone(),
                sides: self.banks.iter().map(|bank| bank.side).collect(),
                nodes: self.nodes.clone(),
            },
        )
    }

    fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value {
        onnx::outputs(graph, self, x)
    }

    fn boxed(&self) -> Box<dyn Pool> {
        Box::new(self.clone())
    }
}

#[derive(Serialize, Deserialize)]
struct Description {
    image: ImageShape,
    spec: ConvolutionSpec,
    sides: Vec<usize>,
    nodes: Vec<Reading>,
}

pub(super) fn unpack(
    container: &Container,
    prefix: &str,
    description: &Json,
) -> Result<Box<dyn Pool>, String> {
    let Description {
        image,
        spec,
        sides,
        nodes,
    } = read_description(description)?;
    check_image(image, prefix)?;
    spec.check(image).map_err(|e| e.to_string())?;
    fits(sides == spec.sides, prefix)?;
    let mut banks = Vec::new();
    for (b, &side) in sides.iter().enumerate() {
        let filters: Matrix<f32> = container.matrix(&format!("{prefix}.filters.{b}"))?;
        fits(filters.n_rows() == side * side * image.channels, prefix)?;
        banks.push(Bank { side, filters });
    }
    let signs = if spec.both_signs { 2 } else { 1 };
    let known = |node: &Reading| {
        let bank = banks.get(node.bank as usize);
        bank.is_some_and(|bank| (node.response as usize) < bank.filters.n_cols() * signs)
            && (node.cell as usize) < spec.grid * spec.grid
    };
    fits(nodes.iter().all(known), prefix)?;
    Ok(Box::new(Convolution {
        image,
        spec,
        banks,
        nodes,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Stream;
    use respond::cells;

    /// One node, position by position, straight from the definition.
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
            let mut random = Random::new(1, Stream::Pool { layer: 0 });
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
