//! The space in which rows are grouped: rows of one class lie close together there, whichever class it is.
//!
//! The memory knows how rows of one class spread, Σ_w. Whitened by it, they spread alike in all directions; half of
//! that is taken back, because few of these directions were measured well. In most directions that is all there is to see.
//! Where the unlabelled rows vary more than rows of one class, classes lie apart, known ones or new ones, and each
//! direction counts by how much of its variance is that. Rows are then brought to length 1.

use crate::consolidation::{Consolidation, Scatter};
use crate::data::Rows;
use crate::math::{Cholesky, Matrix, eigen, gram, mirror_lower, product};
use crate::params::Precision;
use crate::pool::{Pool, Standard};

/// Largest number of nodes that the space is made of: its cost is the cube.
const NODES: usize = 1280;

/// Nodes that see rows themselves, from which on their directions tell enough. Otherwise nodes on other nodes take part, and
/// this many nodes in all do.
const WIDE: usize = 64;
const LIFTED: usize = 512;

/// The part of the whitening that is taken back.
const SHRUNK: f64 = 0.5;

/// Takes rows to unit vectors.
pub(super) struct Space {
    pool: Box<dyn Pool>,
    standard: Standard,
    /// `(n_nodes, n_directions)`.
    map: Matrix<f32>,
    /// Means of the known classes, each a column of length 1.
    pub known: Matrix<f32>,
}

impl Space {
    /// The space that the sums of a learner shape, and the variance of these rows; none if it cannot be found.
    pub fn of(learner: &Consolidation, x: Rows<'_>) -> Option<Self> {
        let pool = learner.pool()?;
        let (of, most) = if pool.n_plain() < WIDE {
            (pool.n_nodes(), LIFTED)
        } else {
            (pool.n_plain(), NODES)
        };
        let nodes: Vec<usize> = (0..of).step_by(of.div_ceil(most).max(1)).collect();
        let memory = learner.memory();
        let scatter = Scatter::of(memory, &nodes);
        let mut standard = memory.standard.select(&nodes);
        let means = standard.shift.iter_mut().zip(&standard.scale).zip(&scatter.mean);
        means.for_each(|((shift, scale), mean)| *shift += (mean / f64::from(*scale)) as f32);
        let mut space = Self {
            pool: pool.select(&nodes),
            standard,
            map: Matrix::zeros(nodes.len(), 0),
            known: Matrix::zeros(0, 0),
        };
        let outputs = space.outputs(x, learner.params().precision).to_f64();
        let map = directions(&scatter, &outputs)?;
        let mut known = product(map.t(), scatter.classes.view()).to_f32();
        space.map = map.to_f32();
        to_unit_length(&mut known);
        space.known = known;
        Some(space)
    }

    /// The place of each row, a column of length 1.
    pub fn places(&self, x: Rows<'_>) -> Matrix<f32> {
        let outputs = self.outputs(x, Precision::F32);
        let mut places = product(self.map.t(), outputs.view());
        to_unit_length(&mut places);
        places
    }

    /// Outputs of the nodes less the mean of known rows, a column for each row.
    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Matrix<f32> {
        let mut outputs = self.pool.outputs(x, precision);
        outputs.for_each_row(|row| self.standard.apply(row));
        let (n_nodes, values) = (self.pool.n_nodes(), outputs.into_values());
        Matrix::from_columns(values, n_nodes, x.len()).unwrap_or_else(|| Matrix::zeros(n_nodes, 0))
    }
}

/// The directions of the space, `(n_nodes, n_directions)`, from how known rows spread and from other rows, a column each.
fn directions(scatter: &Scatter, outputs: &Matrix<f64>) -> Option<Matrix<f64>> {
    let n = scatter.within.n_cols();
    let mean_diagonal = (0..n).map(|j| scatter.within[(j, j)]).sum::<f64>() / n.max(1) as f64;
    let usual = if mean_diagonal > 0.0 { mean_diagonal } else { 1.0 };
    let mut shrunk = scatter.within.clone();
    shrunk
        .values_mut()
        .iter_mut()
        .for_each(|v| *v *= (1.0 - SHRUNK) / usual);
    (0..n).for_each(|j| shrunk[(j, j)] += SHRUNK);
    let factor = Cholesky::new(shrunk)?;
    let white = factor.inverse_factor();
    let mut within = scatter.within.clone();
    mirror_lower(&mut within);
    let within = product(product(white.view(), within.view()).view(), white.t());
    // One row of each known class shows where classes lie apart if there are hardly any others.
    let both = {
        let mut both = outputs.clone();
        both.append(&scatter.classes);
        product(white.view(), both.view())
    };
    let mut apart = gram(both.t());
    let n_rows = both.n_cols().max(1) as f64;
    let pairs = apart.values_mut().iter_mut().zip(within.values());
    pairs.for_each(|(all, within)| *all = *all / n_rows - within);
    let (excess, vectors) = eigen(&apart)?;
    let spread = product(within.view(), vectors.view());
    let mut kept = Matrix::zeros(n, 0);
    for (j, &excess) in excess
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, excess)| **excess > 0.0)
    {
        let within: f64 = vectors.col(j).iter().zip(spread.col(j)).map(|(a, b)| a * b).sum();
        let share = (excess / (excess + within.max(0.0))).sqrt();
        let weighed: Vec<f64> = vectors.col(j).iter().map(|v| v * share).collect();
        kept.push(&weighed);
    }
    (kept.n_cols() > 0).then(|| product(white.t(), kept.view()))
}

/// Brings each column to length 1; one of zeros stays as it is.
pub(super) fn to_unit_length(columns: &mut Matrix<f32>) {
    for j in 0..columns.n_cols() {
        let column = columns.col_mut(j);
        let length = column.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length > 0.0 {
            column.iter_mut().for_each(|v| *v /= length);
        }
    }
}
