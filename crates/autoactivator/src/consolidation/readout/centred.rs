//! Sums about their mean: what every readout begins from.

use rayon::prelude::*;

use super::super::memory::Memory;
use super::Readout;
use super::about_mean::AboutMean;
use crate::data::Rows;
use crate::math::{Lower, Matrix, Real, Span, View, add_product, product};
use crate::pool::Standard;

/// Sums of the recruited nodes about their mean.
///
/// Few rows span less than all directions that nodes have, and nothing is known of the others. Then all sums are those of
/// coordinates in that [`Span`], so that a solve costs what rows cost. Without one, a node is its own coordinate.
pub struct Centred {
    /// Σ (h - h̄)(h - h̄)ᵀ, `(n, n)`.
    gram: AboutMean,
    /// Σ (h - h̄)(y - ȳ)ᵀ, `(n, n_classes)`.
    pub(super) moments: Matrix<f64>,
    /// h̄.
    pub(super) means: Vec<f64>,
    /// n by class.
    pub(in super::super) counts: Vec<f64>,
    /// What made the nodes comparable.
    pub(super) standard: Standard,
    /// The part of it that brings nodes to deviation 1 over all rows learned.
    pub(super) factors: Vec<f64>,
    /// What coordinates are of, if not of nodes.
    pub(super) span: Option<Span>,
}

/// Directions that rows must leave, for each that they take, for it to be worth looking at these alone.
const WORTH_A_SPAN: usize = 2;

impl Centred {
    /// Sums of the nodes at `nodes`, each scaled to deviation 1 over all rows learned, so that one ridge
    /// constant suits all of them no matter what the first task looked like.
    pub fn new(memory: &Memory, nodes: &[usize]) -> Self {
        let factors = deviations(memory, nodes);
        let n_rows = memory.n_rows().max(f64::MIN_POSITIVE);
        let sum = |&j: &usize| -> f64 { memory.moments.cols().map(|moment| moment[j]).sum() };
        let sums: Vec<f64> = nodes.iter().map(sum).collect();
        let mut standard = memory.standard.select(nodes);
        let scales = standard.scale.iter_mut().zip(&factors);
        scales.for_each(|(scale, &factor)| *scale *= factor as f32);
        let root = n_rows.sqrt();
        let of_nodes = Self {
            gram: AboutMean::Nodes {
                gram: memory.gram.clone(),
                nodes: nodes.to_vec(),
                sums: sums.iter().map(|sum| sum / root).collect(),
                factors: factors.clone(),
            },
            moments: Matrix::filled(nodes.len(), memory.counts.len(), |i, c| {
                (memory.moments[(nodes[i], c)] - sums[i] * memory.counts[c] / n_rows) * factors[i]
            }),
            means: sums.iter().zip(&factors).map(|(s, f)| s / n_rows * f).collect(),
            counts: memory.counts.clone(),
            standard,
            factors,
            span: None,
        };
        match memory.gram.few_columns() {
            Some(columns) => of_nodes.of_few_rows(&columns.gather_rows(nodes)),
            None => of_nodes,
        }
    }

    /// With sums of products Σ h hᵀ of these columns h, in the space that they span if that is small.
    fn of_few_rows(mut self, columns: &Matrix<f64>) -> Self {
        let n = columns.n_rows();
        let scaled = Matrix::filled(n, columns.n_cols(), |j, k| columns[(j, k)] * self.factors[j]);
        let is_small = WORTH_A_SPAN * scaled.n_cols() <= n;
        let spanned = is_small.then(|| Span::of(scaled.view()));
        let few = match spanned.filter(|(span, _)| span.dimension() > 0) {
            None => scaled,
            Some((span, coordinates)) => {
                self.means = span.onto(column(&self.means).view()).into_values();
                self.moments = span.onto(self.moments.view());
                self.span = Some(span);
                coordinates
            }
        };
        let mut gram = product(few.view(), few.t());
        let mean = column(&self.means);
        add_product(&mut gram, -self.n_rows(), mean.view(), mean.t());
        self.gram = AboutMean::All(gram);
        self
    }

    /// What is left when all sums of products are known: means of comparable nodes, and n by class.
    pub(super) fn of_means(means: Vec<f64>, counts: Vec<f64>, standard: Standard) -> Self {
        Self {
            gram: AboutMean::All(Matrix::zeros(0, 0)),
            moments: Matrix::zeros(0, 0),
            factors: vec![1.0; means.len()],
            means,
            counts,
            standard,
            span: None,
        }
    }

