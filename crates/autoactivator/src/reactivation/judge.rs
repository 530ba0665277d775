//! Judgement of candidates on rows: their outputs, and what each batch takes off the residual there.
//!
//! A [`Trial`] takes batches on from row to row, some further than others, and never recomputes what a batch
//! has already shown. Rows and batches are processed in tiles that fit the cache, in parallel. Products are
//! in single precision; their sums over tiles are in double, in row order, so that the number of threads
//! changes nothing.

use std::ops::Range;

use rayon::prelude::*;

use super::TILE_ROWS;
use super::supervisor::{Reduction, reduction};
use crate::math::{Matrix, View, alone, gram, product};
use crate::pool::Nodes;

/// Approximate number of nodes of a tile.
const TILE_NODES: usize = 128;

/// Batches of candidates, each judged on the first rows of a task.
pub struct Trial<'a> {
    nodes: Nodes,
    x: View<'a, f32>,
    e: View<'a, f32>,
    l: usize,
    /// Where each batch stands.
    standings: Vec<Standing>,
    legs: Vec<Leg>,
}

/// How many rows a batch has seen, and the sums over those rows from which its reduction follows.
#[derive(Clone)]
struct Standing {
    rows: usize,
    /// GᵀG.
    gram: Matrix<f64>,
    /// Gᵀe, `(l, n_classes)`.
    projections: Matrix<f64>,
}

/// Some batches on some rows, cut into tiles.
struct Leg {
    batches: Vec<usize>,
    rows: Range<usize>,
    l: usize,
    /// Outputs, `(n_nodes, n_rows)` each: tile after tile of rows for the first group of batches, then for the next.
    tiles: Vec<Matrix<f32>>,
}

/// What a tile adds to the sums of every batch in it.
struct Tile {
    outputs: Matrix<f32>,
    grams: Vec<Matrix<f32>>,
    /// Gᵀe of all its nodes, `(n_nodes, n_classes)`.
    projections: Matrix<f32>,
}

impl<'a> Trial<'a> {
    /// Batches of `l` among `nodes`, before the first of the rows `x` with residual `e`.
    pub fn new(nodes: Nodes, x: View<'a, f32>, e: View<'a, f32>, l: usize) -> Self {
        let standing = Standing {
            rows: 0,
            gram: Matrix::zeros(l, l),
            projections: Matrix::zeros(l, e.n_cols()),
        };
        Self {
            standings: vec![standing; nodes.len() / l],
            nodes,
            x,
            e,
            l,
            legs: Vec::new(),
        }
    }

    /// Number of nodes of a batch.
    pub fn l(&self) -> usize {
        self.l
    }

    /// Number of batches.
    pub fn n_batches(&self) -> usize {
        self.standings.len()
    }

    /// Total number of rows.
    pub fn n_rows(&self) -> usize {
        self.x.n_rows()
    }

    /// The residual, `(n_samples, n_classes)`.
    pub fn e(&self) -> View<'a, f32> {
        self.e
    }

    /// Judges `batches` on the rows before `end` that they have not seen, and returns what each takes off the
    /// squared residual on all rows before `end`.
    pub fn go_on(&mut self, batches: &[usize], end: usize) -> Vec<Reduction> {
        let mut starts: Vec<usize> = batches.iter().map(|&b| self.standings[b].rows).collect();
        starts.sort_unstable();
        starts.dedup();
        for start in starts.into_iter().filter(|&start| start < end) {
            let here = |b: &usize| self.standings[*b].rows == start;
            let together = batches.iter().copied().filter(here).collect();
            self.run(together, start..end);
        }
        let standings = batches.par_iter().map(|&b| &self.standings[b]);
        standings
            .map(|at| alone(|| reduction(&at.gram, &at.projections)))
            .collect()
    }

    fn run(&mut self, batches: Vec<usize>, rows: Range<usize>) {
        let mut leg = Leg {
            batches,
            rows,
            l: self.l,
            tiles: Vec::new(),
        };
        let nodes = self.nodes.batches(&leg.batches, self.l);
        let tiles: Vec<Tile> = (0..leg.n_groups() * leg.tiles_per_group())
            .into_par_iter()
            .map(|tile| {
                let (group, rows) = leg.part(tile);
                let columns = group.start * self.l..group.end * self.l;
                alone(|| {
                    let outputs = nodes.outputs_by_row(columns, self.x.rows(rows.clone()));
                    Tile::new(outputs, self.e.rows(rows), self.l)
                })
            })
            .collect();
        for (at, tile) in tiles.iter().enumerate() {
            for (place, batch) in leg.part(at).0.enumerate() {
                self.standings[leg.batches[batch]].add(tile, place);
            }
        }
        for &batch in &leg.batches {
            self.standings[batch].rows = leg.rows.end;
        }
        leg.tiles = tiles.into_iter().map(|tile| tile.outputs).collect();
        self.legs.push(leg);
    }

    /// Outputs of a batch on all rows it has seen, `(n_samples, l)`.
    pub fn outputs(&self, batch: usize) -> Matrix<f32> {
        let mut outputs = Matrix::zeros(self.standings[batch].rows, self.l);
        for leg in &self.legs {
            if let Some(place) = leg.batches.iter().position(|&b| b == batch) {
                leg.copy_outputs(place, &mut outputs);
            }
        }
        outputs
    }
}

impl Leg {
    fn batches_per_group(&self) -> usize {
        (TILE_NODES / self.l).max(1)
    }

    fn n_groups(&self) -> usize {
        self.batches.len().div_ceil(self.batches_per_group())
    }

    fn tiles_per_group(&self) -> usize {
        self.rows.len().div_ceil(TILE_ROWS)
    }

