//! Weights of nodes that no longer change, laid out once as products read them: panels of neighbouring nodes.
//!
//! A product of [`Panels`] copies no weights, however few rows there are, and no value depends on how many they are or on
//! how the work is divided among threads. `tile` multiplies.

use std::ops::Range;

use super::linalg::{Matrix, PARALLEL_WORK};
use super::tile::{Lanes, WIDTH, multiply};
use crate::data::Rows;
use crate::math::alone::{divided, is_alone};

/// Rows that are multiplied at a time: with their inputs they stay in the cache of a core, and their outputs until they
/// are finished.
const ROWS: usize = 96;

/// Rows that make a part of their own worthwhile; fewer share the panels instead, so that each is read once.
const ROWS_OF_A_PART: usize = 64;

/// The weights of nodes over the same inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Panels {
    /// Panel after panel, each with the weights of its nodes for one input after another; zero where there is no node.
    lanes: Vec<Lanes>,
    n_inputs: usize,
    n_nodes: usize,
}

impl From<&Matrix<f32>> for Panels {
    /// From weights `(n_inputs, n_nodes)`.
    fn from(weights: &Matrix<f32>) -> Self {
        let mut panels = Self::zeros(weights.n_rows(), weights.n_cols());
        for (node, weights) in weights.cols().enumerate() {
            let places = panels.column_mut(node);
            places.zip(weights).for_each(|(place, weight)| *place = *weight);
        }
        panels
    }
}

impl Panels {
    /// Nodes whose weights are zero.
    pub fn zeros(n_inputs: usize, n_nodes: usize) -> Self {
        Self {
            lanes: vec![Lanes::default(); n_nodes.div_ceil(WIDTH) * n_inputs],
            n_inputs,
            n_nodes,
        }
    }

    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Sets the weight of a node for an input.
    pub fn set(&mut self, input: usize, node: usize, weight: f32) {
        self.lanes[node / WIDTH * self.n_inputs + input].0[node % WIDTH] = weight;
    }

    /// The weights, `(n_inputs, n_nodes)`.
    pub fn to_matrix(&self) -> Matrix<f32> {
        let mut weights = Matrix::zeros(self.n_inputs, self.n_nodes);
        for node in 0..self.n_nodes {
            let places = weights.col_mut(node).iter_mut();
            places
                .zip(self.column(node))
                .for_each(|(place, weight)| *place = weight);
        }
        weights
    }

    /// These nodes, in that order.
    pub fn gather(&self, nodes: &[usize]) -> Self {
        let mut gathered = Self::zeros(self.n_inputs, nodes.len());
        for (place, &node) in nodes.iter().enumerate() {
            let places = gathered.column_mut(place);
            places
                .zip(self.column(node))
                .for_each(|(place, weight)| *place = weight);
        }
        gathered
    }

    fn column(&self, node: usize) -> impl Iterator<Item = f32> {
        let panel = node / WIDTH * self.n_inputs;
        let lanes = &self.lanes[panel..panel + self.n_inputs];
        lanes.iter().map(move |Lanes(weights)| weights[node % WIDTH])
    }

    fn column_mut(&mut self, node: usize) -> impl Iterator<Item = &mut f32> {
        let panel = node / WIDTH * self.n_inputs;
        let lanes = &mut self.lanes[panel..panel + self.n_inputs];
        lanes
            .iter_mut()
            .map(move |Lanes(weights)| &mut weights[node % WIDTH])
    }

    /// `x` times the weights, row after row. `finish` changes the values of a row once they are known, or a run of them,
    /// beginning with that of a given node. They are still in the cache of the thread that computed them.
    pub fn product(&self, x: Rows<'_>, finish: impl Fn(usize, &mut [f32]) + Sync) -> Vec<f32> {
        let mut out = vec![0.0; x.len() * self.n_nodes];
        if self.n_nodes == 0 {
            return out;
        }
        let work = x.len() * self.n_inputs * self.n_nodes;
        let threads = if work < PARALLEL_WORK || is_alone() {
            1
        } else {
            rayon::current_num_threads()
        };
        let parts = if x.len() >= threads * ROWS_OF_A_PART {
            self.by_rows(threads, x, &mut out)
        } else {
            self.by_nodes(threads, x, &mut out)
        };
        divided(parts, |part| self.multiply(part, &finish));
        out
    }

    /// Parts with rows of their own and all nodes.
    fn by_rows<'a>(&self, n_parts: usize, x: Rows<'a>, out: &'a mut [f32]) -> Vec<Part<'a>> {
        let n_rows = x.len().div_ceil(n_parts);
        let parts = x.chunks(n_rows).zip(out.chunks_mut(n_rows * self.n_nodes));
        let part = |(x, out): (Rows<'a>, &'a mut [f32])| Part {
            x,
            nodes: 0..self.n_nodes,
            out: out.chunks_exact_mut(self.n_nodes).collect(),
        };
        parts.map(part).collect()
    }

