//! Convolutional nodes as ONNX operators: every bank is evaluated over all its cells, and the nodes are taken
//! from that.

use super::respond::cells;
use super::{Bank, Convolution, ConvolutionSpec};
use crate::data::ImageShape;
use crate::math::Matrix;
use crate::onnx::{Attribute, Graph, Value};

/// Outputs of the nodes, `(n_samples, n_nodes)`.
pub(super) fn outputs(graph: &mut Graph, pool: &Convolution, x: &Value) -> Value {
    let images = channels_first(graph, pool.image, x);
    let n_cells = pool.spec.grid * pool.spec.grid;
    let (mut means, mut starts, mut end) = (Vec::new(), Vec::new(), 0);
    for bank in &pool.banks {
        starts.push(end);
        // Nothing reads a bank that lost all its filters to selection.
        if bank.filters.n_cols() > 0 {
            let rectified = respond(graph, pool, bank, &images);
            means.push(average(graph, pool, bank, &rectified));
            end += n_responses(bank, &pool.spec) * n_cells;
        }
    }
    let means = graph.concat(&means.iter().collect::<Vec<_>>());
    let places = pool.nodes.iter().map(|node| {
        let (bank, response, cell) = (node.bank as usize, node.response as usize, node.cell as usize);
        starts[bank] + response * n_cells + cell
    });
    let read = graph.gather(&means, places);
    if pool.spec.power == 0.5 {
        graph.apply("Sqrt", &[&read])
    } else {
        graph.apply_scalar("Pow", &read, pool.spec.power)
    }
}

/// Images as `Conv` expects them, `(n_samples, channels, height, width)`.
fn channels_first(graph: &mut Graph, image: ImageShape, x: &Value) -> Value {
    let pixels = graph.reshape(x, &[image.height, image.width, image.channels]);
    let order = Attribute::Ints("perm", vec![0, 3, 1, 2]);
    graph.apply_with("Transpose", &[&pixels], &[order])
}

fn n_responses(bank: &Bank, spec: &ConvolutionSpec) -> usize {
    bank.filters.n_cols() * if spec.both_signs { 2 } else { 1 }
}

/// Rectified responses at every position, `(n_samples, n_responses, height, width)`.
fn respond(graph: &mut Graph, pool: &Convolution, bank: &Bank, images: &Value) -> Value {
    let spec = &pool.spec;
    let window = Window {
        channels: pool.image.channels,
        side: bank.side,
        padding: spec.padding(bank.side),
    };
    let filters: Vec<f32> = bank
        .filters
        .cols()
        .flat_map(|filter| window.reorder(filter))
        .collect();
    let responses = window.convolve(graph, images, &filters);
    let contrast = window.contrast(graph, images);
    let divisor = graph.apply_scalar("Add", &contrast, spec.contrast);
    let mut normalised = graph.apply("Div", &[&responses, &divisor]);
    if spec.both_signs {
        let negative = graph.apply("Neg", &[&normalised]);
        normalised = graph.concat(&[&normalised, &negative]);
    }
    let above = graph.apply_scalar("Sub", &normalised, spec.threshold);
    graph.apply("Relu", &[&above])
}

/// What slides over the images.
struct Window {
    channels: usize,
    side: usize,
    padding: usize,
}

impl Window {
    fn n_weights(&self) -> usize {
        self.side * self.side * self.channels
    }

    /// A filter with its channels outermost, as `Conv` expects them; ours are innermost.
    fn reorder(&self, filter: &[f32]) -> Vec<f32> {
        let of_channel = |c: usize| filter.iter().skip(c).step_by(self.channels);
        (0..self.channels).flat_map(of_channel).copied().collect()
    }

    /// Correlation with one or more filters.
    fn convolve(&self, graph: &mut Graph, images: &Value, filters: &[f32]) -> Value {
        let n_filters = filters.len() / self.n_weights();
        let filters = graph.floats(&[n_filters, self.channels, self.side, self.side], filters);
        let pads = Attribute::Ints("pads", vec![self.padding as i64; 4]);
        graph.apply_with("Conv", &[images, &filters], &[pads])
    }

    /// √(Σv² - (Σv)²/n) of the patch at each position.
    fn contrast(&self, graph: &mut Graph, images: &Value) -> Value {
        let ones = vec![1.0; self.n_weights()];
        let sum = self.convolve(graph, images, &ones);
        let squares = graph.apply("Mul", &[images, images]);
        let sum_of_squares = self.convolve(graph, &squares, &ones);
        let square_of_sum = graph.apply("Mul", &[&sum, &sum]);
        let of_mean = graph.apply_scalar("Div", &square_of_sum, self.n_weights() as f32);
        let variation = graph.apply("Sub", &[&sum_of_squares, &of_mean]);
        // Rounding may leave a flat patch slightly below zero.
        let variation = graph.apply("Relu", &[&variation]);
        graph.apply("Sqrt", &[&variation])
    }
}

/// Mean responses over every cell, `(n_samples, n_responses · n_cells)`.
fn average(graph: &mut Graph, pool: &Convolution, bank: &Bank, responses: &Value) -> Value {
    let spec = &pool.spec;
    let positions = |length: usize| length + 2 * spec.padding(bank.side) + 1 - bank.side;
    let (height, width) = (positions(pool.image.height), positions(pool.image.width));
    let (n_responses, n_cells) = (n_responses(bank, spec), spec.grid * spec.grid);
    // Column after column is the transpose row after row.
    let shares = graph.floats(&[height * width, n_cells], shares(height, width, spec).values());
    let flat = graph.reshape(responses, &[n_responses, height * width]);
    let means = graph.apply("MatMul", &[&flat, &shares]);
    graph.reshape(&means, &[n_responses * n_cells])
}

/// Share of each position in the mean over each cell, `(n_cells, n_positions)`.
fn shares(height: usize, width: usize, spec: &ConvolutionSpec) -> Matrix<f32> {
    let rows = cells(height, spec.grid, spec.overlap);
    let columns = cells(width, spec.grid, spec.overlap);
    Matrix::from_fn(spec.grid * spec.grid, height * width, |cell, position| {
        let ((top, bottom), (left, right)) = (rows[cell / spec.grid], columns[cell % spec.grid]);
        let (y, x) = (position / width, position % width);
        if (top..bottom).contains(&y) && (left..right).contains(&x) {
            1.0 / ((bottom - top) * (right - left)) as f32
        } else {
            0.0
        }
    })
}
