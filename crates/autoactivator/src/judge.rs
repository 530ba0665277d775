//! Judgement of candidates on rows: their outputs, and what each batch takes off the residual there.
//!
//! Rows and batches are dealt with in tiles that fit the cache, in parallel; products are in single precision, their
//! sums over tiles in double, in the order of the rows, so that the number of threads changes nothing.

use std::ops::Range;

use rayon::prelude::*;

use crate::linalg::{Matrix, View, gram, product};
use crate::node::Nodes;
use crate::supervisor::{Reduction, reduction};

/// Rows of a tile; 24 and 48 divide it, which the kernels of products like.
const TILE_ROWS: usize = 480;

/// Nodes of a tile, about.
const TILE_NODES: usize = 128;

/// What batches of candidates have shown on some rows.
pub struct Judged {
    /// What each batch takes off the squared residual.
    pub reductions: Vec<Reduction>,
    /// Tile after tile of rows for the first group of batches, then for the next.
    tiles: Vec<Tile>,
    grid: Grid,
}

/// How rows and batches are cut into tiles.
#[derive(Clone, Copy)]
struct Grid {
    n_rows: usize,
    l: usize,
    batches_per_group: usize,
    tiles_per_group: usize,
}

/// Outputs of some batches on some rows, and the sums that their reductions follow from.
struct Tile {
    /// `(n_batches · l, n_rows)`.
    outputs: Matrix<f32>,
    /// GᵀG of every batch.
    grams: Vec<Matrix<f64>>,
    /// Gᵀe of every batch, `(l, n_classes)`.
    projections: Vec<Matrix<f64>>,
}

/// Judges the batches of `l` among `nodes` on rows `x` with residual `e`.
pub fn judge(nodes: &Nodes, x: View<'_, f32>, e: View<'_, f32>, l: usize) -> Judged {
    let grid = Grid {
        n_rows: x.n_rows(),
        l,
        batches_per_group: (TILE_NODES / l).max(1),
        tiles_per_group: x.n_rows().div_ceil(TILE_ROWS),
    };
    let n_batches = nodes.len() / l;
    let n_groups = n_batches.div_ceil(grid.batches_per_group);
    let tiles: Vec<Tile> = (0..n_groups * grid.tiles_per_group)
        .into_par_iter()
        .map(|tile| {
            let (columns, rows) = (grid.columns(tile, nodes.len()), grid.rows(tile));
            let outputs = nodes.outputs_by_row(columns, x.rows(rows.clone()));
            Tile::new(outputs, e.rows(rows), l)
        })
        .collect();
    let reductions = (0..n_batches).into_par_iter().map(|batch| {
        let (group, place) = grid.place(batch);
        reduction_over(&tiles[group], place)
    });
    Judged {
        reductions: reductions.collect(),
        tiles,
        grid,
    }
}

impl Judged {
    /// Outputs of a batch on all rows, `(n_samples, l)`.
    pub fn outputs(&self, batch: usize) -> Matrix<f32> {
        let (group, place) = self.grid.place(batch);
        let rows = || {
            self.tiles[group.clone()]
                .iter()
                .flat_map(|tile| tile.outputs.cols())
        };
        let mut outputs = Matrix::zeros(self.grid.n_rows, self.grid.l);
        for j in 0..self.grid.l {
            let node = place * self.grid.l + j;
            outputs
                .col_mut(j)
                .iter_mut()
                .zip(rows())
                .for_each(|(v, row)| *v = row[node]);
        }
        outputs
    }
}

impl Grid {
    /// The nodes that a tile is about.
    fn columns(self, tile: usize, n_nodes: usize) -> Range<usize> {
        let start = tile / self.tiles_per_group * self.batches_per_group * self.l;
        start..n_nodes.min(start + self.batches_per_group * self.l)
    }

    /// The rows that a tile is about.
    fn rows(self, tile: usize) -> Range<usize> {
        let start = tile % self.tiles_per_group * TILE_ROWS;
        start..self.n_rows.min(start + TILE_ROWS)
    }

    /// The tiles that know a batch, and its place among the batches in each.
    fn place(self, batch: usize) -> (Range<usize>, usize) {
        let first = batch / self.batches_per_group * self.tiles_per_group;
        (
            first..first + self.tiles_per_group,
            batch % self.batches_per_group,
        )
    }
}

impl Tile {
    fn new(outputs: Matrix<f32>, e: View<'_, f32>, l: usize) -> Self {
        let projections = product(outputs.view(), e);
        let batches = || (0..outputs.n_rows()).step_by(l);
        let gram_of = |start| gram(outputs.view().rows(start..start + l).t()).to_f64();
        let projections_of =
            |start| Matrix::from_fn(l, e.n_cols(), |i, c| f64::from(projections[(start + i, c)]));
        Self {
            grams: batches().map(gram_of).collect(),
            projections: batches().map(projections_of).collect(),
            outputs,
        }
    }
}

/// The reduction of the batch at `place`, from all tiles that know it.
fn reduction_over(tiles: &[Tile], place: usize) -> Reduction {
    let sum = |of: fn(&Tile) -> &[Matrix<f64>]| {
        let mut parts = tiles.iter().map(|tile| &of(tile)[place]);
        let mut sum = parts.next().cloned().unwrap_or_else(|| Matrix::zeros(0, 0));
        for part in parts {
            sum.values_mut()
                .iter_mut()
                .zip(part.values())
                .for_each(|(sum, v)| *sum += v);
        }
        sum
    };
    reduction(sum(|tile| &tile.grams), &sum(|tile| &tile.projections))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::Activation;
    use crate::linalg::solve_positive_definite;
    use crate::rng::{Random, Stream};

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
            let judged = judge(&nodes, x.view(), e.view(), l);
            assert_eq!(judged.reductions.len(), n_batches);
            for batch in 0..n_batches {
                let g = nodes.batches(&[batch], l).outputs(x.view());
                let outputs = judged.outputs(batch);
                let close = g
                    .values()
                    .iter()
                    .zip(outputs.values())
                    .all(|(a, b)| (a - b).abs() < 2e-6);
                assert!(close, "outputs of batch {batch} of {l} on {n} rows");
                for (c, truth) in slow_truth(&g.to_f64(), &e.to_f64()).into_iter().enumerate() {
                    let gain = judged.reductions[batch].0[c];
                    assert!(
                        (gain - truth).abs() < 1e-4 * truth.max(1.0),
                        "{gain} is not {truth}"
                    );
                }
            }
        }
    }
}
