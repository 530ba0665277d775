//! How far rows are from the mean of all rows, in the first nodes of the pool: dᵀT⁻¹d, T the scatter of all rows plus ridge.

use std::sync::Arc;

use super::readout::{Centred, Jury};
use crate::data::Rows;
use crate::math::{Cholesky, Matrix, add_product, product};
use crate::onnx::{Graph, Value};
use crate::pool::Standard;

/// Least and largest number of nodes, the first of the pool, that the distance from all rows is measured in, if there
/// are enough: half of the pool, but the cost is the square.
const NODES: (usize, usize) = (1024, 2048);

/// Nodes for each direction of a span, at least: with fewer, a triangle is no larger.
const NODES_PER_DIRECTION: usize = 4;

/// Members of a jury that are measured at a time.
const AT_ONCE: usize = 512;

/// Takes raw outputs of the first nodes to distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Whitening {
    /// Takes outputs to deviations from their mean.
    pub standard: Standard,
    /// Takes deviations to squared distances.
    pub(super) form: Form,
}

/// T⁻¹, by its root.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// √N L⁻¹ of T = L Lᵀ, transposed: a deviation times this is as long as it is unusual. Copies of a model share it, and
    /// so does what the next readout follows from.
    Triangle(Arc<Matrix<f32>>),
    /// Of few rows, which span few directions: beside them, T is nothing but ridge.
    Span {
        /// An orthonormal basis, `(n_nodes, n_directions)`.
        basis: Matrix<f32>,
        /// √N L⁻¹ of T in these directions, transposed.
        within: Matrix<f32>,
        /// √(N/ρ).
        beyond: f32,
    },
}

/// How far the members of a jury are from the mean of all rows, and how that is told.
pub struct Apart {
    /// Squared distance of each member.
    pub lengths: Vec<f64>,
    /// What tells it.
    pub whitening: Whitening,
}

impl Apart {
    /// In half of the nodes, within bounds; none if that cannot be solved with this ridge.
    pub fn new(centred: &Centred, jury: &Jury<'_>, rho: f64) -> Option<Self> {
        let all = centred.n_nodes();
        let n = (all / 2).clamp(NODES.0, NODES.1).min(all);
        let few = centred.of_first_span(n, rho);
        let standard = centred.first_nodes(n);
        let root = centred.n_rows().sqrt();
        match few.filter(|(span, _)| NODES_PER_DIRECTION * span.dimension() <= n) {
            None => {
                let factor = Cholesky::of(centred.of_first_nodes(n, rho))?;
                let whitening = transposed_inverse(&factor, n, |j| root * centred.factor(j));
                let form = Form::Triangle(Arc::new(whitening));
                Some(Self {
                    lengths: lengths(&factor, jury, |h| centred.first_columns(h, n)),
                    whitening: Whitening { standard, form },
                })
            }
            Some((span, within)) => {
                let factor = Cholesky::of(within)?;
                let scale = (0..n).map(|j| standard.scale[j] * centred.factor(j) as f32);
                let standard = Standard {
                    scale: scale.collect(),
                    shift: standard.shift,
                };
                let form = Form::Span {
                    basis: span.basis().to_f32(),
                    within: transposed_inverse(&factor, span.dimension(), |_| root),
                    beyond: (root / rho.sqrt()) as f32,
                };
                let columns = |h: Rows<'_>| span.onto(centred.first_columns(h, n).view());
                Some(Self {
                    lengths: lengths(&factor, jury, columns),
                    whitening: Whitening { standard, form },
                })
            }
        }
    }
}

/// Squared lengths of the members of a jury, some at a time.
fn lengths(factor: &Cholesky<f64>, jury: &Jury<'_>, columns: impl Fn(Rows<'_>) -> Matrix<f64>) -> Vec<f64> {
    let members: Vec<usize> = (0..jury.witnesses.len()).collect();
    let some = members.chunks(AT_ONCE);
    some.flat_map(|some| factor.lengths(columns(jury.outputs(some).rows())))
        .collect()
}