    /// N, the number of rows learned.
    pub fn n_rows(&self) -> f64 {
        self.counts.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.factors.len()
    }

    /// Number of coordinates.
    pub(super) fn n_coordinates(&self) -> usize {
        self.gram.n()
    }

    /// What a relative ridge constant is multiplied with.
    pub(super) fn mean_diagonal(&self) -> f64 {
        self.mean_over_nodes(|j| self.diagonal(j))
    }

    /// The entry of the sums on the diagonal, in column `j`.
    pub(super) fn diagonal(&self, j: usize) -> f64 {
        self.gram.at(j, j)
    }

    /// The mean over nodes of a diagonal of sums; 1 when nothing varies, since that leaves nothing to scale by.
    pub(super) fn mean_over_nodes(&self, diagonal: impl Fn(usize) -> f64) -> f64 {
        let sum: f64 = (0..self.n_coordinates()).map(diagonal).sum();
        let mean = sum / self.n_nodes().max(1) as f64;
        if mean > 0.0 { mean } else { 1.0 }
    }

    /// The sums of the first `n` coordinates with ridge ρ, less `a aᵀ`.
    pub(super) fn lower<T: Real>(&self, n: usize, rho: f64, a: View<'_, f64>) -> Lower<T> {
        let fill = |j: usize, column: &mut [f64]| {
            let rows = column.iter_mut().zip(j..);
            rows.for_each(|(to, i)| *to = self.gram.at(i, j));
            column[0] += rho;
        };
        Lower::filled(n, fill, a)
    }

    /// The same, less nothing.
    pub(super) fn with_ridge<T: Real>(&self, rho: f64) -> Lower<T> {
        let n = self.n_coordinates();
        self.lower(n, rho, Matrix::zeros(n, 0).view())
    }

    /// Weights of nodes from weights of coordinates.
    pub(super) fn of_nodes(&self, weights: &Matrix<f64>) -> Matrix<f64> {
        match &self.span {
            Some(span) => span.out_of(weights.view()),
            None => weights.clone(),
        }
    }

    /// h̄ of the nodes.
    pub(super) fn node_means(&self) -> Vec<f64> {
        self.of_nodes(&column(&self.means)).into_values()
    }

    /// Target score of a row of this class: √(n̄/n_c), n̄ the mean of the n_c, which gives the targets of all
    /// classes the same length. With plain one-hot targets, that of a class of few rows is so short that it
    /// is hardly ever chosen. If all classes have the same number of rows, this is 1.
    pub fn target(&self, class: usize) -> f64 {
        let counts = || self.counts.iter().filter(|&&count| count > 0.0);
        let mean = counts().sum::<f64>() / counts().count().max(1) as f64;
        match self.counts[class] {
            count if count > 0.0 => (mean / count).sqrt(),
            _ => 1.0,
        }
    }

    /// m_c - h̄, `(n, n_classes)`; classes without rows stay at the mean.
    pub(super) fn class_means(&self) -> Matrix<f64> {
        Matrix::from_fn(self.moments.n_rows(), self.counts.len(), |i, c| {
            if self.counts[c] > 0.0 {
                self.moments[(i, c)] / self.counts[c]
            } else {
                0.0
            }
        })
    }

    /// √n_c m_c of the class means: less their products, the sums are Σ (h - m_c)(h - m_c)ᵀ over all classes c.
    pub(super) fn between(&self, means: &Matrix<f64>) -> Matrix<f64> {
        let roots: Vec<f64> = self.counts.iter().map(|n| n.max(0.0).sqrt()).collect();
        Matrix::from_fn(means.n_rows(), means.n_cols(), |i, c| means[(i, c)] * roots[c])
    }

    /// Outputs of the first `n` nodes as these sums see them: comparable, about the mean, `(n, n_samples)`.
    fn of_outputs<T: Real>(&self, h: Rows<'_>, means: &[f64], n: usize) -> Matrix<T> {
        let mut columns = Matrix::zeros(n, h.len());
        let each = columns.values_mut().par_chunks_mut(n.max(1)).zip(0..h.len());
        each.for_each(|(column, i)| {
            let mut row = h.row(i).to_vec();
            self.standard.apply(&mut row);
            let pairs = column.iter_mut().zip(row.iter().zip(means));
            pairs.for_each(|(to, (&v, mean))| *to = T::nearest(f64::from(v) - mean));
        });
        columns
    }