    /// Parts with all rows and panels of their own.
    fn by_nodes<'a>(&self, n_parts: usize, x: Rows<'a>, out: &'a mut [f32]) -> Vec<Part<'a>> {
        let width = self.n_nodes.div_ceil(WIDTH).div_ceil(n_parts) * WIDTH;
        let starts = (0..self.n_nodes).step_by(width);
        let part = |start| Part {
            x,
            nodes: start..self.n_nodes.min(start + width),
            out: Vec::with_capacity(x.len()),
        };
        let mut parts: Vec<Part<'a>> = starts.map(part).collect();
        for row in out.chunks_exact_mut(self.n_nodes) {
            let places = parts.iter_mut().zip(row.chunks_mut(width));
            places.for_each(|(part, places)| part.out.push(places));
        }
        parts
    }

    fn multiply(&self, mut part: Part<'_>, finish: &(impl Fn(usize, &mut [f32]) + Sync)) {
        let first = part.nodes.start;
        let panels = first / WIDTH..part.nodes.end.div_ceil(WIDTH);
        let lanes = &self.lanes[panels.start * self.n_inputs..panels.end * self.n_inputs];
        let at_a_time = part.x.len().div_ceil(part.x.len().div_ceil(ROWS).max(1));
        for (x, out) in part
            .x
            .chunks(at_a_time)
            .zip(part.out.chunks_mut(at_a_time.max(1)))
        {
            multiply(x.values(), self.n_inputs, lanes, out);
            out.iter_mut().for_each(|row| finish(first, row));
        }
    }
}

/// What one thread computes of a product.
struct Part<'a> {
    x: Rows<'a>,
    nodes: Range<usize>,
    /// A run of each row of the result: the values of these nodes.
    out: Vec<&'a mut [f32]>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Table;
    use crate::math::{Random, Stream, alone};

    /// Rows and weights `(n_inputs, n_nodes)`.
    fn random(n_rows: usize, n_inputs: usize, n_nodes: usize) -> (Table, Matrix<f32>) {
        let mut random = Random::new(7, Stream::Pool { layer: 0 });
        let mut values = vec![0.0; n_rows * n_inputs];
        random.fill_symmetric(&mut values, 1.0);
        let weights = Matrix::from_fn(n_inputs, n_nodes, |_, _| random.symmetric(1.0));
        (Table::new(values, n_inputs).unwrap(), weights)
    }

    #[test]
    fn a_product_with_panels_is_the_plain_one() {
        let sizes = [1, 2, 7, 63, 64, 65, 97, 200].map(|n_rows| (n_rows, 50, 37));
        let inputs = [1, 2, 799, 800, 801, 1700].map(|n_inputs| (13, n_inputs, 35));
        let nodes = [1, 15, 16, 17, 31, 32, 33, 65].map(|n_nodes| (12, 20, n_nodes));
        let single = [1, 16, 17, 63, 64, 65, 129].map(|n_nodes| (1, 900, n_nodes));
        let large = [(130, 300, 70)];
        let all = sizes
            .iter()
            .chain(&inputs)
            .chain(&nodes)
            .chain(&single)
            .chain(&large);
        for &(n_rows, n_inputs, n_nodes) in all {
            let (x, weights) = random(n_rows, n_inputs, n_nodes);
            let found = Panels::from(&weights).product(x.rows(), |first, values| {
                let places = (first..).zip(values);
                places.for_each(|(node, value)| *value += node as f32);
            });
            assert_eq!(found.len(), n_rows * n_nodes);
            for (row, found) in x.rows().iter().zip(found.chunks(n_nodes)) {
                for (node, &found) in found.iter().enumerate() {
                    let pairs = row.iter().zip(weights.col(node));
                    let terms = pairs.map(|(v, w)| f64::from(*v) * f64::from(*w));
                    let wrong = (f64::from(found) - terms.clone().sum::<f64>() - node as f64).abs();
                    let size: f64 = terms.map(f64::abs).sum();
                    assert!(
                        wrong < 1e-5 + 1e-6 * size,
                        "{n_rows} x {n_inputs} x {n_nodes}: {wrong}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_value_depends_on_the_threads_or_on_other_rows() {
        // The larger ones are divided among threads: by nodes, by rows.
        for (n_rows, n_inputs, n_nodes) in [(5, 30, 20), (65, 801, 70), (300, 200, 50)] {
            let (x, weights) = random(n_rows, n_inputs, n_nodes);
            let panels = Panels::from(&weights);
            let bits = |x: Rows<'_>| -> Vec<u32> {
                let values = panels.product(x, |_, _| ());
                values.into_iter().map(f32::to_bits).collect()
            };
            let expected = alone(|| bits(x.rows()));
            for threads in [1, 2, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                assert!(
                    expected == pool.unwrap().install(|| bits(x.rows())),
                    "{threads} threads"
                );
            }
            let one_by_one: Vec<u32> = x.rows().chunks(1).flat_map(&bits).collect();
            assert!(expected == one_by_one, "{n_rows} rows, one by one");
        }
    }

    #[test]
    fn weights_come_back_as_they_were() {
        for n_nodes in [0, 1, 16, 37] {
            let (_, weights) = random(1, 9, n_nodes);
            let panels = Panels::from(&weights);
            assert_eq!((panels.n_inputs(), panels.n_nodes()), (9, n_nodes));
            assert_eq!(panels.to_matrix(), weights);
            let some: Vec<usize> = (0..n_nodes).rev().step_by(2).collect();
            assert_eq!(
                panels.gather(&some),
                Panels::from(&weights.gather(some.iter().copied()))
            );
        }
    }
}