/// L⁻¹ of `n` coordinates, transposed, each row times a scale of its own.
fn transposed_inverse(factor: &Cholesky<f64>, n: usize, scale: impl Fn(usize) -> f64) -> Matrix<f32> {
    let mut turned = Matrix::zeros(n, n);
    factor.for_each_strip_of_inverse(|start, strip| {
        for k in 0..strip.n_cols() {
            let scale = scale(start + k);
            for (j, v) in strip.col(k).iter().enumerate() {
                turned[(start + k, start + j)] = (scale * v) as f32;
            }
        }
    });
    turned
}

impl Whitening {
    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.standard.shift.len()
    }

    /// Whether it can follow small changes. That of a span costs so little that it is made anew.
    pub(super) fn is_followed(&self) -> bool {
        matches!(self.form, Form::Triangle(_))
    }

    /// Number of floats: of triangles, only one half.
    pub fn n_floats(&self) -> usize {
        let triangle = |n: usize| n * (n + 1) / 2;
        let form = match &self.form {
            Form::Triangle(whitening) => triangle(whitening.n_cols()),
            Form::Span { basis, within, .. } => basis.values().len() + triangle(within.n_cols()) + 1,
        };
        2 * self.n_nodes() + form
    }

    /// Whether all numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        let finite = |matrix: &Matrix<f32>| matrix.values().iter().all(|v| v.is_finite());
        match &self.form {
            Form::Triangle(whitening) => finite(whitening),
            Form::Span {
                basis,
                within,
                beyond,
            } => finite(basis) && finite(within) && beyond.is_finite(),
        }
    }

    /// Squared distance of each row, from its node outputs, `(n_samples, n_nodes)` row by row.
    pub(super) fn distances(&self, h: Rows<'_>) -> Vec<f64> {
        let Standard { shift, scale } = &self.standard;
        let mut deviations = Matrix::from_fn(h.len(), self.n_nodes(), |i, j| {
            (h.row(i)[j] - shift[j]) * scale[j]
        });
        match &self.form {
            Form::Triangle(whitening) => square_lengths(&product(deviations.view(), whitening.view()), 1.0),
            Form::Span {
                basis,
                within,
                beyond,
            } => {
                let along = product(deviations.view(), basis.view());
                add_product(&mut deviations, -1.0, along.view(), basis.t());
                let beside = square_lengths(&deviations, *beyond);
                let along = square_lengths(&product(along.view(), within.view()), 1.0);
                along.into_iter().zip(beside).map(|(a, b)| a + b).collect()
            }
        }
    }

    /// The same in a graph, from node outputs `h`: `(n_samples, 1)`.
    pub(super) fn to_onnx(&self, graph: &mut Graph, h: &Value) -> Value {
        let n = self.n_nodes();
        let first = graph.gather(h, 0..n);
        let shift = graph.floats(&[n], &self.standard.shift);
        let scale = graph.floats(&[n], &self.standard.scale);
        let deviation = graph.apply("Sub", &[&first, &shift]);
        let deviation = graph.apply("Mul", &[&deviation, &scale]);
        let linear = |graph: &mut Graph, from: &Value, weights: &Matrix<f32>| {
            graph.linear(from, weights, &vec![0.0; weights.n_cols()])
        };
        let squares = |graph: &mut Graph, of: &Value| {
            let squares = graph.apply("Mul", &[of, of]);
            graph.sum(&squares)
        };
        match &self.form {
            Form::Triangle(whitening) => {
                let white = linear(graph, &deviation, whitening);
                squares(graph, &white)
            }
            Form::Span {
                basis,
                within,
                beyond,
            } => {
                let along = linear(graph, &deviation, basis);
                let made = linear(graph, &along, &basis.t().to_matrix());
                let beside = graph.apply("Sub", &[&deviation, &made]);
                let beside = graph.apply_scalar("Mul", &beside, *beyond);
                let beside = squares(graph, &beside);
                let white = linear(graph, &along, within);
                let white = squares(graph, &white);
                graph.apply("Add", &[&white, &beside])
            }
        }
    }
}

/// The squared length of each row, times `scale`.
fn square_lengths(rows: &Matrix<f32>, scale: f32) -> Vec<f64> {
    let mut lengths = vec![0.0; rows.n_rows()];
    for column in rows.cols() {
        let pairs = lengths.iter_mut().zip(column);
        pairs.for_each(|(length, v)| *length += f64::from(scale * v).powi(2));
    }
    lengths
}
