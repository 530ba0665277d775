//! The product of rows with weights in panels, one tile at a time: a few rows and a few panels whose sums stay in registers.
//!
//! [`Lanes`] are the weights of neighbouring nodes for one input, and a panel has them input after input. `panels` lays
//! weights out this way and divides the work; this file multiplies, in plain code for the instruction set that `pulp` finds.

use pulp::{Simd, WithSimd};

/// Nodes of a panel: a whole number of registers everywhere.
pub(super) const WIDTH: usize = 16;

/// Inputs that are summed up at a time, at most: more would make a copy of many rows too large for the cache.
const DEPTH: usize = 800;

/// Distance of rows in the copy that tiles read. The odd number of cache lines keeps rows from displacing each other.
const STRIDE: usize = DEPTH + WIDTH;

/// The weights of the nodes of a panel for one input, or their sums for one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub [f32; WIDTH]);

/// Rows times panels of `n_inputs` lanes each: a row of `out` has as many values as the panels have nodes, or fewer if
/// the last one is not full. Rows are copied, so there should be few at a time.
pub(super) fn multiply(x: &[f32], n_inputs: usize, panels: &[Lanes], out: &mut [&mut [f32]]) {
    if n_inputs == 0 {
        return out.iter_mut().for_each(|row| row.fill(0.0));
    }
    // Blocks of inputs of nearly equal size.
    let depth = n_inputs.div_ceil(n_inputs.div_ceil(DEPTH));
    let copy = copied(x, n_inputs, depth);
    pulp::Arch::new().dispatch(Product {
        x: copy.as_chunks().0,
        depth,
        n_inputs,
        panels,
        out,
    });
}

/// The first `depth` inputs of every row, then the next ones, each row at a distance of [`STRIDE`].
fn copied(x: &[f32], n_inputs: usize, depth: usize) -> Vec<f32> {
    let n_rows = x.len() / n_inputs;
    let mut copy = Vec::with_capacity(n_inputs.div_ceil(depth) * n_rows * STRIDE);
    for from in (0..n_inputs).step_by(depth) {
        let to = n_inputs.min(from + depth);
        for row in x.chunks_exact(n_inputs) {
            copy.extend_from_slice(&row[from..to]);
            copy.resize(copy.len() + STRIDE - (to - from), 0.0);
        }
    }
    copy
}

/// One product.
struct Product<'a, 'b> {
    /// Rows, `depth` inputs at a time.
    x: &'a [[f32; STRIDE]],
    depth: usize,
    n_inputs: usize,
    panels: &'a [Lanes],
    out: &'a mut [&'b mut [f32]],
}

impl WithSimd for Product<'_, '_> {
    type Output = ();

    /// Tiles are as large as the registers allow.
    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        match S::F32_LANES {
            16 => self.by_panels::<S, 2, 1, 12>(simd),
            8 => self.by_panels::<S, 1, 2, 6>(simd),
            4 => self.by_panels::<S, 1, 4, 6>(simd),
            _ => self.by_panels::<S, 1, 16, 1>(simd),
        }
    }
}

/// Panels that a single row is multiplied with at a time: enough sums that none waits for the one before.
const SINGLE: usize = 4;

impl Product<'_, '_> {
    /// `P` panels at a time, of `V` registers each, with up to `R` rows.
    #[inline(always)]
    fn by_panels<S: Simd, const P: usize, const V: usize, const R: usize>(&mut self, simd: S) {
        let n_panels = self.panels.len() / self.n_inputs;
        let at_a_time = if self.out.len() == 1 { SINGLE } else { P };
        let mut panel = 0;
        while panel < n_panels {
            let left = n_panels - panel;
            let taken = if left >= at_a_time { at_a_time } else { 1 };
            for block in 0..self.n_inputs.div_ceil(self.depth) {
                if taken == P {
                    self.by_rows::<S, P, V, R>(simd, panel, block);
                } else if taken == SINGLE {
                    self.tile::<S, SINGLE, V, 1>(simd, panel, block, 0);
                } else {
                    self.by_rows::<S, 1, V, R>(simd, panel, block);
                }
            }
            panel += taken;
        }
    }