    /// Coordinates of rows with these node outputs, about the mean, `(n, n_samples)`.
    pub(super) fn columns<T: Real>(&self, h: Rows<'_>) -> Matrix<T> {
        let Some(span) = &self.span else {
            return self.of_outputs(h, &self.means, self.n_nodes());
        };
        let columns = self.of_outputs::<f64>(h, &vec![0.0; self.n_nodes()], self.n_nodes());
        let columns = span.onto(columns.view());
        Matrix::from_fn(columns.n_rows(), columns.n_cols(), |j, i| {
            T::nearest(columns[(j, i)] - self.means[j])
        })
    }

    /// The first `n` nodes of rows with these node outputs, comparable and about the mean, `(n, n_samples)`.
    pub(in super::super) fn first_columns(&self, h: Rows<'_>, n: usize) -> Matrix<f64> {
        match &self.span {
            None => self.of_outputs(h, &self.means, n),
            Some(span) => product(span.basis().view().rows(0..n), self.columns(h).view()),
        }
    }

    /// Turns scores of comparable outputs (h - shift) · scale into scores of h itself; none unless all are finite.
    pub(super) fn on_raw_outputs(
        &self,
        weights: &Matrix<f64>,
        biases: &[f64],
        ridge: f64,
    ) -> Option<Readout> {
        let Standard { shift, scale } = &self.standard;
        let mut weights = self.of_nodes(weights);
        let biases: Vec<f32> = biases
            .iter()
            .enumerate()
            .map(|(c, bias)| {
                let parts = weights.col_mut(c).iter_mut().zip(scale).zip(shift);
                let moved: f64 = parts
                    .map(|((w, s), shift)| {
                        *w *= f64::from(*s);
                        *w * f64::from(*shift)
                    })
                    .sum();
                (bias - moved) as f32
            })
            .collect();
        let weights = weights.to_f32();
        let finite = weights.values().iter().chain(&biases).all(|v| v.is_finite());
        finite.then_some(Readout {
            weights,
            biases,
            blend: None,
            ridge,
        })
    }

    /// The sums of the first `n` nodes with ridge ρ.
    pub(in super::super) fn of_first_nodes(&self, n: usize, rho: f64) -> Lower<f64> {
        let nothing = Matrix::zeros(n, 0);
        match &self.span {
            None => self.lower(n, rho, nothing.view()),
            Some(span) => plus(self.within(span.basis().view().rows(0..n)), rho).into(),
        }
    }

    /// The span of the first `n` nodes, and the sums in it with ridge ρ; none if coordinates are nodes.
    pub(in super::super) fn of_first_span(&self, n: usize, rho: f64) -> Option<(Span, Lower<f64>)> {
        let span = self.span.as_ref()?;
        let (first, coordinates) = Span::of(span.basis().view().rows(0..n));
        Some((first, plus(self.within(coordinates.view()), rho).into()))
    }

    /// The sums seen from elsewhere.
    fn within(&self, coordinates: View<'_, f64>) -> Matrix<f64> {
        let n = self.n_coordinates();
        let gram = Matrix::filled(n, n, |i, j| self.gram.at(i.max(j), i.min(j)));
        product(product(coordinates, gram.view()).view(), coordinates.t())
    }

    /// Shift that takes raw outputs of the first `n` nodes to deviations from the mean, and the scale that makes these
    /// comparable but for [`factor`](Self::factor).
    pub(in super::super) fn first_nodes(&self, n: usize) -> Standard {
        let Standard { shift, scale } = &self.standard;
        let means = self.node_means();
        let mean = |j: usize| means[j] / f64::from(scale[j]).max(f64::MIN_POSITIVE);
        Standard {
            shift: (0..n).map(|j| (f64::from(shift[j]) + mean(j)) as f32).collect(),
            scale: (0..n).map(|j| scale[j] / self.factors[j] as f32).collect(),
        }
    }

    /// What brings the node at `j` to deviation 1 over all rows learned.
    pub(in super::super) fn factor(&self, j: usize) -> f64 {
        self.factors[j]
    }
}

/// A matrix with ridge ρ.
fn plus(mut a: Matrix<f64>, rho: f64) -> Matrix<f64> {
    (0..a.n_cols()).for_each(|j| a[(j, j)] += rho);
    a
}

/// Values as a matrix of one column.
fn column(values: &[f64]) -> Matrix<f64> {
    Matrix::from_fn(values.len(), 1, |j, _| values[j])
}

