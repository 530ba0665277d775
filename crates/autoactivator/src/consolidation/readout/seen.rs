//! What witnesses see: of classes, of each other, and by ridge.

use super::evidence::Evidence;
use super::jury::Jury;
use crate::math::{Matrix, Real, product};

/// Witnesses that are measured at a time, at least: all of them would take as much as a factor.
const AT_ONCE: usize = 512;

/// Witnesses beside the evidence. All points are about the mean of all rows, and all products are by A⁻¹.
pub struct Seen<'a> {
    pub jury: &'a Jury<'a>,
    /// n by class.
    pub counts: &'a [f64],
    /// Whether A holds what rows scatter, so that leaving one out changes it.
    pub scatters: bool,
    /// K, `(n_classes, n_classes)`.
    pub inner: &'a Matrix<f64>,
    /// B, `(n_classes, n_classes)`.
    pub ridge: &'a Matrix<f64>,
    /// Evidence of each witness for each class, `(n_witnesses, n_classes)`.
    pub u: Matrix<f64>,
    /// What ridge makes of it.
    pub fitted: Matrix<f64>,
    /// Squared length of each witness.
    pub lengths: Vec<f64>,
    /// Products of the witnesses of each class, in their order.
    pub blocks: Vec<Matrix<f64>>,
}

impl<'a> Seen<'a> {
    /// All of it.
    pub fn new<T: Real>(evidence: &'a Evidence<'_, T>, jury: &'a Jury<'a>) -> Self {
        Self::measured(
            evidence,
            jury,
            &evidence.means,
            |b| evidence.factor.forward(b),
            true,
        )
    }

    /// The same in single precision.
    pub fn in_single(evidence: &'a Evidence<'_, f64>, jury: &'a Jury<'a>) -> Self {
        let (means, factor) = (evidence.means.to_f32(), &evidence.factor);
        Self::measured(evidence, jury, &means, |b| factor.forward_in_single(b), true)
    }

    /// Without the products of witnesses, which rank no ridge constants.
    pub fn without_blocks<T: Real>(evidence: &'a Evidence<'_, T>, jury: &'a Jury<'a>) -> Self {
        Self::measured(
            evidence,
            jury,
            &evidence.means,
            |b| evidence.factor.forward(b),
            false,
        )
    }

    /// From L⁻¹x of each witness x, which `forward` makes: its products are those by A⁻¹. The `means` are L⁻¹M.
    fn measured<T: Real, S: Real>(
        evidence: &'a Evidence<'_, T>,
        jury: &'a Jury<'a>,
        means: &Matrix<S>,
        forward: impl Fn(Matrix<S>) -> Matrix<S>,
        with_blocks: bool,
    ) -> Self {
        let around = evidence.around;
        let (n_witnesses, n_classes) = (jury.witnesses.len(), means.n_cols());
        let mut u = Matrix::zeros(n_witnesses, n_classes);
        let mut lengths = vec![0.0; n_witnesses];
        let mut blocks = Vec::with_capacity(n_classes);
        let classes = jury.of_each_class(n_classes);
        let mut rest = classes.as_slice();
        while !rest.is_empty() {
            let mut so_far = 0;
            let is_room = |class: &&Vec<usize>| {
                let before = so_far;
                so_far += class.len();
                before < AT_ONCE
            };
            let together = rest.iter().take_while(is_room).count();
            let (here, after) = rest.split_at(together);
            rest = after;
            let places = here.concat();
            let columns = forward(around.centred.columns(jury.outputs(&places).rows()));
            let beside = product(columns.t(), means.view());
            for (k, &i) in places.iter().enumerate() {
                lengths[i] = square_length(columns.col(k));
                (0..n_classes).for_each(|c| u[(i, c)] = beside[(k, c)].into());
            }
            let mut first = 0;
            for class in here.iter().filter(|_| with_blocks) {
                let of_class = columns.columns(first, first + class.len());
                first += class.len();
                blocks.push(in_double(&product(of_class.t(), of_class)));
            }
        }
        Self {
            jury,
            counts: &around.centred.counts,
            scatters: around.scatters(),
            inner: &evidence.inner,
            ridge: &evidence.ridge,
            fitted: product(u.view(), evidence.ridge.view()),
            u,
            lengths,
            blocks,
        }
    }

    /// N, the number of rows learned.
    pub fn n_rows(&self) -> f64 {
        self.counts.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

fn square_length<T: Real>(column: &[T]) -> f64 {
    column.iter().map(|&v| v.into() * v.into()).sum()
}

fn in_double<T: Real>(a: &Matrix<T>) -> Matrix<f64> {
    Matrix::from_fn(a.n_rows(), a.n_cols(), |i, j| a[(i, j)].into())
}