    /// Divides rows into tiles of nearly equal height.
    #[inline(always)]
    fn by_rows<S: Simd, const P: usize, const V: usize, const R: usize>(
        &mut self,
        simd: S,
        panel: usize,
        block: usize,
    ) {
        let n_rows = self.out.len();
        let mut row = 0;
        for left in (1..=n_rows.div_ceil(R)).rev() {
            let height = (n_rows - row).div_ceil(left);
            macro_rules! of_height {
                ($($height:literal)*) => {
                    match height {
                        // The first condition is known when this is compiled.
                        $($height if $height <= R => self.tile::<S, P, V, $height>(simd, panel, block, row),)*
                        _ => {}
                    }
                };
            }
            of_height!(1 2 3 4 5 6 7 8 9 10 11 12);
            row += height;
        }
    }

    /// `R` rows from `row` on, times `P` panels from `panel` on, over one block of inputs: the first block sets the sums,
    /// the others add to them.
    #[inline(always)]
    fn tile<S: Simd, const P: usize, const V: usize, const R: usize>(
        &mut self,
        simd: S,
        panel: usize,
        block: usize,
        row: usize,
    ) {
        let from = block * self.depth;
        let depth = self.depth.min(self.n_inputs - from);
        let weights = std::array::from_fn(|p| &self.panels[(panel + p) * self.n_inputs + from..][..depth]);
        let x = &self.x[block * self.out.len() + row..];
        let mut sums = [[Lanes::default(); P]; R];
        summed::<S, P, V, R>(simd, x, weights, &mut sums);
        for (out, sums) in self.out[row..].iter_mut().zip(&sums) {
            for (p, sums) in sums.iter().enumerate() {
                put(&mut out[(panel + p) * WIDTH..], sums, block == 0);
            }
        }
    }
}

/// Puts the sums of a panel into their places, as many as there are, or adds them.
#[inline(always)]
fn put(places: &mut [f32], Lanes(sums): &Lanes, first: bool) {
    if let Some(places) = places.first_chunk_mut::<WIDTH>() {
        let before = if first { [0.0; WIDTH] } else { *places };
        *places = std::array::from_fn(|i| before[i] + sums[i]);
    } else if first {
        places.copy_from_slice(&sums[..places.len()]);
    } else {
        places.iter_mut().zip(sums).for_each(|(place, sum)| *place += sum);
    }
}

/// The sums of one tile. Every value has one chain of additions, in the order of the inputs: it does not depend on the tile.
#[allow(clippy::manual_memcpy)] // Copied as a slice, the sums might not stay in registers before.
#[inline(always)]
fn summed<S: Simd, const P: usize, const V: usize, const R: usize>(
    simd: S,
    x: &[[f32; STRIDE]],
    weights: [&[Lanes]; P],
    out: &mut [[Lanes; P]; R],
) {
    let (Some(x), depth) = (x.first_chunk::<R>(), weights[0].len().min(DEPTH)) else {
        return;
    };
    let mut sums = [[[simd.splat_f32s(0.0); V]; P]; R];
    for k in 0..depth {
        let of_input: [&[S::f32s]; P] = std::array::from_fn(|p| S::as_simd_f32s(&weights[p][k].0).0);
        for r in 0..R {
            let value = simd.splat_f32s(x[r][k]);
            for p in 0..P {
                for v in 0..V {
                    sums[r][p][v] = simd.mul_add_e_f32s(value, of_input[p][v], sums[r][p][v]);
                }
            }
        }
    }
    // Nothing but moves: only then does the compiler keep all sums in registers until here.
    for r in 0..R {
        for p in 0..P {
            let out = S::as_mut_simd_f32s(&mut out[r][p].0).0;
            for v in 0..V {
                out[v] = sums[r][p][v];
            }
        }
    }
}