    /// The batches of a tile, by their place in the leg, and its rows.
    fn part(&self, tile: usize) -> (Range<usize>, Range<usize>) {
        let batch = tile / self.tiles_per_group() * self.batches_per_group();
        let row = self.rows.start + tile % self.tiles_per_group() * TILE_ROWS;
        (
            batch..self.batches.len().min(batch + self.batches_per_group()),
            row..self.rows.end.min(row + TILE_ROWS),
        )
    }

    fn copy_outputs(&self, place: usize, outputs: &mut Matrix<f32>) {
        let group = place / self.batches_per_group();
        let tiles = &self.tiles[group * self.tiles_per_group()..][..self.tiles_per_group()];
        let n_rows = outputs.n_rows();
        let columns = outputs.values_mut().par_chunks_mut(n_rows).enumerate();
        columns.for_each(|(j, column)| {
            let node = place % self.batches_per_group() * self.l + j;
            let answers = tiles.iter().flat_map(Matrix::cols).map(|row| row[node]);
            let here = &mut column[self.rows.clone()];
            here.iter_mut().zip(answers).for_each(|(v, answer)| *v = answer);
        });
    }
}

impl Tile {
    fn new(outputs: Matrix<f32>, e: View<'_, f32>, l: usize) -> Self {
        let batches = (0..outputs.n_rows()).step_by(l);
        Self {
            grams: batches
                .map(|start| gram(outputs.view().rows(start..start + l).t()))
                .collect(),
            projections: product(outputs.view(), e),
            outputs,
        }
    }
}

impl Standing {
    /// Adds the sums of the batch at `place` in the tile.
    fn add(&mut self, tile: &Tile, place: usize) {
        let l = self.gram.n_cols();
        let shown = tile.grams[place].values();
        (self.gram.values_mut().iter_mut().zip(shown)).for_each(|(sum, &v)| *sum += f64::from(v));
        for (c, of_class) in tile.projections.cols().enumerate() {
            let shown = &of_class[place * l..(place + 1) * l];
            (self.projections.col_mut(c).iter_mut().zip(shown)).for_each(|(sum, &v)| *sum += f64::from(v));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::solve_positive_definite;
    use crate::math::{Random, Stream};
    use crate::pool::Activation;

    /// <e_c, G β_c> with β from the normal equations, all in double precision.
    fn slow_truth(g: &Matrix<f64>, e: &Matrix<f64>) -> Vec<f64> {
        let mut gram = gram(g.view());
        let mean_diagonal = (0..gram.n_cols()).map(|i| gram[(i, i)]).sum::<f64>() / gram.n_cols() as f64;
        (0..gram.n_cols()).for_each(|i| gram[(i, i)] += 1e-6 * mean_diagonal);
        let beta = solve_positive_definite(&gram, &product(g.t(), e.view())).unwrap();
        let fitted = product(g.view(), beta.view());
        let inner = |c| fitted.col(c).iter().zip(e.col(c)).map(|(a, b)| a * b).sum();
        (0..e.n_cols()).map(inner).collect()
    }

    #[test]
    fn tiles_add_up_to_the_judgement_in_double_precision() {
        let mut random = Random::new(3, Stream::Pool { layer: 0 });
        for (n, l, n_batches) in [
            (30, 1, 1),
            (479, 3, 50),
            (480, 10, 13),
            (481, 1, 130),
            (1500, 10, 25),
        ] {
            let x = Matrix::from_fn(n, 7, |_, _| random.symmetric(1.0));
            let e = Matrix::from_fn(n, 3, |_, _| random.symmetric(1.0));
            let nodes = Nodes::draw(&mut random, 7, n_batches * l, 3.0, Activation::Tanh);
            let mut trial = Trial::new(nodes.clone(), x.view(), e.view(), l);
            let everybody: Vec<usize> = (0..n_batches).collect();
            let reductions = trial.go_on(&everybody, n);
            for (batch, reduction) in reductions.iter().enumerate() {
                let g = nodes.batches(&[batch], l).outputs(x.view());
                let outputs = trial.outputs(batch);
                let close = g
                    .values()
                    .iter()
                    .zip(outputs.values())
                    .all(|(a, b)| (a - b).abs() < 2e-6);
                assert!(close, "outputs of batch {batch} of {l} on {n} rows");
                for (c, truth) in slow_truth(&g.to_f64(), &e.to_f64()).into_iter().enumerate() {
                    let gain = reduction.0[c];
                    assert!(
                        (gain - truth).abs() < 1e-4 * truth.max(1.0),
                        "{gain} is not {truth}"
                    );
                }
            }
        }
    }

    #[test]
    fn going_on_leads_where_one_run_leads() {
        let (n, l) = (1700, 3);
        let mut random = Random::new(4, Stream::Pool { layer: 0 });
        let x = Matrix::from_fn(n, 7, |_, _| random.symmetric(1.0));
        let e = Matrix::from_fn(n, 2, |_, _| random.symmetric(1.0));
        let nodes = Nodes::draw(&mut random, 7, 60 * l, 2.0, Activation::Sigmoid);
        let everybody: Vec<usize> = (0..60).collect();
        let mut at_once = Trial::new(nodes.clone(), x.view(), e.view(), l);
        let truth = at_once.go_on(&everybody, n);
        let mut by_legs = Trial::new(nodes, x.view(), e.view(), l);
        by_legs.go_on(&everybody, 480);
        by_legs.go_on(&[58, 3, 44], 1440);
        by_legs.go_on(&[44, 7], n);
        assert_eq!(by_legs.go_on(&everybody, n), truth);
        for batch in everybody {
            assert_eq!(by_legs.outputs(batch), at_once.outputs(batch), "batch {batch}");
        }
    }
}