/// The factors that bring nodes to deviation 1 over all rows learned. With witnesses, they are powers of √2: a few rows more
/// or less then leave nearly all of them as they are.
pub(super) fn deviations(memory: &Memory, nodes: &[usize]) -> Vec<f64> {
    let n_rows = memory.n_rows().max(f64::MIN_POSITIVE);
    let mut sums = vec![0.0; memory.n_nodes()];
    for moment in memory.moments.cols() {
        sums.iter_mut().zip(moment).for_each(|(sum, v)| *sum += v);
    }
    let diagonal = memory.gram.diagonal();
    let variances = nodes.iter().map(|&j| {
        let square = diagonal[j];
        let variance = (square - sums[j] * sums[j] / n_rows) / n_rows;
        (variance.max(0.0), ROUNDING * square / n_rows)
    });
    if memory.witnesses.in_use().is_empty() {
        return to_equal_deviation(variances, n_rows, 0.0);
    }
    let factors = to_equal_deviation(variances, n_rows, BEFOREHAND);
    let rounded = |factor: f64| 2f64.powf((2.0 * factor.log2()).round() / 2.0);
    factors.into_iter().map(rounded).collect()
}

/// A number of rows to the nearest eighth of a power of two: what a ridge constant is relative to where there are
/// witnesses, so that a few rows more or less leave it as it is.
pub(super) fn rounded_rows(n_rows: f64) -> f64 {
    2f64.powf((8.0 * n_rows.max(f64::MIN_POSITIVE).log2()).round() / 8.0)
}

/// What rounding may make of a variance that is 0, relative to the mean square of a node.
const ROUNDING: f64 = 1e-7;

/// Number of rows for which it counts that a node varies as much as nodes do on average, where witnesses are left out: one
/// unusual row among few can make up most of the deviation of a node that is otherwise flat, and still does so when it
/// is left out, so that it would look usual. A few rows are enough; of hundreds, they change nothing.
const BEFOREHAND: f64 = 5.0;

/// The factors that bring nodes to deviation 1 over `n_rows` rows, from the variance of each and what of it may be
/// rounding; `beforehand` rows vary as nodes do on average.
fn to_equal_deviation(variances: impl Iterator<Item = (f64, f64)>, n_rows: f64, beforehand: f64) -> Vec<f64> {
    let variances: Vec<(f64, f64)> = variances.collect();
    // A node that hardly ever varied must not be blown up into evidence.
    let mean = variances.iter().map(|(variance, _)| variance).sum::<f64>() / variances.len().max(1) as f64;
    if mean == 0.0 {
        // Nothing varies, so there is nothing to scale by.
        return vec![1.0; variances.len()];
    }
    let factor = |(variance, rounding): (f64, f64)| {
        let expected = (n_rows * variance + beforehand * mean) / (n_rows + beforehand);
        let floored = expected + rounding.max(1e-6 * mean);
        if floored > 0.0 { 1.0 / floored.sqrt() } else { 1.0 }
    };
    variances.into_iter().map(factor).collect()
}

#[cfg(test)]
impl Centred {
    /// Straight from the definition.
    pub(super) fn of_rows(rows: &[&Vec<f64>], places: &[u32], n_classes: usize) -> Self {
        let (n, n_nodes) = (rows.len() as f64, rows[0].len());
        let means: Vec<f64> = (0..n_nodes)
            .map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / n)
            .collect();
        let about = Matrix::from_fn(rows.len(), n_nodes, |i, j| rows[i][j] - means[j]);
        let count = |c: usize| places.iter().filter(|&&place| place as usize == c).count() as f64;
        let of_class = |c: usize| (0..rows.len()).filter(move |&i| places[i] as usize == c);
        Self {
            gram: AboutMean::All(crate::math::gram(about.view())),
            moments: Matrix::from_fn(n_nodes, n_classes, |j, c| {
                of_class(c).map(|i| about[(i, j)]).sum()
            }),
            counts: (0..n_classes).map(count).collect(),
            means,
            standard: Standard::nothing(n_nodes),
            factors: vec![1.0; n_nodes],
            span: None,
        }
    }

    /// The sums, and those of the scatter around class means.
    pub(super) fn both(&self) -> [Matrix<f64>; 2] {
        let n = self.n_coordinates();
        let gram = Matrix::from_fn(n, n, |i, j| self.gram.at(i.max(j), i.min(j)));
        let (between, mut scatter) = (self.between(&self.class_means()), gram.clone());
        add_product(&mut scatter, -1.0, between.view(), between.t());
        [gram, scatter]
    }
}
